import Foundation

/// The choice of files that a store fetches from its peers by itself.
///
/// A user can still fetch the others one by one. Files that are already there stay under any policy.
public enum AssetPolicy: Sendable, Hashable, CustomStringConvertible {
    /// All files.
    case all
    /// No files.
    case none
    /// Files with less than that many bytes: 1 to 10^15 - 1.
    case under(Int64)

    /// Reads `all`, `none`, or `under` and a size: a number of bytes, or one with kB, MB, GB (powers of 1000), KiB, MiB
    /// or GiB (powers of 1024).
    public init?(_ text: String) {
        let words = text.lowercased().split(separator: " ")
        switch words.first {
        case "all" where words.count == 1: self = .all
        case "none" where words.count == 1: self = .none
        case "under":
            guard let size = Self.bytes(words.dropFirst().joined()), size >= 1, size < Self.sizeLimit else {
                return nil
            }
            self = .under(Int64(size))
        default: return nil
        }
    }

    /// Reads what a store holds: an earlier version wrote any size, and a great one counted as ``all``.
    init?(stored text: String) {
        let words = text.split(separator: " ")
        let size = words.first == "under" ? Self.bytes(words.dropFirst().joined().lowercased()) : nil
        let isAll = size.map { $0 >= Self.sizeLimit } ?? false
        guard let policy = isAll ? AssetPolicy.all : AssetPolicy(text) else { return nil }
        self = policy
    }

    private static let units: [(String, Int64)] = [
        ("kib", 1 << 10), ("mib", 1 << 20), ("gib", 1 << 30), ("kb", 1_000), ("mb", 1_000_000),
        ("gb", 1_000_000_000), ("b", 1), ("", 1),
    ]

    /// No size is as great.
    private static let sizeLimit = 1e15

    /// The policy with the same effect whose text ``init(_:)`` reads.
    var bounded: AssetPolicy {
        guard case .under(let size) = self else { return self }
        return size <= 0 ? .none : Double(size) < Self.sizeLimit ? self : .all
    }

    private static func bytes(_ text: String) -> Double? {
        for (unit, factor) in units where text.hasSuffix(unit) {
            guard let number = Double(text.dropLast(unit.count)), number.isFinite, number >= 0 else {
                return nil
            }
            return number * Double(factor)
        }
        return nil
    }

    /// Whether the store fetches files of that many bytes.
    public func includes(_ size: Int64) -> Bool {
        switch self {
        case .all: true
        case .none: false
        case .under(let limit): size < limit
        }
    }

    /// The policy in the form that ``init(_:)`` reads.
    public var description: String {
        switch self {
        case .all: "all"
        case .none: "none"
        case .under(let limit): "under \(Self.text(limit))"
        }
    }

    private static func text(_ bytes: Int64) -> String {
        for (unit, factor) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)] as [(String, Int64)]
        where bytes % factor == 0 {
            return "\(bytes / factor)\(unit)"
        }
        return "\(bytes)"
    }
}

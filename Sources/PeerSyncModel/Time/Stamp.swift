/// The id of a replica, or of the foreign source of an import: 8 bytes, the tie-breaker of stamps.
///
/// A replica's id is the first 8 bytes of the BLAKE2b-256 hash of its identity key, so it needs no registry.
public struct ReplicaID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The 8 bytes as a number.
    public let rawValue: UInt64

    /// Makes an id of its 8 bytes.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Makes the id from a public key or from the name of a foreign source.
    public init(hashing bytes: some Collection<UInt8>) {
        let hash = BLAKE2b.hash(Array(bytes), length: 32)
        self.rawValue = hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    public static func < (left: ReplicaID, right: ReplicaID) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The 16 hexadecimal digits.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A reading of a hybrid logical clock: 48 bits of milliseconds since 1970, then a 16-bit counter.
///
/// Source: Kulkarni et al., "Logical Physical Clocks" (2014), in the 64-bit layout of its section 6.
public struct HybridTime: Hashable, Sendable, Comparable {
    /// The milliseconds in the upper 48 bits, the counter in the lower 16.
    public let rawValue: UInt64

    /// Makes a reading of its 64 bits.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Makes the reading with counter 0 at that many milliseconds since 1970, clamped to 48 bits.
    public init(milliseconds: Int64) {
        let clamped = UInt64(max(0, min(milliseconds, Self.maximumMilliseconds)))
        self.rawValue = clamped << 16
    }

    /// The last millisecond that 48 bits hold: in the year 10889.
    public static let maximumMilliseconds: Int64 = (1 << 48) - 1

    /// Milliseconds since 1970, rounded down.
    public var milliseconds: Int64 { Int64(rawValue >> 16) }
    /// Distinguishes readings of one millisecond.
    public var counter: UInt16 { UInt16(truncatingIfNeeded: rawValue) }

    /// The reading right after this one; at the very end of the range this one itself.
    package var next: HybridTime { HybridTime(rawValue: rawValue == .max ? .max : rawValue + 1) }

    public static func < (left: HybridTime, right: HybridTime) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The time and the replica of a write or a deletion. Stamps are totally ordered: by time, then by replica.
public struct Stamp: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The length of the encoding in bytes.
    package static let byteCount = 16

    /// When somebody wrote.
    public let time: HybridTime
    /// The machine that wrote.
    public let replica: ReplicaID

    /// Makes a stamp of its parts.
    ///
    /// - Parameters:
    ///   - time: when somebody wrote.
    ///   - replica: the machine that wrote.
    public init(time: HybridTime, replica: ReplicaID) {
        self.time = time
        self.replica = replica
    }

    /// A replica's stamp right after this one.
    package func next(by replica: ReplicaID) -> Stamp { Stamp(time: time.next, replica: replica) }

    public static func < (left: Stamp, right: Stamp) -> Bool {
        left.time == right.time ? left.replica < right.replica : left.time < right.time
    }

    /// Milliseconds, counter and replica, as `1700000000000.3@0123456789abcdef`.
    public var description: String { "\(time.milliseconds).\(time.counter)@\(replica)" }
}

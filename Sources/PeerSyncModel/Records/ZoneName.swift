/// The name of a record zone: one set of records among those that a store may hold.
///
/// Bounds: 1 to 255 bytes of printable ASCII.
public struct ZoneName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The first name of the zone that every store has. It comes from the first app that used this engine; stores and the
    /// wire have it, so it stays.
    public static let standard = ZoneName(unchecked: "ScorebookData")
    /// The greatest length, in bytes.
    public static let maximumLength = 255

    public let description: String

    /// Makes a name; returns nil if the text is empty, too long, or not printable ASCII.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.maximumLength).contains(bytes.count) else { return nil }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        self.init(unchecked: text)
    }

    private init(unchecked text: String) {
        self.description = text
    }

    public static func < (left: ZoneName, right: ZoneName) -> Bool {
        left.description < right.description
    }
}

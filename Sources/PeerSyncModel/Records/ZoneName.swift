/// The name of a record zone: one set of records among those that a store may hold.
///
/// Bounds: 1 to 255 bytes of printable ASCII.
public struct ZoneName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name of the zone that every store has from the beginning, in each app: a part of the store format and of the protocol. Apps
    /// tell people of this zone in words of their own; `Zone.isDefault` says which one it is.
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

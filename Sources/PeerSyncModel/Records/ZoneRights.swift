/// The rights that a machine gives another in a zone.
public enum ZoneRights: Int64, Sendable, Hashable, Comparable {
    /// The other machine gets no records, and this one takes none from it.
    case none = 0
    /// The other machine gets the records; this one refuses its writes.
    case read = 1
    /// The other machine gets the records, and its writes count.
    case write = 2

    public static func < (left: ZoneRights, right: ZoneRights) -> Bool { left.rawValue < right.rawValue }
}

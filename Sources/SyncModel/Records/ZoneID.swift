/// Which zone is meant, on every machine: its name and the replica that made it. Two households may both have a zone
/// “club”, and they are two.
public struct ZoneID: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let name: ZoneName
    /// The replica that made it.
    public let owner: ReplicaID

    public init(name: ZoneName, owner: ReplicaID) {
        self.name = name
        self.owner = owner
    }

    /// As in “club@0123456789abcdef”.
    public var description: String { "\(name)@\(owner)" }

    public static func < (left: ZoneID, right: ZoneID) -> Bool {
        (left.name, left.owner) < (right.name, right.owner)
    }
}

/// What a machine lets another do in a zone.
public enum ZoneRights: Int64, Sendable, Hashable, Comparable {
    /// Nothing goes to it, and nothing of it is taken.
    case none = 0
    /// It gets the records; what it writes is refused.
    case read = 1
    /// It gets the records, and what it writes counts.
    case write = 2

    public static func < (left: ZoneRights, right: ZoneRights) -> Bool { left.rawValue < right.rawValue }
}

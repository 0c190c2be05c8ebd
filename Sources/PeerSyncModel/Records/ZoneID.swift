/// The identity of a zone on every machine: its name and the replica that made it. Two groups of machines may each have a zone
/// “club”; these are two zones.
public struct ZoneID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The most zones of a store, and so of a session.
    package static let maximumCount = 64

    /// The name that the zone got when it was made. A machine may call it otherwise.
    public let name: ZoneName
    /// The replica that made the zone.
    public let owner: ReplicaID

    /// Makes an id of its parts.
    ///
    /// - Parameters:
    ///   - name: see ``name``.
    ///   - owner: see ``owner``.
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

import PeerSyncModel

/// How it stands with a paired machine in a zone of this store.
public struct PeerZoneStatus: Sendable, Hashable {
    /// A stable name of what keeps a zone from a machine that may have it; later versions may add more.
    public struct Obstacle: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The machine has not said that it has the zone. It takes one up in a session only: mailboxes bring none.
        public static let notTakenUp = Obstacle(description: "notTakenUp")
        /// The machine lets this one do nothing in the zone any more, so it takes nothing either.
        public static let notShared = Obstacle(description: "notShared")
        /// The machine lets this one only read in the zone, so it takes no changes.
        public static let readOnly = Obstacle(description: "readOnly")
        /// The machine lets this one have the zone, which has it too, and nobody here has said what the machine may do in it.
        public static let notGranted = Obstacle(description: "notGranted")
    }

    /// The name of the machine here.
    public let peer: String
    /// The name of the zone here.
    public let zone: String
    /// What the machine may do in the zone.
    public let rights: ZoneRights
    /// The number of changed records that the machine has not acknowledged. What it has and this store lacks only that
    /// machine knows.
    public let pending: Int
    /// What this machine may do in the zone at that machine, as that one said last; nil if it never did.
    public let ownRights: ZoneRights?
    /// The time when both sides last found their digests of the zone equal, ISO 8601.
    public let lastSync: String?
    /// Whether it is the zone that all machines of a household have.
    let isDefault: Bool
    /// Whether ``rights`` are those that a machine has as long as nobody says otherwise.
    let isUndecided: Bool

    /// Why the machine does not get this machine's changes of the zone, however often the two sync; nil if nothing keeps them from it.
    public var obstacle: Obstacle? {
        guard rights != .none else {
            return isUndecided && (ownRights ?? .none) != .none ? .notGranted : nil
        }
        return switch ownRights {
        case nil: isDefault ? nil : .notTakenUp
        case .some(.none): .notShared
        case .read: .readOnly
        case .write: nil
        }
    }
}

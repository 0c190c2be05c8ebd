import PeerSyncModel

/// How it stands with a paired machine in a zone of this store.
public struct PeerZoneStatus: Sendable, Hashable {
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
}

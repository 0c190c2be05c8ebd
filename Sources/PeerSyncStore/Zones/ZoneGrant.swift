import PeerSyncModel

/// The rights of a peer in a zone of this store.
public struct ZoneGrant: Sendable, Hashable {
    /// The name of the zone here.
    public let zone: String
    /// What the peer may do there.
    public let rights: ZoneRights
}

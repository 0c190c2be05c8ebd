import SyncModel

/// What a peer may do in a zone here.
public struct ZoneGrant: Sendable, Hashable {
    /// The name of the zone here.
    public let zone: String
    public let rights: ZoneRights
}

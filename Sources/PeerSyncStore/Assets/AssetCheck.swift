import PeerSyncModel

/// The result of a check of every file.
public struct AssetCheck: Sendable, Hashable {
    /// The files that the check has read.
    public internal(set) var checked = AssetStatus.Count()
    /// Those of them whose bytes do not have the hash of their name. The check has put them aside, and they count as
    /// missing.
    public internal(set) var damaged: [AssetHash] = []
}

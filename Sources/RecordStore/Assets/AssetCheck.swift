import SyncModel

/// What a look at every file has found.
public struct AssetCheck: Sendable, Hashable {
    /// Files that were looked at.
    public internal(set) var checked = AssetStatus.Count()
    /// Those of which the bytes were not what their name says; they were put aside, and count as missing.
    public internal(set) var damaged: [AssetHash] = []
}

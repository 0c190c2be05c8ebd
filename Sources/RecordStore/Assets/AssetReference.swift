import SyncModel

/// A file that records refer to.
public struct AssetReference: Sendable, Hashable {
    public let hash: AssetHash
    /// In bytes.
    public let size: Int64
}

import PeerSyncModel

/// A file that records refer to.
public struct AssetReference: Sendable, Hashable {
    public let hash: AssetHash
    /// The size of the file in bytes.
    public let size: Int64
}

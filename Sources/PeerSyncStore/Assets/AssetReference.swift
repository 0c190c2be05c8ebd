import PeerSyncModel

/// A file that records refer to.
public struct AssetReference: Sendable, Hashable {
    /// The hash of the file's bytes.
    public let hash: AssetHash
    /// The size of the file in bytes.
    public let size: Int64
}

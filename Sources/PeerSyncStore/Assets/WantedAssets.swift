import PeerSyncModel

/// The files that the store wants and does not have.
package struct WantedAssets: Sendable {
    /// The wanted files with references after the given id, by the policy or by a wish.
    package var list: [AssetReference] = []
    /// The id to continue from.
    package var last: Int64 = 0
    package var policy = AssetPolicy.all
    package var wishes: Set<AssetHash> = []
    /// Changes when records drop files: the store may then want fewer files.
    package var lastLeftover: Int64 = 0

    package init() {}
}

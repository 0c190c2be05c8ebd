import SyncModel

/// What the store wants to have of files, and does not have.
package struct WantedAssets: Sendable {
    /// Those that came to be referred to after the id that was asked for, by the policy or by a wish.
    package var list: [AssetReference] = []
    /// Where to go on from.
    package var last: Int64 = 0
    package var policy = AssetPolicy.all
    package var wishes: Set<AssetHash> = []
    /// Changes when records have let go of files: then there may be fewer than there were.
    package var lastLeftover: Int64 = 0

    package init() {}
}

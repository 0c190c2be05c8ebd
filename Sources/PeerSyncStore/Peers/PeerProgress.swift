import PeerSyncModel

/// The progress of the exchange of one zone with one peer.
package struct PeerProgress: Sendable {
    /// The number up to which the peer has acknowledged our changes.
    package var acknowledgedSequence: Int64
    /// The token of the peer's changes that we hold; nil before the first.
    package var received: ChangeToken?
    /// The number of the peer's changes up to which this store may lack deletions although ``received`` covers them: the two
    /// compared everything, and no comparison tells deletions. 0 if it lacks none.
    package var comparedSequence: Int64 = 0
}

import PeerSyncModel

/// The progress of the exchange of one zone with one peer.
package struct PeerProgress: Sendable {
    /// The number up to which the peer has acknowledged our changes.
    package var acknowledgedSequence: Int64
    /// The token of the peer's changes that we hold; nil before the first.
    package var received: ChangeToken?
}

import SyncModel

/// How far the exchange of one zone with one peer has come.
package struct PeerProgress: Sendable {
    /// The peer has acknowledged our changes up to this number.
    package var acknowledgedSequence: Int64
    /// What we hold of the peer's changes; nil before the first.
    package var received: ChangeToken?
}

import PeerSyncChannel
import Synchronization

/// A code that somebody typed, for one attempt: each lets whoever answers try one code of its own, and nobody would see how often that
/// fails.
final class TypedCode: Sendable {
    let code: PairingCode
    /// Whether it also pairs with a machine that this one knows: with the rights and the introduction that the other side has in mind now.
    let pairsAnew: Bool
    let isSpent = Atomic(false)

    init(_ code: PairingCode, pairsAnew: Bool = false) {
        self.code = code
        self.pairsAnew = pairsAnew
    }
}

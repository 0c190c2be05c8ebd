import PeerSyncChannel
import Synchronization

/// A code that somebody typed, for one attempt: each lets whoever answers try one code of its own, and nobody would see how often that
/// fails.
final class TypedCode: Sendable {
    let code: PairingCode
    let isSpent = Atomic(false)

    init(_ code: PairingCode) {
        self.code = code
    }
}

import PeerSyncProtocol
import ServiceLifecycle
import Synchronization

/// One of the attempts that may run at a time. It ends once, whoever ends it.
final class Turn: Sendable {
    private let turns: AsyncSemaphore?
    private let hasEnded = Atomic(false)

    /// Waits for a turn to dial an address.
    ///
    /// - Parameter turns: nil without a limit.
    /// - Throws: ``PeerSyncError`` `interrupted` when this side gave up.
    init(of turns: AsyncSemaphore?, for address: PeerAddress) async throws {
        self.turns = turns
        do {
            try await cancelWhenGracefulShutdown { try await turns?.wait() }
        } catch {
            throw PeerSyncError(.interrupted, "stopped before a connection to \(address) was made")
        }
    }

    func end() {
        if !hasEnded.exchange(true, ordering: .relaxed) { turns?.signal() }
    }
}

import PeerSync
import Scorebook
import ServiceLifecycle

/// A listener that ends when somebody switches sync off, and begins anew when it is switched on again.
struct SwitchableListener: Service {
    private let listener: SyncListener
    private let scorebook: ScorebookStore

    init(_ listener: SyncListener, _ scorebook: ScorebookStore) {
        self.listener = listener
        self.scorebook = scorebook
    }

    /// Runs until the service group shuts down gracefully, or the listener fails.
    func run() async throws {
        while !Task.isShuttingDownGracefully {
            do {
                return try await listener.run()
            } catch let error as PeerSyncError where error.code == .switchedOff {
                await cancelWhenGracefulShutdown { await waitUntilOn() }
            }
            try Task.checkCancellation()
        }
    }

    private func waitUntilOn() async {
        // The first change comes at once, so it also sees what was switched meanwhile.
        for await _ in scorebook.changes() {
            if (try? await scorebook.records.settings.isSyncOn()) == true { return }
        }
    }
}

import RecordStore
import Synchronization

/// Tells sessions when somebody has changed what they go by: who is paired, who may do what, whether sync is on.
final class SettingsWatch: Sendable {
    /// Those that are told.
    let sessions = Registry<PeerSession>()

    /// How long it takes until it is looked again after a look that failed.
    private static let retryPause: Duration = .seconds(1)

    /// Watches until cancelled.
    ///
    /// - Throws: ``PeerSyncError`` `switchedOff` when sync is switched off, or was when this began.
    func run(_ store: RecordStore, _ watch: StoreWatch, _ trouble: StoreTrouble) async throws {
        let change = Signal()
        let observation = watch.observe { change.raise() }
        defer { withExtendedLifetime(observation) {} }
        var last: Int64?
        change.raise()
        for await _ in change {
            do {
                let settings = try await store.settings.current()
                trouble.succeeded(.settings)
                guard settings.version != last else { continue }
                let isFirst = last == nil
                last = settings.version
                if !isFirst || !settings.isSyncOn { await tellSessions() }
                guard settings.isSyncOn else { throw PeerSyncError.switchedOff }
            } catch let error as PeerSyncError {
                throw error
            } catch {
                guard !Task.isCancelled else { return }
                trouble.failed(.settings, because: error)
                // Nobody would say again that there was something to look at.
                guard (try? await Task.sleep(for: Self.retryPause)) != nil else { return }
                change.raise()
            }
        }
    }

    private func tellSessions() async {
        for session in sessions.elements { await session.settingsChanged() }
    }
}

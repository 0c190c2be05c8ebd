import RecordStore
import Synchronization

/// A watch that tells sessions when the settings that govern them have changed: who is paired, who may do what,
/// whether sync is on.
final class SettingsWatch: Sendable {
    /// The sessions to tell.
    let sessions = Registry<PeerSession>()

    /// The pause after a failed attempt to read the settings.
    private static let retryPause: Duration = .seconds(1)

    /// Watches until cancelled.
    ///
    /// - Throws: ``PeerSyncError`` `switchedOff` when sync is or becomes switched off.
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
                // No other signal would repeat that the settings may have changed.
                guard (try? await Task.sleep(for: Self.retryPause)) != nil else { return }
                change.raise()
            }
        }
    }

    private func tellSessions() async {
        for session in sessions.elements { await session.settingsChanged() }
    }
}

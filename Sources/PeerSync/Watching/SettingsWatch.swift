import PeerSyncStore
import Synchronization

/// A watch that tells others when the settings of sync have changed: who is paired and where, who may do what, whether
/// sync is on.
final class SettingsWatch: Sendable {
    /// Called after each change, and once when a watch begins.
    let observers = Registry<@Sendable () async -> Void>()

    /// The pause after a failed attempt to read the settings.
    static let retryPause: Duration = .seconds(1)

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
                last = settings.version
                // Also at first: an observer may have read older settings.
                for onChange in observers.elements { await onChange() }
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
}

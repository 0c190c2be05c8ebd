import PeerSyncStore
import Synchronization

/// The notices to those who observe the database with GRDB that other connections have written. All watches of an engine share them.
///
/// The first watch of an engine tells them, too: they may have begun before the store was opened.
final class OthersWritesNotices: Sendable {
    /// The time between two notices: each of them costs a reading of all that is observed.
    private static let pause: Duration = .milliseconds(200)

    private struct State {
        /// The greatest version of the database that a watch has found.
        var found: Int64?
        /// The version that observers were told of.
        var told: Int64?
        var lastNotice = ContinuousClock.now - pause

        var isDue: Bool { found != told }
    }

    private let store: RecordStore
    private let state = Mutex(State())
    private let turn = AsyncSemaphore(1)

    init(_ store: RecordStore) {
        self.store = store
    }

    /// Notes the version of the database that a watch has found.
    ///
    /// - Returns: whether observers have to be told of it.
    func areDue(at version: Int64) -> Bool {
        state.withLock { state in
            // Watches look at the same time, and what one of them found first may come last.
            state.found = max(state.found ?? version, version)
            return state.isDue
        }
    }

    /// Tells the observers, unless they were told of the version that was found last. If that fails, they are still to be told.
    ///
    /// - Throws: `CancellationError`; errors of SQLite.
    func tell() async throws {
        try await turn.wait()
        defer { turn.signal() }
        guard let last = state.withLock({ $0.isDue ? $0.lastNotice : nil }) else { return }
        try await Task.sleep(until: last + Self.pause, clock: .continuous)
        let version = state.withLock { $0.found }
        try await store.tellOthersWrites()
        state.withLock { state in
            state.told = version
            state.lastNotice = .now
        }
    }
}

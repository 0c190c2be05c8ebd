import RecordStore
import Synchronization

/// Tells sessions when somebody has changed what they go by: who is paired, who may do what, whether sync is on.
final class SettingsWatch: Sendable {
    private let sessions = Mutex<[ObjectIdentifier: PeerSession]>([:])

    /// Runs `body` while a session is told.
    func run<Value>(_ session: PeerSession, _ body: () async throws -> Value) async rethrows -> Value {
        sessions.withLock { $0[ObjectIdentifier(session)] = session }
        defer { sessions.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(session)) } }
        return try await body()
    }

    /// Watches until cancelled.
    ///
    /// - Throws: ``PeerSyncError`` `switchedOff` when sync is switched off, or was when this began.
    func run(_ store: RecordStore, _ watch: StoreWatch) async throws {
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let observation = watch.observe { change.yield() }
        defer { withExtendedLifetime(observation) {} }
        var last = try await check(store)
        for await _ in changes {
            let version = try await check(store)
            guard version != last else { continue }
            last = version
            for session in sessions.withLock({ Array($0.values) }) { await session.settingsChanged() }
        }
    }

    private func check(_ store: RecordStore) async throws -> Int64 {
        let settings = try await store.settings()
        guard settings.isSyncOn else {
            for session in sessions.withLock({ Array($0.values) }) { await session.settingsChanged() }
            throw PeerSyncError.switchedOff
        }
        return settings.version
    }
}

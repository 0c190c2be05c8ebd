import Synchronization

/// The running sessions, so that one call can end them all.
final class SessionSet: Sendable {
    private struct State {
        var sessions: [ObjectIdentifier: PeerSession] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())

    /// Runs `body` while the session is in the set.
    func run<Value>(_ session: PeerSession, _ body: () async throws -> Value) async rethrows -> Value {
        let isStopping = state.withLock { state in
            state.sessions[ObjectIdentifier(session)] = session
            return state.isStopping
        }
        if isStopping { session.stop() }
        defer { state.withLock { _ = $0.sessions.removeValue(forKey: ObjectIdentifier(session)) } }
        return try await body()
    }

    /// Ends all sessions, and all that begin from now on.
    func stopAll() {
        let sessions = state.withLock { state in
            state.isStopping = true
            return Array(state.sessions.values)
        }
        for session in sessions { session.stop() }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Waits for the sessions to end. Each ends by itself soon after ``stopAll()``.
    func waitUntilEmpty() async throws {
        while state.withLock({ !$0.sessions.isEmpty }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}

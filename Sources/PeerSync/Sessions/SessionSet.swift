import Synchronization

/// The running sessions, so that one call can end them all.
final class SessionSet: Sendable {
    private struct State {
        var sessions: [ObjectIdentifier: PeerSession] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())
    private let waiters = Registry<Signal>()

    /// Runs `body` while the session is in the set.
    func run<Value>(_ session: PeerSession, _ body: () async throws -> Value) async rethrows -> Value {
        let isStopping = state.withLock { state in
            state.sessions[ObjectIdentifier(session)] = session
            return state.isStopping
        }
        if isStopping { session.stop() }
        defer { remove(session) }
        return try await body()
    }

    private func remove(_ session: PeerSession) {
        let isEmpty = state.withLock { state in
            state.sessions[ObjectIdentifier(session)] = nil
            return state.sessions.isEmpty
        }
        guard isEmpty else { return }
        for waiter in waiters.elements { waiter.raise() }
    }

    /// Lets sessions begin again after ``stopAll()``.
    func begin() { state.withLock { $0.isStopping = false } }

    /// Ends all sessions, and all that begin before the next ``begin()``.
    func stopAll() {
        let sessions = state.withLock { state in
            state.isStopping = true
            return Array(state.sessions.values)
        }
        for session in sessions { session.stop() }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Waits until there are no sessions, or until cancelled. Each ends by itself soon after ``stopAll()``.
    func waitUntilEmpty() async {
        let emptied = Signal()
        let membership = waiters.add(emptied)
        defer { membership.end() }
        while state.withLock({ !$0.sessions.isEmpty }), await emptied.wait() {}
    }
}

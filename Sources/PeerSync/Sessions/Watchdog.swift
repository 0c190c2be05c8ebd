import NIOCore
import SyncProtocol
import Synchronization

/// Closes a connection when what is expected of the other side does not come in time, or when it does not take what it is
/// sent.
final class Watchdog: Sendable {
    /// What the other side did not do.
    enum Cause: Sendable {
        /// It was silent.
        case silence
        /// It did not read.
        case blockage
    }

    /// What the connection is waited for, and until when.
    struct Vigil: Sendable {
        private enum Phase {
            /// The next thing has to come.
            case expecting(ContinuousClock.Instant)
            /// The session has said its last words. Nothing that still goes on in it moves this deadline.
            case leaving(ContinuousClock.Instant)
        }

        private var phase: Phase
        private var writeDeadline: ContinuousClock.Instant?

        init(expectingBy deadline: ContinuousClock.Instant) {
            phase = .expecting(deadline)
        }

        mutating func expect(by deadline: ContinuousClock.Instant) {
            if case .expecting = phase { phase = .expecting(deadline) }
        }

        mutating func leave(by deadline: ContinuousClock.Instant) {
            if case .expecting = phase { phase = .leaving(deadline) }
        }

        mutating func beginWriting(by deadline: ContinuousClock.Instant) { writeDeadline = deadline }

        mutating func endWriting() { writeDeadline = nil }

        private var deadline: ContinuousClock.Instant {
            switch phase {
            case .expecting(let deadline), .leaving(let deadline): deadline
            }
        }

        /// When to look again.
        var next: ContinuousClock.Instant { writeDeadline.map { min($0, deadline) } ?? deadline }

        /// Why the connection is to be closed, if it is.
        func cause(at now: ContinuousClock.Instant) -> Cause? {
            guard next <= now else { return nil }
            return deadline <= now ? .silence : .blockage
        }
    }

    private struct State {
        var vigil: Vigil
        var cause: Cause?
        /// What was waited for last.
        var timeout: Session.Timeout?
    }

    private let channel: any Channel
    private let writeLimit: Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - time: within which the first thing has to come.
    ///   - writeLimit: within which the connection has to take what is written at a time.
    init(_ channel: any Channel, within time: Duration, writing writeLimit: Duration) {
        self.channel = channel
        self.writeLimit = writeLimit
        state = Mutex(State(vigil: Vigil(expectingBy: .now + time)))
    }

    /// Why it was this that closed the connection, if it was.
    var cause: Cause? { state.withLock { $0.cause } }

    /// Whether it was this that closed the connection.
    var hasFired: Bool { cause != nil }

    /// Waits for what a session waits for.
    ///
    /// - Parameters:
    ///   - time: how long, from the moment on at which it began to.
    ///   - isNew: it begins to now, because something has come. Only silence is measured from then on; all that comes before
    ///     has to be done in one time.
    func watch(_ timeout: Session.Timeout, within time: Duration, isNew: Bool) {
        state.withLock { state in
            let deadline = ContinuousClock.now + time
            if timeout == .farewell {
                state.vigil.leave(by: deadline)
            } else if timeout != state.timeout || (isNew && timeout == .silence) {
                state.vigil.expect(by: deadline)
            }
            state.timeout = timeout
        }
    }

    /// From now on, the next thing has to come within `time`; once the session has said its last words, this changes nothing.
    func expect(within time: Duration) {
        state.withLock { $0.vigil.expect(by: .now + time) }
    }

    /// Writes something, which has to be taken in time.
    func writing(_ body: () async throws -> Void) async throws {
        state.withLock { $0.vigil.beginWriting(by: .now + writeLimit) }
        defer { state.withLock { $0.vigil.endWriting() } }
        try await body()
    }

    /// Watches until cancelled, or until it has closed the connection.
    func run() async {
        while !Task.isCancelled {
            let now = ContinuousClock.now
            let (next, cause) = state.withLock { state in
                state.cause = state.vigil.cause(at: now)
                return (state.vigil.next, state.cause)
            }
            guard cause == nil else { return channel.close(promise: nil) }
            // Deadlines move; looking again soon is cheaper than waking for each move.
            let pause = min(next - now, .milliseconds(500))
            try? await Task.sleep(for: pause)
        }
    }
}

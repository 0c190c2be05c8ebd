import NIOCore
import PeerSyncProtocol
import Synchronization

/// A watchdog that closes a connection when an expected message does not come in time, or when the other side does not
/// read in time.
final class Watchdog: Sendable {
    /// What the other side failed to do.
    enum Cause: Sendable {
        /// It sent nothing.
        case silence
        /// It did not read.
        case blockage
    }

    /// The deadlines of a connection.
    struct Vigil: Sendable {
        private enum Phase {
            /// The next message has to come.
            case expecting(ContinuousClock.Instant)
            /// The session has said its last words. Whatever still runs in it cannot move this deadline.
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

        /// Brings the deadline forward, unless this side's own work has moved it beyond `limit`.
        mutating func hasten(
            to deadline: ContinuousClock.Instant, unlessBeyond limit: ContinuousClock.Instant
        ) {
            guard case .expecting(let current) = phase, current > deadline, current <= limit else { return }
            phase = .expecting(deadline)
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

        /// When to check again.
        var next: ContinuousClock.Instant { writeDeadline.map { min($0, deadline) } ?? deadline }

        /// Why the connection must close now, if it must.
        func cause(at now: ContinuousClock.Instant) -> Cause? {
            guard next <= now else { return nil }
            return deadline <= now ? .silence : .blockage
        }
    }

    private struct State {
        var vigil: Vigil
        var cause: Cause?
        /// What the session last waited for.
        var timeout: Session.Timeout?
    }

    private let channel: any Channel
    private let writeLimit: Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - time: the time within which the first message has to come.
    ///   - writeLimit: the time within which the connection has to take each write.
    init(_ channel: any Channel, within time: Duration, writing writeLimit: Duration) {
        self.channel = channel
        self.writeLimit = writeLimit
        state = Mutex(State(vigil: Vigil(expectingBy: .now + time)))
    }

    /// Why the watchdog closed the connection, if it did.
    var cause: Cause? { state.withLock { $0.cause } }

    /// Whether the watchdog closed the connection.
    var hasFired: Bool { cause != nil }

    /// What the session waits for, as it has said last.
    var awaited: Session.Timeout? { state.withLock { $0.timeout } }

    /// When the connection closes if nothing happens until then.
    var next: ContinuousClock.Instant { state.withLock { $0.vigil.next } }

    /// Sets the deadline of what the session waits for.
    ///
    /// - Parameters:
    ///   - time: the time from the beginning of the wait.
    ///   - isNew: whether the wait begins now, because something has come. Only silence begins anew with each message;
    ///     pairing, greeting and the like have one deadline for the whole.
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

    /// Gives the next message a new deadline, unless the session has said its last words.
    func expect(within time: Duration) {
        state.withLock { $0.vigil.expect(by: .now + time) }
    }

    /// Brings the deadline of the next message forward; it moves back when something comes.
    ///
    /// - Parameter silence: the time that the next message usually has.
    func hasten(to time: Duration, from silence: Duration) {
        let now = ContinuousClock.now
        state.withLock { $0.vigil.hasten(to: now + time, unlessBeyond: now + silence) }
    }

    /// Writes something that the connection has to take within the write limit.
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
            // Deadlines move, and polling often costs less than waking for each move.
            let pause = min(next - now, .milliseconds(500))
            try? await Task.sleep(for: pause)
        }
    }
}

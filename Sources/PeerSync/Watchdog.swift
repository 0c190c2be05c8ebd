import NIOCore
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

    private struct State {
        var deadline: ContinuousClock.Instant
        /// While something waits to be written.
        var writeDeadline: ContinuousClock.Instant?
        var cause: Cause?

        var next: ContinuousClock.Instant { writeDeadline.map { min($0, deadline) } ?? deadline }
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
        state = Mutex(State(deadline: .now + time))
    }

    /// Why it was this that closed the connection, if it was.
    var cause: Cause? { state.withLock { $0.cause } }

    /// Whether it was this that closed the connection.
    var hasFired: Bool { cause != nil }

    /// From now on, the next thing has to come within `time`.
    func expect(within time: Duration) {
        state.withLock { $0.deadline = .now + time }
    }

    /// Writes something, which has to be taken in time.
    func writing(_ body: () async throws -> Void) async throws {
        state.withLock { $0.writeDeadline = .now + writeLimit }
        defer { state.withLock { $0.writeDeadline = nil } }
        try await body()
    }

    /// Watches until cancelled, or until it has closed the connection.
    func run() async {
        while !Task.isCancelled {
            let next = state.withLock { state in
                if state.next <= .now { state.cause = state.deadline <= .now ? .silence : .blockage }
                return state.next
            }
            guard !hasFired else { return channel.close(promise: nil) }
            // Deadlines move; looking again soon is cheaper than waking for each move.
            let pause = min(next - .now, .milliseconds(500))
            try? await Task.sleep(for: pause)
        }
    }
}

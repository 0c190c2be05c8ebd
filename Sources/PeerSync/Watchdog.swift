import NIOCore
import Synchronization

/// Closes a connection when what is expected of the other side does not come in time.
final class Watchdog: Sendable {
    private struct State {
        var deadline: ContinuousClock.Instant
        var hasFired = false
    }

    private let channel: any Channel
    private let state: Mutex<State>

    init(_ channel: any Channel, within time: Duration) {
        self.channel = channel
        state = Mutex(State(deadline: .now + time))
    }

    /// Whether it was this that closed the connection.
    var hasFired: Bool { state.withLock { $0.hasFired } }

    /// From now on, the next thing has to come within `time`.
    func expect(within time: Duration) {
        state.withLock { $0.deadline = .now + time }
    }

    /// Watches until cancelled, or until it has closed the connection.
    func run() async {
        while !Task.isCancelled {
            let deadline = state.withLock { $0.deadline }
            if deadline <= .now {
                state.withLock { $0.hasFired = true }
                channel.close(promise: nil)
                return
            }
            // Deadlines move; looking again soon is cheaper than waking for each move.
            let pause = min(deadline - .now, .milliseconds(500))
            try? await Task.sleep(for: pause)
        }
    }
}

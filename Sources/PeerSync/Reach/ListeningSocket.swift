import NIOCore
import Synchronization

/// The socket of a listener: the listener may have to end before it has one, or while it waits for its port.
final class ListeningSocket: Sendable {
    private enum State {
        case missing
        case open(any Channel)
        case closed
    }

    private let state = Mutex(State.missing)
    private let pause = Pause()

    /// The channel that takes connections now.
    var channel: (any Channel)? {
        state.withLock { state in
            guard case .open(let channel) = state, channel.isActive else { return nil }
            return channel
        }
    }

    /// The port on which it takes connections now.
    var port: Int? { channel?.localAddress?.port }

    /// - Returns: false when the listener has to end; the caller closes the channel then.
    func open(_ channel: any Channel) -> Bool { enter(.open(channel)) }

    /// Pauses before the next attempt.
    ///
    /// - Returns: false, at once, when the listener has to end or the task is cancelled.
    func wait(_ duration: Duration) async -> Bool {
        guard enter(.missing) else { return false }
        await pause.sleep(duration)
        return !Task.isCancelled && enter(.missing)
    }

    /// Ends the listener.
    func close() {
        let last = state.withLock { state in
            defer { state = .closed }
            return state
        }
        if case .open(let channel) = last { channel.close(promise: nil) }
        pause.hurry()
    }

    private func enter(_ new: State) -> Bool {
        state.withLock { state in
            if case .closed = state { return false }
            state = new
            return true
        }
    }
}

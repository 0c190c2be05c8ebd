import NIOCore
import Synchronization

/// The socket of a listener: the listener may have to end before it has one, or while it waits for its port.
final class ListeningSocket: Sendable {
    private enum State {
        case missing
        case open(any Channel)
        case waiting(Task<Void, Never>)
        case closed
    }

    private let state = Mutex(State.missing)

    /// The port on which it takes connections now.
    var port: Int? {
        state.withLock { state in
            guard case .open(let channel) = state, channel.isActive else { return nil }
            return channel.localAddress?.port
        }
    }

    /// - Returns: false when the listener has to end; the caller closes the channel then.
    func open(_ channel: any Channel) -> Bool { enter(.open(channel)) }

    /// Pauses before the next attempt.
    ///
    /// - Returns: false, at once, when the listener has to end or the task is cancelled.
    func wait(_ duration: Duration) async -> Bool {
        let pause = Task { _ = try? await Task.sleep(for: duration) }
        guard enter(.waiting(pause)) else { return false }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        return !Task.isCancelled && enter(.missing)
    }

    /// Ends the listener.
    func close() {
        let last = state.withLock { state in
            defer { state = .closed }
            return state
        }
        switch last {
        case .open(let channel): channel.close(promise: nil)
        case .waiting(let pause): pause.cancel()
        case .missing, .closed: break
        }
    }

    private func enter(_ new: State) -> Bool {
        state.withLock { state in
            if case .closed = state { return false }
            state = new
            return true
        }
    }
}

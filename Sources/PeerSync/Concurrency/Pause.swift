import Synchronization

/// The pauses of one task, which others may cut short.
package final class Pause: Sendable {
    private enum State {
        case awake
        /// Somebody hurried while the task was awake: the next pause is over at once.
        case hurried
        case asleep(Task<Void, Never>)
    }

    private let state = Mutex(State.awake)

    package init() {}

    /// Sleeps until the end of the time, until ``hurry()``, or until the task is cancelled.
    package func sleep(_ time: Duration) async {
        let sleep = Task { _ = try? await Task.sleep(for: time) }
        let isHurried = state.withLock { state in
            if case .hurried = state {
                state = .awake
                return true
            }
            state = .asleep(sleep)
            return false
        }
        if isHurried { sleep.cancel() }
        await withTaskCancellationHandler {
            await sleep.value
        } onCancel: {
            sleep.cancel()
        }
        state.withLock { state in
            if case .asleep = state { state = .awake }
        }
    }

    /// Ends the pause of this moment, or the next one.
    package func hurry() {
        let sleep = state.withLock { state -> Task<Void, Never>? in
            guard case .asleep(let sleep) = state else {
                state = .hurried
                return nil
            }
            state = .awake
            return sleep
        }
        sleep?.cancel()
    }
}

import Synchronization

/// A counting semaphore for tasks, which wait in line for a turn.
package final class AsyncSemaphore: Sendable {
    private struct State {
        var free: Int
        var line: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastNumber = 0
    }

    private let state: Mutex<State>

    package init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// How many tasks wait in line.
    var waiting: Int { state.withLock { $0.line.count } }

    /// Waits for a turn.
    ///
    /// - Throws: `CancellationError`; the task has no turn then.
    package func wait() async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isTurn = state.withLock { state in
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.line.append((number, continuation))
                    return false
                }
                if isTurn { continuation.resume() }
                // A cancellation before the task stood in line could not remove it from there.
                if !isTurn, Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Ends a turn, which another task may have begun.
    package func signal() {
        let next = state.withLock { state in
            guard state.line.isEmpty else {
                return state.line.removeFirst().continuation as CheckedContinuation?
            }
            state.free += 1
            return nil
        }
        next?.resume()
    }

    private func leave(_ number: Int) {
        let continuation = state.withLock { state in
            state.line.firstIndex { $0.number == number }.map { state.line.remove(at: $0).continuation }
        }
        continuation?.resume(throwing: CancellationError())
    }
}

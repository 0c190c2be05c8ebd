import Synchronization

/// Lets so many tasks do something at a time; the others wait in line.
final class AsyncSemaphore: Sendable {
    private struct State {
        var free: Int
        var line: [(number: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var lastNumber = 0
    }

    private let state: Mutex<State>

    init(_ count: Int) {
        state = Mutex(State(free: count))
    }

    /// How many wait in line.
    var waiting: Int { state.withLock { $0.line.count } }

    /// Waits for a turn.
    ///
    /// - Throws: `CancellationError`, and then no turn was taken.
    func wait() async throws {
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
                // Whoever cancelled before this stood in the line has not found it there.
                if !isTurn, Task.isCancelled { leave(number) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Ends a turn, which may be that of another task.
    func signal() {
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

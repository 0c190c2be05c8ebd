import Synchronization

/// The outcome that one of several tasks delivers first. The others learn that they are too late.
package final class FirstOutcome<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
    }

    private let state = Mutex(State.open)

    package init() {}

    /// Whether there is an outcome: another one comes too late.
    package var isSettled: Bool {
        state.withLock { state in
            if case .settled = state { true } else { false }
        }
    }

    /// - Returns: false when another task has settled it before.
    @discardableResult
    package func settle(_ result: Result<Value, any Error>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            switch state {
            case .settled: return (false, nil as CheckedContinuation<Value, any Error>?)
            case .open:
                state = .settled(result)
                return (true, nil)
            case .awaited(let continuation):
                state = .settled(result)
                return (true, continuation)
            }
        }
        continuation?.resume(with: result)
        return isFirst
    }

    /// Waits for the outcome, which is a `CancellationError` when the waiting task is cancelled first. Only one task
    /// may wait.
    package var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let result = state.withLock { state in
                        if case .settled(let result) = state { return result as Result<Value, any Error>? }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let result { continuation.resume(with: result) }
                }
            } onCancel: {
                settle(.failure(CancellationError()))
            }
        }
    }
}

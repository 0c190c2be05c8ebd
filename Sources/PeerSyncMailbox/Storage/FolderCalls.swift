import PeerSync
import PeerSyncStore
import Synchronization

/// The calls of the system for one folder. On a network drive whose server is off, one may go on for as long as it likes, and nobody can
/// end it. All that use one folder in this program share them.
final class FolderCalls: Sendable {
    private struct State {
        var lastNumber = 0
        /// Until when somebody waits for each call that goes on.
        var limits: [Int: ContinuousClock.Instant] = [:]
    }

    private static let all = Mutex<[String: FolderCalls]>([:])

    private let state = Mutex(State())

    private init() {}

    /// The calls for the folder at a path. They stay as long as the program: it uses few folders.
    static func of(_ path: String) -> FolderCalls {
        all.withLock { all -> FolderCalls in
            if let calls = all[path] { return calls }
            let calls = FolderCalls()
            all[path] = calls
            return calls
        }
    }

    /// Makes calls on a thread of their own. When the time is over, or the task is cancelled, they go on, and nobody waits for them.
    ///
    /// `body` gets a function that throws when nobody waits for it, and calls that before it changes what others see: whoever has given it up
    /// may have put something newer there.
    ///
    /// While some go on whose time is over, this makes no others: each time would take a thread more.
    ///
    /// - Throws: `error` when the time is over; `CancellationError`; what `body` throws.
    func run<Value: Sendable>(
        within limit: Duration, else error: MailboxError,
        _ body: @escaping @Sendable (_ checkAwaited: () throws -> Void) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        guard let number = begin(within: limit) else { throw error }
        let outcome = FirstOutcome<Value>()
        Task {
            try? await blocking { [self] in
                let result: Result<Value, any Error> = Result {
                    try body { guard !outcome.isSettled else { throw CancellationError() } }
                }
                end(number)
                outcome.settle(result)
            }
        }
        let clock = Task {
            try await Task.sleep(for: limit)
            outcome.settle(.failure(error))
        }
        defer { clock.cancel() }
        return try await outcome.value
    }

    /// - Returns: nil while calls go on whose time is over.
    private func begin(within limit: Duration) -> Int? {
        let now = ContinuousClock.now
        return state.withLock { state -> Int? in
            guard state.limits.values.allSatisfy({ $0 > now }) else { return nil }
            state.lastNumber += 1
            state.limits[state.lastNumber] = now + limit
            return state.lastNumber
        }
    }

    private func end(_ number: Int) {
        _ = state.withLock { $0.limits.removeValue(forKey: number) }
    }
}

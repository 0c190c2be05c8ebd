import Synchronization

/// Knows whether the code of the app writes in the open transaction. The database has one writer at a time.
final class OwnWrites: Sendable {
    private let state = Atomic(false)

    var isRunning: Bool { state.load(ordering: .acquiring) }

    func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        state.store(true, ordering: .releasing)
        defer { state.store(false, ordering: .releasing) }
        return try body()
    }
}

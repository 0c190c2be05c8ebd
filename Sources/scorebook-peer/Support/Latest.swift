import Synchronization

/// The last value from an event, kept until the work is over.
final class Latest<Value: Sendable>: Sendable {
    private let state = Mutex<Value?>(nil)

    var value: Value? { state.withLock { $0 } }

    func set(_ value: Value) { state.withLock { $0 = value } }
}

import Synchronization

/// The channel that hands events to the app one at a time, from whichever task.
///
/// The sender goes on only after the app has taken the event. So when one task sends an event and then starts another
/// task, the app gets that event before any event of the other task.
final class EventChannel: Sendable {
    private let handler: Mutex<@Sendable (SyncEvent) -> Void>

    init(_ handler: @escaping @Sendable (SyncEvent) -> Void) {
        self.handler = Mutex(handler)
    }

    func send(_ event: SyncEvent) {
        handler.withLock { $0(event) }
    }
}

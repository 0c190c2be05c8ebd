import Synchronization

/// Hands events to the app one at a time, whichever task they come from.
///
/// Whoever sends an event goes on when the app has taken it. So what one task tells before another begins comes before
/// what that other tells.
final class EventChannel: Sendable {
    private let handler: Mutex<@Sendable (SyncEvent) -> Void>

    init(_ handler: @escaping @Sendable (SyncEvent) -> Void) {
        self.handler = Mutex(handler)
    }

    func send(_ event: SyncEvent) {
        handler.withLock { $0(event) }
    }
}

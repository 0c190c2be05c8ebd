import Synchronization

/// The channel that hands events to the app one at a time, from whichever task, and to readers of streams.
///
/// The sender goes on only after the app has taken the event. So when one task sends an event and then starts another
/// task, the app gets that event before any event of the other task.
final class EventChannel: Sendable {
    /// The most events that wait for a reader. A reader that is slower misses the oldest.
    static let bufferSize = 1000

    private let handler: Mutex<@Sendable (SyncEvent) -> Void>
    private let readers = Registry<AsyncStream<SyncEvent>.Continuation>()

    init(_ handler: @escaping @Sendable (SyncEvent) -> Void) {
        self.handler = Mutex(handler)
    }

    deinit { for reader in readers.elements { reader.finish() } }

    func send(_ event: SyncEvent) {
        handler.withLock { handler in
            handler(event)
            for reader in readers.elements { reader.yield(event) }
        }
    }

    /// Returns a stream of the events from now on.
    func stream() -> AsyncStream<SyncEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferSize))
        let membership = readers.add(continuation)
        continuation.onTermination = { _ in membership.end() }
        return stream
    }
}

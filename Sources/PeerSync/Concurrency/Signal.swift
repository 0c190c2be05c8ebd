/// A signal that wakes the one task that waits, or that waits next. Several signals before it waits count as one.
///
/// ```swift
/// for await _ in signal { lookForWork() }
/// ```
package struct Signal: AsyncSequence, Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    package init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the task.
    package func raise() { continuation.yield() }

    /// Lets the task end after the last signal.
    package func finish() { continuation.finish() }

    /// Waits for a signal. Only one task may wait at a time.
    ///
    /// - Returns: false after ``finish()``, or when the task is cancelled.
    func wait() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }

    package func makeAsyncIterator() -> AsyncStream<Void>.Iterator { stream.makeAsyncIterator() }
}

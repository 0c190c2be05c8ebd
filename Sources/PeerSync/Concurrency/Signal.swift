/// Wakes one task that waits, or will wait next. Several signals before it looks are one.
///
/// ```swift
/// for await _ in signal { lookForWork() }
/// ```
struct Signal: AsyncSequence, Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Wakes the task.
    func raise() { continuation.yield() }

    /// Lets the task end, after the last signal.
    func finish() { continuation.finish() }

    /// Waits for a signal, for one task at a time.
    ///
    /// - Returns: false after ``finish()``, and when the task is cancelled.
    func wait() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }

    func makeAsyncIterator() -> AsyncStream<Void>.Iterator { stream.makeAsyncIterator() }
}

import NIOCore
import SyncProtocol
import Synchronization

/// The messages of one session that wait to be sent, in order.
///
/// Putting a message in never waits, so that a side that is reading never stops reading because it has to answer:
/// two sides that both did would wait for each other for ever. What bounds it is the protocol: batches by the
/// window, acknowledgements by the batches of the other side's window, the rest by ``limit``.
final class Outbox: Sendable {
    /// More messages than this are only waiting when the other side asks and does not read.
    static let limit = 1024

    private let stream: AsyncStream<Message>
    private let continuation: AsyncStream<Message>.Continuation
    private let waiting = Mutex(0)

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func send(_ message: Message) throws(ProtocolError) {
        let count = waiting.withLock { count in
            count += 1
            return count
        }
        // The message that says so has to get out.
        if case .error = message {
        } else if count > Self.limit {
            throw ProtocolError(.timeout, "the other side asks for more than it reads")
        }
        continuation.yield(message)
    }

    /// Lets the writer end once everything that was put in is written.
    func finish() {
        continuation.finish()
    }

    /// Writes until the outbox is finished and empty, or the connection breaks.
    func drain(
        into outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, writer: consuming MessageWriter,
        counting statistics: StatisticsCounter
    ) async {
        for await message in stream {
            waiting.withLock { $0 -= 1 }
            do {
                let frames = try writer.frames([message])
                statistics.update { $0.bytesSent += frames.readableBytes }
                try await outbound.write(frames)
            } catch {
                // The reading side finds the same connection broken, and says so.
                return
            }
        }
    }
}

/// The numbers of a session, counted by its tasks.
final class StatisticsCounter: Sendable {
    private let statistics = Mutex(SessionStatistics())
    private let start = ContinuousClock.now
    private let metrics: SyncMetrics

    init(_ metrics: SyncMetrics) {
        self.metrics = metrics
    }

    func update(_ change: (inout SessionStatistics) -> Void) {
        statistics.withLock { statistics in
            let before = statistics
            change(&statistics)
            metrics.moved(since: before, statistics)
        }
    }

    var current: SessionStatistics {
        var current = statistics.withLock { $0 }
        let elapsed = ContinuousClock.now - start
        current.seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
        return current
    }
}

import NIOCore
import SyncProtocol
import Synchronization

/// The messages of one session that wait to be sent, in order; pieces of files wait in a line of their own, and go only
/// when nothing else does.
///
/// Putting a message in never waits, so that a side that is reading never stops reading because it has to answer:
/// two sides that both did would wait for each other for ever. What bounds it is the protocol: batches by the
/// window, acknowledgements by the batches of the other side's window, the rest by ``limit`` and ``byteLimit``. Batches are
/// read only when it is their turn, and pieces of files when there is room for them: ``sendWhenIdle(_:)`` waits.
package final class Outbox: Sendable {
    /// More messages than this are only waiting when the other side asks and does not read.
    static let limit = 1024
    /// More bytes than these, as they are in memory and about, without batches, wait for the same reason only.
    static let byteLimit = 32 << 20
    /// So many batches are read, waiting and being written, over all zones, so that the next one is there when the last one
    /// has gone. Whoever reads one takes a turn first; it ends when the batch is written.
    let batches = AsyncSemaphore(2)
    /// So many pieces of files wait, so that the next one is there when the last one has gone.
    private static let pieces = 2

    private struct State {
        var messages = CircularBuffer<Message>()
        /// What they take in memory, about.
        var byteCount = 0
        var pieces = CircularBuffer<Message>()
        var isFinished = false
    }

    private let state = Mutex(State())
    private let signal = Signal()
    private let room = Signal()

    package init() {}

    package func send(_ message: Message) throws(ProtocolError) {
        // The message that says so has to get out.
        let isLast = if case .error = message { true } else { false }
        let isIn = state.withLock { state in
            guard !state.isFinished else { return true }
            let byteCount = state.byteCount + message.byteCountInMemory
            guard isLast || (state.messages.count < Self.limit && byteCount <= Self.byteLimit) else {
                return false
            }
            state.messages.append(message)
            state.byteCount = byteCount
            return true
        }
        guard isIn else { throw ProtocolError(.timeout, "the other side asks for more than it reads") }
        signal.raise()
    }

    /// Puts a piece of a file in, when there is room for one; for one task only.
    ///
    /// - Returns: false if it is not going to be written, because the session ends.
    @discardableResult
    func sendWhenIdle(_ message: Message) async -> Bool {
        while true {
            let isIn: Bool? = state.withLock { state in
                if state.isFinished { return false }
                guard state.pieces.count < Self.pieces else { return nil }
                state.pieces.append(message)
                return true
            }
            if isIn == true { signal.raise() }
            if let isIn { return isIn }
            guard await room.wait() else { return false }
        }
    }

    /// Lets the writer end once every message that was put in is written; pieces of files that wait are dropped.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            state.pieces.removeAll()
        }
        signal.raise()
        room.raise()
    }

    package enum Next {
        case message(Message)
        case nothing
        case end
    }

    /// The next message to write.
    package func next() -> Next {
        state.withLock { state in
            if let message = state.messages.popFirst() {
                state.byteCount -= message.byteCountInMemory
                return .message(message)
            }
            if let piece = state.pieces.popFirst() {
                room.raise()
                return .message(piece)
            }
            return state.isFinished ? .end : .nothing
        }
    }

    /// Writes until the outbox is finished and empty, or the connection breaks.
    ///
    /// - Throws: what the cipher says of a message that it cannot seal.
    func drain(
        into outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, writer: consuming MessageEncoder,
        counting statistics: StatisticsCounter, watchdog: Watchdog
    ) async throws {
        for await _ in signal {
            loop: while true {
                switch next() {
                case .message(let message):
                    writer.begin(message)
                    // One frame at a time: each that is taken shows that the other side goes on reading.
                    while let frame = try writer.nextFrame() {
                        statistics.update { $0.bytesSent += frame.readableBytes }
                        do {
                            try await watchdog.writing { try await outbound.write(frame) }
                        } catch {
                            // The reading side finds the same connection broken, and says so.
                            return
                        }
                    }
                    switch message {
                    case .batch: batches.signal()
                    case .assetChunk(let chunk):
                        statistics.update { $0.assetBytesSent += Int64(chunk.bytes.readableBytes) }
                    default: break
                    }
                case .nothing: break loop
                case .end: return
                }
            }
        }
    }
}

extension Message {
    /// What the message takes in memory while it waits, about; batches are counted otherwise.
    fileprivate var byteCountInMemory: Int {
        switch self {
        case .reconcile(let step): 256 + step.payload.count + step.wanted.count * 40
        case .refuse(let refuse): refuse.names.reduce(256) { $0 + $1.description.utf8.count + 64 }
        default: 256
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

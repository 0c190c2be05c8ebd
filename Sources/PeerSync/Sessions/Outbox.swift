import NIOCore
import PeerSyncProtocol
import Synchronization

/// The messages of one session that wait to be sent, in order. Pieces of files wait in a line of their own, and go
/// only when no message waits.
///
/// Adding a message never waits, so a side never stops reading because it has to answer. If both sides did, they would
/// wait for each other for ever. The protocol bounds the messages: the window bounds batches, the batches of the other
/// side's window bound acknowledgements, ``limit`` and ``byteLimit`` bound the rest. A zone reads a batch only when it
/// has a turn, and ``sendWhenIdle(_:)`` waits for room for pieces of files.
package final class Outbox: Sendable {
    /// The greatest number of messages. More come only when the other side asks and does not read: the session then ends.
    static let limit = 1024
    /// The greatest number of bytes, as the messages take them in memory, roughly and without batches; for the same
    /// reason.
    static let byteLimit = 32 << 20
    /// The turns for batches that are read, wait or are written, over all zones, so that the next one is ready when
    /// the last one has gone. A batch has a turn from before it is read until it is written.
    let batches = AsyncSemaphore(2)
    /// How many pieces of files may wait, so that the next one is ready when the last one has gone.
    private static let pieces = 2

    private struct State {
        var messages = CircularBuffer<Message>()
        /// The bytes that the messages take in memory, roughly.
        var byteCount = 0
        var pieces = CircularBuffer<Message>()
        var isFinished = false
    }

    private let state = Mutex(State())
    private let signal = Signal()
    private let room = Signal()

    package init() {}

    package func send(_ message: Message) throws(ProtocolError) {
        // The error message that ends the session must still get out.
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

    /// Adds a piece of a file when there is room for one. Only one task may call this.
    ///
    /// - Returns: false when the piece will not be written, because the session ends.
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

    /// Lets the writer end after it has written every message. Pieces of files that wait are dropped.
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
    /// - Throws: the cipher's error for a message that it cannot seal.
    func drain(
        into outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>, writer: consuming MessageEncoder,
        counting statistics: StatisticsCounter, watchdog: Watchdog
    ) async throws {
        for await _ in signal {
            loop: while true {
                switch next() {
                case .message(let message):
                    writer.begin(message)
                    // One frame at a time: each frame that the connection takes shows that the other side still reads.
                    while let frame = try writer.nextFrame() {
                        statistics.update { $0.bytesSent += frame.readableBytes }
                        do {
                            try await watchdog.writing { try await outbound.write(frame) }
                        } catch {
                            // The reading task finds the same connection broken, and reports it.
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
    /// The bytes that the message takes in memory while it waits, roughly. Batches count elsewhere.
    fileprivate var byteCountInMemory: Int {
        switch self {
        case .reconcile(let step): 256 + step.payload.count + step.wanted.count * 40
        case .refuse(let refuse): refuse.names.reduce(256) { $0 + $1.description.utf8.count + 64 }
        case .householdSet(let told):
            told.addresses.reduce(256 + told.set.count * 350) { $0 + $1.address.utf8.count + 100 }
        case .hello, .pairingShare, .pairingTag, .open, .begin, .batch, .acknowledge, .digest, .resync,
            .assetRequest, .assetChunk, .assetMissing, .assetsAvailable, .assetsWanted, .household, .ping,
            .pong, .error, .goodbye, .unknown:
            256
        }
    }
}

/// The counts of a session, which its tasks update.
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
        current.seconds = (ContinuousClock.now - start) / .seconds(1)
        return current
    }
}

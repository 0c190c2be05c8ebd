import CoreMetrics
import NIOCore
import SecureChannel
import SyncModel
import Synchronization
import Testing

@testable import PeerSync
@testable import SyncProtocol

/// What waits to be sent: records before files, no more than so much, and all of it before the end but for files.
@Suite(.timeLimit(.minutes(1))) struct OutboxTests {
    private let outbox = Outbox()

    private func ping(_ number: UInt8) -> Message {
        .ping([UInt8](repeating: number, count: MessageCodec.pingLength))
    }

    private func piece(_ number: UInt8) -> Message {
        .assetMissing(AssetHash([UInt8](repeating: number, count: AssetHash.length))!)
    }

    /// The messages that can be written now.
    private func takeAll() -> [Message] {
        var messages: [Message] = []
        while case .message(let message) = outbox.next() { messages.append(message) }
        return messages
    }

    private var hasEnded: Bool { if case .end = outbox.next() { true } else { false } }

    @Test func filesGoWhenNothingElseDoes() async throws {
        await outbox.sendWhenIdle(piece(1))
        try outbox.send(ping(1))
        await outbox.sendWhenIdle(piece(2))
        try outbox.send(ping(2))
        #expect(takeAll() == [ping(1), ping(2), piece(1), piece(2)])
    }

    /// Two pieces of files wait, and whoever has a third waits for room.
    @Test func piecesOfFilesWaitForRoom() async throws {
        for number: UInt8 in [1, 2] { await outbox.sendWhenIdle(piece(number)) }
        let isIn = Mutex(false)
        let third = Task {
            await outbox.sendWhenIdle(piece(3))
            isIn.withLock { $0 = true }
        }
        // For a side that does not wait.
        for _ in 0..<100 { await Task.yield() }
        #expect(isIn.withLock { !$0 })
        // A message makes no room.
        try outbox.send(ping(1))
        guard case .message(ping(1)) = outbox.next(), case .message(piece(1)) = outbox.next() else {
            Issue.record("the wrong one goes first")
            return
        }
        await third.value
        #expect(takeAll() == [piece(2), piece(3)])
    }

    /// Messages that were put in are written; files can go on in the next session.
    @Test func theEndComesBehindTheMessages() async throws {
        for number: UInt8 in [1, 2] { await outbox.sendWhenIdle(piece(number)) }
        let third = Task { await outbox.sendWhenIdle(piece(3)) }
        try outbox.send(ping(1))
        outbox.finish()
        // Whoever waits for room is let go.
        await third.value
        try outbox.send(ping(2))
        await outbox.sendWhenIdle(piece(4))
        #expect(takeAll() == [ping(1)])
        #expect(hasEnded)
    }

    @Test func manySmallMessagesAreTooManyToo() throws {
        for _ in 0..<Outbox.limit { try outbox.send(ping(1)) }
        let error = #expect(throws: ProtocolError.self) { try outbox.send(ping(2)) }
        #expect(error?.code == .timeout)
        // The message that says so gets out.
        let last = Message.error(ProtocolError(.timeout, "too slow"))
        try outbox.send(last)
        #expect(takeAll().last == last)
        try outbox.send(ping(3))
        #expect(takeAll() == [ping(3)])
    }

    /// Whoever reads a batch takes a turn for it, which ends when the batch is written.
    @Test func aBatchThatIsWrittenGivesItsTurnBack() async throws {
        let batch = ChangeBatch(records: [], token: .start, isLast: true)
        for _ in 0..<3 {
            try await outbox.batches.take()
            try outbox.send(.batch(zone: 0, batch))
            if outbox.batches.waiting == 0 { break }
        }
        outbox.finish()
        let (writer, sink) = NIOAsyncChannelOutboundWriter<ByteBuffer>.makeTestingWriter()
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .seconds(3600), writing: .seconds(3600))
            let cipher = SendingCipher(key: SecretBytes.random(count: 32))
            await outbox.drain(
                into: writer, writer: MessageEncoder(cipher),
                counting: StatisticsCounter(SyncMetrics(NOOPMetricsHandler.instance)), watchdog: watchdog)
        }
        writer.finish()
        var frames = 0
        for await _ in sink { frames += 1 }
        #expect(frames == 1)
        // Both turns are free.
        try await outbox.batches.take()
        try await outbox.batches.take()
    }
}

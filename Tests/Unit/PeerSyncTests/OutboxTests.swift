import CoreMetrics
import NIOCore
import PeerSyncChannel
import PeerSyncModel
import Synchronization
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// What waits to be sent: records before files, no more than so much, and all of it before the end but for files.
@Suite(.timeLimit(.minutes(5))) struct OutboxTests {
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
        let third = SteppedTask { [outbox, piece = piece(3)] in await outbox.sendWhenIdle(piece) }
        third.run()
        #expect(!third.hasEnded)
        // A message makes no room.
        try outbox.send(ping(1))
        guard case .message(ping(1)) = outbox.next() else {
            Issue.record("the wrong one goes first")
            return
        }
        third.run()
        #expect(!third.hasEnded)
        guard case .message(piece(1)) = outbox.next() else {
            Issue.record("the wrong one goes second")
            return
        }
        third.run()
        #expect(third.hasEnded)
        #expect(takeAll() == [piece(2), piece(3)])
    }

    /// Messages that were put in are written; files can go on in the next session.
    @Test func theEndComesBehindTheMessages() async throws {
        for number: UInt8 in [1, 2] { #expect(await outbox.sendWhenIdle(piece(number))) }
        try outbox.send(ping(1))
        outbox.finish()
        try outbox.send(ping(2))
        #expect(await !outbox.sendWhenIdle(piece(3)))
        #expect(takeAll() == [ping(1)])
        #expect(hasEnded)
    }

    /// Bytes of files count when they are written. What the end drops was not sent.
    @Test(arguments: [true, false]) func bytesOfFilesCountWhenTheyAreWritten(isWritten: Bool) async throws {
        let hash = try #require(AssetHash([UInt8](repeating: 1, count: AssetHash.length)))
        let chunk = Message.AssetChunk(hash: hash, offset: 0, bytes: ByteBuffer(bytes: [1, 2, 3]))
        await outbox.sendWhenIdle(.assetChunk(chunk))
        if !isWritten { outbox.finish() }
        let statistics = StatisticsCounter(SyncMetrics(NOOPMetricsHandler.instance))
        let (writer, sink) = NIOAsyncChannelOutboundWriter<ByteBuffer>.makeTestingWriter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await drain(
                    into: writer, SendingCipher(key: SecretBytes.random(count: 32)), counting: statistics)
            }
            if isWritten {
                for await _ in sink { break }
                outbox.finish()
            }
            try await group.waitForAll()
        }
        #expect(statistics.current.assetBytesSent == (isWritten ? 3 : 0))
    }

    /// Nothing makes room any more.
    @Test func theEndLetsGoWhoeverWaitsForRoom() async {
        for number: UInt8 in [1, 2] { await outbox.sendWhenIdle(piece(number)) }
        let third = SteppedTask { [outbox, piece = piece(3)] in await outbox.sendWhenIdle(piece) }
        third.run()
        #expect(!third.hasEnded)
        outbox.finish()
        third.run()
        #expect(third.hasEnded)
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
            try await outbox.batches.wait()
            try outbox.send(.batch(zone: 0, batch))
            if outbox.batches.waiting == 0 { break }
        }
        outbox.finish()
        let (writer, sink) = NIOAsyncChannelOutboundWriter<ByteBuffer>.makeTestingWriter()
        try await drain(into: writer, SendingCipher(key: SecretBytes.random(count: 32)))
        writer.finish()
        var frames = 0
        for await _ in sink { frames += 1 }
        #expect(frames == 1)
        // Both turns are free.
        try await outbox.batches.wait()
        try await outbox.batches.wait()
    }

    /// A message that cannot be sealed ends the session with that reason, and is not taken for a broken connection.
    @Test func whatCannotBeSealedIsToldToTheSession() async throws {
        try outbox.send(ping(1))
        outbox.finish()
        let (writer, _) = NIOAsyncChannelOutboundWriter<ByteBuffer>.makeTestingWriter()
        let error = await #expect(throws: SecureChannelError.self) {
            try await drain(into: writer, SendingCipher(key: SecretBytes.random(count: 32), startNonce: .max))
        }
        #expect(error?.code == SecureChannelError.Code.nonceExhausted)
    }

    private func drain(
        into writer: NIOAsyncChannelOutboundWriter<ByteBuffer>, _ cipher: SendingCipher,
        counting statistics: StatisticsCounter = StatisticsCounter(
            SyncMetrics(NOOPMetricsHandler.instance))
    ) async throws {
        try await withListener { channel in
            let watchdog = Watchdog(channel, within: .seconds(3600), writing: .seconds(3600))
            try await outbox.drain(
                into: writer, writer: MessageEncoder(cipher),
                counting: statistics, watchdog: watchdog)
        }
    }
}

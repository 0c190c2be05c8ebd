import PeerSyncModel
import PeerSyncProtocol
import Synchronization
import Testing

@testable import PeerSync

/// Batches that have come wait in order, and whoever waits for them does not wait for ever.
@Suite(.timeLimit(.minutes(5))) struct ArrivedBatchesTests {
    private func batch(_ number: Int64) -> ArrivedBatch {
        ArrivedBatch(
            ChangeBatch(
                records: [],
                token: ChangeToken(generation: [UInt8](repeating: 1, count: 8), sequence: number),
                isLast: false))
    }

    @Test func batchesComeOutInOrder() async throws {
        let arrived = ArrivedBatches(room: AsyncSemaphore(3))
        for number in 1...3 { try await arrived.put(batch(Int64(number))) }
        #expect(await arrived.first()?.batch.token.sequence == 1)
        #expect(arrived.next()?.batch.token.sequence == 2)
        #expect(arrived.next()?.batch.token.sequence == 3)
        #expect(arrived.next() == nil)
    }

    @Test func whoPutsInWaitsForRoom() async throws {
        let room = AsyncSemaphore(2)
        let arrived = ArrivedBatches(room: room)
        try await arrived.put(batch(1))
        try await arrived.put(batch(2))
        let third = Task { try await arrived.put(batch(3)) }
        while room.waiting == 0 { await Task.yield() }
        #expect(arrived.next()?.batch.token.sequence == 1)
        try await third.value
        #expect(arrived.next()?.batch.token.sequence == 2)
        #expect(arrived.next()?.batch.token.sequence == 3)
    }

    @Test func drainedWaitsUntilEverythingIsSettled() async throws {
        let arrived = ArrivedBatches(room: AsyncSemaphore(2))
        await arrived.drained()
        try await arrived.put(batch(1))
        let order = Mutex<[String]>([])
        let waiting = Task {
            await arrived.drained()
            order.withLock { $0.append("drained") }
        }
        // What is taken out is not settled. A side that thought so would be told in the meantime.
        _ = await arrived.first()
        for _ in 0..<100 { await Task.yield() }
        order.withLock { $0.append("settled") }
        arrived.settle(1)
        await waiting.value
        #expect(order.withLock { $0 } == ["settled", "drained"])
    }

    @Test func closingLetsEverybodyGo() async throws {
        let room = AsyncSemaphore(1)
        let arrived = ArrivedBatches(room: room)
        try await arrived.put(batch(1))
        let waiting = Task { try await arrived.put(batch(2)) }
        while room.waiting == 0 { await Task.yield() }
        arrived.close()
        try await waiting.value
        await arrived.drained()
        #expect(await arrived.first() == nil)
        // Room is there again for others of the session.
        try await room.wait()
    }
}

extension ArrivedBatch: Equatable {
    public static func == (left: ArrivedBatch, right: ArrivedBatch) -> Bool { left.batch == right.batch }
}

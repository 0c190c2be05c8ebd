import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// Records that were changed together travel in one batch, which is applied in one transaction.
struct ChangeGroupTests {
    private let machine: Machine
    private let peerZone: PeerZone

    /// Makes a store with groups of 3, 2, 4 and 1 records.
    init() async throws {
        machine = try Machine("a", number: 1)
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "b")
        peerZone = PeerZone(store: machine.store, peer: peer)
        var number = 0
        for size in [3, 2, 4, 1] {
            for _ in 0..<size {
                try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'A')")
                number += 1
            }
            _ = try await machine.store.foldPendingChanges()
        }
    }

    /// The sizes of all batches, until the last.
    private func sizes(_ limit: BatchLimit) async throws -> [Int] {
        var place = ReadingPlace(.start)
        var sizes: [Int] = []
        while true {
            let (batch, next) = try await machine.store.database.read { [peerZone, place] in
                try peerZone.nextBatch($0, after: place, includingEcho: false, limit: limit)
            }
            sizes.append(batch.records.count)
            if batch.isLast { return sizes }
            place = next
        }
    }

    @Test(arguments: [
        // (large enough, at most, the batches that come of it)
        (1, 10, [3, 2, 4, 1]),
        (2, 10, [3, 2, 4, 1]),
        (4, 10, [5, 4, 1]),
        (5, 10, [5, 5]),
        (10, 10, [10]),
        // A group that would pass the limit goes into the next batch whole.
        (6, 8, [5, 5]),
        // A group that is larger than the greatest batch is taken apart.
        (2, 3, [3, 2, 3, 2]),
        (1, 1, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    ])
    func aBatchEndsWhereAGroupEnds(records: Int, most: Int, expected: [Int]) async throws {
        let limit = BatchLimit(records: records, bytes: .max, groupRecords: most, groupBytes: .max)
        #expect(try await sizes(limit) == expected)
    }

    @Test func bytesLimitABatchAsRecordsDo() async throws {
        let limit = BatchLimit(records: .max, bytes: 1, groupRecords: .max, groupBytes: .max)
        #expect(try await sizes(limit) == [3, 2, 4, 1])
        let tiny = BatchLimit(records: .max, bytes: 1, groupRecords: .max, groupBytes: 1)
        #expect(try await sizes(tiny) == [Int](repeating: 1, count: 10))
    }

    @Test func whatArrivedTogetherIsPassedOnTogether() async throws {
        let other = try Machine("b", number: 2)
        try await machine.send(to: other)
        let third = try await other.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "c")
        let peerZone = PeerZone(store: other.store, peer: third)
        let batch = try await other.store.database.read {
            try peerZone.nextBatch(
                $0, after: ReadingPlace(.start), includingEcho: false,
                limit: BatchLimit(records: 1, bytes: 1, groupRecords: 10, groupBytes: .max)
            ).batch
        }
        #expect(batch.records.count == 10)
        #expect(batch.isLast)
    }

    @Test func aRecordThatIsChangedAgainBelongsToItsLaterGroup() async throws {
        try machine.shell("UPDATE Author SET name = 'B' WHERE recordName IN ('Author|~|0', 'Author|~|9')")
        let limit = BatchLimit(records: 1, bytes: .max, groupRecords: 10, groupBytes: .max)
        _ = try await machine.store.foldPendingChanges()
        #expect(try await sizes(limit) == [2, 2, 4, 2])
    }
}

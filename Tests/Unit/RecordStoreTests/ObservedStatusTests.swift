import GRDB
import PeerSyncModel
import Synchronization
import Testing

@testable import PeerSyncStore

/// Whoever observes what waits, or the status, in GRDB hears of each change. SQLite reports none in the tables WITHOUT ROWID that
/// these read.
struct ObservedStatusTests: PeerRecords {
    private let machine: Machine
    private let name: RecordName

    init() throws {
        machine = try Machine("a", number: 1)
        name = try RecordName("Author|~|1")
    }

    /// Whether an observation of a table, as GRDB makes one of all that a `ValueObservation` reads, hears of what `body` does.
    private func isTold(
        of table: String, by body: @escaping @Sendable (Database) throws -> Void
    ) async throws -> Bool {
        let told = Told()
        let observation = DatabaseRegionObservation(tracking: Table("grdb_sync_\(table)")).start(
            in: machine.store.database, onError: { _ in }, onChange: { _ in told.times.withLock { $0 += 1 } })
        try await machine.store.database.write { try body($0) }
        observation.cancel()
        return told.times.withLock { $0 } > 0
    }

    private final class Told: Sendable {
        let times = Mutex(0)
    }

    @Test func anAcknowledgementEndsWhatIsPending() async throws {
        let (store, name) = (machine.store, name)
        let peerZone = try await peerZone(of: machine)
        try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A')")
        try await store.foldPendingChanges()
        let isPending: @Sendable (Database) throws -> Bool = { try store.listing.isPending($0, name) }
        #expect(try await store.database.read(isPending))
        let isTold = try await isTold(of: "peerZone") { db in
            let batch = try peerZone.nextBatch(db, after: ReadingPlace(.start), includingEcho: false).batch
            try peerZone.acknowledge(db, batch.token)
        }
        #expect(isTold)
        #expect(try await !store.database.read(isPending))
    }

    @Test func aRefusalIsToldAndItsEndToo() async throws {
        let (store, name) = (machine.store, name)
        let peerZone = try await peerZone(of: machine)
        try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A')")
        try await store.foldPendingChanges()
        let refused: @Sendable (Database) throws -> Int = { try RefusedRecords.all($0).count }
        let isRefusalTold = try await isTold(of: "refusedRecord") { db in
            try peerZone.noteRefused(db, Refusal(names: [name], reason: .readOnly))
        }
        #expect(isRefusalTold)
        let isEndTold = try await isTold(of: "refusedRecord") { db in
            _ = try RefusedRecords.take(
                db, peer: peerZone.peer.id, zone: peerZone.zoneID, reason: .readOnly)
        }
        #expect(isEndTold)
        #expect(try await store.database.read(refused) == 0)
    }

    @Test func whatIsNotSyncedIsTold() async throws {
        let store = machine.store
        let isTold = try await isTold(of: "unsyncedRecord") { db in
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('no name', 'A')")
            _ = try store.fold(db)
        }
        #expect(isTold)
    }
}

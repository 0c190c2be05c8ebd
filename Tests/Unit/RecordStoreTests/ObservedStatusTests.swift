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
            try peerZone.noteRefused(db, Refusal(names: [name], reason: .readOnly), in: .start)
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

    // MARK: What sync knows of records

    private typealias Step = @Sendable (Database) throws -> Void

    private func isObserved(_ read: @escaping Step, by write: @escaping Step) async throws -> Bool {
        try await isObserved(read, by: write, on: machine)
    }

    /// Whether a `ValueObservation` of what is read hears of what is written.
    private func isObserved(
        _ read: @escaping Step, by write: @escaping Step, on machine: Machine
    ) async throws -> Bool {
        let told = Told()
        let observation = ValueObservation.tracking { db in
            try read(db)
            return true
        }.handleEvents(databaseDidChange: { told.times.withLock { $0 += 1 } })
        var values = observation.values(in: machine.store.database).makeAsyncIterator()
        // It observes from its first value on.
        _ = try await values.next()
        let before = told.times.withLock { $0 }
        try await machine.store.database.write { try write($0) }
        return told.times.withLock { $0 } > before
    }

    @Test func whoeverReadsWhatSyncKnowsOfRecordsIsTold() async throws {
        let (store, name) = (machine.store, name)
        let readers: [(String, Step)] = [
            ("state", { _ = try store.state($0, of: name) }),
            ("deleted", { _ = try store.listing.deleted($0) }),
            ("outOfSight", { _ = try store.listing.outOfSight($0, of: "Author") }),
            ("marks", { _ = try store.listing.marks($0) }),
            ("held", { _ = try store.listing.held($0) }),
            ("isHidden", { _ = try store.listing.isHidden($0, name) }),
            ("withoutRow", { _ = try store.listing.withoutRow($0, referringTo: name) }),
            ("zone", { _ = try store.zones.find($0, of: name) }),
        ]
        for (number, (reader, read)) in readers.enumerated() {
            let isObserved = try await isObserved(read) { db in
                try db.execute(
                    sql: "INSERT INTO Author (recordName, name) VALUES (?, 'A')",
                    arguments: ["Author|~|\(number)"])
                _ = try store.fold(db)
            }
            #expect(isObserved, "\(reader)")
        }
    }

    @Test func whatIsForgottenIsTold() async throws {
        let store = machine.store
        for number in 1...2 {
            try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'A')")
        }
        try await store.write { db in
            for number in 1...2 { try store.delete(db, RecordName("Author|~|\(number)")) }
        }
        let marks: Step = { _ = try store.listing.marks($0) }
        // A deleted record counts in no digest.
        let isForgettingObserved = try await isObserved(marks) { db in
            try store.forget(db, [RecordName("Author|~|2")])
        }
        #expect(isForgettingObserved)
        let isPurgeObserved = try await isObserved(marks) { db in
            let count = try store.upkeep.purge(db, retention: -1000)
            #expect(count == 1)
        }
        #expect(isPurgeObserved)
        // What changes nothing is not told.
        let isNothingObserved = try await isObserved(marks) { _ = try store.fold($0) }
        #expect(!isNothingObserved)
    }

    // MARK: Tables of the app

    private static func note(_ title: String, _ time: Int64) throws -> RecordState {
        let stamp = Stamp(time: HybridTime(milliseconds: time), replica: ReplicaID(rawValue: 7))
        return RecordState(
            name: try RecordName("Note|~|1"),
            fields: [RecordField(name: "title", value: .text(title), stamp: stamp)])
    }

    @Test func whatComesIntoATableWithoutRowIDIsTold() async throws {
        let machine = try Machine(
            "b", number: 2, sql: "CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, title TEXT) WITHOUT ROWID",
            schema: RecordSchema([RecordType("Note", [FieldDefinition("title")])]))
        let (store, name) = (machine.store, try RecordName("Note|~|1"))
        let read: Step = { _ = try String.fetchAll($0, sql: "SELECT title FROM Note") }
        let changes: [(String, Step)] = [
            ("new", { _ = try store.merge($0, [Self.note("x", 1000)]) }),
            ("changed", { _ = try store.merge($0, [Self.note("y", 2000)]) }),
            ("deleted", { _ = try store.delete($0, name) }),
        ]
        for (change, write) in changes {
            let isObserved = try await isObserved(read, by: write, on: machine)
            #expect(isObserved, "\(change)")
        }
        let isNothingObserved = try await isObserved(read, by: { _ = try store.fold($0) }, on: machine)
        #expect(!isNothingObserved)
    }

    // MARK: Settings

    @Test func settingsAndRightsAreTold() async throws {
        let store = machine.store
        let peer = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "study")
        let club = try await store.zones.create("club")
        let changes: [(String, read: Step, write: Step)] = [
            ("fuse", { _ = try store.fuse.setting($0) }, { try store.fuse.set($0, FuseSetting.standard) }),
            (
                "rights", { _ = try store.zones.grants($0, to: peer) },
                { try store.zones.setRights($0, .read, to: peer, in: club) }
            ),
            ("declined", { _ = try store.zones.declined($0) }, { try DeclinedZones.insert($0, club) }),
        ]
        for (setting, read, write) in changes {
            let isObserved = try await isObserved(read, by: write)
            #expect(isObserved, "\(setting)")
        }
    }
}

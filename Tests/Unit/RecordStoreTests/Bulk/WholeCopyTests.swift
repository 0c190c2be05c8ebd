import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// A copy of a large zone goes in order of name, and can be cut off anywhere.
struct WholeCopyTests {
    private let machine: Machine
    private let peerZone: PeerZone
    private static let limit = BatchLimit(
        records: 4, bytes: .max, groupRecords: 4, groupBytes: .max, recordsCopiedInGroups: 10)

    init() async throws {
        machine = try Machine("a", number: 1)
        peerZone = PeerZone(
            store: machine.store,
            peer: try await machine.store.peers.add(key: [UInt8](repeating: 1, count: 32), name: "b"))
        try machine.shell(
            """
            WITH RECURSIVE number (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number WHERE n < 8)
            INSERT INTO Author (recordName, name) SELECT 'Author|~|' || (7 * n % 9), 'Author' FROM number;
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
            WITH RECURSIVE number (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number WHERE n < 8)
            INSERT INTO Book (recordName, title, author) SELECT 'Book|~|' || (5 * n % 9), 'Book', 'Author|~|' || n FROM number;
            """)
        try await machine.store.foldPendingChanges()
    }

    private func batch(after place: ReadingPlace) async throws -> (batch: ChangeBatch, place: ReadingPlace) {
        try await machine.store.foldPendingChanges()
        return try await machine.store.database.read { [peerZone] in
            try peerZone.nextBatch($0, after: place, includingEcho: false, limit: Self.limit)
        }
    }

    /// The names of everything that comes after a place, in order.
    private func names(after place: ReadingPlace) async throws -> [String] {
        var (place, names) = (place, [String]())
        while true {
            let (batch, next) = try await batch(after: place)
            names += batch.records.map(\.name.description)
            if batch.isLast { return names }
            place = next
        }
    }

    private var all: [String] {
        get throws {
            try machine.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord").sorted { left, right in
                // Book refers to the others, and Author was listed first.
                let order = ["Author", "Shelf", "Book", "Loan", "Magazine"]
                let types = [left, right].map { name in order.firstIndex { name.hasPrefix($0) }! }
                return types[0] == types[1] ? left < right : types[0] < types[1]
            }
        }
    }

    /// 19 records, four in a batch: of a copy, and of a stream of changes.
    @Test func whatIsLeftIsCountedAfterTheFirstBatch() async throws {
        let start = try await batch(after: ReadingPlace(.start))
        func left(_ read: (batch: ChangeBatch, place: ReadingPlace)) async throws -> Int {
            try await machine.store.database.read { [peerZone] in
                try peerZone.changesLeft($0, after: read.batch, at: read.place, includingEcho: false)
            }
        }
        #expect(try await left(start) == 15)
        let stream = BatchLimit(records: 4, bytes: .max, groupRecords: 4, groupBytes: .max)
        let second = try await machine.store.database.read { [peerZone] db in
            let first = try peerZone.nextBatch(
                db, after: ReadingPlace(.start), includingEcho: false, limit: stream)
            return try peerZone.nextBatch(db, after: first.place, includingEcho: false, limit: stream)
        }
        #expect(try await left(second) == 11)
        // Deleted records go, too.
        try machine.shell("DELETE FROM Book")
        #expect(try await left(try await batch(after: ReadingPlace(.start))) == 15)
        // A count that somebody has damaged ends nothing.
        let damaged = try await batch(after: ReadingPlace(.start))
        try machine.shell("UPDATE grdb_sync_recordZone SET recordCount = -1")
        #expect(try await left(damaged) > 14)
    }

    @Test func whatOthersReferToComesFirstAndEachTypeInOrderOfName() async throws {
        #expect(try await names(after: ReadingPlace(.start)) == all)
    }

    @Test func aSmallZoneIsCopiedInTheOrderOfItsChanges() async throws {
        let limit = BatchLimit(
            records: 4, bytes: .max, groupRecords: 4, groupBytes: .max, recordsCopiedInGroups: 19)
        let first = try await machine.store.database.read { [peerZone] in
            try peerZone.nextBatch($0, after: ReadingPlace(.start), includingEcho: false, limit: limit).batch
        }
        #expect(first.records.map(\.name.description) == (0..<4).map { "Author|~|\(7 * $0 % 9)" })
        #expect(CopyPosition(first.token) == nil)
    }

    @Test func deletionsAndUnknownTypesAreAmongThem() async throws {
        try machine.shell("DELETE FROM Book WHERE recordName = 'Book|~|3'")
        let stamp = Stamp(time: HybridTime(milliseconds: 1_000), replica: ReplicaID(rawValue: 3))
        let magazine = try RecordState(
            name: RecordName("Magazine|~|1"),
            fields: [RecordField(name: "title", value: .text("M"), stamp: stamp)])
        _ = try await machine.store.database.write { [store = machine.store] in
            try store.merge($0, [magazine])
        }
        let names = try await names(after: ReadingPlace(.start))
        #expect(names.contains("Book|~|3") && names.last == "Magazine|~|1")
        #expect(try names == all)
    }

    /// Another session knows the token alone.
    @Test func aCopyThatWasCutOffGoesOnBehindEveryBatch() async throws {
        var place = ReadingPlace(.start)
        var seen: [String] = []
        while true {
            let (batch, next) = try await batch(after: place)
            seen += batch.records.map(\.name.description)
            let rest = try await names(after: ReadingPlace(batch.token))
            #expect(try seen + rest == all)
            if batch.isLast { return }
            place = next
        }
    }

    @Test func namesThatAreAlikeForLongAreAllCopied() async throws {
        let long = String(repeating: "x", count: 30)
        try machine.shell(
            """
            WITH RECURSIVE number (n) AS (VALUES (10) UNION ALL SELECT n + 1 FROM number WHERE n < 30)
            INSERT INTO Shelf (recordName, label) SELECT 'Shelf|~|\(long)' || n, 'x' FROM number
            """)
        try await machine.store.foldPendingChanges()
        #expect(try await names(after: ReadingPlace(.start)) == all)
        // In another session some come twice, and none is missing.
        var place = ReadingPlace(.start)
        for _ in 0..<5 { place = try await batch(after: place).place }
        let rest = try await names(after: ReadingPlace(place.token))
        #expect(Set(rest).isSuperset(of: try all.suffix(all.count - 20)))
        #expect(rest.count == Set(rest).count)
    }

    @Test func whatChangesMeanwhileComesBehind() async throws {
        let (first, place) = try await batch(after: ReadingPlace(.start))
        try machine.shell(
            """
            UPDATE Author SET name = 'Changed' WHERE recordName = '\(first.records[0].name)';
            DELETE FROM Book WHERE recordName = 'Book|~|0';
            INSERT INTO Author (recordName, name) VALUES ('Author|~|0a', 'New')
            """)
        let names = try await names(after: place)
        #expect(names.contains(first.records[0].name.description))
        #expect(names.filter { $0 == "Author|~|0a" }.count >= 1)
        let gone = try #require(try await machine.state("Book|~|0"))
        #expect(gone.isDeleted && names.contains("Book|~|0"))
    }

    /// Columns may be called as those of the engine's own tables.
    @Test func anAppsColumnsMayHaveAnyName() async throws {
        let sql = """
            CREATE TABLE Task (
                recordName TEXT NOT NULL PRIMARY KEY, status INTEGER, zone TEXT, remoteRecord TEXT, sourcePeer TEXT,
                modificationDate TEXT, known TEXT REFERENCES Task (recordName) ON DELETE CASCADE);
            """
        let schema = try RecordSchema([
            RecordType(
                "Task",
                [
                    FieldDefinition("status"), FieldDefinition("zone"), FieldDefinition("remoteRecord"),
                    FieldDefinition("sourcePeer"),
                    FieldDefinition("known", .reference(to: "Task", rule: .cascade, isRequired: false)),
                ])
        ])
        let stores = try (1...2).map { number in
            let database = try DatabaseQueue()
            try database.write { try $0.execute(sql: sql) }
            return try RecordStore(database, schema: schema, replica: ReplicaID(rawValue: UInt64(number)))
        }
        try await stores[0].write { db in
            try db.execute(
                sql: """
                    INSERT INTO Task (recordName, status, zone, remoteRecord) VALUES ('Task|~|a', 1, 'z', 'r');
                    INSERT INTO Task (recordName, status, known) VALUES ('Task|~|b', 2, 'Task|~|a')
                    """)
        }
        let key = [UInt8](repeating: 1, count: 32)
        let source = PeerZone(store: stores[0], peer: try await stores[0].peers.add(key: key, name: "b"))
        let target = PeerZone(store: stores[1], peer: try await stores[1].peers.add(key: key, name: "a"))
        let limit = BatchLimit(
            records: 1, bytes: 1, groupRecords: 1, groupBytes: 1, recordsCopiedInGroups: 1)
        var place = ReadingPlace(.start)
        while true {
            let (batch, next) = try await stores[0].database.read { [place] in
                try source.nextBatch($0, after: place, includingEcho: false, limit: limit)
            }
            _ = try await stores[1].database.write { try target.apply($0, batch) }
            if batch.isLast { break }
            place = next
        }
        let digests = try await [
            stores[0].database.read { try stores[0].upkeep.check($0) },
            stores[1].database.read { try stores[1].upkeep.check($0) },
        ]
        #expect(digests[0].foundDigest.count == 2 && digests[0].foundDigest == digests[1].foundDigest)
    }

    @Test func theOtherStoreEndsUpTheSame() async throws {
        let other = try Machine("b", number: 2)
        try await machine.sync(with: other)
        #expect(try await machine.digest() == other.digest())
    }

    @Test func anUnfinishedCopyIsNotAcknowledged() async throws {
        var place = ReadingPlace(.start)
        var acknowledged: [Int64] = []
        while true {
            let (batch, next) = try await batch(after: place)
            let progress = try await machine.store.database.write { [peerZone] db in
                try peerZone.acknowledge(db, batch.token)
                return try PeerTable.progress(db, peer: peerZone.peer.id, zone: 1).acknowledgedSequence
            }
            acknowledged.append(progress)
            if batch.isLast { break }
            place = next
        }
        #expect(acknowledged.dropLast(2).allSatisfy { $0 == 0 })
        #expect(acknowledged.last == 19)
    }

    private func begin(_ store: RecordStore, with held: ChangeToken) async throws -> PeerZone.Beginning {
        try await machine.store.database.read { [peer = peerZone.peer] db in
            try PeerZone(store: store, peer: peer).begin(db, heldByPeer: held)
        }
    }

    /// The same tables, listed in another order.
    private func reordered() throws -> RecordStore {
        try RecordStore(
            machine.store.database, schema: RecordSchema(Library.schema().types.reversed()),
            replica: machine.store.replica)
    }

    @Test func aTokenOfACopyCanBeGoneOnFromUntilTheSchemaIsAnother() async throws {
        let token = try await batch(after: ReadingPlace(.start)).batch.token
        #expect(try await !begin(machine.store, with: token).isHeldTokenVoid)
        var forged = token
        forged.generation[0] ^= 1
        #expect(try await begin(machine.store, with: forged).isHeldTokenVoid)
        #expect(try await begin(reordered(), with: token).isHeldTokenVoid)
    }

    /// Also among the types that only other machines know.
    @Test func aCopyGoesOnAmongTheTypesOfItsLastBatch() throws {
        let types = ["Author", "Book", "Magazine"]
        let base = ChangeToken(
            generation: [UInt8](repeating: 1, count: ChangeToken.generationLength), sequence: 7)
        let token = CopyPosition(beginningAt: base).token(at: try RecordName("Book|~|1"), in: types)
        let position = try #require(CopyPosition(token))
        #expect(position.start(in: types)?.lower == "Book|~|1")
        for others in [["Author", "Magazine", "Book"], ["Magazine", "Author", "Book"], ["Author", "Book"]] {
            #expect(position.start(in: others)?.type == nil)
        }
    }

    /// Whoever has begun a copy after records were forgotten was not away, also if the copy has to begin again.
    @Test func aCopyThatBeginsAgainIsNoStartingOver() async throws {
        let forgotten: Int64 = 10
        try await machine.store.database.write { try Zones.raisePurgedSequence($0, 1, to: forgotten) }
        let copy = ChangeToken.wholeCopy(horizon: forgotten)
        let token = try await batch(after: ReadingPlace(copy)).batch.token
        #expect(CopyPosition(token) != nil)
        let beginning = try await begin(reordered(), with: token)
        #expect(beginning.isHeldTokenVoid && beginning.start == copy)
        await #expect(throws: RecordStoreError.self) {
            var forged = token
            forged.generation[0] ^= 1
            _ = try await begin(machine.store, with: forged)
        }
    }
}

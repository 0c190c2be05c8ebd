import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Records that are simply new are written as they come. What is stored must be what the working set would have stored.
struct NewRecordsTests: PeerRecords {
    /// Everything that the store keeps of the records, but for their numbers.
    private func contents(_ machine: Machine) throws -> [String] {
        let tables = ["Author", "Shelf", "Book", "Loan"].map { "SELECT * FROM \($0) ORDER BY recordName" }
        return try
            (tables + [
                """
                SELECT remoteRecordID, zone, status, sourcePeer, hex(remoteRecord), fieldNames FROM grdb_sync_remoteRecord
                LEFT JOIN grdb_sync_recordShape ON id = unicode(substr(remoteRecord, 3, 1)) ORDER BY remoteRecordID
                """, "SELECT recordCount, hex(digestSum) FROM grdb_sync_recordZone",
                "SELECT * FROM grdb_sync_heldReference ORDER BY recordName, target",
                "SELECT value FROM grdb_sync_syncState WHERE name = 'clock'",
            ]).flatMap(machine.rows)
    }

    /// A child that comes before its parent is not simply new; so the same records, the other way round, are written by the
    /// working set.
    private func expectSameInBothOrders(_ records: [RecordState], after first: [RecordState]) async throws {
        let (new, loaded) = (try Machine("a", number: 1), try Machine("b", number: 2))
        for machine in [new, loaded] { try await apply([first], to: machine) }
        try await apply([records], to: new)
        // One by one the last ones wait for the first ones, so nothing is simply new when it comes.
        try await apply(records.reversed().map { [$0] }, to: loaded, manyRecords: .max)
        #expect(try contentsWithoutShapes(new) == contentsWithoutShapes(loaded))
        for machine in [new, loaded] {
            let check = try await machine.store.database.read { [store = machine.store] in
                try store.upkeep.check($0)
            }
            #expect(check.isSound)
        }
    }

    /// The numbers of shapes depend on the order in which they came.
    private func contentsWithoutShapes(_ machine: Machine) throws -> [String] {
        let names = try machine.rows(
            "SELECT remoteRecordID, status, sourcePeer FROM grdb_sync_remoteRecord ORDER BY 1")
        return try contents(machine).filter { !$0.contains("|1|0|1|") } + names
    }

    /// In an empty store all is known to be sound; in one that knows of a deletion each parent is looked at.
    @Test(arguments: [false, true])
    func aFamilyIsStoredAlikeInEveryOrder(_ isAnyDeleted: Bool) async throws {
        let deleted = try record("Shelf|~|9", ["label": .text("gone")], deletion: later(10)).transferred
        let family = try [
            author(1), author(2), record("Shelf|~|1", ["label": .text("top")]), book(1, by: "Author|~|1"),
            book(2, by: "Author|~|2", shelf: "Shelf|~|1"),
            record("Loan|~|1", ["book": .reference(RecordName("Book|~|2")), "borrower": .text("Anne")]),
        ]
        try await expectSameInBothOrders(family, after: isAnyDeleted ? [deleted] : [])
    }

    @Test func numbersFollowTheOrderOfArrivalAndAreOneGroup() async throws {
        let machine = try Machine("a", number: 1)
        // The second needs the working set: it waits.
        try await apply([[author(1), book(1, by: "Author|~|9"), author(2)]], to: machine)
        let numbers = try machine.rows(
            "SELECT changeSequence FROM grdb_sync_remoteRecord ORDER BY changeSequence")
        #expect(numbers == ["1", "2", "3"])
        #expect(try machine.rows("SELECT DISTINCT changeGroup FROM grdb_sync_remoteRecord") == ["1"])
        #expect(
            try machine.rows("SELECT value FROM grdb_sync_syncState WHERE name = 'lastSequence'") == ["3"])
    }

    @Test func valuesComeBackAsTheyWere() async throws {
        let machine = try Machine("a", number: 1)
        let values: [FieldValue] = [
            .text(""), .text("a\0b"), .text("ä€😀"), .blob([]), .blob([0, 1, 255]), .null, .integer(.min),
            .real(0.5),
            .real(-0.0), .text(String(repeating: "x", count: 100_000)),
        ]
        var records: [RecordState] = []
        for (number, value) in values.enumerated() {
            records.append(try record("Shelf|~|\(number)", ["label": value]))
        }
        try await apply([records], to: machine)
        for record in records {
            #expect(try await machine.state("\(record.name)") == record)
        }
    }

    @Test func whatTheTableHasNoPlaceForIsKeptBesideIt() async throws {
        let machine = try Machine("a", number: 1)
        let unknownField = try record("Author|~|1", ["name": .text("A"), "nickname": .text("B")])
        let unknownType = try record("Magazine|~|1", ["title": .text("C")])
        // A column of integers makes an integer of it.
        let altered = try record(
            "Book|~|1", ["author": .reference(RecordName("Author|~|1")), "pages": .text("12")])
        try await apply([[unknownField, unknownType, altered]], to: machine)
        for record in [unknownField, unknownType, altered] {
            #expect(try await machine.state("\(record.name)") == record)
        }
    }

    @Test func aRowThatTheTableRefusesIsHeldAndTheOthersAreNot() async throws {
        let sql = Library.sql.replacing("title TEXT,", with: "title TEXT CHECK (title <> 'Bad'),")
        let machine = try Machine("a", number: 1, sql: sql)
        let bad = try record(
            "Book|~|2", ["author": .reference(RecordName("Author|~|1")), "title": .text("Bad")])
        try await apply(
            [[author(1), book(1, by: "Author|~|1"), bad, book(3, by: "Author|~|1")]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book ORDER BY 1") == ["Book|~|1", "Book|~|3"])
        #expect(
            try machine.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE status = 2") == [
                "Book|~|2"
            ])
        #expect(try await machine.state("Book|~|2") == bad)
    }

    @Test func theSameRecordTwiceInOneBatchIsMerged() async throws {
        let machine = try Machine("a", number: 1)
        let first = try record("Shelf|~|1", ["label": .text("old")])
        let second = try record("Shelf|~|1", ["label": .text("new")], at: later(5))
        try await apply([[first, second]], to: machine)
        #expect(try await machine.state("Shelf|~|1") == second)
        #expect(try machine.rows("SELECT recordCount FROM grdb_sync_recordZone") == ["1"])
    }

    @Test func aChildOfARecordThatWasDeletedOnceIsShownWithIt() async throws {
        let machine = try Machine("a", number: 1)
        // The author was deleted, and lives because of a later write.
        let author = try record("Author|~|1", ["name": .text("A")], at: later(20), deletion: later(10))
        try await apply([[author], [book(1, by: "Author|~|1")]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book") == ["Book|~|1"])
    }

    @Test func whatAHeldRecordWaitsForShowsIt() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[book(1, by: "Author|~|1")], [author(2)], [author(1)]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book") == ["Book|~|1"])
        #expect(try machine.rows("SELECT recordName FROM grdb_sync_heldReference") == [])
    }

    @Test func newRecordsDoNotRelyOnAParentThatVanished() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1)]], to: machine)
        try machine.shell(
            """
            INSERT INTO grdb_sync_capturePause (id) VALUES (1); DELETE FROM Author; DELETE FROM grdb_sync_capturePause
            """)
        try await apply([[book(1, by: "Author|~|1")]], to: machine)
        #expect(
            try machine.rows("SELECT status FROM grdb_sync_remoteRecord WHERE remoteRecordID = 'Book|~|1'")
                == ["2"])
    }

    @Test func aDeletionInTheSameBatchHidesTheNewChild() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1)]], to: machine)
        var deleted = try author(1)
        deleted.deletion = later(10)
        try await apply([[book(1, by: "Author|~|1"), deleted.transferred]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Author UNION SELECT recordName FROM Book") == [])
        #expect(try await machine.state("Book|~|1") == book(1, by: "Author|~|1"))
        #expect(try await machine.status().hidden == 1)
    }

    /// Batches of one transaction share what they find in the store, until one of them changes it.
    @Test func aDeletionInAnEarlierBatchOfTheTransactionHidesTheNewChild() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1)]], to: machine)
        var deleted = try author(1)
        deleted.deletion = later(10)
        let batches = try [
            [book(1, by: "Author|~|1")], [deleted.transferred], [book(2, by: "Author|~|1")],
        ].map { ChangeBatch(records: $0, token: .start, isLast: false) }
        let peerZone = try await peerZone(of: machine)
        try await machine.store.database.write { db in
            try ApplyingTransaction.run(db, manyRecords: .max) { transaction in
                for batch in batches { _ = try peerZone.apply(batch, in: transaction) }
            }
        }
        #expect(try machine.rows("SELECT recordName FROM Author UNION SELECT recordName FROM Book") == [])
        #expect(try await machine.status().hidden == 2)
    }

    /// SQLite would find the broken reference when the transaction ends, and take everything along.
    @Test func aReferenceToARecordOfAnotherTypeIsHeld() async throws {
        let machine = try Machine("a", number: 1)
        let astray = try record(
            "Book|~|9",
            [
                "author": .reference(RecordName("Author|~|1")), "shelf": .reference(RecordName("Author|~|1")),
            ])
        try await apply([[author(1), book(1, by: "Author|~|1"), astray, author(2)]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book") == ["Book|~|1"])
        #expect(
            try machine.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE status = 2") == [
                "Book|~|9"
            ])
    }

    /// An app may not let anybody change a row; what was written to it is synced all the same.
    @Test func aRowThatCannotBeGivenItsDateKeepsNoOtherFromBeingTakenIn() async throws {
        let machine = try Machine("a", number: 1, clock: SetClock(1_700_000_000_123))
        try machine.shell(
            """
            CREATE TRIGGER locked BEFORE UPDATE ON Author WHEN OLD.name = 'Locked'
            BEGIN SELECT RAISE(ABORT, 'locked'); END;
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Locked');
            INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'Free')
            """)
        try await machine.store.foldPendingChanges()
        #expect(try machine.rows("SELECT COUNT(*) FROM grdb_sync_pendingChange") == ["0"])
        #expect(
            try machine.rows("SELECT remoteRecordID, status FROM grdb_sync_remoteRecord ORDER BY 1")
                == ["Author|~|1|0", "Author|~|2|0"])
        #expect(try machine.rows("SELECT name FROM Author ORDER BY 1") == ["Free", "Locked"])
    }

    @Test func whatWasWrittenHereIsTakenInWithTheTimeOfItsWrite() async throws {
        let clock = SetClock(1_700_000_000_123)
        let machine = try Machine("a", number: 1, clock: clock)
        try machine.shell(
            """
            INSERT INTO Author (recordName, name, modificationDate) VALUES ('Author|~|1', 'A', 'nonsense');
            INSERT INTO Author (recordName, name, modificationDate) VALUES ('Author|~|2', 'B', X'00');
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'C', 'Author|~|1');
            UPDATE Book SET title = 'D'
            """)
        let changes = try await machine.store.foldPendingChanges()
        #expect(changes.changed == 3)
        let dates = try machine.rows(
            "SELECT modificationDate FROM Author UNION ALL SELECT modificationDate FROM Book")
        #expect(dates == [String](repeating: "2023-11-14T22:13:20.123Z", count: 3))
        let book = try #require(try await machine.state("Book|~|1"))
        #expect(book.field("title")?.value == .text("D"))
        // The title was written once more, so its stamp is the newest.
        #expect(book.field("title")?.stamp == book.newestWrite)
        #expect(book.field("author")?.stamp != book.newestWrite)
    }
}

import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// Where many records come, the triggers that capture writes are switched off, and on again, whatever happens.
struct TriggerSwitchTests: PeerRecords {
    private func capturedNames(_ machine: Machine) throws -> [String] {
        try machine.rows("SELECT recordName FROM grdb_sync_pendingChange")
    }

    /// Looks whether a write by the connection that applied the batches is captured.
    private func expectCapture(_ machine: Machine) async throws {
        try await machine.store.database.write { db in
            try db.execute(sql: "INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|new', 'here')")
        }
        #expect(try capturedNames(machine) == ["Shelf|~|new"])
    }

    @Test func whatComesIsNotCapturedAndWhatIsWrittenAfterwardsIs() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1), author(2)], [book(1, by: "Author|~|1")]], to: machine)
        #expect(try capturedNames(machine) == [])
        try await expectCapture(machine)
    }

    @Test func theyAreOffWithinTheTransactionOnly() async throws {
        let machine = try Machine("a", number: 1)
        let peerZone = try await peerZone(of: machine)
        let (few, many) = (try [author(1)], try [author(2), author(3)])
        @Sendable func areTriggersOn(_ db: Database, _ number: Int) throws -> Bool {
            try db.execute(sql: "INSERT INTO Shelf (recordName) VALUES ('Shelf|~|\(number)')")
            return try Bool.fetchOne(
                db,
                sql:
                    "SELECT EXISTS (SELECT 1 FROM grdb_sync_pendingChange WHERE recordName = 'Shelf|~|\(number)')"
            )!
        }
        try await machine.store.database.write { db in
            try ApplyingTransaction.run(db, manyRecords: 2) { transaction in
                _ = try peerZone.apply(
                    ChangeBatch(records: few, token: .start, isLast: false), in: transaction)
                #expect(try areTriggersOn(db, 1))
                _ = try peerZone.apply(
                    ChangeBatch(records: many, token: .start, isLast: false), in: transaction)
                #expect(try !areTriggersOn(db, 2))
                // Once off they stay off: each change makes SQLite compile everything again.
                _ = try peerZone.apply(ChangeBatch(records: [], token: .start, isLast: true), in: transaction)
                #expect(try !areTriggersOn(db, 3))
            }
            #expect(try areTriggersOn(db, 4))
        }
    }

    @Test func aBatchThatIsRefusedAfterAnotherLeavesThemOn() async throws {
        let machine = try Machine("a", number: 1)
        let peerZone = try await peerZone(of: machine)
        let future = try record("Author|~|2", ["name": .text("B")], at: later(machine.store.now()))
        let batches = try [[author(1)], [future]].map {
            ChangeBatch(records: $0, token: .start, isLast: false)
        }
        await #expect(throws: RecordStoreError.self) {
            try await machine.store.database.write { db in
                try ApplyingTransaction.run(db, manyRecords: 1) { transaction in
                    for batch in batches { _ = try peerZone.apply(batch, in: transaction) }
                }
            }
        }
        #expect(try machine.rows("SELECT * FROM Author") == [])
        try await expectCapture(machine)
    }

    @Test func anErrorAfterABatchLeavesThemOn() async throws {
        let machine = try Machine("a", number: 1)
        try await applyAndFail([author(1)], to: machine)
        #expect(try machine.rows("SELECT * FROM Author") == [])
        try await expectCapture(machine)
    }

    /// A book may come before its author: then it is written once, when the author is there.
    private func expectTitles(_ machine: Machine) async throws {
        try await apply(
            [[book(2, by: "Author|~|1")], [author(1), book(1, by: "Author|~|1")]], to: machine, isWhole: false
        )
        #expect(try machine.rows("SELECT title FROM titles ORDER BY 1") == ["Book 1", "Book 2"])
        #expect(try machine.rows("SELECT title FROM Book ORDER BY 1") == ["Book 1", "Book 2"])
        #expect(try capturedNames(machine) == [])
        try await expectCapture(machine)
    }

    @Test func theTriggersOfAnAppFire() async throws {
        let machine = try Machine("a", number: 1)
        try machine.shell(
            """
            CREATE TABLE titles (title UNIQUE);
            CREATE TRIGGER search AFTER INSERT ON Book BEGIN INSERT INTO titles VALUES (NEW.title); END
            """)
        try await expectTitles(machine)
    }

    @Test func theTriggersOfAConnectionFire() async throws {
        let machine = try Machine("a", number: 1)
        try machine.shell(
            """
            CREATE TABLE titles (title UNIQUE);
            CREATE TEMP VIEW found AS SELECT title FROM titles;
            CREATE TEMP TRIGGER find INSTEAD OF INSERT ON found BEGIN INSERT INTO titles VALUES (NEW.title); END;
            CREATE TEMP TRIGGER search AFTER INSERT ON main.Book BEGIN INSERT INTO found VALUES (NEW.title); END
            """)
        try await expectTitles(machine)
    }

    @Test func theActionsOfForeignKeysAreTaken() async throws {
        let machine = try Machine("a", number: 1)
        let peerZone = try await peerZone(of: machine)
        let batch = ChangeBatch(
            records: try [author(1), book(1, by: "Author|~|1")], token: .start, isLast: false)
        try await machine.store.database.write { db in
            try ApplyingTransaction.run(db, manyRecords: 1) { transaction in
                _ = try peerZone.apply(batch, in: transaction)
                try db.execute(sql: "DELETE FROM Author")
            }
        }
        #expect(try machine.rows("SELECT recordName FROM Book") == [])
    }
}

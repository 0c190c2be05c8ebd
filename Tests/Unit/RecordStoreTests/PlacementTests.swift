import PeerSyncModel
import PeerSyncStore
import Testing

/// What was held is shown as soon as it can be.
struct PlacementTests: PeerRecords {
    /// A machine whose table refuses authors of some names for now.
    private func choosy(_ names: String) throws -> Machine {
        try Machine(
            "a", number: 1,
            sql: Library.sql + """
                CREATE TRIGGER choosy BEFORE INSERT ON Author WHEN new.name = '\(names)'
                BEGIN SELECT RAISE(ABORT, 'not here'); END;
                """)
    }

    /// The table takes what it refused before: the next record that needs it finds out.
    @Test func aParentThatItsTableRefusedComesWithItsChild() async throws {
        let machine = try choosy("Author 1")
        try await apply([[author(1)]], to: machine)
        #expect(try await machine.status().held == 1)
        try machine.shell("DROP TRIGGER choosy")
        try await apply([[book(1, by: "Author|~|1")]], to: machine)
        #expect(try machine.rows("SELECT name FROM Author") == ["Author 1"])
        #expect(try machine.rows("SELECT title FROM Book") == ["Book 1"])
        #expect(try await machine.status().held == 0)
    }

    /// So does a record that comes to need it and is deleted in one, as on a machine that was away.
    @Test func aParentThatItsTableRefusedComesWithTheDeletionOfItsChild() async throws {
        let machine = try choosy("Author 1")
        try await apply([[author(1), author(2), book(1, by: "Author|~|2")]], to: machine)
        try machine.shell("DROP TRIGGER choosy")
        let moved = try record(
            "Book|~|1", ["author": .reference(RecordName("Author|~|1"))], at: later(1), deletion: later(2))
        try await apply([[moved]], to: machine)
        #expect(try machine.rows("SELECT name FROM Author ORDER BY name") == ["Author 1", "Author 2"])
        #expect(try machine.rows("SELECT * FROM Book").isEmpty)
        #expect(try await machine.status().held == 0)
    }

    /// Both books are without their shelf, too, and can do without.
    @Test func aHeldRecordWaitsForWhatItNeedsAlone() async throws {
        let machine = try Machine(
            "a", number: 1,
            sql: Library.sql + """
                CREATE TRIGGER choosy BEFORE INSERT ON Book BEGIN SELECT RAISE(ABORT, 'not here'); END;
                """)
        let books = try (1...2).map { try book($0, by: "Author|~|\($0)", shelf: "Shelf|~|1") }
        try await apply([[author(1)] + books], to: machine)
        let store = machine.store
        let held = try await store.database.read { try store.listing.held($0) }
        #expect(held.map(\.name) == ["Book|~|1", "Book|~|2"])
        #expect(try held.map(\.waitsFor) == [.fields, .record(RecordName("Author|~|2"))])
        let status = try await machine.status()
        #expect(status.heldRecords == held && status.held == 2)
        let first = try await store.database.read { try store.listing.held($0, limit: 1) }
        #expect(first == Array(held.prefix(1)))
    }

    /// Neither does a row show a hidden record that somebody wrote past the triggers. A repair takes it for a write in the
    /// record, which is older than the deletion that hides it.
    @Test func aRowInThePlaceOfAHiddenRecordIsFoundAndMended() async throws {
        let machine = try Machine("a", number: 1)
        let store = machine.store
        try await apply([[author(1), book(1, by: "Author|~|1")]], to: machine)
        try await apply([[record("Author|~|1", [:], deletion: later(1000))]], to: machine)
        try machine.shell(
            """
            BEGIN; INSERT INTO grdb_sync_capturePause (id) VALUES (1);
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Mine', 'Author|~|1');
            DELETE FROM grdb_sync_capturePause; COMMIT
            """)
        let found = try await store.database.write { try store.upkeep.repair($0) }
        #expect(found.findings.map(\.name) == ["Book|~|1"] && found.findings.map(\.kind) == [.unknownRow])
        #expect(try machine.rows("SELECT * FROM Book").isEmpty)
        #expect(try await store.database.read { try store.upkeep.check($0) }.isSound)
        try await store.write { db in _ = try store.restore(db, RecordName("Author|~|1")) }
        #expect(try machine.rows("SELECT title FROM Book") == ["Mine"])
    }

    /// A row that somebody wrote where a record is held is no row of that record.
    @Test func aRowInThePlaceOfAHeldRecordIsFound() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[book(1, by: "Author|~|1")]], to: machine)
        let store = machine.store
        #expect(try await store.database.read { try store.upkeep.check($0) }.isSound)
        try machine.shell(
            """
            BEGIN; INSERT INTO grdb_sync_capturePause (id) VALUES (1);
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Mine', 'Author|~|1');
            DELETE FROM grdb_sync_capturePause; COMMIT
            """)
        let findings = try await store.database.read { try store.upkeep.check($0).findings }
        #expect(findings.map(\.name) == ["Book|~|1"] && findings.map(\.kind) == [.unknownRow])
    }
}

import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// SQLite fires no DELETE trigger for a row that REPLACE removes, also because of an index over columns that are not synced.
struct ReplacedRowTests {
    private static let sql = """
        CREATE TABLE Item (
            id TEXT NOT NULL PRIMARY KEY, name TEXT, place INTEGER UNIQUE, part INTEGER, kind TEXT COLLATE NOCASE);
        CREATE UNIQUE INDEX itemKind ON Item (kind, part) WHERE part > 0;
        """
    private let here: Machine
    private let there: Machine

    init() async throws {
        let schema = try RecordSchema([RecordType("Item", [FieldDefinition("name")])])
        here = try Machine("a", number: 1, sql: Self.sql, schema: schema)
        there = try Machine("b", number: 2, sql: Self.sql, schema: schema)
        try here.shell(
            "INSERT INTO Item VALUES ('1', 'x', 1, 1, 'K'), ('2', 'y', 2, 2, 'K'), ('3', 'z', 3, 0, 'K')")
        try await here.sync(with: there)
    }

    @Test(arguments: [
        ("INSERT OR REPLACE INTO Item VALUES ('4', 'new', 1, 9, NULL)", ["2|y", "3|z", "4|new"]),
        ("REPLACE INTO Item (id, name, part, kind) VALUES ('4', 'new', 2, 'k')", ["1|x", "3|z", "4|new"]),
        ("UPDATE OR REPLACE Item SET place = 2 WHERE id = '3'", ["1|x", "3|z"]),
        ("REPLACE INTO Item (rowid, id, name) VALUES (1, '4', 'new')", ["2|y", "3|z", "4|new"]),
        // Nothing is replaced: the index does not have the row, or the row stays as it is.
        ("INSERT OR REPLACE INTO Item VALUES ('4', 'new', 4, 0, 'K')", ["1|x", "2|y", "3|z", "4|new"]),
        ("INSERT OR IGNORE INTO Item VALUES ('4', 'new', 1, 9, NULL)", ["1|x", "2|y", "3|z"]),
        ("UPDATE Item SET place = 1 WHERE id = '1'", ["1|x", "2|y", "3|z"]),
    ])
    func whatAnIndexOfLocalColumnsRemovesIsDeletedEverywhere(sql: String, left: [String]) async throws {
        try here.shell(sql)
        #expect(try here.rows("SELECT id, name FROM Item ORDER BY id") == left)
        try await here.sync(with: there)
        #expect(try there.rows("SELECT id, name FROM Item ORDER BY id") == left)
        #expect(try await here.digest() == there.digest())
    }

    /// −1 stands in NEW for a number that the statement does not name.
    @Test func aRowWithTheNumberOfNoneIsNotJournaled() async throws {
        try here.shell(
            "INSERT INTO Item (rowid, id) VALUES (-1, 'minus'); INSERT INTO Item (id) VALUES ('4')")
        let journal = try here.rows("SELECT recordName FROM grdb_sync_pendingChange ORDER BY id")
        #expect(journal == ["minus", "4"])
        try await here.sync(with: there)
        #expect(try there.rows("SELECT id FROM Item ORDER BY id") == ["1", "2", "3", "4", "minus"])
    }

    /// A row that has the number of another one takes its place, whatever the number is called.
    @Test(arguments: [("rowid", "other"), ("_rowid_", "rowid")])
    func whatANumberReplacesIsDeletedEverywhere(rowID: String, column: String) async throws {
        let sql = "CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, \(column) TEXT)"
        let schema = try RecordSchema([RecordType("Note", [FieldDefinition(column)])])
        let (a, b) = (
            try Machine("a", number: 1, sql: sql, schema: schema),
            try Machine("b", number: 2, sql: sql, schema: schema)
        )
        try a.shell("INSERT INTO Note (\(rowID), id) VALUES (1, 'x'), (2, 'y')")
        try await a.sync(with: b)
        try a.shell(
            """
            INSERT OR REPLACE INTO Note (\(rowID), id) VALUES (1, 'new');
            INSERT OR IGNORE INTO Note (\(rowID), id) VALUES (2, 'other');
            """)
        try await a.sync(with: b)
        #expect(try b.rows("SELECT id FROM Note ORDER BY id") == ["new", "y"])
        #expect(try await a.digest() == b.digest())
    }

    /// Stores of earlier versions lack the trigger. Without it, no row is one that sync does not know.
    @Test func aStoreThatLacksTheTriggerGetsItAndAdoptsNothing() throws {
        let schema = try RecordSchema([RecordType("Note", [FieldDefinition("text")])])
        let open: VersionedApp.Opening = { try RecordStore($0, schema: schema, replica: $1) }
        let app = try VersionedApp(1, "CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, text TEXT)", open)
        try app.execute("INSERT INTO Note VALUES ('1', 'x')")
        let before = try app.states()
        let triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        let names = try app.rows(triggers)
        try app.migrate(
            """
            DROP TRIGGER grdb_sync_Note_captureReplace;
            INSERT INTO grdb_sync_capturePause (id) VALUES (1);
            INSERT INTO Note VALUES ('2', 'y');
            DELETE FROM grdb_sync_capturePause;
            """, open)
        #expect(try app.rows(triggers) == names)
        #expect(try app.states() == before)
    }
}

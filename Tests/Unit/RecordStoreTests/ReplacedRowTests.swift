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
}

import GRDB
import RecordStore
import SyncModel
import Testing

/// A table that could not take the records of other machines is refused when the store is opened, with the column and a way
/// out. Nothing is changed then.
struct TableCheckTests {
    private func open(_ declaration: String) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE Author (\(declaration))") }
        _ = try RecordStore(
            database, schema: RecordSchema([RecordType("Author", [FieldDefinition("name")])]),
            replica: ReplicaID(rawValue: 1))
        return database
    }

    @Test(arguments: [
        (
            "recordName INTEGER PRIMARY KEY, name TEXT, modificationDate TEXT",
            "Author.recordName must be TEXT"
        ),
        (
            "recordName BLOB PRIMARY KEY, name TEXT, modificationDate TEXT) STRICT --",
            "Author.recordName must be TEXT"
        ),
        ("recordName TEXT, name TEXT", "Author has no primary key"),
        ("id INTEGER PRIMARY KEY, name TEXT", "Author.id is an INTEGER"),
        ("id REAL PRIMARY KEY, name TEXT", "Author.id is declared REAL"),
        ("recordName TEXT PRIMARY KEY, modificationDate TEXT", "has no column name"),
        (
            "recordName TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, shelf TEXT NOT NULL DEFAULT NULL",
            "Author.shelf is NOT NULL, has no DEFAULT and is not synced"
        ),
        ("recordName TEXT PRIMARY KEY, name TEXT UNIQUE, modificationDate TEXT", "Author.name is UNIQUE"),
    ])
    func aTableThatCouldNotTakeRecordsIsRefused(declaration: String, reason: String) throws {
        let error = #expect(throws: RecordStoreError.self) { try open(declaration) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        "recordName TEXT NOT NULL PRIMARY KEY, name TEXT, modificationDate TEXT",
        "recordName VARCHAR(80) PRIMARY KEY, name TEXT NOT NULL, modificationDate TEXT",
        "recordName BLOB PRIMARY KEY, name, modificationDate TEXT",
        "recordName BIGINT PRIMARY KEY, name, modificationDate TEXT",
        "recordName INTEGER PRIMARY KEY, name, modificationDate TEXT) WITHOUT ROWID --",
        "recordName ANY PRIMARY KEY, name ANY, modificationDate TEXT) STRICT --",
        "recordName TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, shelf TEXT NOT NULL DEFAULT 'top', note TEXT",
        "recordName TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, upper TEXT NOT NULL AS (upper(name)) STORED",
    ])
    func whatTakesEveryRecordIsSynced(declaration: String) async throws {
        let database = try open(declaration)
        try await database.write {
            try $0.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen')")
        }
        let count = try await database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM pendingChange")
        }
        #expect(count == 1)
    }
}

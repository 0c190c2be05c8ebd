import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// An index or a trigger may fail for the values of one record. That record is held, and the others come.
struct UncomputableRowTests {
    private static let table = "CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, title TEXT, rating INTEGER);"
    private static let index = "CREATE INDEX part ON Note (json_extract(title, '$.a'));"

    private static var schema: RecordSchema {
        get throws {
            try RecordSchema([RecordType("Note", [FieldDefinition("title"), FieldDefinition("rating")])])
        }
    }

    private static func machine(_ name: String, _ number: UInt64) throws -> Machine {
        try Machine(name, number: number, sql: table, schema: schema)
    }

    private static func open(_ database: DatabaseQueue, _ replica: ReplicaID) throws -> RecordStore {
        try RecordStore(database, schema: schema, replica: replica)
    }

    private let (a, b): (Machine, Machine)

    init() throws { (a, b) = try (Self.machine("a", 1), Self.machine("b", 2)) }

    @Test(arguments: [
        // SQLITE_ERROR
        index,
        "CREATE INDEX size ON Note (abs(rating))",
        // SQLITE_MISMATCH
        """
        CREATE TABLE seen (number INTEGER PRIMARY KEY);
        CREATE TRIGGER see AFTER INSERT ON Note WHEN NEW.title = 'bad' BEGIN INSERT INTO seen VALUES (NEW.title); END;
        """,
        // SQLITE_TOOBIG
        """
        CREATE TRIGGER see AFTER INSERT ON Note WHEN NEW.title = 'bad'
        BEGIN SELECT zeroblob(2000000000 + length(NEW.title)); END;
        """,
    ])
    func aRecordForWhichAnExpressionFailsIsHeld(declaration: String) async throws {
        try b.shell(declaration)
        try a.shell("INSERT INTO Note VALUES ('1', 'bad', -9223372036854775808), ('2', '{}', 5)")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT id FROM Note") == ["2"])
        #expect(try await b.status().heldRecords.map(\.name) == ["Note|~|1"])
        #expect(try await b.status().heldRecords.map(\.waitsFor) == [.fields])
        #expect(try await a.digest() == b.digest())
        try a.shell("UPDATE Note SET title = '[]', rating = 1 WHERE id = '1'")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT id FROM Note ORDER BY id") == ["1", "2"])
        #expect(try await b.store.database.read { try b.store.upkeep.check($0) }.isSound)
    }

    @Test func anOpeningTriesItAgainAndGoesOn() throws {
        let app = try VersionedApp(1, Self.table + Self.index, Self.open)
        let stamp = Stamp(time: HybridTime(milliseconds: 1_700_000_000_000), replica: ReplicaID(rawValue: 7))
        let state = RecordState(
            name: try RecordName("Note|~|1"),
            fields: [RecordField(name: "title", value: .text("bad"), stamp: stamp)])
        _ = try app.database.write { try app.store.merge($0, [state]) }
        try app.migrate("CREATE TABLE Other (text TEXT)", Self.open)
        #expect(try app.rows("SELECT id FROM Note") == [])
        try app.migrate("DROP INDEX part", Self.open)
        #expect(try app.rows("SELECT id FROM Note") == ["1"])
        #expect(try app.isSound)
    }

    @Test func anotherVersionOfSQLiteTriesItAgain() throws {
        let app = try VersionedApp(1, Self.table, Self.open)
        try app.database.write { db in
            db.add(
                function: DatabaseFunction("ready", argumentCount: 0) { _ in
                    throw DatabaseError(message: "not ready")
                })
            try db.execute(
                sql:
                    "CREATE TRIGGER see AFTER INSERT ON Note BEGIN SELECT ready() WHERE NEW.title = 'bad'; END"
            )
        }
        try app.migrate("", Self.open)
        let stamp = Stamp(time: HybridTime(milliseconds: 1_700_000_000_000), replica: ReplicaID(rawValue: 7))
        let state = RecordState(
            name: try RecordName("Note|~|1"),
            fields: [RecordField(name: "title", value: .text("bad"), stamp: stamp)])
        _ = try app.database.write { try app.store.merge($0, [state]) }
        #expect(try app.rows("SELECT id FROM Note") == [])
        try app.database.write {
            $0.add(function: DatabaseFunction("ready", argumentCount: 0) { _ in 1 })
        }
        try app.migrate("", Self.open)
        #expect(try app.rows("SELECT id FROM Note") == [])
        try app.migrate(
            "UPDATE grdb_sync_syncState SET value = '3.0.0' WHERE name = 'sqliteVersion'", Self.open)
        #expect(try app.rows("SELECT id FROM Note") == ["1"])
    }

    /// Where no trigger fires, SQLite does not take back what it has done to the other indexes.
    @Test func aRowThatSQLiteCannotTakeOutOfAnIndexStaysWhole() throws {
        let open: VersionedApp.Opening = { database, replica in
            try RecordStore(database, tables: [SyncedTable("Note", holdsDuplicates: true)], replica: replica)
        }
        let app = try VersionedApp(
            1, "CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, title TEXT UNIQUE)", open)
        let name = try RecordName("Note|~|1")
        func replaceFunction(failing isFailing: Bool, _ db: Database) {
            db.add(
                function: DatabaseFunction("picky", argumentCount: 1, pure: true) { values in
                    if isFailing { throw DatabaseError(message: "picky") }
                    return values[0]
                })
        }
        try app.database.write { replaceFunction(failing: false, $0) }
        // SQLite takes a row out of the newest index first.
        try app.migrate(
            """
            CREATE INDEX early ON Note (picky(title)); CREATE INDEX late ON Note (title);
            INSERT INTO Note VALUES ('1', 'x');
            """, open)
        let table = try #require(app.store.tables["Note"])
        try app.database.write { db throws in
            replaceFunction(failing: true, db)
            let writer = RecordWriter(db, app.store.tables)
            #expect(throws: DatabaseError.self) { try writer.deleteRow(name, in: table) }
            let wereOn = CaptureTriggers.switchOff(db)
            #expect(throws: DatabaseError.self) { try writer.deleteRow(name, in: table) }
            #expect(try table.uniqueIndexes[0].vacate(db, name, in: table) == false)
            if wereOn { CaptureTriggers.switchOn(db) }
            replaceFunction(failing: false, db)
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
        #expect(try app.rows("SELECT * FROM Note") == ["1|x"])
    }

    /// Nothing is wrong with the values when SQLite cannot compile a statement.
    @Test func aTriggerWhoseTableIsMissingEndsTheTransaction() async throws {
        try b.shell(
            """
            CREATE TABLE gone (id TEXT);
            CREATE TRIGGER see AFTER INSERT ON Note BEGIN INSERT INTO gone VALUES (NEW.id); END;
            DROP TABLE gone
            """)
        try a.shell("INSERT INTO Note (id, title) VALUES ('1', 'x')")
        await #expect(throws: DatabaseError.self) { try await a.sync(with: b) }
        #expect(try b.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord") == [])
        try b.shell("CREATE TABLE gone (id TEXT)")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT id FROM gone") == ["1"])
    }
}

import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Tables and columns may have any name that SQLite takes. Records have identifiers in its place, so the wire and the
/// engine's own lists know none of these characters.
struct HostileNameTests {
    private static let names = [
        "order", "1st", "Order lines", "größe", "e\u{301}t\u{E9}", "🧀", "a\"b", "\"", "it's", "x;--", "/*",
        "a|~|b",
        "reference:a:b", "100%", "*", "[a]", "`a`", "a\nb", "_0x", " ",
    ]

    /// An app whose table, key, column and reference have such a name.
    private struct App {
        let name: String
        var table: String { name.sqlName }
        var lines: String { "\(name) l".sqlName }
        var key: String { "\(name) k".sqlName }
        var value: String { "\(name) v".sqlName }
        var parent: String { "\(name) p".sqlName }
        var tables: [SyncedTable] { [SyncedTable(name), SyncedTable("\(name) l", local: ["\(name) x"])] }
        var sql: String {
            """
            CREATE TABLE \(table) (\(key) TEXT NOT NULL PRIMARY KEY, \(value) TEXT);
            CREATE TABLE \(lines) (
                \(key) BLOB NOT NULL, \(table) INTEGER NOT NULL, \(value) DEFAULT 'a',
                \(parent) TEXT REFERENCES \(table) ON UPDATE CASCADE ON DELETE CASCADE, \("\(name) x".sqlName) INTEGER,
                PRIMARY KEY (\(key), \(table)));
            """
        }
        var dump: [String] {
            [
                "SELECT * FROM \(table) ORDER BY 1",
                "SELECT hex(\(key)), \(table), \(value), \(parent) FROM \(lines)",
            ]
        }

        func machine(_ name: String, number: UInt64) throws -> Machine {
            let schema = try DatabaseQueue().write { db in
                try db.execute(sql: sql)
                return try RecordSchema(db, tables: tables)
            }
            return try Machine(name, number: number, sql: sql, schema: schema)
        }

        func content(_ machine: Machine) throws -> [[String]] { try dump.map(machine.rows) }
    }

    @Test(arguments: names)
    func recordsGoBothWaysWhateverTheNames(name: String) async throws {
        let app = App(name: name)
        let (here, there) = (try app.machine("a", number: 1), try app.machine("b", number: 2))
        try here.shell(
            """
            INSERT INTO \(app.table) VALUES ('1', 'Cream'), ('2', NULL);
            INSERT INTO \(app.lines) (\(app.key), \(app.table), \(app.parent)) VALUES (x'01', 1, '1'), (x'02', 2, '2');
            """)
        try await here.sync(with: there)
        #expect(try app.content(there) == app.content(here))
        #expect(try there.rows(app.dump[1]) == ["01|1|a|1", "02|2|a|2"])
        try await there.store.database.write { db in
            try db.execute(
                sql: """
                    UPDATE \(app.lines) SET \(app.value) = x'00', \(app.parent) = '2';
                    DELETE FROM \(app.table) WHERE \(app.key) = '1';
                    UPDATE \(app.table) SET \(app.value) = 'Figs', \(app.key) = '3' WHERE \(app.key) = '2';
                    INSERT INTO \(app.table) VALUES ('4', 'Salt');
                    """)
        }
        #expect(
            try await there.store.database.read { try there.store.listing.isPending($0, ["4"], of: name) })
        try await there.sync(with: here)
        #expect(try app.content(here) == app.content(there))
        #expect(try here.rows(app.dump[0]) == ["3|Figs", "4|Salt"])
        #expect(try await here.digest() == there.digest())
        for machine in [here, there] {
            #expect(try await machine.store.database.read { try machine.store.upkeep.check($0).isSound })
        }
    }

    @Test(arguments: names)
    func aMigrationIsTakenInWhateverTheNames(name: String) async throws {
        let app = App(name: name)
        let machine = try app.machine("a", number: 1)
        try machine.shell(
            "INSERT INTO \(app.table) VALUES ('1', 'Cream'); INSERT INTO \(app.lines) VALUES (x'01', 1, 'b', '1', 7)"
        )
        try await machine.store.foldPendingChanges()
        try await machine.store.database.write { db in
            try RecordStore.stopCapturing(db, of: name)
            try db.execute(
                sql: """
                    ALTER TABLE \(app.table) DROP COLUMN \(app.value);
                    ALTER TABLE \(app.table) ADD COLUMN \("\(name) w".sqlName) TEXT DEFAULT 'new';
                    UPDATE \(app.table) SET \("\(name) w".sqlName) = 'filled';
                    """)
        }
        let type = NameEncoding.identifier(of: name)
        var store = try RecordStore(
            machine.store.database, tables: app.tables, replica: machine.store.replica)
        let item = try await machine.store.database.read { [store] in
            try store.state($0, of: RecordName("\(type)|~|1"))
        }
        #expect(item?.field(NameEncoding.identifier(of: "\(name) w"))?.value == .text("filled"))
        // The lines leave the schema, and keep their reference.
        store = try RecordStore(
            machine.store.database, tables: [SyncedTable(name)], replica: machine.store.replica)
        let line = try await machine.store.database.read { [store] in
            try store.state($0, of: RecordName("\(NameEncoding.identifier(of: "\(name) l"))|~|01,1"))
        }
        #expect(
            line?.field(NameEncoding.identifier(of: "\(name) p"))?.value
                == .reference(try RecordName("\(type)|~|1")))
        try await machine.store.database.write { try RecordStore.uninstall($0) }
        #expect(try machine.rows("SELECT name FROM sqlite_master WHERE name GLOB 'grdb_sync_*'") == [])
        #expect(try machine.rows("SELECT * FROM \(app.table)") == ["1|filled"])
    }

    @Test func aNameThatHasNoRoomInRecordsIsRefused() throws {
        let long = String(repeating: "Ж", count: 13)
        #expect(NameEncoding.identifier(of: long).utf8.count == 67)
        let open = { (table: String, column: String) in
            _ = try RecordSchema([RecordType(table, [FieldDefinition(column)])])
        }
        try open(String(long.dropLast()), String(repeating: "x", count: 63))
        for (table, column, reason) in [
            ("T", long, "the column T.\(long) cannot be synced: its name takes 67 bytes"),
            (long, "c", "the table \(long) cannot be synced: its name takes 67 bytes"),
            ("T", String(repeating: "x", count: 64), "its name takes 64 bytes"),
        ] {
            let error = #expect(throws: RecordStoreError.self) { try open(table, column) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        }
    }

    /// SQLite tells them apart, and Swift does not.
    @Test func namesThatDifferOnlyInTheirCompositionAreRefused() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE T (id TEXT PRIMARY KEY, "\(composed)", "\(decomposed)");
                    CREATE TABLE "\(composed)" (id TEXT PRIMARY KEY, a); CREATE TABLE "\(decomposed)" (id TEXT PRIMARY KEY, a)
                    """)
        }
        for tables in [["T"], [SyncedTable(composed), SyncedTable(decomposed)]] {
            let error = #expect(throws: RecordStoreError.self) {
                try RecordStore(database, tables: tables, replica: ReplicaID(rawValue: 1))
            }
            #expect([.tableMismatch, .invalidSchema].contains(error?.code))
        }
        _ = try RecordStore(database, tables: [SyncedTable(decomposed)], replica: ReplicaID(rawValue: 1))
    }
}

import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Tables whose names, columns or neighbours SQLite takes otherwise than most: they sync like any other.
struct UnusualTableTests {
    private static func machines(
        _ sql: String, _ tables: [SyncedTable]
    ) throws -> (Machine, Machine) {
        let schema = try DatabaseQueue().write { db in
            try db.execute(sql: sql)
            return try RecordSchema(db, tables: tables)
        }
        return (
            try Machine("a", number: 1, sql: sql, schema: schema),
            try Machine("b", number: 2, sql: sql, schema: schema)
        )
    }

    private static let item = "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, v TEXT)"

    /// In an upsert, `excluded` is what the statement could not insert.
    @Test func aTableNamedExcludedIsWritten() async throws {
        let (machine, _) = try Self.machines(
            "CREATE TABLE excluded (id TEXT NOT NULL PRIMARY KEY, v TEXT)", ["excluded"])
        try await machine.store.database.write { db in
            let layout = RowLayout(db, try #require(machine.store.tables["excluded"]), ["v"])
            let stamp = Stamp(time: HybridTime(rawValue: 1), replica: ReplicaID(rawValue: 1))
            for text in ["first", "second"] {
                let field = RecordField(name: "v", value: .text(text), stamp: stamp)
                try layout.upsert(RecordName("excluded|~|1"), [field], nil)
            }
        }
        #expect(try machine.rows("SELECT * FROM excluded") == ["1|second"])
    }

    @Test(arguments: [
        "TEMP TABLE Item (id TEXT NOT NULL PRIMARY KEY, v TEXT)",
        "TEMP VIEW Item AS SELECT id, upper(v) AS v FROM main.Item",
    ])
    func whatIsTemporaryTakesNothingThatComes(temporary: String) async throws {
        let (a, b) = try Self.machines(Self.item, ["Item"])
        try a.shell("INSERT INTO Item VALUES ('1', 'x')")
        try await a.sync(with: b)
        try b.shell("CREATE \(temporary)")
        try a.shell("UPDATE Item SET v = 'y'; INSERT INTO Item VALUES ('2', 'z')")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM main.Item ORDER BY id") == ["1|y", "2|z"])
        try a.shell("DELETE FROM Item WHERE id = '1'")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM main.Item") == ["2|z"])
        #expect(try await a.digest() == b.digest())
    }

    @Test func aStoreOpensBesideATemporaryTable() throws {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "\(Self.item); CREATE TEMP TABLE Item (other TEXT)") }
        _ = try RecordStore(database, tables: ["Item"], replica: ReplicaID(rawValue: 1))
        let names = try database.write { db in
            try db.execute(sql: "INSERT INTO main.Item VALUES ('1', 'x'); INSERT INTO temp.Item VALUES ('2')")
            return try String.fetchAll(db, sql: "SELECT recordName FROM grdb_sync_pendingChange")
        }
        #expect(names == ["1"])
    }

    /// SQLite takes é and É for different letters in names.
    @Test func tablesThatDifferInALetterBeyondASCIIAreTwo() async throws {
        let (a, b) = try Self.machines(
            """
            CREATE TABLE "\u{C9}" (id TEXT NOT NULL PRIMARY KEY, other TEXT REFERENCES "\u{E9}" ON DELETE CASCADE);
            CREATE TABLE "\u{E9}" (id TEXT NOT NULL PRIMARY KEY, v TEXT);
            """, ["\u{C9}", "\u{E9}"])
        try a.shell(
            "INSERT INTO \"\u{E9}\" VALUES ('1', 'x'), ('2', 'y'); INSERT INTO \"\u{C9}\" VALUES ('a', '1')")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM \"\u{C9}\"") == ["a|1"])
        try await b.store.database.write { try $0.execute(sql: "DELETE FROM \"\u{E9}\" WHERE id = '1'") }
        try await a.sync(with: b)
        #expect(try a.rows("SELECT * FROM \"\u{C9}\"") == [])
        #expect(try await a.digest() == b.digest())
    }

    @Test func aTriggerOnATableWithALetterBeyondASCIIIsNoticed() async throws {
        let table = "\u{DC}bung"
        let (a, b) = try Self.machines(
            "CREATE TABLE \(table) (id TEXT NOT NULL PRIMARY KEY, v TEXT)", [SyncedTable(table)])
        try b.shell(
            """
            CREATE TRIGGER shout AFTER INSERT ON \(table) BEGIN
                UPDATE \(table) SET v = upper(v) WHERE id = NEW.id; END
            """)
        try a.shell("INSERT INTO \(table) VALUES ('1', 'quiet')")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT v FROM \(table)") == ["QUIET"])
        let state = try await b.state("\(NameEncoding.identifier(of: table))|~|1")
        #expect(state?.field("v")?.value == .text("quiet"))
    }

    /// The engine leaves the column alone where it could not write it, or would make another record of the row.
    @Test(arguments: [
        (
            "id TEXT NOT NULL, modificationDate TEXT NOT NULL, v TEXT, PRIMARY KEY (id, modificationDate)",
            "INSERT INTO Item VALUES ('1', 'monday', 'x')", ["1|monday|y"]
        ),
        (
            "id TEXT NOT NULL PRIMARY KEY, modificationDate TEXT AS ('of ' || v) STORED, v TEXT",
            "INSERT INTO Item VALUES ('1', 'x')", ["1|of y|y"]
        ),
    ])
    func aModificationDateOfTheAppsOwnStays(columns: String, insert: String, rows: [String]) async throws {
        let (a, b) = try Self.machines("CREATE TABLE Item (\(columns))", ["Item"])
        try a.shell(insert)
        try await a.sync(with: b)
        try b.shell("UPDATE Item SET v = 'y'")
        try await a.sync(with: b)
        for machine in [a, b] {
            #expect(try machine.rows("SELECT id, modificationDate, v FROM Item") == rows)
            #expect(try await machine.store.database.read { try machine.store.upkeep.check($0).isSound })
        }
    }

    /// With this pragma SQLite lets triggers call only functions that are said to be harmless. Some versions do not say so of
    /// `json_array`, which a table WITHOUT ROWID needs for no insertion.
    @Test func aClockIsTakenWhereTheSchemaIsNotTrusted() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA trusted_schema = OFF") }
        let database = try DatabaseQueue(configuration: configuration)
        try database.write { try $0.execute(sql: "\(Self.item) WITHOUT ROWID") }
        _ = try RecordStore(
            database, tables: ["Item"], replica: ReplicaID(rawValue: 1), now: { 1_800_000_000_000 })
        let time = try database.write { db in
            try db.execute(sql: "INSERT INTO Item VALUES ('1', 'x')")
            return try Int64.fetchOne(db, sql: "SELECT time FROM grdb_sync_pendingChange")
        }
        #expect(time == 1_800_000_000_000)
    }
}

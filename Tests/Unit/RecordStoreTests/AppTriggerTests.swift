import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// An app's own triggers fire for what sync writes, too. What they change in the row that sync has just written is this machine's
/// own view of it: every machine passes on the value that somebody wrote.
struct AppTriggerTests {
    private static let table = """
        CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, title TEXT, edited TEXT, modificationDate TEXT);
        """
    private static let touch = """
        CREATE TRIGGER touch AFTER UPDATE OF title ON Note BEGIN
            UPDATE Note SET edited = 'here' || (SELECT COUNT(*) FROM Note) WHERE id = NEW.id; END;
        CREATE TRIGGER arrive AFTER INSERT ON Note BEGIN
            UPDATE Note SET edited = 'new' || (SELECT COUNT(*) FROM Note) WHERE id = NEW.id; END;
        """

    private static func machine(_ name: String, _ number: UInt64, triggers: String = touch) throws -> Machine
    {
        let schema = try RecordSchema([
            RecordType("Note", [FieldDefinition("title"), FieldDefinition("edited")])
        ])
        return try Machine(name, number: number, sql: table + triggers, schema: schema)
    }

    private func values(_ machine: Machine, _ name: String) async throws -> [String: FieldValue] {
        let state = try #require(try await machine.state(name))
        return Dictionary(uniqueKeysWithValues: state.fields.map { ($0.name, $0.value) })
    }

    @Test func threeMachinesAgreeAlthoughEachHasTriggers() async throws {
        let machines = try (1...3).map { try Self.machine("\($0)", UInt64($0)) }
        try machines[1].shell("INSERT INTO Note (id, title) VALUES ('own', 'o')")
        for round in ["a", "b", "c"] {
            try machines[0].shell(
                """
                INSERT INTO Note (id, title) VALUES ('\(round)', 'x');
                UPDATE Note SET title = title || '\(round)' WHERE id = 'a'
                """)
            try await machines[0].sync(with: machines[1])
            try await machines[1].sync(with: machines[2])
            try await machines[2].sync(with: machines[0])
            for machine in machines.dropFirst() {
                #expect(try await machine.digest() == machines[0].digest())
                #expect(try await values(machine, "Note|~|a") == values(machines[0], "Note|~|a"))
                #expect(
                    try await values(machine, "Note|~|\(round)") == values(machines[0], "Note|~|\(round)"))
            }
        }
        for machine in machines {
            #expect(try await machine.store.database.read { try machine.store.upkeep.check($0) }.isSound)
            // Nothing is left to say.
            #expect(try await machine.status().pending == 0)
        }
    }

    /// A trigger that asks for the pause leaves the row as the writer's machine has it.
    @Test func aTriggerThatAsksForThePauseWritesOnlyWhereSomebodyWrites() async throws {
        let guarded = Self.touch.replacingOccurrences(
            of: "ON Note BEGIN",
            with: "ON Note WHEN NOT EXISTS (SELECT 1 FROM grdb_sync_capturePause) BEGIN")
        // The engine's table comes with the store.
        let machines = try (1...2).map { try Self.machine("\($0)", UInt64($0), triggers: "") }
        for machine in machines { try machine.shell(guarded) }
        try machines[1].shell("INSERT INTO Note (id, title) VALUES ('own', 'o')")
        try machines[0].shell("INSERT INTO Note (id, title) VALUES ('a', 'x'); UPDATE Note SET title = 'y'")
        try await machines[0].sync(with: machines[1])
        let rows = try machines[0].rows("SELECT id, title, edited FROM Note ORDER BY id")
        #expect(rows == ["a|y|here1", "own|o|new1"])
        #expect(try machines[1].rows("SELECT id, title, edited FROM Note ORDER BY id") == rows)
    }

    /// On a new installation the migrations of an app run before the engine is there, and later ones change its tables.
    @Test func migrationsRunBeforeTheEngine() throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(sql: Self.table)
            try RecordStore.createCapturePause(db)
            try db.execute(
                sql: """
                    CREATE TRIGGER touched AFTER UPDATE OF title ON Note
                    WHEN NOT EXISTS (SELECT 1 FROM grdb_sync_capturePause)
                    BEGIN UPDATE Note SET edited = 'here' WHERE id = NEW.id; END;
                    INSERT INTO Note (id, title) VALUES ('1', 'x');
                    UPDATE Note SET title = 'y';
                    CREATE TABLE new_Other (id TEXT);
                    ALTER TABLE new_Other RENAME TO Other;
                    ALTER TABLE Note RENAME COLUMN edited TO changed;
                    ALTER TABLE Note RENAME COLUMN changed TO edited;
                    """)
            try RecordStore.createCapturePause(db)
        }
        _ = try RecordStore(database, tables: ["Note"], replica: ReplicaID(rawValue: 1))
        try database.write {
            try $0.execute(sql: "UPDATE Note SET edited = NULL; UPDATE Note SET title = 'z'")
        }
        #expect(try database.read { try String.fetchOne($0, sql: "SELECT edited FROM Note") } == "here")
    }

    /// A trigger that another program has added while the store is open counts as well, and so does a temporary one.
    @Test(arguments: ["", "TEMP "])
    func aTriggerThatComesLaterCounts(kind: String) async throws {
        let (a, b) = try (Self.machine("a", 1, triggers: ""), Self.machine("b", 2, triggers: ""))
        try await a.sync(with: b)
        try b.shell(
            """
            CREATE \(kind)TRIGGER shout AFTER INSERT ON Note BEGIN
                UPDATE Note SET title = upper(title) WHERE id = NEW.id; END
            """)
        try a.shell("INSERT INTO Note (id, title) VALUES ('a', 'quiet')")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT title FROM Note") == ["QUIET"])
        #expect(try await values(b, "Note|~|a")["title"] == .text("quiet"))
        #expect(try await a.digest() == b.digest())
    }
}

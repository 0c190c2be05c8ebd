import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// An app's own triggers may refuse what somebody writes. They refuse sync nothing that is right already, and no deletion.
struct RefusingTriggerTests {
    static let table = """
        CREATE TABLE Note (id TEXT NOT NULL PRIMARY KEY, title TEXT, rating INTEGER, modificationDate TEXT);
        CREATE TABLE Comment (note TEXT NOT NULL REFERENCES Note ON DELETE CASCADE, text TEXT);
        """
    private static let lock = """
        CREATE TRIGGER lock BEFORE UPDATE ON Note WHEN OLD.rating IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'rated'); END;
        """

    private static var schema: RecordSchema {
        get throws {
            try RecordSchema([RecordType("Note", [FieldDefinition("title"), FieldDefinition("rating")])])
        }
    }

    private static func machine(_ name: String, _ number: UInt64) throws -> Machine {
        try Machine(name, number: number, sql: table, schema: schema)
    }

    private let (a, b): (Machine, Machine)

    init() throws { (a, b) = try (Self.machine("a", 1), Self.machine("b", 2)) }

    /// The row gets no date any more; that is all.
    @Test func aRowThatWasLockedByTheWriteItselfStays() async throws {
        try a.shell(
            "INSERT INTO Note (id, title) VALUES ('1', 'x'); INSERT INTO Comment VALUES ('1', 'mine')")
        try await a.sync(with: b)
        try a.shell(Self.lock + "UPDATE Note SET rating = 8")
        #expect(try await a.status().heldRecords.isEmpty)
        #expect(try a.rows("SELECT title, rating FROM Note") == ["x|8"])
        #expect(try a.rows("SELECT text FROM Comment") == ["mine"])
        try await a.sync(with: b)
        #expect(try b.rows("SELECT title, rating FROM Note") == ["x|8"])
    }

    /// GRDB recommends this way to change a table: create, copy, drop, rename. No value differs, so nothing is written.
    @Test func aTableThatWasMadeAnewIsNotWrittenOnceMore() throws {
        let app = try VersionedApp(1, Self.table, Self.open)
        try app.execute("INSERT INTO Note (id, title, rating) VALUES ('1', 'x', 8), ('2', 'y', NULL)")
        let states = try app.states()
        try app.migrate(
            """
            CREATE TABLE new_Note (id TEXT NOT NULL PRIMARY KEY, title TEXT, rating INTEGER, modificationDate TEXT);
            INSERT INTO new_Note SELECT * FROM Note;
            DROP TABLE Note;
            ALTER TABLE new_Note RENAME TO Note;
            CREATE TABLE seen (id TEXT);
            CREATE TRIGGER see AFTER UPDATE ON Note BEGIN INSERT INTO seen VALUES (NEW.id); END;
            \(Self.lock)
            """, Self.open)
        #expect(try app.rows("SELECT id, title, rating FROM Note ORDER BY id") == ["1|x|8", "2|y|-"])
        #expect(try app.rows("SELECT id FROM seen") == [])
        #expect(try app.states() == states)
        #expect(try app.isSound)
    }

    /// What a statement in a trigger says about conflicts holds for what sync writes, too.
    @Test func triggersMayIgnoreAndReplace() async throws {
        for machine in [a, b] {
            try machine.shell(
                """
                CREATE TABLE tally (rating INTEGER PRIMARY KEY, last TEXT);
                CREATE TRIGGER arrive AFTER INSERT ON Note BEGIN INSERT OR IGNORE INTO tally VALUES (NEW.rating, 'new'); END;
                CREATE TRIGGER change AFTER UPDATE OF rating ON Note
                BEGIN INSERT OR REPLACE INTO tally VALUES (NEW.rating, NEW.id); END;
                """)
        }
        try a.shell("INSERT INTO Note (id, title, rating) VALUES ('1', 'x', 5), ('2', 'y', 5)")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM tally") == ["5|new"])
        try a.shell("UPDATE Note SET rating = 6")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM tally ORDER BY rating") == ["5|new", "6|2"])
        #expect(try b.rows("SELECT id, rating FROM Note ORDER BY id") == ["1|6", "2|6"])
        #expect(try await b.status().heldRecords.isEmpty)
    }

    /// A row that sync writes whole is an update for triggers where it is there, and an insertion where it is not.
    @Test func aRowThatIsWrittenAnewFiresTheTriggerOfAnUpdate() async throws {
        try a.shell(
            """
            CREATE TABLE tally (rating INTEGER PRIMARY KEY, last TEXT);
            CREATE TRIGGER change AFTER UPDATE OF rating ON Note
            BEGIN INSERT OR REPLACE INTO tally VALUES (NEW.rating, NEW.id); END;
            INSERT INTO Note (id, rating) VALUES ('1', 5), ('2', 5)
            """)
        try await a.store.foldPendingChanges()
        try await a.store.database.write { [store = a.store] db in
            let writer = RecordWriter(db, store.tables)
            for id in ["1", "2", "3"] {
                let state = try #require(
                    try store.state(db, of: RecordName("Note|~|\(id == "3" ? "2" : id)")))
                let named = RecordState(name: try RecordName("Note|~|\(id)"), fields: state.fields)
                try writer.writeRow(named, in: #require(store.tables["Note"]), from: nil)
            }
        }
        #expect(try a.rows("SELECT * FROM tally") == ["5|2"])
        #expect(try a.rows("SELECT id, rating FROM Note ORDER BY id") == ["1|5", "2|5", "3|5"])
    }

    /// Whether a row is new to the store or waits for nothing any more: if it is not there, it is held.
    @Test(arguments: [
        "BEFORE INSERT ON Note WHEN NEW.id = '1' BEGIN SELECT RAISE(IGNORE); END",
        "AFTER INSERT ON Note WHEN NEW.id = '1' BEGIN DELETE FROM Note WHERE id = NEW.id; END",
    ])
    func aRowThatATriggerLeavesOutIsHeld(trigger: String) async throws {
        try b.shell("CREATE TRIGGER leaveOut \(trigger)")
        try a.shell("INSERT INTO Note (id, title) VALUES ('1', 'x'), ('2', 'y')")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT id FROM Note") == ["2"])
        #expect(try await b.status().heldRecords.map(\.name.description) == ["Note|~|1"])
        #expect(try await a.digest() == b.digest())
        #expect(try await b.store.database.read { try b.store.upkeep.check($0) }.isSound)
    }

    /// The row shows what it had; what somebody wrote goes on to other machines.
    @Test func aRowThatATriggerDoesNotLetChangeKeepsItsValuesHere() async throws {
        try a.shell("INSERT INTO Note (id, title) VALUES ('1', 'x')")
        try await a.sync(with: b)
        try b.shell("CREATE TRIGGER leave BEFORE UPDATE ON Note BEGIN SELECT RAISE(IGNORE); END")
        try a.shell("UPDATE Note SET title = 'new'")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT title FROM Note") == ["x"])
        #expect(try await b.state("Note|~|1")?.field("title")?.value == .text("new"))
        #expect(try await a.digest() == b.digest())
    }

    // MARK: When the trigger is gone

    /// An app that has a note and holds another one, which a trigger has refused.
    private static func appThatHolds() throws -> VersionedApp {
        let app = try VersionedApp(1, table, open)
        try app.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON Note WHEN NEW.id = '1' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        let stamp = Stamp(time: HybridTime(milliseconds: 1_700_000_000_000), replica: ReplicaID(rawValue: 7))
        let states = try ["1", "2"].map { id in
            RecordState(
                name: try RecordName("Note|~|\(id)"),
                fields: [RecordField(name: "title", value: .text("x"), stamp: stamp)])
        }
        _ = try app.database.write { try app.store.merge($0, states) }
        #expect(try app.rows("SELECT id FROM Note") == ["2"])
        return app
    }

    private static func open(_ database: DatabaseQueue, _ replica: ReplicaID) throws -> RecordStore {
        try RecordStore(database, schema: schema, replica: replica)
    }

    @Test func anOpeningTriesAgainWhatWasRefused() throws {
        let app = try Self.appThatHolds()
        try app.migrate("", Self.open)
        #expect(try app.rows("SELECT id FROM Note") == ["2"])
        try app.migrate("DROP TRIGGER refuse", Self.open)
        #expect(try app.rows("SELECT id FROM Note ORDER BY id") == ["1", "2"])
        #expect(try app.isSound)
        // The next one finds nothing new, and writes nothing.
        let changes = try app.database.read { $0.totalChangesCount }
        try app.migrate("", Self.open)
        #expect(try app.database.read { $0.totalChangesCount } == changes)
    }

    @Test func aRepairTriesAgainWhatWasRefused() throws {
        let app = try Self.appThatHolds()
        try app.execute("DROP TRIGGER refuse")
        _ = try app.database.write { try app.store.upkeep.repair($0) }
        #expect(try app.rows("SELECT id FROM Note ORDER BY id") == ["1", "2"])
        #expect(try app.isSound)
    }

    // MARK: Deletions

    /// Gives both machines two notes, and deletes the first on the other machine than that with the trigger.
    private func deleteElsewhere(_ trigger: String) async throws {
        try a.shell("INSERT INTO Note (id, title) VALUES ('1', 'x'), ('2', 'y')")
        try await a.sync(with: b)
        try b.shell("INSERT INTO Comment VALUES ('1', 'mine');" + trigger)
        try a.shell("DELETE FROM Note WHERE id = '1'")
        try await a.sync(with: b)
    }

    @Test(arguments: [
        "BEFORE DELETE ON Note BEGIN SELECT RAISE(ABORT, 'kept'); END",
        "BEFORE DELETE ON Note BEGIN SELECT RAISE(IGNORE); END",
        "AFTER DELETE ON Note BEGIN INSERT INTO Note (id) VALUES (OLD.id); END",
        "AFTER DELETE ON Note BEGIN SELECT RAISE(FAIL, 'kept'); END",
        "BEFORE DELETE ON Comment BEGIN SELECT RAISE(ABORT, 'kept'); END",
    ])
    func whatIsDeletedElsewhereGoesAlthoughATriggerRefusesIt(trigger: String) async throws {
        try await deleteElsewhere("CREATE TRIGGER keep \(trigger)")
        #expect(try b.rows("SELECT id FROM Note") == ["2"])
        #expect(try b.rows("SELECT * FROM Comment") == [])
        #expect(try await a.digest() == b.digest())
        #expect(try await b.store.database.read { try b.store.upkeep.check($0) }.isSound)
        // Writes are captured again.
        try await b.store.database.write { try $0.execute(sql: "UPDATE Note SET title = 'z'") }
        try await a.sync(with: b)
        #expect(try a.rows("SELECT id, title FROM Note") == ["2|z"])
    }

    @Test func aZoneIsErasedAlthoughATriggerRefusesDeletions() async throws {
        try a.shell(
            """
            INSERT INTO Note (id, title) VALUES ('1', 'x');
            CREATE TRIGGER keep BEFORE DELETE ON Note BEGIN SELECT RAISE(ABORT, 'kept'); END
            """)
        try await a.store.database.write { [store = a.store] db in
            _ = try store.zones.erase(db, #require(try Zones.all(db).first))
        }
        #expect(try a.rows("SELECT id FROM Note") == [])
    }

    /// Such a trigger leaves nothing of the transaction, so nothing may go on.
    @Test func aTriggerThatEndsTheTransactionLeavesNothingHalfDone() async throws {
        try a.shell("INSERT INTO Note (id, title) VALUES ('1', 'x'), ('2', 'y')")
        try b.shell(
            "CREATE TRIGGER keep BEFORE INSERT ON Note WHEN NEW.id = '2' BEGIN SELECT RAISE(ROLLBACK, 'no'); END"
        )
        await #expect(throws: DatabaseError.self) { try await a.sync(with: b) }
        #expect(try b.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord") == [])
        try b.shell("DROP TRIGGER keep")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT id FROM Note ORDER BY id") == ["1", "2"])
    }
}

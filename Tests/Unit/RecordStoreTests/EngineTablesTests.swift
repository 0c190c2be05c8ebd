import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// The engine's tables and triggers live beside an app's, and meet nothing of it.
struct EngineTablesTests {
    private static let replica = ReplicaID(rawValue: 1)
    private let database: DatabaseQueue

    init() throws {
        database = try DatabaseQueue()
        try Self.migrator.migrate(database)
    }

    /// An app's own migrations, as GRDB recommends them while an app is being developed.
    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("1") { db in try db.execute(sql: Library.sql) }
        return migrator
    }

    private func open() throws -> RecordStore {
        try RecordStore(database, schema: Library.schema(), replica: Self.replica)
    }

    private func objects() throws -> [String] {
        try database.read { db in
            try String.fetchAll(
                db,
                sql: "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
        }
    }

    private func write(_ sql: String) throws { try database.write { try $0.execute(sql: sql) } }

    private func count(_ sql: String) throws -> Int? { try database.read { try Int.fetchOne($0, sql: sql) } }

    @Test func allNamesHaveThePrefix() throws {
        let names = "SELECT name FROM sqlite_master"
        let before = try database.read { try String.fetchSet($0, sql: names) }
        _ = try open()
        let added = try database.read { try String.fetchSet($0, sql: names) }.subtracting(before)
        #expect(added.count > 20)
        for name in added where name != "sqlite_sequence" {
            #expect(name.hasPrefix("grdb_sync_") || name.hasPrefix("sqlite_autoindex_grdb_sync_"))
        }
    }

    /// The development option of GRDB sees no change of the schema, so it erases nothing.
    @Test func anAppThatIsDevelopedKeepsItsRows() async throws {
        let store = try open()
        try write("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen')")
        try await store.foldPendingChanges()
        #expect(try await !database.read { try Self.migrator.hasSchemaChanges($0) })
        try Self.migrator.migrate(database)
        #expect(try count("SELECT COUNT(*) FROM Author") == 1)
        let again = try open()
        #expect(try await database.read { try again.status($0) }.records["Author"] == 1)
        #expect(try await database.read { try again.upkeep.check($0) }.isSound)
    }

    /// An app may have tables that are called as those of format 1 were.
    @Test func anAppMayCallItsTablesAsItLikes() async throws {
        let names = ["syncState", "peer", "peerZone", "pendingChange", "remoteRecord", "capturePause"]
        for name in names { try write("CREATE TABLE \(name) (id TEXT NOT NULL PRIMARY KEY, name TEXT)") }
        try write("INSERT INTO syncState (id, name) VALUES ('1', 'formatVersion')")
        let schema = try RecordSchema(names.map { RecordType($0, [FieldDefinition("name")]) })
        for _ in 1...2 {
            let store = try RecordStore(database, schema: schema, replica: Self.replica)
            try await store.foldPendingChanges()
            #expect(try await database.read { try store.status($0) }.records["syncState"] == 1)
        }
        #expect(try count("SELECT COUNT(*) FROM grdb_sync_remoteRecord") == 1)
    }

    @Test func uninstallingLeavesTheAppsTables() async throws {
        let before = try objects()
        let store = try open()
        let peer = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
        try write("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen')")
        try await store.foldPendingChanges()
        try write("UPDATE Author SET name = 'Austen'")
        try await database.write { try RecordStore.uninstall($0) }
        // SQLite itself keeps its table of numbers.
        #expect(try objects().filter { !$0.hasPrefix("table sqlite_sequence") } == before)
        try write("UPDATE Author SET name = 'Jane'")
        // A second time changes nothing, and sync may begin again.
        try await database.write { try RecordStore.uninstall($0) }
        let again = try open()
        try await again.foldPendingChanges()
        #expect(try await database.read { try again.status($0) }.records["Author"] == 1)
        #expect(try await again.peers.all().isEmpty, "\(peer.name)")
    }

    /// SQLite refuses a write that fires a trigger which names a table that is not there.
    @Test func anAppsTriggerGoesOnAfterTheUninstallation() async throws {
        _ = try open()
        try write(
            """
            CREATE TRIGGER touched AFTER UPDATE OF name ON Author
            WHEN NOT EXISTS (SELECT 1 FROM GRDB_sync_capturePause)
            BEGIN UPDATE Author SET born = NEW.name || '!' WHERE recordName = NEW.recordName; END;
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane');
            INSERT INTO grdb_sync_capturePause VALUES (1)
            """)
        let engineTables = "SELECT COUNT(*) FROM sqlite_master WHERE name GLOB 'grdb_sync_*'"
        for name in ["Austen", "Emma"] {
            try await database.write { try RecordStore.uninstall($0) }
            #expect(try count(engineTables) == 1)
            try write("UPDATE Author SET name = '\(name)'")
            #expect(try count("SELECT COUNT(*) FROM Author WHERE born = '\(name)!'") == 1)
        }
        let again = try open()
        try write("UPDATE Author SET name = 'Jane'")
        try await again.foldPendingChanges()
        #expect(try await database.read { try again.state($0, of: RecordName("Author|~|1")) } != nil)
        #expect(try await database.read { try again.upkeep.check($0) }.isSound)
        try write("DROP TRIGGER touched")
        try await database.write { try RecordStore.uninstall($0) }
        #expect(try count(engineTables) == 0)
    }

    // MARK: Format 1

    /// A store of format 1 with a change that nobody has folded.
    private func makeFormatOne() async throws {
        let store = try open()
        _ = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
        try write(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen'), ('Author|~|2', 'x');
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Emma', 'Author|~|1')
            """)
        try await store.foldPendingChanges()
        try write("UPDATE Book SET title = 'Persuasion'; DELETE FROM Author WHERE name = 'x'")
        try write("UPDATE grdb_sync_pendingChange SET time = 4000000000000")
        try await database.write {
            try FormatOneStore.make($0, withTriggers: ["Insert", "Update", "Rename", "Delete"])
        }
    }

    @Test func aStoreOfFormatOneIsBroughtOver() async throws {
        try await makeFormatOne()
        let store = try open()
        try await store.foldPendingChanges()
        let states = try await database.read { db in
            try ["Author|~|1", "Author|~|2", "Book|~|1"].map { try store.state(db, of: RecordName($0)) }
        }
        let (author, deleted, book) = (
            try #require(states[0]), try #require(states[1]), try #require(states[2])
        )
        // What waited in the journal keeps its time, and nothing else counts as written.
        #expect(book.field("title")?.stamp.time.milliseconds == 4_000_000_000_000)
        #expect(deleted.deletion?.time.milliseconds == 4_000_000_000_000)
        #expect(author.fields.allSatisfy { $0.stamp.time.milliseconds < 4_000_000_000_000 })
        #expect(book.field("author")?.stamp == book.field("pages")?.stamp)
        #expect(try await store.peers.all().map(\.name) == ["b"])
        #expect(try await database.read { try store.upkeep.check($0) }.isSound)
        // The triggers of now are there once.
        try write("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'high')")
        #expect(try count("SELECT COUNT(*) FROM grdb_sync_pendingChange") == 1)
    }

    /// A program of format 1 reads this table, and then says that a newer program has written the store.
    @Test func aProgramOfFormatOneLeavesABroughtOverStoreAlone() async throws {
        try await makeFormatOne()
        _ = try open()
        #expect(try count("SELECT value FROM syncState WHERE name = 'formatVersion'") == 2)
        _ = try open()
        try await database.write { try RecordStore.uninstall($0) }
        #expect(try await database.read { try !$0.tableExists("syncState") })
    }

    @Test func aStoreOfFormatOneCanBeUninstalled() async throws {
        let before = try objects()
        try await makeFormatOne()
        try await database.write { try RecordStore.uninstall($0) }
        #expect(try objects().filter { !$0.hasPrefix("table sqlite_sequence") } == before)
    }

    @Test(arguments: [
        "DELETE FROM syncState WHERE name = 'formatVersion'", "DROP TABLE syncState",
        "DROP TABLE capturePause",
        "DROP TABLE pendingChange",
    ])
    func aDamagedStoreOfFormatOneIsRefused(damage: String) async throws {
        try await makeFormatOne()
        try write(damage)
        let error = #expect(throws: RecordStoreError.self) { try open() }
        #expect(error?.code == .corrupt)
        #expect(try count("SELECT COUNT(*) FROM remoteRecord") == 3)
    }

    /// What an app has broken in its own database is no reason not to open it.
    @Test func aBrokenViewOfTheAppKeepsNoStoreFromOpening() async throws {
        try await makeFormatOne()
        try write("CREATE VIEW broken AS SELECT * FROM nowhere")
        let store = try open()
        try await store.foldPendingChanges()
        #expect(try await database.read { try store.upkeep.check($0) }.isSound)
    }

    /// A migration runs before the store is opened, and so meets the triggers of then.
    @Test func aMigrationMayDropAColumnOfAStoreOfFormatOne() async throws {
        try await makeFormatOne()
        try await database.write { db in
            try RecordStore.stopCapturing(db, of: "Book")
            try db.execute(sql: "ALTER TABLE Book DROP COLUMN pages")
        }
        let types = try Library.schema().types.map { type in
            RecordType(type.name, type.fields.filter { $0.name != "pages" })
        }
        let store = try RecordStore(database, schema: RecordSchema(types), replica: Self.replica)
        #expect(try await database.read { try store.upkeep.check($0) }.isSound)
    }

    /// Numbers are given out once, also after their rows have gone.
    @Test func whatIsBroughtOverGoesOnCounting() async throws {
        let store = try open()
        let gone = try await store.peers.add(key: [UInt8](repeating: 8, count: 32), name: "gone")
        try await store.peers.forget("gone")
        try write("DELETE FROM grdb_sync_formerPeer")
        try await makeFormatOne()
        let peers = try open().peers
        let next = try await peers.add(key: [UInt8](repeating: 7, count: 32), name: "next")
        #expect(next.id > gone.id + 1)
    }

    /// Another database that the app has attached has nothing to do with this one.
    @Test func anAttachedStoreIsAnother() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appendingPathComponent("other.sqlite").path
            let other = try DatabaseQueue(path: path)
            try Self.migrator.migrate(other)
            _ = try RecordStore(other, schema: Library.schema(), replica: ReplicaID(rawValue: 2))
            try await database.writeWithoutTransaction { db in
                try db.execute(sql: "ATTACH DATABASE ? AS other", arguments: [path])
            }
            let store = try open()
            try write("INSERT INTO main.Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen')")
            try await store.foldPendingChanges()
            #expect(try count("SELECT COUNT(*) FROM main.grdb_sync_remoteRecord") == 1)
            #expect(try count("SELECT COUNT(*) FROM other.grdb_sync_remoteRecord") == 0)
        }
    }

    @Test func aStoreWithFilesThatWaitIsNotUninstalled() async throws {
        _ = try open()
        try write(
            "CREATE TABLE grdb_sync_assetUnstored (hash BLOB PRIMARY KEY, bytes); "
                + "INSERT INTO grdb_sync_assetUnstored VALUES (x'00', x'01')")
        let error = await #expect(throws: RecordStoreError.self) {
            try await database.write { try RecordStore.uninstall($0) }
        }
        #expect(error?.code == .assetUnwritable)
        #expect(try count("SELECT COUNT(*) FROM grdb_sync_assetUnstored") == 1)
    }

    @Test func aDamagedStoreCanBeUninstalled() async throws {
        let before = try objects()
        _ = try open()
        try write("DROP TABLE grdb_sync_syncState")
        try await database.write { try RecordStore.uninstall($0) }
        #expect(try objects().filter { !$0.hasPrefix("table sqlite_sequence") } == before)
    }
}

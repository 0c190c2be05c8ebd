import Foundation
import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// Machines whose keys have changed agree on one record for each row.
struct KeyMigrationSyncTests {
    /// A machine, and the store of its app.
    private final class Machine {
        let app: MigratedApp
        let number: UInt64
        private(set) var store: RecordStore?

        init(_ number: UInt64, _ sql: String) throws {
            self.number = number
            app = try MigratedApp()
            try app.execute(sql)
        }

        func open(_ tables: [SyncedTable]) throws {
            store = nil
            store = try RecordStore(app.database, tables: tables, replica: ReplicaID(rawValue: number))
        }

        func states() throws -> [RecordState] {
            let store = try #require(store)
            return try app.database.write { db in
                _ = try store.fold(db)
                var states: [RecordState] = []
                try store.listing.forEachState(db) { states.append($0) }
                return states
            }
        }

        func sync(with other: Machine) throws {
            for _ in 0..<3 {
                for (from, to) in [(self, other), (other, self)] {
                    let (states, store) = (try from.states(), try #require(to.store))
                    _ = try to.app.database.write { try store.merge($0, states) }
                }
            }
            let digests = try [self, other].map { machine in
                try machine.app.read { try machine.store?.status($0).digest }
            }
            #expect(digests[0] == digests[1])
        }

        /// What is wrong with the store, held, or not synced.
        func faults() throws -> [String] {
            let store = try #require(store)
            return try app.database.write { db in
                _ = try store.fold(db)
                let status = try store.status(db)
                return try store.upkeep.check(db).findings.map { "\($0)" } + status.unsynced.map { "\($0)" }
                    + (status.held > 0 ? ["\(status.held) held"] : [])
            }
        }
    }

    /// An app as many are: numbers as keys, tags by name, a table that joins, a view, and an index for search.
    private static let todo = """
        CREATE TABLE "todo_list" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "title" TEXT NOT NULL);
        CREATE TABLE "item" (
            "id" INTEGER PRIMARY KEY AUTOINCREMENT, "title" TEXT NOT NULL, "done" BOOLEAN NOT NULL DEFAULT 0,
            "list_id" INTEGER NOT NULL REFERENCES "todo_list" ("id") ON DELETE CASCADE);
        CREATE INDEX "index_item_on_list_id" ON "item" ("list_id");
        CREATE TABLE "tag" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL UNIQUE);
        CREATE TABLE "item_tag" (
            "item_id" INTEGER NOT NULL REFERENCES "item" ("id") ON DELETE CASCADE,
            "tag_id" INTEGER NOT NULL REFERENCES "tag" ("id") ON DELETE CASCADE,
            PRIMARY KEY ("item_id", "tag_id"));
        CREATE VIEW tagged AS
            SELECT l.title AS list, i.title, t.name FROM item i JOIN todo_list l ON l.id = i.list_id
            LEFT JOIN item_tag ON item_id = i.id LEFT JOIN tag t ON t.id = tag_id;
        CREATE TRIGGER tidy AFTER DELETE ON item_tag
            BEGIN DELETE FROM tag WHERE id = OLD.tag_id AND NOT EXISTS (SELECT 1 FROM item_tag WHERE tag_id = tag.id); END;
        """
    private static let rows = """
        INSERT INTO todo_list (title) VALUES ('Food'), ('Work');
        INSERT INTO item (title, list_id) VALUES ('Milk', 1), ('Report', 2), ('Oat milk', 1);
        INSERT INTO tag (name) VALUES ('cold'), ('late');
        INSERT INTO item_tag VALUES (1, 1), (3, 1), (2, 2);
        """
    private static let tagged = "SELECT * FROM tagged ORDER BY 1, 2, 3"

    private static func synchronize(_ db: Database) throws {
        try db.create(virtualTable: "search", using: FTS5()) { table in
            table.synchronize(withTable: "item")
            table.column("title")
        }
    }

    private static func migrate(_ db: Database) throws {
        try db.dropFTS5SynchronizationTriggers(forTable: "search")
        try db.drop(table: "search")
        try KeyMigration.numbersToUUIDs(db, in: ["todo_list", "item"], sharedBy: "todo")
        try KeyMigration.deriveKey(db, in: "tag", from: ["name"])
        try synchronize(db)
    }

    @Test func twoCopiesOfAnAppSyncAsOne() throws {
        let (a, b) = (try Machine(1, Self.todo), try Machine(2, Self.todo))
        for machine in [a, b] {
            try machine.app.execute(Self.rows)
            try machine.app.write { try Self.synchronize($0) }
        }
        // This machine went on alone.
        try b.app.execute("INSERT INTO tag (name) VALUES ('sweet'); INSERT INTO item_tag VALUES (1, 3)")
        let former = try b.app.rows(Self.tagged)
        for machine in [a, b] {
            try machine.app.migrate { try Self.migrate($0) }
            try machine.open(["todo_list", "item", "tag", "item_tag"])
        }
        try a.app.write { db in
            try db.execute(
                sql:
                    "INSERT INTO tag VALUES (?, 'sweet'); INSERT INTO item_tag SELECT id, ? FROM item WHERE title = 'Oat milk'",
                arguments: [UUID(derivedFrom: "sweet"), UUID(derivedFrom: "sweet")])
        }
        try a.sync(with: b)
        let all = (former + ["Food|Oat milk|sweet"]).sorted()
        for machine in [a, b] {
            #expect(try machine.app.rows(Self.tagged) == all)
            #expect(try machine.app.rows("SELECT count(*) FROM tag") == ["3"])
            #expect(try machine.faults() == [])
            #expect(
                try machine.app.rows(
                    "SELECT title FROM item WHERE rowid IN (SELECT rowid FROM search('oat'))") == ["Oat milk"]
            )
        }
        try a.app.execute("DELETE FROM todo_list WHERE title = 'Food'")
        try a.sync(with: b)
        #expect(try b.app.rows(Self.tagged) == ["Work|Report|late"])
        #expect(try b.app.rows("SELECT name FROM tag") == ["late"])
    }

    /// Numbers from outside were synced before. What the app wrote since the last fold is kept, too, deletions included.
    @Test func aTableUnderSyncMayGetOtherKeys() throws {
        let sql = """
            CREATE TABLE List (id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, list INTEGER NOT NULL REFERENCES List ON DELETE CASCADE, title TEXT);
            """
        let (a, b) = (try Machine(1, sql), try Machine(2, sql))
        let (former, tables): ([SyncedTable], [SyncedTable]) = (
            [SyncedTable("List", areNumbersShared: true), "Item"], ["List", "Item"]
        )
        for machine in [a, b] { try machine.open(former) }
        try a.app.execute(
            """
            INSERT INTO List VALUES (1, 'Food'), (2, 'Work'), (3, 'Old');
            INSERT INTO Item VALUES ('m', 1, 'Milk'), ('r', 2, 'Report'), ('o', 3, 'Old one')
            """)
        try a.sync(with: b)
        try a.app.execute("DELETE FROM List WHERE id = 3; UPDATE Item SET title = 'Oat milk' WHERE id = 'm'")
        try b.app.execute("INSERT INTO List VALUES (4, 'Home'); INSERT INTO Item VALUES ('h', 4, 'Clean')")
        let migrate = { (machine: Machine) in
            try machine.app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["List"], sharedBy: "lists") }
            try machine.open(tables)
        }
        try migrate(a)
        // The other machine does not know the new keys yet, and keeps the records for later.
        try a.sync(with: b)
        try b.app.execute("INSERT INTO Item VALUES ('n', 4, 'Paint')")
        try migrate(b)
        try a.sync(with: b)
        for machine in [a, b] {
            #expect(
                try machine.app.rows(
                    "SELECT List.title, Item.title FROM List JOIN Item ON list = List.id ORDER BY 1, 2")
                    == ["Food|Oat milk", "Home|Clean", "Home|Paint", "Work|Report"])
            #expect(try machine.app.rows("SELECT count(*) FROM List") == ["3"])
            #expect(try machine.faults() == [])
        }
    }

    /// Two machines know a row by a random key, and both derive another one.
    @Test func aDerivedKeyReplacesASyncedOne() throws {
        let sql = "CREATE TABLE Tag (id BLOB NOT NULL PRIMARY KEY, name TEXT NOT NULL, color TEXT)"
        let (a, b) = (try Machine(1, sql), try Machine(2, sql))
        for machine in [a, b] { try machine.open(["Tag"]) }
        try a.app.execute(
            "INSERT INTO Tag VALUES (randomblob(16), 'work', 'red'), (randomblob(16), 'home', 'blue')")
        try a.sync(with: b)
        try a.app.execute("DELETE FROM Tag WHERE name = 'home'")
        try b.app.execute("UPDATE Tag SET color = 'green' WHERE name = 'work'")
        for machine in [a, b] {
            try machine.app.migrate { try KeyMigration.deriveKey($0, in: "Tag", from: ["name"]) }
            try machine.open(["Tag"])
        }
        try a.sync(with: b)
        let key = UUID(derivedFrom: "work")
        #expect(
            try a.app.rows("SELECT name FROM Tag ORDER BY 1") == b.app.rows("SELECT name FROM Tag ORDER BY 1")
        )
        for machine in [a, b] {
            #expect(
                try machine.app.read { try UUID.fetchAll($0, sql: "SELECT id FROM Tag WHERE name = 'work'") }
                    == [key])
            #expect(
                try machine.app.rows("SELECT color FROM Tag WHERE name = 'work'")
                    == a.app.rows("SELECT color FROM Tag WHERE name = 'work'"))
            #expect(try machine.faults() == [])
        }
    }
}

import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// Tables and columns that a migration renames, and that the app names with their former names: they stay the same records
/// and fields for all versions of the app.
struct RenamedSchemaTests {
    private static let first = """
        CREATE TABLE List (id TEXT NOT NULL PRIMARY KEY, title TEXT);
        CREATE TABLE Item (
            id TEXT NOT NULL PRIMARY KEY, title TEXT, position INTEGER, list TEXT REFERENCES List ON DELETE SET NULL);
        """
    private static let renaming = """
        ALTER TABLE List RENAME TO Folder;
        ALTER TABLE Item RENAME TO "To do";
        ALTER TABLE "To do" RENAME COLUMN position TO "sort key";
        ALTER TABLE "To do" RENAME COLUMN list TO folder;
        """
    private static let secondTables = [
        SyncedTable("Folder", formerName: "List"),
        SyncedTable(
            "To do", formerName: "Item", formerColumns: ["sort key": "position", "folder": "list"]),
    ]

    private final class App: VersionedApp {
        init(_ number: UInt64) throws {
            try super.init(number, RenamedSchemaTests.first, Self.opening(["List", "Item"]))
        }

        private static func opening(_ tables: [SyncedTable]) -> Opening {
            { try RecordStore($0, tables: tables, replica: $1) }
        }

        func migrate(_ sql: String, to tables: [SyncedTable]) throws {
            try migrate(sql, Self.opening(tables))
        }
    }

    private let (a, b): (App, App)

    init() throws {
        (a, b) = (try App(1), try App(2))
        try a.execute(
            """
            INSERT INTO List VALUES ('1', 'Home'), ('2', 'Work');
            INSERT INTO Item VALUES ('1', 'Milk', 1, '1'), ('2', 'Bread', 2, '1'), ('3', 'Eggs', 3, NULL)
            """)
        try a.sync(with: b)
    }

    @Test func aRenamingIsNoWrite() throws {
        let before = try a.states()
        try a.migrate(Self.renaming, to: Self.secondTables)
        #expect(try a.states() == before)
        #expect(try a.isSound)
        // Neither is the next start.
        try a.migrate("", to: Self.secondTables)
        #expect(try a.states() == before)
        #expect(try a.isSound)
    }

    /// What an older version writes after the migration of another machine must not be lost when it migrates, too.
    @Test func machinesBeforeAndAfterARenamingSeeEachOthersWrites() throws {
        try a.migrate(Self.renaming, to: Self.secondTables)
        try a.execute(
            """
            UPDATE "To do" SET "sort key" = 20, folder = '2' WHERE id = '2';
            INSERT INTO "To do" VALUES ('4', 'Figs', 4, '2');
            DELETE FROM Folder WHERE id = '1'
            """)
        try b.execute("UPDATE Item SET position = 30 WHERE id = '3'")
        try a.sync(with: b)
        let rows = ["1|Milk|1|-", "2|Bread|20|2", "3|Eggs|30|-", "4|Figs|4|2"]
        #expect(try a.rows("SELECT * FROM \"To do\" ORDER BY id") == rows)
        #expect(try b.rows("SELECT * FROM Item ORDER BY id") == rows)
        try b.execute("UPDATE Item SET position = 40 WHERE id = '1'")
        try b.migrate(Self.renaming, to: Self.secondTables)
        try a.sync(with: b)
        for app in [a, b] {
            #expect(try app.rows("SELECT \"sort key\" FROM \"To do\" WHERE id = '1'") == ["40"])
            #expect(try app.isSound)
        }
    }

    @Test func threeVersionsAtOnceSeeEachOthersWrites() throws {
        let c = try App(3)
        try a.sync(with: c)
        try b.migrate(Self.renaming, to: Self.secondTables)
        try c.migrate(
            Self.renaming + "ALTER TABLE \"To do\" RENAME COLUMN \"sort key\" TO rank",
            to: [
                Self.secondTables[0],
                SyncedTable(
                    "To do", formerName: "Item", formerColumns: ["rank": "position", "folder": "list"]),
            ])
        try a.execute("UPDATE Item SET position = 10 WHERE id = '1'")
        try b.execute("UPDATE \"To do\" SET \"sort key\" = 20 WHERE id = '2'")
        try c.execute("UPDATE \"To do\" SET rank = 30 WHERE id = '3'")
        try a.sync(with: b, c)
        #expect(try a.rows("SELECT position FROM Item ORDER BY id") == ["10", "20", "30"])
        #expect(try b.rows("SELECT \"sort key\" FROM \"To do\" ORDER BY id") == ["10", "20", "30"])
        #expect(try c.rows("SELECT rank FROM \"To do\" ORDER BY id") == ["10", "20", "30"])
    }

    /// A migration that makes the table anew under another name, and changes some values.
    @Test func aTableThatIsMadeAnewUnderAnotherNameKeepsItsRecords() throws {
        try a.migrate(
            """
            CREATE TABLE Task (id TEXT NOT NULL PRIMARY KEY, title TEXT, rank INTEGER);
            INSERT INTO Task SELECT id, title, position * 10 FROM Item;
            DROP TABLE Item
            """, to: ["List", SyncedTable("Task", formerName: "Item", formerColumns: ["rank": "position"])])
        #expect(try a.rows("SELECT rank FROM Task ORDER BY id") == ["10", "20", "30"])
        try a.sync(with: b)
        #expect(
            try b.rows("SELECT id, position, list FROM Item ORDER BY id") == ["1|10|1", "2|20|1", "3|30|-"])
        #expect(try a.isSound)
    }

    /// The former name is all that says which records were in the table.
    @Test func aRenamedTableMayLeaveTheSchemaAndComeBack() throws {
        try a.migrate(Self.renaming, to: Self.secondTables)
        let before = try a.states()
        try a.migrate("", to: [Self.secondTables[0]])
        #expect(try a.states() == before)
        #expect(try a.isSound)
        try b.execute("UPDATE Item SET position = 20 WHERE id = '2'")
        try a.sync(with: b)
        try a.migrate("", to: Self.secondTables)
        #expect(try a.rows("SELECT \"sort key\" FROM \"To do\" ORDER BY id") == ["1", "20", "3"])
        #expect(try a.isSound)
    }

    /// Nothing of the table's name is in its triggers' names.
    @Test func aMigrationMayDropAColumnOfARenamedTable() throws {
        try a.migrate(Self.renaming, to: Self.secondTables)
        try a.database.write { try RecordStore.stopCapturing($0, of: "To do") }
        try a.migrate(
            "ALTER TABLE \"To do\" DROP COLUMN title",
            to: [
                Self.secondTables[0],
                SyncedTable(
                    "To do", formerName: "Item", formerColumns: ["sort key": "position", "folder": "list"]),
            ])
        try a.execute("UPDATE \"To do\" SET \"sort key\" = 30 WHERE id = '3'")
        try a.sync(with: b)
        #expect(try b.rows("SELECT title, position FROM Item WHERE id = '3'") == ["Eggs|30"])
        #expect(try a.isSound)
    }

    /// SQLite takes both names for one, and records do not.
    @Test(arguments: [
        (
            "ALTER TABLE Item RENAME COLUMN title TO Title", "formerColumns: [\"Title\": \"title\"]",
            SyncedTable("Item", formerColumns: ["Title": "title"])
        ),
        (
            "ALTER TABLE Item RENAME TO Other; ALTER TABLE Other RENAME TO item", "formerName: \"Item\"",
            SyncedTable("item", formerName: "Item")
        ),
    ])
    func otherCapitalsAreARenamingThatHasToBeSaid(sql: String, sentence: String, table: SyncedTable) throws {
        let before = try a.states()
        try a.execute(sql)
        let error = #expect(throws: RecordStoreError.self) {
            try a.migrate("", to: ["List", SyncedTable(table.name)])
        }
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
        try a.migrate("", to: ["List", table])
        #expect(try a.states() == before)
        #expect(try a.isSound)
        // A new installation of the version without the hint knows no former name, and opens with it, too.
        let fresh = try VersionedApp(3, Self.first + sql) {
            try RecordStore($0, tables: ["List", SyncedTable(table.name)], replica: $1)
        }
        try fresh.execute("INSERT INTO Item (id, title) VALUES ('9', 'Nuts')")
        #expect(try fresh.states().count == 1)
        try fresh.migrate("") { try RecordStore($0, tables: ["List", table], replica: $1) }
        let state = try fresh.states().first { $0.name.description == "Item|~|9" }
        #expect(state?.field("title")?.value == .text("Nuts"))
        #expect(try fresh.rows("SELECT id, title FROM Item") == ["9|Nuts"])
    }

    @Test(arguments: [
        (SyncedTable("Folder", formerName: "Item"), "Folder and Item both have the name Item in records"),
        (
            SyncedTable("Folder", formerColumns: ["title": "name", "color": "name"]),
            "both have the name name in records"
        ),
        (SyncedTable("Folder", formerColumns: ["colour": "color"]), "has no column colour"),
        (
            SyncedTable("Folder", formerColumns: ["id": "key"]),
            "Folder.id cannot be listed with a former name"
        ),
        (
            SyncedTable("Folder", local: ["color"], formerColumns: ["color": "tint"]),
            "Folder.color cannot be listed"
        ),
    ])
    func aFormerNameThatSaysNothingIsRefused(table: SyncedTable, sentence: String) throws {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(
                sql: """
                    CREATE TABLE Folder (id TEXT NOT NULL PRIMARY KEY, title TEXT, color TEXT);
                    CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT);
                    """)
        }
        let error = #expect(throws: RecordStoreError.self) {
            try RecordStore(database, tables: [table, "Item"], replica: ReplicaID(rawValue: 1))
        }
        #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    }
}

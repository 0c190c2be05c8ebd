import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Migrations: what they do to a table while no trigger watches is taken in when the store is opened again. Each changed
/// value gets a stamp of its own, which beats what sync knew of the record, and nothing that somebody wrote later.
struct SchemaChangeTests {
    private static let first = """
        CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT, position INTEGER, due TEXT);
        """

    /// - Parameter names: `due` is a date, `due!` a plain value in the same column.
    private static func fields(_ names: String) -> [FieldDefinition] {
        names.split(separator: " ").map {
            FieldDefinition(String($0.filter { $0 != "!" }), $0 == "due" ? .date : .value)
        }
    }

    private final class App: VersionedApp {
        init(_ number: UInt64, _ fields: String = "title position due") throws {
            try super.init(number, SchemaChangeTests.first) { try App.open($0, $1, fields) }
        }

        private static func open(
            _ database: DatabaseQueue, _ replica: ReplicaID, _ fields: String, type: String = "Item"
        ) throws -> RecordStore {
            try RecordStore(
                database, schema: RecordSchema([RecordType(type, SchemaChangeTests.fields(fields))]),
                replica: replica)
        }

        /// Runs a migration, and opens the store with the schema of the new version.
        func migrate(_ sql: String, type: String = "Item", to fields: String) throws {
            try migrate(sql) { try App.open($0, $1, fields, type: type) }
        }

        func state(_ id: String) throws -> RecordState? {
            try database.write { db in
                _ = try store.fold(db)
                return try store.state(db, of: RecordName("Item|~|\(id)"))
            }
        }
    }

    private let a: App
    private let b: App

    init() throws {
        a = try App(1)
        b = try App(2)
        try a.execute(
            """
            INSERT INTO Item VALUES ('1', 'Milk', 1, '2026-01-01T00:00:00Z'), ('2', 'Bread', 2, NULL), ('3', 'Eggs', 3, NULL)
            """)
        try a.sync(with: b)
    }

    /// GRDB recommends this way to change a table: create, copy, drop, rename.
    private static func rebuild(_ columns: String, _ copied: String) -> String {
        """
        CREATE TABLE new_Item (id TEXT NOT NULL PRIMARY KEY, \(columns));
        INSERT INTO new_Item \(copied);
        DROP TABLE Item;
        ALTER TABLE new_Item RENAME TO Item;
        """
    }

    @Test func aRebuiltTableKeepsWhatTheMigrationWrote() throws {
        let (second, third) = (try a.state("2"), try a.state("3"))
        try a.migrate(
            Self.rebuild(
                "title TEXT, position INTEGER, due TEXT",
                "SELECT id, title, CASE id WHEN '1' THEN 1000 ELSE position END, due FROM Item"),
            to: "title position due")
        #expect(try a.rows().first == "1|Milk|1000|2026-01-01T00:00:00Z")
        try a.sync(with: b)
        #expect(try b.rows() == a.rows())
        #expect(try b.rows().first == "1|Milk|1000|2026-01-01T00:00:00Z")
        // What the migration did not touch keeps its stamps.
        #expect(try a.state("2") == second)
        #expect(try a.state("3") == third)
        #expect(try a.isSound)
    }

    /// A change on the other machine, made after the last one that this machine knows of, is newer than a migration.
    @Test func aMigrationBeatsNothingThatSomebodyWroteLater() throws {
        try b.execute("UPDATE Item SET title = 'Oat milk' WHERE id = '1'")
        _ = try b.state("1")
        try a.migrate(
            Self.rebuild(
                "title TEXT, position INTEGER, due TEXT", "SELECT id, upper(title), position, due FROM Item"),
            to: "title position due")
        try a.sync(with: b)
        #expect(try a.rows("SELECT title FROM Item ORDER BY id") == ["Oat milk", "BREAD", "EGGS"])
        #expect(try b.rows() == a.rows())
    }

    /// Nobody knows which values of the row a migration has changed, so each is stamped right after its own last write.
    @Test func aMigrationOfOneColumnBeatsNoOlderWriteToAnother() throws {
        try b.execute("UPDATE Item SET position = 5 WHERE id = '1'")
        _ = try b.state("1")
        try a.execute("UPDATE Item SET title = 'Cream' WHERE id = '1'")
        _ = try a.state("1")
        try a.migrate(
            Self.rebuild(
                "title TEXT, position INTEGER, due TEXT", "SELECT id, upper(title), position, due FROM Item"),
            to: "title position due")
        try a.sync(with: b)
        #expect(try a.rows().first == "1|CREAM|5|2026-01-01T00:00:00Z")
        #expect(try b.rows() == a.rows())
    }

    /// A damaged file may lose rows under the eyes of the triggers. A new version of the triggers is no reason to delete them.
    @Test func whatVanishesWithoutAMigrationIsNotDeleted() throws {
        try a.execute(
            """
            INSERT INTO grdb_sync_capturePause VALUES (1); DELETE FROM Item WHERE id = '3'; DELETE FROM grdb_sync_capturePause;
            DROP TRIGGER grdb_sync_Item_captureInsert;
            """)
        try a.migrate("", to: "title position due")
        try a.sync(with: b)
        #expect(try b.rows().count == 3)
        #expect(try a.rows() == b.rows())
        #expect(try a.isSound)
    }

    @Test(arguments: ["DEFAULT \"open\"", "DEFAULT open", "DEFAULT 'open'"])
    func aDefaultOfAnySpellingIsNoWrite(declaration: String) throws {
        try a.migrate("ALTER TABLE Item ADD COLUMN place TEXT \(declaration)", to: "title position due place")
        #expect(try a.rows("SELECT DISTINCT place FROM Item") == ["open"])
        #expect(try a.state("1")?.field("place") == nil)
    }

    @Test func aDefaultThatTheColumnConvertsIsNoWrite() throws {
        try a.migrate(
            "ALTER TABLE Item ADD COLUMN price DOUBLE NOT NULL DEFAULT 0", to: "title position due price")
        #expect(try a.state("1")?.field("price") == nil)
        #expect(try a.isSound)
    }

    /// One migration fills a column and takes a field out of the schema, right after a change of that field.
    @Test func aFieldThatLeavesWithAChangeKeepsIt() throws {
        try a.execute("UPDATE Item SET due = '2026-02-02T00:00:00Z' WHERE id = '1'")
        try a.migrate(
            "ALTER TABLE Item ADD COLUMN length INTEGER; UPDATE Item SET length = 7",
            to: "title position length")
        #expect(try a.isSound)
        try a.sync(with: b)
        #expect(try b.rows().first == "1|Milk|1|2026-02-02T00:00:00Z")
        try b.migrate("ALTER TABLE Item ADD COLUMN length INTEGER", to: "title position due length")
        #expect(try b.rows().first == "1|Milk|1|2026-02-02T00:00:00Z|7")
    }

    /// A change that sync has not taken in yet does not hide what a migration does to other columns of the row.
    @Test func aMigrationOfARowThatWasJustChangedCounts() throws {
        let before = try #require(try a.state("1")?.field("position"))
        try a.execute("UPDATE Item SET title = 'Cream' WHERE id = '1'")
        try a.migrate(
            Self.rebuild(
                "title TEXT, position INTEGER, due TEXT", "SELECT id, title, position * 10, due FROM Item"),
            to: "title position due")
        let after = try #require(try a.state("1")?.field("position"))
        #expect(after.value == .integer(10))
        #expect(after.stamp > before.stamp)
        try a.sync(with: b)
        #expect(try b.rows() == a.rows())
        #expect(try b.rows().first == "1|Cream|10|2026-01-01T00:00:00Z")
    }

    /// What a migration leaves out is deleted. A table that has lost most rows was lost itself: the other machine gives
    /// them back.
    @Test(arguments: [("id <> '3'", 2), ("id = '3'", 3)])
    func aRowThatAMigrationLeavesOutIsDeletedUnlessMostAreGone(condition: String, count: Int) throws {
        try a.migrate(
            Self.rebuild(
                "title TEXT, position INTEGER, due TEXT", "SELECT * FROM Item WHERE \(condition)"),
            to: "title position due")
        try a.sync(with: b)
        #expect(try b.rows().count == count)
        #expect(try a.rows() == b.rows())
        #expect(try a.isSound)
    }

    @Test func aColumnThatIsAddedAndFilledReachesTheOtherMachine() throws {
        try a.migrate(
            """
            ALTER TABLE Item ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
            UPDATE Item SET length = length(title) WHERE id <> '3';
            """, to: "title position due length")
        try a.sync(with: b)
        try b.migrate(
            "ALTER TABLE Item ADD COLUMN length INTEGER NOT NULL DEFAULT 0", to: "title position due length")
        #expect(try b.rows("SELECT length FROM Item ORDER BY id") == ["4", "5", "0"])
        try a.sync(with: b)
        #expect(try a.rows() == b.rows())
        #expect(try a.rows("SELECT length FROM Item ORDER BY id") == ["4", "5", "0"])
        #expect(try a.isSound)
        #expect(try b.isSound)
    }

    /// The machine that lags fills the column, too, after somebody has changed a value where the column was there earlier.
    @Test func whatALaggingMachineFillsInBeatsNoWrite() throws {
        let migration = "ALTER TABLE Item ADD COLUMN length INTEGER; UPDATE Item SET length = length(title)"
        try a.migrate(migration, to: "title position due length")
        _ = try a.state("1")
        try a.execute("UPDATE Item SET length = 40 WHERE id = '1'")
        try b.migrate(migration, to: "title position due length")
        try a.sync(with: b)
        #expect(try a.rows("SELECT length FROM Item ORDER BY id") == ["40", "5", "4"])
        #expect(try a.rows() == b.rows())
    }

    /// The other machine's value came before the column: it is shown, whatever the migration put there.
    @Test func whatWasKnownOfAColumnIsShownInPlaceOfWhatTheMigrationFilledIn() throws {
        try a.migrate(
            "ALTER TABLE Item ADD COLUMN length INTEGER; UPDATE Item SET length = 7",
            to: "title position due length")
        try a.sync(with: b)
        try b.migrate(
            "ALTER TABLE Item ADD COLUMN length INTEGER; UPDATE Item SET length = 8",
            to: "title position due length")
        #expect(try b.rows("SELECT DISTINCT length FROM Item") == ["7"])
        try a.sync(with: b)
        #expect(try a.rows() == b.rows())
    }

    @Test func aRenamedColumnCarriesItsValues() throws {
        try a.migrate("ALTER TABLE Item RENAME COLUMN position TO place", to: "title place due")
        try a.sync(with: b)
        try b.migrate("ALTER TABLE Item RENAME COLUMN position TO place", to: "title place due")
        try a.sync(with: b)
        #expect(try a.rows("SELECT place FROM Item ORDER BY id") == ["1", "2", "3"])
        #expect(try a.rows() == b.rows())
        try b.execute("UPDATE Item SET place = 10 WHERE id = '1'")
        try a.sync(with: b)
        #expect(try a.rows("SELECT place FROM Item WHERE id = '1'") == ["10"])
    }

    /// A field that leaves the schema, while its column stays, keeps its value and its meaning for the others.
    @Test func aFieldThatLeavesTheSchemaIsKeptForOthers() throws {
        let before = try a.state("1")
        try a.migrate("", to: "title position")
        #expect(try a.state("1") == before)
        #expect(try a.isSound)
        try a.execute("UPDATE Item SET title = 'Cream' WHERE id = '1'")
        try a.sync(with: b)
        #expect(try b.rows().first == "1|Cream|1|2026-01-01T00:00:00Z")
        try a.migrate("", to: "title position due")
        #expect(try a.state("1")?.field("due") == before?.field("due"))
        #expect(try a.isSound)
    }

    /// A rebuilt table without a column: the value is gone here, and comes back from the others.
    @Test func aColumnThatIsDroppedStaysWhereItIsStillThere() throws {
        try a.migrate(
            Self.rebuild("title TEXT, position INTEGER", "SELECT id, title, position FROM Item"),
            to: "title position")
        #expect(try a.isSound)
        try a.execute("UPDATE Item SET title = 'Cream' WHERE id = '1'")
        try a.sync(with: b)
        #expect(try b.rows().first == "1|Cream|1|2026-01-01T00:00:00Z")
        #expect(try a.state("1")?.field("due") == b.state("1")?.field("due"))
        #expect(try a.isSound)
    }

    /// SQLite refuses to drop a column that a trigger names.
    @Test func aMigrationMayDropAColumn() throws {
        #expect(throws: DatabaseError.self) { try a.execute("ALTER TABLE Item DROP COLUMN due") }
        try a.database.write { try RecordStore.stopCapturing($0, of: "Item") }
        try a.migrate(
            "ALTER TABLE Item DROP COLUMN due; UPDATE Item SET title = 'Cream' WHERE id = '2'",
            to: "title position")
        try a.execute("UPDATE Item SET position = 30 WHERE id = '3'")
        try a.sync(with: b)
        #expect(try b.rows() == ["1|Milk|1|2026-01-01T00:00:00Z", "2|Cream|2|-", "3|Eggs|30|-"])
        #expect(try a.isSound)
    }

    // MARK: Types

    /// What was written just before still counts; the store keeps the records for others, and shows them again.
    @Test func aTypeMayLeaveTheSchemaAndComeBack() throws {
        try a.execute(
            "UPDATE Item SET title = 'Cream' WHERE id = '1'; INSERT INTO Item VALUES ('4', 'Figs', 4, NULL)")
        try a.migrate(
            "CREATE TABLE Other (id TEXT NOT NULL PRIMARY KEY, title TEXT)", type: "Other", to: "title")
        #expect(try a.rows("SELECT name FROM sqlite_master WHERE name LIKE '%Item_capture%'") == [])
        #expect(try a.isSound)
        try a.sync(with: b)
        #expect(try b.rows("SELECT title FROM Item ORDER BY id") == ["Cream", "Bread", "Eggs", "Figs"])
        try b.execute("UPDATE Item SET position = 20 WHERE id = '2'; DELETE FROM Item WHERE id = '4'")
        try a.sync(with: b)
        try a.execute("UPDATE Item SET title = 'Nobody watches' WHERE id = '3'")
        try a.migrate("", to: "title position due")
        #expect(try a.rows("SELECT position FROM Item WHERE id = '2'") == ["20"])
        #expect(try a.rows("SELECT COUNT(*) FROM Item WHERE id = '4'") == ["0"])
        try a.sync(with: b)
        #expect(try a.rows() == b.rows())
        #expect(try b.rows("SELECT title FROM Item WHERE id = '3'") == ["Nobody watches"])
        #expect(try a.isSound)
    }

    /// Types leave the schema together, and the table to which one of them refers is gone.
    @Test func aTypeMayLeaveWithoutTheTypeToWhichItRefers() throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE List (id BLOB NOT NULL PRIMARY KEY, title TEXT);
                    CREATE TABLE Item (
                        id TEXT NOT NULL PRIMARY KEY, title TEXT,
                        list BLOB NOT NULL REFERENCES List ON DELETE CASCADE);
                    CREATE TABLE Other (id TEXT NOT NULL PRIMARY KEY, title TEXT);
                    INSERT INTO List VALUES (x'01', 'Home');
                    INSERT INTO Item VALUES ('1', 'Milk', x'01');
                    """)
        }
        let other = RecordType("Other", [FieldDefinition("title")])
        func open(_ types: [RecordType]) throws -> RecordStore {
            try RecordStore(database, schema: RecordSchema(types), replica: ReplicaID(rawValue: 1))
        }
        let store = try open([
            other, RecordType("List", [FieldDefinition("title")]),
            RecordType(
                "Item",
                [
                    FieldDefinition("title"),
                    FieldDefinition("list", .reference(to: "List", rule: .cascade, isRequired: true)),
                ]),
        ])
        _ = try database.write { try store.fold($0) }
        try database.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; DROP TABLE List; PRAGMA foreign_keys = ON")
        }
        let later = try open([other])
        try database.read { (db: Database) throws in
            #expect(try later.upkeep.check(db).isSound)
            #expect(try later.state(db, of: RecordName("Item|~|1"))?.fields.map(\.name) == ["title"])
            #expect(try later.state(db, of: RecordName("List|~|01")) == nil)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM Item") == 1)
        }
    }

    @Test func aDroppedTableDeletesNothingElsewhere() throws {
        try a.migrate(
            "DROP TABLE Item; CREATE TABLE Other (id TEXT NOT NULL PRIMARY KEY, title TEXT)", type: "Other",
            to: "title")
        #expect(try a.isSound)
        try a.sync(with: b)
        #expect(try b.rows().count == 3)
        try a.migrate(Self.first, to: "title position due")
        #expect(try a.rows() == b.rows())
        #expect(try a.isSound)
    }

    /// A text that becomes a date is another value to sync, so it needs a stamp of its own.
    @Test func aFieldOfAnotherKindIsWrittenAnew() throws {
        let app = try App(3, "title due!")
        try app.execute("INSERT INTO Item VALUES ('9', 'Rice', 1, '2026-01-01T00:00:00Z')")
        let before = try #require(try app.state("9")?.field("due"))
        #expect(before.value == .text("2026-01-01T00:00:00Z"))
        try app.migrate("", to: "title due")
        let after = try #require(try app.state("9")?.field("due"))
        #expect(after.value == .date(1_767_225_600_000))
        #expect(after.stamp > before.stamp)
        #expect(try app.isSound)
    }
}

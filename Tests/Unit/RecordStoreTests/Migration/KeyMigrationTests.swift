import Foundation
import GRDB
import PeerSyncStore
import Testing

/// An app with numbers as keys adopts sync: the numbers become UUIDs, what refers to them follows, and all else stays.
struct KeyMigrationTests {
    private let app: MigratedApp

    init() throws { app = try MigratedApp() }

    private static let todo = """
        CREATE TABLE TodoList (
            id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of the list
            title TEXT NOT NULL COLLATE NOCASE DEFAULT 'New, list' CHECK (title <> ''));
        CREATE TABLE Item (
            "id" integer PRIMARY KEY,
            list INTEGER NOT NULL DEFAULT 1 REFERENCES todolist ON DELETE CASCADE,
            parent BIGINT,
            title, length INTEGER GENERATED ALWAYS AS (length(title)) STORED,
            FOREIGN KEY (parent) REFERENCES ITEM (ID) ON DELETE SET NULL);
        CREATE TABLE Detail (item INTEGER PRIMARY KEY REFERENCES Item, text TEXT) STRICT;
        CREATE TABLE Mark (id INTEGER PRIMARY KEY AUTOINCREMENT, detail INT REFERENCES Detail);
        CREATE TABLE Pair (a INT REFERENCES Item, b INT REFERENCES Item (id), PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE INDEX itemByList ON Item (list, title) WHERE parent IS NULL;
        CREATE VIEW Open AS SELECT Item.title, TodoList.title AS list FROM Item JOIN TodoList ON TodoList.id = Item.list;
        CREATE VIEW Broken AS SELECT * FROM missing;
        CREATE TRIGGER firstItem AFTER INSERT ON TodoList BEGIN INSERT INTO Item (list, title) VALUES (NEW.id, 'first'); END;
        CREATE TRIGGER newItem INSTEAD OF INSERT ON Open BEGIN INSERT INTO TodoList (title) VALUES (NEW.list); END;
        INSERT INTO TodoList VALUES (1, 'Food'), (2, 'Work'), (9, 'Gone');
        DELETE FROM Item; DELETE FROM TodoList WHERE id = 9;
        INSERT INTO Item (id, list, parent, title) VALUES (10, 1, NULL, 'Milk'), (20, 1, 10, 'Oat'), (30, 2, NULL, NULL);
        INSERT INTO Detail VALUES (10, 'cold'), (30, 'late');
        INSERT INTO Mark VALUES (1, 30), (5, NULL), (8, 10);
        DELETE FROM Mark WHERE id = 8;
        INSERT INTO Pair VALUES (10, 20), (30, 30);
        """

    private static let joined = """
        SELECT l.title, i.title, p.title, d.text, m.id, (SELECT count(*) FROM Pair WHERE i.id IN (a, b)), i.length, i.rowid
        FROM Item i JOIN TodoList l ON l.id = i.list LEFT JOIN Item p ON p.id = i.parent
        LEFT JOIN Detail d ON d.item = i.id LEFT JOIN Mark m ON m.detail = d.item ORDER BY i.rowid
        """

    @Test(arguments: [KeyMigration.Form.blob, .text])
    func allReferencesFollowAndAllElseStays(form: KeyMigration.Form) throws {
        try app.execute(Self.todo)
        let former = try app.rows(Self.joined)
        let (declarations, views) = (try app.declarations(), try app.rows("SELECT * FROM Open"))
        try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["Item", "todolist"], as: form) }
        #expect(try app.rows(Self.joined) == former)
        #expect(try app.rows("SELECT * FROM Open") == views)
        #expect(
            try app.rows("SELECT DISTINCT typeof(id), typeof(list), length(id), length(list) FROM Item")
                == [form == .blob ? "blob|blob|16|16" : "text|text|36|36"])
        let type = form == .blob ? "BLOB" : "TEXT"
        let lists = try app.declaration("TodoList")
        #expect(lists.hasPrefix("CREATE TABLE TodoList (\n    id \(type) NOT NULL DEFAULT ("))
        #expect(
            lists.hasSuffix(
                "-- the number of the list\n    title TEXT NOT NULL COLLATE NOCASE DEFAULT 'New, list' CHECK (title <> ''))"
            ))
        #expect(
            try app.declaration("Detail").contains(
                "(item \(type) NOT NULL PRIMARY KEY REFERENCES Item, text TEXT) STRICT"))
        #expect(
            try app.declaration("Mark")
                == "CREATE TABLE Mark (id INTEGER PRIMARY KEY AUTOINCREMENT, detail \(type) REFERENCES Detail)"
        )
        // Indexes, views and triggers are as they were, in number and text.
        let tables = ["TodoList", "Item", "Detail", "Mark", "Pair"]
        for (name, sql) in declarations where !tables.contains(name) {
            #expect(try app.declaration(name) == sql)
        }
        #expect(try app.declarations().count == declarations.count + 1)  // with the table of the migrator
        #expect(try app.rows("SELECT * FROM sqlite_sequence") == ["Mark|8"])
        try app.write { try $0.checkForeignKeys() }
    }

    /// The triggers of the app fire again after the change, and not during it. Rows without a key get one.
    @Test func insertionsWithoutAKeyStillWork() throws {
        try app.execute(Self.todo)
        let first = "SELECT title FROM TodoList WHERE id = (SELECT list FROM Item WHERE title = 'more')"
        try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["TodoList", "Item"]) }
        #expect(try app.rows("SELECT count(*) FROM Item") == ["3"])
        try app.execute(
            "INSERT INTO Item (title) VALUES ('more'); INSERT INTO Open (title, list) VALUES ('x', 'Home')")
        // The default of a reference follows, too.
        #expect(try app.rows(first) == ["Food"])
        #expect(
            try app.rows(
                "SELECT l.title, i.title FROM TodoList l JOIN Item i ON i.list = l.id WHERE l.title = 'Home'")
                == ["Home|first"])
        try app.execute(
            "DELETE FROM Pair; DELETE FROM Mark; DELETE FROM Detail; DELETE FROM TodoList WHERE title = 'Food'"
        )
        #expect(try app.rows("SELECT title FROM Item ORDER BY 1") == ["-", "first"])
    }

    @Test func copiesOfOneDatabaseGetTheSameKeys() throws {
        try app.execute(Self.todo)
        try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["TODOLIST"], sharedBy: "household") }
        let keys = try app.read { try UUID.fetchAll($0, sql: "SELECT id FROM TodoList ORDER BY rowid") }
        #expect(keys == [1, 2].map { UUID(derivedFrom: "household", "TodoList", $0) })
        let other = try MigratedApp()
        try other.execute(Self.todo)
        try other.migrate { try KeyMigration.numbersToUUIDs($0, in: ["TodoList"]) }
        let random = try other.read { try UUID.fetchSet($0, sql: "SELECT id FROM TodoList") }
        #expect(random.count == 2 && random.isDisjoint(with: keys))
    }

    @Test func aSecondTimeNothingChanges() throws {
        try app.execute(Self.todo)
        try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["Item", "Item", "Detail"]) }
        let content = try app.content()
        try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["Item"], as: .text) }
        #expect(try app.content() == content)
    }

    @Test(arguments: [
        ("INTEGER PRIMARY KEY", "BLOB NOT NULL DEFAULT (randomblob(16)) PRIMARY KEY"),
        ("INT NOT NULL PRIMARY KEY DESC", "BLOB DEFAULT (randomblob(16)) NOT NULL PRIMARY KEY DESC"),
        ("INTEGER DEFAULT 0 PRIMARY KEY", "BLOB NOT NULL DEFAULT (randomblob(16)) PRIMARY KEY"),
    ])
    func aKeyMayBeDeclaredInManyWays(former: String, declared: String) throws {
        let name = "\"Ä \"\"list\"\" (1)'s; --\""
        try app.execute(
            """
            CREATE TABLE \(name) (a, "der [Schlüssel]" \(former), rowid TEXT, _rowid_ TEXT);
            CREATE TABLE [other one] (x, `its list` REFERENCES \(name)("der [Schlüssel]"));
            CREATE INDEX "i'1" ON \(name) ("der [Schlüssel]", a);
            INSERT INTO \(name) VALUES ('a', 1, 'r', 's'), ('b', -3, 't', 'u'); INSERT INTO [other one] VALUES ('z', -3)
            """)
        try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["Ä \"LIST\" (1)'s; --"], sharedBy: "x") }
        let joined =
            "SELECT x, a, l.rowid, l.oid FROM [other one] o JOIN \(name) l ON l.\"der [Schlüssel]\" = o.`its list`"
        #expect(try app.rows(joined).first?.hasPrefix("z|b|t|") == true)
        #expect(
            try app.declaration("Ä \"list\" (1)'s; --")
                == "CREATE TABLE \(name) (a, \"der [Schlüssel]\" \(declared), rowid TEXT, _rowid_ TEXT)")
        #expect(try app.declaration("other one").contains("(x, `its list` BLOB REFERENCES"))
    }

    @Test(arguments: [
        ("", "Other", "has no table Other"),
        ("CREATE VIEW V AS SELECT 1 AS id", "V", "V is a view"),
        ("CREATE VIRTUAL TABLE F USING fts5(a)", "F", "a virtual table"),
        ("CREATE TABLE N (a)", "N", "has 0 columns"),
        ("CREATE TABLE J (a INT, b INT, PRIMARY KEY (a, b))", "J", "has 2 columns"),
        ("CREATE TABLE R (id REAL PRIMARY KEY)", "R", "R.id is not declared as an INTEGER"),
        (
            "CREATE TABLE C (id INTEGER PRIMARY KEY REFERENCES L)", "C",
            "C.id refers to L: change the key of L"
        ),
        (
            "CREATE TABLE I (id INT PRIMARY KEY); INSERT INTO I VALUES (NULL), (1)", "I",
            "1 rows of I have no id"
        ),
        (
            "CREATE TABLE C (a, l INT, x INT, FOREIGN KEY (l, x) REFERENCES L (id, x))", "L",
            "C.l cannot follow L.id"
        ),
        (
            "CREATE TABLE C (l INT REFERENCES L REFERENCES M)", "L", "C.l cannot follow L.id"
        ),
        (
            "CREATE TABLE C (a, l INT AS (a) REFERENCES L)", "L",
            "C.l cannot follow L.id, because it is generated"
        ),
        (
            "CREATE TABLE C (l INT DEFAULT 7 REFERENCES L)", "L",
            "the default 7 of C.l is the key of no row of L"
        ),
        (
            "CREATE TABLE C (l INT DEFAULT 1 REFERENCES L CHECK (typeof(l) = 'integer')); INSERT INTO C VALUES (1)",
            "L", "CHECK"
        ),
        (
            "CREATE TABLE N (id INTEGER PRIMARY KEY, CHECK (id < 100)); INSERT INTO N VALUES (1)", "N",
            "a CHECK of the table N refuses the new keys"
        ),
        (
            "CREATE TABLE G (id INTEGER PRIMARY KEY, code TEXT GENERATED ALWAYS AS ('G' || ID) STORED)", "G",
            "the generated column G.code follows from id, which gets new keys"
        ),
        (
            "CREATE TABLE C (a INT, l INT REFERENCES L, code TEXT AS ('C' || l))", "L",
            "the generated column C.code follows from l, which gets new keys"
        ),
        (
            "CREATE TABLE C (l INT REFERENCES L); PRAGMA foreign_keys = OFF; INSERT INTO C VALUES (7), (8), (1); PRAGMA foreign_keys = ON",
            "L", "2 rows of C have a l that is the key of no row of L"
        ),
        (
            "CREATE VIRTUAL TABLE F USING fts5(x, content='L', content_rowid = \"id\")", "l",
            "the search table F knows the rows of L by id"
        ),
        (
            """
            CREATE VIRTUAL TABLE F USING fts5(x);
            CREATE TRIGGER T AFTER INSERT ON L BEGIN INSERT INTO f (rowid, x) VALUES (new . "id", 'x'); END
            """, "L", "the search table F knows the rows of L by id"
        ),
    ])
    func whatCannotChangeIsToldAndNothingChanges(sql: String, table: String, part: String) throws {
        try app.execute(
            "CREATE TABLE L (id INTEGER PRIMARY KEY, x INT UNIQUE); CREATE TABLE M (id INTEGER PRIMARY KEY)")
        try app.execute(
            "INSERT INTO L VALUES (1, 1); CREATE TABLE Before (id INTEGER PRIMARY KEY, l INT REFERENCES L)")
        try app.executeOutsideTransaction(sql)
        let content = try app.content()
        var message = ""
        try app.migrate { (db: Database) throws in
            do {
                try KeyMigration.numbersToUUIDs(db, in: ["Before", table])
            } catch {
                message = "\(error)"
            }
            // The app may go on: what had changed is taken back.
            #expect(try app.content(db) == content)
        }
        #expect(message.contains(part), "\(message)")
        #expect(try app.read { try Bool.fetchOne($0, sql: "PRAGMA legacy_alter_table") } == false)
    }

    /// SQLite would delete the rows that refer to a table while the table is made anew.
    @Test func foreignKeysMustBeOff() throws {
        try app.execute(Self.todo)
        let error = #expect(throws: RecordStoreError.self) {
            try app.migrate(.immediate) { try KeyMigration.numbersToUUIDs($0, in: ["TodoList"]) }
        }
        #expect(error?.message.contains("foreignKeyChecks: .deferred") == true)
        #expect(try app.rows("SELECT count(*) FROM Item") == ["3"])
    }

    /// GRDB's index for full-text search names the key. Made anew, it names the rowid, which the rows keep.
    @Test func anIndexForSearchIsMadeAnew() throws {
        func synchronize(_ db: Database) throws {
            try db.create(virtualTable: "ItemSearch", using: FTS5()) { table in
                table.synchronize(withTable: "Item")
                table.column("title")
            }
        }
        try app.execute(Self.todo)
        try app.execute(
            "CREATE VIRTUAL TABLE ByRowID USING fts5(title, content='Item'); INSERT INTO ByRowID (ByRowID) VALUES ('rebuild')"
        )
        try app.write(synchronize)
        #expect(throws: RecordStoreError.self) {
            try app.migrate { try KeyMigration.numbersToUUIDs($0, in: ["Item"]) }
        }
        try app.migrate { db in
            try db.dropFTS5SynchronizationTriggers(forTable: "ItemSearch")
            try db.drop(table: "ItemSearch")
            try KeyMigration.numbersToUUIDs(db, in: ["Item"])
            try synchronize(db)
        }
        try app.execute("INSERT INTO Item (title) VALUES ('Oat milk')")
        func found(_ index: String) -> String {
            "SELECT i.title FROM \(index) s JOIN Item i ON i.rowid = s.rowid WHERE \(index) MATCH 'oat' ORDER BY 1"
        }
        #expect(try app.rows(found("ItemSearch")) == ["Oat", "Oat milk"])
        #expect(try app.rows(found("ByRowID")) == ["Oat"])
    }
}

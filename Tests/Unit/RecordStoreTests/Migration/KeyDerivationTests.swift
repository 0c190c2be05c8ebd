import Foundation
import GRDB
import PeerSyncStore
import Testing

/// A table whose rows are told apart by a value gets keys that follow from it, so that all machines give the same key.
struct KeyDerivationTests {
    private let app: MigratedApp

    init() throws { app = try MigratedApp() }

    private static let tags = """
        CREATE TABLE Tag (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, color TEXT UNIQUE);
        CREATE TABLE ItemTag (item TEXT, tag INTEGER NOT NULL REFERENCES Tag ON DELETE CASCADE, PRIMARY KEY (item, tag));
        INSERT INTO Tag VALUES (1, 'work', 'red'), (4, 'Müller', NULL);
        INSERT INTO ItemTag VALUES ('a', 1), ('b', 4), ('b', 1);
        """

    @Test func keysFollowFromTheName() throws {
        try app.execute(Self.tags)
        try app.migrate { try KeyMigration.deriveKey($0, in: "Tag", from: ["Name"]) }
        let keys = try app.read { try UUID.fetchAll($0, sql: "SELECT id FROM Tag ORDER BY rowid") }
        #expect(keys == [UUID(derivedFrom: "work"), UUID(derivedFrom: "Müller")])
        #expect(
            try app.declaration("Tag")
                == "CREATE TABLE Tag (id BLOB NOT NULL PRIMARY KEY , name TEXT NOT NULL , color TEXT UNIQUE)")
        #expect(
            try app.rows("SELECT item, name FROM ItemTag JOIN Tag ON Tag.id = tag ORDER BY 1, 2")
                == ["a|work", "b|Müller", "b|work"])
        // No machine may give a row another key than the others do.
        #expect(throws: DatabaseError.self) { try app.execute("INSERT INTO Tag (name) VALUES ('home')") }
        // The second time leads to the same.
        let content = try app.content()
        try app.migrate { try KeyMigration.deriveKey($0, in: "Tag", from: ["name"]) }
        #expect(try app.content() == content)
    }

    /// Texts that are the same up to a NUL, a BLOB, and numbers that need all their digits.
    @Test func keysFollowFromWholeValues() throws {
        try app.execute(
            """
            CREATE TABLE Tag (id INTEGER PRIMARY KEY, name);
            INSERT INTO Tag VALUES (1, 'a'), (2, 'a' || char(0) || 'b'), (3, x'00FF'), (4, 1), (5, '1'), (6, 0.1 + 0.2);
            """)
        try app.migrate { try KeyMigration.deriveKey($0, in: "Tag", from: ["name"]) }
        let keys = try app.read { try UUID.fetchAll($0, sql: "SELECT id FROM Tag ORDER BY rowid") }
        #expect(
            keys == [
                UUID(derivedFrom: "a"), UUID(derivedFrom: "a\u{0}b"), UUID(derivedFrom: Data([0, 255])),
                UUID(derivedFrom: 1), UUID(derivedFrom: "1"), UUID(derivedFrom: 0.1 + 0.2),
            ])
    }

    /// UUIDs as TEXT, with a default; two columns, of which one refers to a table whose key has changed before.
    @Test func keysFollowFromSeveralColumns() throws {
        try app.execute(
            """
            CREATE TABLE List (id INTEGER PRIMARY KEY);
            CREATE TABLE Tag (
                id TEXT COLLATE NOCASE DEFAULT (hex(randomblob(16))) PRIMARY KEY, list INT NOT NULL REFERENCES List, name TEXT,
                parent TEXT REFERENCES Tag, CONSTRAINT one UNIQUE (name, list));
            CREATE UNIQUE INDEX byName ON Tag (list, name);
            CREATE UNIQUE INDEX byParent ON Tag (parent, name);
            INSERT INTO List VALUES (7); INSERT INTO Tag VALUES ('A', 7, 'x', NULL), ('B', 7, 'y', 'a');
            """)
        try app.migrate { db in
            try KeyMigration.numbersToUUIDs(db, in: ["List"], as: .text, sharedBy: "s")
            try KeyMigration.deriveKey(db, in: "tag", from: ["list", "name"], as: .text)
        }
        let list = UUID(derivedFrom: "s", "List", 7).uuidString.lowercased()
        let (x, y) = (UUID(derivedFrom: list, "x"), UUID(derivedFrom: list, "y"))
        #expect(
            try app.rows("SELECT id, parent FROM Tag ORDER BY name")
                == ["\(x)|-", "\(y)|\(x)"].map { $0.lowercased() })
        let declaration = try app.declaration("Tag")
        #expect(declaration.contains("id TEXT NOT NULL COLLATE NOCASE DEFAULT NULL PRIMARY KEY"))
        #expect(!declaration.contains("one"))
        #expect(try app.declaration("byName") == "CREATE INDEX byName ON Tag (list, name)")
        #expect(try app.declaration("byParent") == "CREATE UNIQUE INDEX byParent ON Tag (parent, name)")
    }

    @Test func uniqueMayStay() throws {
        try app.execute(Self.tags)
        try app.execute("CREATE UNIQUE INDEX i ON Tag (name)")
        try app.migrate { try KeyMigration.deriveKey($0, in: "Tag", from: ["name"], keepsUnique: true) }
        #expect(try app.declaration("Tag").contains("name TEXT NOT NULL UNIQUE"))
        #expect(try app.declaration("i") == "CREATE UNIQUE INDEX i ON Tag (name)")
    }

    @Test(arguments: [
        ([], "Tag", "needs columns"),
        (["nick"], "Tag", "no column nick"),
        (["ID"], "Tag", "Tag.id holds keys of the same table"),
        (["parent", "name"], "Tag", "Tag.parent holds keys of the same table"),
        (["color"], "Tag", "1 rows of Tag have no color"),
        (["kind"], "Tag", "the rows 1 and 3 of Tag have the same kind"),
        (["name"], "Tag", "Alias.tag refers to Tag.name, which UNIQUE has to keep"),
        (["item"], "Join", "has 2 columns"),
    ])
    func whatCannotFollowIsTold(columns: [String], table: String, part: String) throws {
        try app.execute(
            """
            CREATE TABLE Tag (
                id INT PRIMARY KEY, name TEXT NOT NULL UNIQUE, color TEXT, kind ANY, parent INT REFERENCES Tag);
            CREATE TABLE Alias (name TEXT PRIMARY KEY, tag TEXT REFERENCES tag (NAME));
            CREATE TABLE "Join" (item INT, tag INT, PRIMARY KEY (item, tag));
            INSERT INTO Tag VALUES (1, 'a', 'red', 1, NULL), (2, 'b', NULL, '1', 1), (3, 'c', 'blue', 1, NULL);
            """)
        let content = try app.content()
        let error = #expect(throws: RecordStoreError.self) {
            try app.migrate { try KeyMigration.deriveKey($0, in: table, from: columns) }
        }
        #expect(error?.message.contains(part) == true, "\(error as Any)")
        #expect(try app.content().filter { !$0.hasPrefix("grdb") } == content)
    }
}

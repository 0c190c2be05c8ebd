import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// A table that could not take the records of other machines is refused when the store is opened, with the column and a way
/// out. Nothing is changed then.
struct TableCheckTests {
    private func open(_ declaration: String) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE Author (\(declaration))") }
        _ = try RecordStore(
            database, schema: RecordSchema([RecordType("Author", [FieldDefinition("name")])]),
            replica: ReplicaID(rawValue: 1))
        return database
    }

    @Test(arguments: [
        (
            "recordName INTEGER PRIMARY KEY, name TEXT, modificationDate TEXT",
            "Author.recordName must be TEXT"
        ),
        (
            "recordName BLOB PRIMARY KEY, name TEXT, modificationDate TEXT) STRICT --",
            "Author.recordName must be TEXT"
        ),
        ("recordName TEXT, name TEXT", "Author has no primary key"),
        ("id INTEGER PRIMARY KEY, name TEXT", "Author.id is an INTEGER"),
        ("id REAL PRIMARY KEY, name TEXT", "Author.id is declared REAL"),
        ("id ANY PRIMARY KEY, name TEXT", "Author.id is declared ANY, which SQLite converts"),
        ("id PRIMARY KEY, name TEXT", "Author.id is declared without a type"),
        (
            "id ANY PRIMARY KEY, name TEXT) STRICT --",
            "Author.id is declared ANY, so the text 1 and the number 1"
        ),
        ("id TEXT PRIMARY KEY COLLATE NOCASE, name TEXT", "Author.id is declared COLLATE NOCASE"),
        (
            "recordName TEXT COLLATE RTRIM PRIMARY KEY, name TEXT",
            "Author.recordName is declared COLLATE RTRIM"
        ),
        ("id TEXT, part TEXT UNIQUE, name TEXT, PRIMARY KEY (id, part)", "Author.part is UNIQUE"),
        ("recordName TEXT PRIMARY KEY, modificationDate TEXT", "has no column name"),
        (
            "recordName TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, shelf TEXT NOT NULL DEFAULT NULL",
            "Author.shelf is NOT NULL, has no DEFAULT and is not synced"
        ),
        ("recordName TEXT PRIMARY KEY, name TEXT UNIQUE, modificationDate TEXT", "Author.name is UNIQUE"),
        ("id TEXT PRIMARY KEY, name TEXT, folded TEXT AS (lower(name)) UNIQUE", "Author.folded is UNIQUE"),
        (
            "id TEXT COLLATE NOCASE, name TEXT, PRIMARY KEY (id COLLATE BINARY)",
            "Author.id is declared COLLATE NOCASE"
        ),
        ("id TEXT PRIMARY KEY, name TEXT, UNIQUE (id COLLATE NOCASE)", "Author.id is UNIQUE COLLATE NOCASE"),
        (
            "id TEXT, part TEXT, name TEXT, PRIMARY KEY (id, part), UNIQUE (id, part COLLATE RTRIM)",
            "Author.part is UNIQUE COLLATE RTRIM"
        ),
        (
            "id TEXT PRIMARY KEY, name TEXT, modificationDate TEXT UNIQUE",
            "Author.modificationDate is UNIQUE"
        ),
    ])
    func aTableThatCouldNotTakeRecordsIsRefused(declaration: String, reason: String) throws {
        let error = #expect(throws: RecordStoreError.self) { try open(declaration) }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    /// What sync cannot see would fail at the end of a transaction, or be converted.
    @Test(
        arguments: [
            ("name TEXT REFERENCES Shelf (id)", "Author.name is a foreign key", ""),
            ("name TEXT AS (id) STORED", "Author.name is generated", ""),
            (
                "name TEXT", "Loan.author refers to Author",
                "CREATE TABLE Loan (author TEXT REFERENCES Author (id))"
            ),
            ("name TEXT", nil, "CREATE TABLE Loan (author TEXT REFERENCES Author (id) ON DELETE SET NULL)"),
            (
                "name TEXT", "it ON DELETE CASCADE, or without NOT NULL and ON DELETE SET NULL",
                "CREATE TABLE Loan (author TEXT NOT NULL REFERENCES Author (id) ON DELETE SET NULL)"
            ),
            (
                "name TEXT", nil,
                "CREATE TABLE Loan (author TEXT NOT NULL REFERENCES Author ON DELETE CASCADE)"
            ),
            (
                "name TEXT, number INTEGER UNIQUE", "Loan.author refers to Author.name and is not synced",
                "CREATE TABLE Loan (author TEXT REFERENCES Author (NAME) ON DELETE CASCADE)"
            ),
            (
                "name TEXT, number INTEGER UNIQUE", nil,
                "CREATE TABLE Loan (author INTEGER REFERENCES Author (number) ON DELETE CASCADE)"
            ),
            (
                "name TEXT, shelf TEXT NOT NULL DEFAULT '1' REFERENCES Shelf",
                "Author.shelf is a foreign key, has a DEFAULT and is not synced", ""
            ),
            ("name TEXT, shelf TEXT DEFAULT '1' REFERENCES Shelf", "let it be NULL by default", ""),
            (
                "name TEXT, shelf TEXT NOT NULL REFERENCES Shelf", "could be written: sync it, or allow NULL",
                ""
            ),
            ("name TEXT, shelf TEXT REFERENCES Shelf", nil, ""),
            ("name TEXT", "Page.loan refers to Loan, whose rows go with those of Author,", Self.page("")),
            ("name TEXT", "Page.loan refers to Loan", Self.page("ON DELETE RESTRICT")),
            ("name TEXT", nil, Self.page("ON DELETE SET NULL")),
            ("name TEXT", nil, Self.page("ON DELETE CASCADE")),
            // Its rows go in the same statement.
            ("name TEXT", nil, Self.page(", author TEXT REFERENCES Author ON DELETE CASCADE")),
            (
                "name TEXT", "Line.page refers to Page",
                Self.page("ON DELETE CASCADE") + "CREATE TABLE Line (page INTEGER REFERENCES Page)"
            ),
            (
                "name TEXT, loan INTEGER REFERENCES Loan ON DELETE CASCADE",
                "Author.loan refers to Loan, whose rows go with those of Author,",
                Self.page("ON DELETE CASCADE")
            ),
            (
                "name TEXT", "Loan.author refers to Author and is generated",
                "CREATE TABLE Loan (data TEXT, author TEXT AS (data) REFERENCES Author ON DELETE SET NULL)"
            ),
            (
                "name TEXT", nil,
                "CREATE TABLE Loan (data TEXT, author TEXT AS (data) REFERENCES Author ON DELETE CASCADE)"
            ),
            (
                "name TEXT, editor TEXT AS (lower(name)) REFERENCES Author ON DELETE SET NULL",
                "Author.editor refers to Author and is generated", ""
            ),
        ] as [(String, String?, String)])
    func foreignKeysThatSyncDoesNotKnowAreRefused(column: String, reason: String?, other: String) throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(
                sql:
                    "CREATE TABLE Shelf (id TEXT PRIMARY KEY); CREATE TABLE Author (id TEXT PRIMARY KEY, \(column));"
                    + other)
        }
        let open = {
            _ = try RecordStore(
                database, schema: RecordSchema([RecordType("Author", [FieldDefinition("name")])]),
                replica: ReplicaID(rawValue: 1))
        }
        guard let reason else { return try open() }
        let error = #expect(throws: RecordStoreError.self) { try open() }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    /// A table two steps below `Author`, which is not synced and whose rows go with those of `Loan`, or keep them.
    private static func page(_ action: String) -> String {
        """
        CREATE TABLE Loan (id INTEGER PRIMARY KEY, author TEXT REFERENCES Author ON DELETE CASCADE);
        CREATE TABLE Page (id INTEGER PRIMARY KEY, loan INTEGER REFERENCES Loan \(action));
        """
    }

    @Test(arguments: [("TEXT", "declared TEXT"), ("", "declared without a type")])
    func aReferenceIsDeclaredLikeTheKey(type: String, reason: String) throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Game (number INTEGER PRIMARY KEY, title TEXT);
                    CREATE TABLE Score (
                        id TEXT PRIMARY KEY, game \(type) NOT NULL REFERENCES Game (number) ON DELETE CASCADE);
                    """)
        }
        let error = #expect(throws: RecordStoreError.self) {
            try RecordStore(
                database,
                schema: RecordSchema([
                    RecordType("Game", [FieldDefinition("title")], areNumbersShared: true),
                    RecordType(
                        "Score",
                        [FieldDefinition("game", .reference(to: "Game", rule: .cascade, isRequired: true))]),
                ]), replica: ReplicaID(rawValue: 1))
        }
        #expect(error?.message.contains("Score.game is \(reason)") == true, "\(error?.message ?? "")")
    }

    /// A column without a type has texts as they are; and nobody is kept from what he has synced already, also where the triggers went
    /// with the table.
    @Test(arguments: [true, false])
    func aReferenceWithoutATypeGoesOn(keepingTriggers: Bool) throws {
        let open: VersionedApp.Opening = { database, replica in
            try RecordStore(
                database, tables: [SyncedTable("Game", areNumbersShared: true), "Author", "Item"],
                replica: replica)
        }
        let app = try VersionedApp(
            1,
            """
            CREATE TABLE Game (number INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE Author (id TEXT NOT NULL PRIMARY KEY, name TEXT);
            CREATE TABLE Item (
                id TEXT NOT NULL PRIMARY KEY, author REFERENCES Author,
                game INTEGER REFERENCES Game ON DELETE CASCADE);
            """, open)
        try app.execute(
            """
            INSERT INTO Author VALUES ('a', 'x'); INSERT INTO Game VALUES (1, 'y');
            INSERT INTO Item VALUES ('1', 'a', 1);
            """)
        let known = try app.states()
        try Self.rebuildItem(
            app,
            "id TEXT NOT NULL PRIMARY KEY, author REFERENCES Author, game REFERENCES Game ON DELETE CASCADE",
            keepingTriggers: keepingTriggers)
        try app.migrate("SELECT 1", open)
        #expect(try app.states() == known)
    }

    @Test(arguments: [
        "recordName TEXT NOT NULL PRIMARY KEY, name TEXT, modificationDate TEXT",
        "recordName VARCHAR(80) PRIMARY KEY, name TEXT NOT NULL, modificationDate TEXT",
        "recordName BLOB PRIMARY KEY, name, modificationDate TEXT",
        "recordName BIGINT PRIMARY KEY, name, modificationDate TEXT",
        "recordName INTEGER PRIMARY KEY, name, modificationDate TEXT) WITHOUT ROWID --",
        "recordName ANY PRIMARY KEY, name ANY, modificationDate TEXT) STRICT --",
        "recordName TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, shelf TEXT NOT NULL DEFAULT 'top', note TEXT",
        "recordName TEXT PRIMARY KEY, name TEXT, UNIQUE (recordName, name COLLATE NOCASE)",
        "recordName TEXT PRIMARY KEY, name TEXT, modificationDate TEXT, upper TEXT NOT NULL AS (upper(name)) STORED",
    ])
    func whatTakesEveryRecordIsSynced(declaration: String) async throws {
        let database = try open(declaration)
        try await database.write {
            try $0.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen')")
        }
        let count = try await database.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM grdb_sync_pendingChange")
        }
        #expect(count == 1)
    }

    /// An earlier version has synced such a table, and its rows with a BLOB have names.
    @Test func aKeyWithoutATypeThatIsSyncedAlreadyGoesOn() throws {
        let open = Self.opening("Item")
        let app = try VersionedApp(1, "CREATE TABLE Item (id BLOB NOT NULL PRIMARY KEY, title TEXT)", open)
        try app.execute("INSERT INTO Item VALUES (x'01', 'Milk')")
        let known = try app.states()
        try Self.removeTypeOfKey(app, keepingTriggers: true)
        try app.migrate("INSERT INTO Item VALUES (x'02', 'Bread')", open)
        let states = try app.states()
        #expect(states.map(\.name.description) == ["Item|~|01", "Item|~|02"])
        #expect(states.first == known.first)
        // Whoever leaves the table out now keeps what sync knows of it.
        try app.migrate(
            "CREATE TABLE Other (id TEXT NOT NULL PRIMARY KEY, title TEXT)", Self.opening("Other"))
        #expect(try app.states() == states)
    }

    /// Nobody can tell of what kind the keys were of which the names were made.
    @Test func aTableThatIsMadeAnewWithoutATypeIsRefused() throws {
        let open = Self.opening("Item")
        let app = try VersionedApp(1, "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT)", open)
        try app.execute("INSERT INTO Item VALUES ('1', 'Milk')")
        let known = try app.states()
        try Self.removeTypeOfKey(app, keepingTriggers: false)
        let error = #expect(throws: RecordStoreError.self) { try app.migrate("SELECT 1", open) }
        #expect(error?.message.contains("Item.id is declared without a type") == true)
        #expect(try app.states() == known)
    }

    private static func opening(_ table: String) -> VersionedApp.Opening {
        { database, replica in
            try RecordStore(
                database, schema: RecordSchema([RecordType(table, [FieldDefinition("title")])]),
                replica: replica)
        }
    }

    private static func removeTypeOfKey(_ app: VersionedApp, keepingTriggers: Bool) throws {
        try rebuildItem(app, "id NOT NULL PRIMARY KEY, title TEXT", keepingTriggers: keepingTriggers)
    }

    private static func rebuildItem(
        _ app: VersionedApp, _ columns: String, keepingTriggers: Bool
    ) throws {
        try app.database.write { db in
            let triggers = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'Item'")
            try db.execute(
                sql: """
                    CREATE TABLE new_Item (\(columns));
                    INSERT INTO new_Item SELECT * FROM Item;
                    DROP TABLE Item;
                    ALTER TABLE new_Item RENAME TO Item;
                    """)
            guard keepingTriggers else { return }
            for sql in triggers { try db.execute(sql: sql) }
        }
    }
}

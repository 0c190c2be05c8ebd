import GRDB
import PeerSyncModel
import PeerSyncStore
import Testing

/// An app names its tables; all else is read from their declarations.
struct SyncedTableTests {
    private static let sql = """
        CREATE TABLE TodoList (id TEXT NOT NULL PRIMARY KEY, title TEXT NOT NULL DEFAULT '', modificationDate TEXT);
        CREATE TABLE Item (
            id BLOB NOT NULL PRIMARY KEY,
            list TEXT NOT NULL REFERENCES TodoList ON DELETE CASCADE,
            parent BLOB REFERENCES Item (id) ON DELETE SET NULL,
            owner TEXT REFERENCES person (id),
            title TEXT, due TEXT, photo BLOB, isExpanded INTEGER,
            length INTEGER GENERATED ALWAYS AS (length(title)));
        CREATE TABLE Person (id TEXT NOT NULL PRIMARY KEY, name TEXT);
        CREATE TABLE Tag (name TEXT NOT NULL PRIMARY KEY);
        CREATE TABLE ItemTag (
            item BLOB REFERENCES Item ON DELETE CASCADE, tag TEXT NOT NULL REFERENCES Tag ON DELETE CASCADE,
            PRIMARY KEY (item, tag));
        CREATE TABLE Game (bggID INTEGER PRIMARY KEY, title TEXT);
        """

    private struct Item: TableRecord {}

    private let database: DatabaseQueue

    init() throws {
        database = try DatabaseQueue()
        try database.write { try $0.execute(sql: Self.sql) }
    }

    private func schema(_ tables: [SyncedTable]) throws -> RecordSchema {
        try database.read { try RecordSchema($0, tables: tables) }
    }

    @Test func aSchemaIsReadFromTheTables() throws {
        let tables: [SyncedTable] = [
            "TodoList", SyncedTable(Item.self, dates: ["due"], files: ["photo"], local: ["isExpanded"]),
            "Person",
            "Tag", "ItemTag", SyncedTable("Game", areNumbersShared: true),
        ]
        let schema = try schema(tables)
        let expected = [
            RecordType("TodoList", [FieldDefinition("title")]),
            RecordType(
                "Item",
                [
                    FieldDefinition("list", .reference(to: "TodoList", rule: .cascade, isRequired: true)),
                    FieldDefinition("parent", .reference(to: "Item", rule: .nullify, isRequired: false)),
                    FieldDefinition("owner", .reference(to: "Person", rule: .deny, isRequired: false)),
                    FieldDefinition("title"), FieldDefinition("due", .date), FieldDefinition("photo", .asset),
                ]),
            RecordType("Person", [FieldDefinition("name")]),
            RecordType("Tag", [FieldDefinition("name")]),
            RecordType(
                "ItemTag",
                [
                    FieldDefinition("item", .reference(to: "Item", rule: .cascade, isRequired: true)),
                    FieldDefinition("tag", .reference(to: "Tag", rule: .cascade, isRequired: true)),
                ]),
            RecordType("Game", [FieldDefinition("title")], areNumbersShared: true),
        ]
        #expect(schema.types == expected)
        // The order of the columns is that in which a deletion follows the references.
        #expect(
            schema.relationships.map { "\($0.recordType).\($0.field)" }
                == ["Item.list", "Item.parent", "Item.owner", "ItemTag.item", "ItemTag.tag"])
    }

    /// What is read can be synced: a store opens with it, and takes in what is there.
    @Test func whatIsReadIsOpened() async throws {
        try await database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO TodoList (id, title) VALUES ('l', 'Food');
                    INSERT INTO Item (id, list, title) VALUES (x'01', 'l', 'Cream');
                    INSERT INTO Tag VALUES ('cold'); INSERT INTO ItemTag VALUES (x'01', 'cold');
                    INSERT INTO Game VALUES (13, 'Catan')
                    """)
        }
        let tables: [SyncedTable] = [
            "todolist", "Item", "Person", "Tag", "ItemTag",
            SyncedTable("Game", areNumbersShared: true),
        ]
        let store = try RecordStore(database, tables: tables, replica: ReplicaID(rawValue: 1))
        try await store.foldPendingChanges()
        let names = try await database.read { db in
            try String.fetchAll(db, sql: "SELECT remoteRecordID FROM grdb_sync_remoteRecord ORDER BY 1")
        }
        #expect(names == ["Game|~|13", "ItemTag|~|01,cold", "Item|~|01", "Tag|~|cold", "TodoList|~|l"])
    }

    @Test(arguments: [
        ([], "TodoLists", "no table TodoLists"),
        ([], "Item", "refers to the table TodoList, which is not synced"),
        (
            [
                "CREATE TABLE Other (id TEXT NOT NULL PRIMARY KEY, a BLOB, b TEXT, FOREIGN KEY (a, b) REFERENCES ItemTag)"
            ],
            "Other", "Other.a belongs to several foreign keys, or to one of several columns"
        ),
        (
            ["CREATE TABLE Other (id TEXT NOT NULL PRIMARY KEY, tag TEXT REFERENCES Tag ON DELETE RESTRICT)"],
            "Other", "ON DELETE RESTRICT"
        ),
    ])
    func whatCannotBeSyncedIsNamedWithAWayOut(statements: [String], table: String, part: String) throws {
        for sql in statements { try database.write { try $0.execute(sql: sql) } }
        let error = #expect(throws: RecordStoreError.self) {
            try schema(["Tag", SyncedTable(table)])
        }
        #expect(error?.code == .tableMismatch && error?.message.contains(part) == true, "\(error as Any)")
    }

    @Test func aColumnThatIsNotThereIsNamed() throws {
        let error = #expect(throws: RecordStoreError.self) {
            try schema([SyncedTable("TodoList", local: ["isOpen", "title"])])
        }
        #expect(error?.message == "the table TodoList has no column isOpen")
    }

    @Test(arguments: [
        (SyncedTable("Tag", local: ["name"]), "it is in the key"),
        (SyncedTable("TodoList", local: ["modificationDate"]), "the engine fills it"),
        (SyncedTable("TodoList", dates: ["title"], files: ["title"]), "listed twice"),
        (SyncedTable("Item", dates: ["list"]), "it is a reference"),
    ])
    func anOptionWithoutEffectIsRefused(table: SyncedTable, part: String) throws {
        let error = #expect(throws: RecordStoreError.self) { try schema([table]) }
        #expect(error?.code == .invalidSchema && error?.message.contains(part) == true, "\(error as Any)")
    }

    /// Each would make trouble later: rows that nobody can take, or that go unseen.
    @Test(
        arguments: [
            ("id TEXT PRIMARY KEY, title TEXT, modificationDate DATETIME NOT NULL", [], "declare it TEXT"),
            (
                "id TEXT PRIMARY KEY, title TEXT, \"the date by which it has to be done at the latest\" TEXT",
                [],
                "the column Other.the date by which it has to be done at the latest cannot be synced"
            ),
            (
                "id TEXT PRIMARY KEY, title TEXT, list TEXT REFERENCES TodoList", ["list"],
                "ON DELETE SET NULL, or sync"
            ),
            (
                "id TEXT PRIMARY KEY, title TEXT, list TEXT REFERENCES TodoList ON DELETE CASCADE", ["list"],
                "Other.list refers to TodoList and is not synced"
            ),
            (
                "id TEXT PRIMARY KEY, email TEXT UNIQUE", [],
                "drop UNIQUE, make the column the key, or leave it out"
            ),
            (
                "id TEXT PRIMARY KEY, title TEXT, recordName TEXT", [],
                "list it as local, or give it another name in records with formerColumns"
            ),
            (
                "id TEXT PRIMARY KEY, list TEXT NOT NULL REFERENCES TodoList ON DELETE SET NULL", [],
                "declare it ON DELETE CASCADE or NO ACTION, or without NOT NULL"
            ),
        ] as [(String, Set<String>, String)])
    func whatWouldMakeTroubleLaterIsRefused(columns: String, local: Set<String>, part: String) throws {
        try database.write { try $0.execute(sql: "CREATE TABLE Other (\(columns))") }
        let error = #expect(throws: RecordStoreError.self) {
            try RecordStore(
                database, tables: ["TodoList", SyncedTable("Other", local: local)],
                replica: ReplicaID(rawValue: 1))
        }
        #expect(error?.message.contains(part) == true, "\(error as Any)")
    }

    @Test(arguments: [
        SyncedTable("Other", local: ["recordName"]),
        SyncedTable("Other", formerColumns: ["recordName": "label"]),
    ])
    func aColumnWithANameOfTheEnginesHasWaysOut(table: SyncedTable) throws {
        try database.write {
            try $0.execute(sql: "CREATE TABLE Other (id TEXT PRIMARY KEY, title TEXT, recordName TEXT)")
        }
        let store = try RecordStore(database, tables: [table], replica: ReplicaID(rawValue: 1))
        try database.write { db in
            try db.execute(sql: "INSERT INTO Other VALUES ('1', 'x', 'mine')")
            _ = try store.fold(db)
            let names = try store.state(db, of: RecordName("Other|~|1"))?.fields.map(\.name)
            #expect(names == (table.local.isEmpty ? ["label", "title"] : ["title"]))
        }
    }

    @Test(arguments: ["grdb_sync_remoteRecord", "Found"])
    func whatIsNoTableOfTheAppIsRefused(name: String) throws {
        try database.write { try $0.execute(sql: "CREATE VIRTUAL TABLE Found USING fts5 (title)") }
        _ = try RecordStore(database, tables: ["Tag"], replica: ReplicaID(rawValue: 1))
        #expect(throws: RecordStoreError.self) {
            try RecordStore(database, tables: [SyncedTable(name)], replica: ReplicaID(rawValue: 1))
        }
    }

    /// A table that was nothing but a key gets its first other column on one machine, and the key is no field there.
    @Test func aKeyIsShownWhetherItIsAFieldOrNot() async throws {
        let (first, second) = ("CREATE TABLE Tag (name TEXT NOT NULL PRIMARY KEY", ", color TEXT")
        let old = try Machine("old", number: 1, sql: first + ")", schema: schema(["Tag"]))
        let new = try Machine(
            "new", number: 2, sql: first + second + ")",
            schema: RecordSchema([RecordType("Tag", [FieldDefinition("color")])]))
        try old.shell("INSERT INTO Tag VALUES ('cold')")
        try new.shell("INSERT INTO Tag VALUES ('warm', 'red')")
        try await old.sync(with: new)
        #expect(try old.rows("SELECT name FROM Tag ORDER BY 1") == ["cold", "warm"])
        #expect(try new.rows("SELECT * FROM Tag ORDER BY 1") == ["cold|-", "warm|red"])
    }
}

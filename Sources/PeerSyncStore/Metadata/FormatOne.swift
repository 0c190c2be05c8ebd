import GRDB

/// Stores of format 1, whose tables had everyday names, and how they are brought to format 2.
enum FormatOne {
    /// The tables that refer to others come after those.
    private static let tables = [
        "syncState", "recordZone", "remoteRecord", "heldReference", "recordShape", "pendingChange",
        "unsyncedRecord", "capturePause", "storeGeneration", "peer", "peerSession", "pairingAttempt",
        "assetReference", "assetLeftover", "assetWish", "assetUnstored", "refusedRecord", "peerZone",
        "formerPeer",
    ]

    /// A column of each of some tables. An app may have a table of such a name, but hardly two with these columns.
    private static let signs = [
        ("syncState", "value"), ("recordZone", "digestSum"), ("remoteRecord", "remoteRecordID"),
        ("pendingChange", "changedColumns"), ("storeGeneration", "firstSequence"),
    ]

    /// Whether a database has a store of format 1, or what is left of a damaged one.
    static func isPresent(_ db: Database) throws -> Bool {
        try signs.filter { try db.hasColumn($1, of: $0) }.count > 1
    }

    /// Moves all rows into the tables of format 2, which are there, and gives the triggers the names of that.
    ///
    /// It renames no table: SQLite would then read all views and triggers of the app, and refuse if one is broken.
    ///
    /// A table `syncState` stays, which says only that the format is 2: otherwise a program that knows format 1 would
    /// take the database for one without a store, and put another one into it.
    ///
    /// - Returns: whether the store was last written under other rules between records.
    static func bringOver(_ db: Database) throws -> Bool {
        for table in tables where try db.hasTable(table) {
            let new = MetadataTables.prefix + table
            if table == "assetUnstored" { try db.execute(sql: UnstoredAssets.create) }
            let columns = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'main')", arguments: [table]
            ).map(\.sqlName).joined(separator: ", ")
            try db.execute(
                sql: """
                    DELETE FROM \(new);
                    INSERT INTO \(new) (\(columns)) SELECT \(columns) FROM main.\(table);
                    DELETE FROM sqlite_sequence WHERE name = '\(new)';
                    UPDATE sqlite_sequence SET name = '\(new)' WHERE name = '\(table)';
                    """)
        }
        let triggers = try triggers(db)
        try removeTriggers(db)
        for (name, sql) in triggers {
            let names = [
                (name, MetadataTables.prefix + name), ("INTO pendingChange", "INTO grdb_sync_pendingChange"),
                ("FROM capturePause", "FROM grdb_sync_capturePause"),
            ]
            try db.execute(sql: names.reduce(sql) { $0.replacing($1.0, with: $1.1, maxReplacements: 1) })
        }
        let areRulesNew = try db.hasTable("unsettledRecord")
        try dropTables(db)
        try db.execute(
            sql: """
                CREATE TABLE main.syncState (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
                INSERT INTO main.syncState (name, value) VALUES ('formatVersion', 2);
                """)
        return areRulesNew
    }

    private static func dropTables(_ db: Database) throws {
        for table in (tables + ["unsettledRecord"]).reversed() {
            try db.execute(sql: "DROP TABLE IF EXISTS main.\(table)")
        }
    }

    /// The triggers that captured writes, with their statements.
    ///
    /// - Parameter table: the table that they were made for, an identifier; nil for all. Somebody may have renamed it since.
    private static func triggers(_ db: Database, of table: String? = nil) throws -> [(
        name: String, sql: String
    )] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM main.sqlite_master
                WHERE type = 'trigger' AND name GLOB ? AND instr(sql, 'INSERT INTO pendingChange (')
                """, arguments: ["\(table ?? "*")_capture*"]
        ).map { ($0[0], $0[1]) }
    }

    /// Removes the triggers of a table, or of all tables.
    static func removeTriggers(_ db: Database, from table: String? = nil) throws {
        for (name, _) in try triggers(db, of: table) {
            try db.execute(sql: "DROP TRIGGER main.\(name.sqlName)")
        }
    }

    /// Removes a store of format 1, or the table that keeps programs of format 1 away from a later one.
    static func remove(_ db: Database) throws {
        if try isPresent(db) {
            try removeTriggers(db)
            try dropTables(db)
        } else if try db.hasColumn("value", of: "syncState"),
            try Row.fetchAll(db, sql: "SELECT * FROM main.syncState") == [
                ["name": "formatVersion", "value": 2]
            ]
        {
            try db.execute(sql: "DROP TABLE main.syncState")
        }
    }
}

extension Database {
    /// Whether the app's database itself has a table. GRDB's own answer may be an old one, and covers attached databases.
    func hasTable(_ name: String) throws -> Bool {
        try fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?)", [name])
    }

    /// Whether the app's database itself has a table with a column.
    func hasColumn(_ column: String, of table: String) throws -> Bool {
        try fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = ?)", [table, column])
    }
}

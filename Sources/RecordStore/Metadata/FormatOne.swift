import GRDB

/// Stores of format 1, whose tables had everyday names, and how they are brought to format 2.
enum FormatOne {
    private static let tables = [
        "syncState", "recordZone", "remoteRecord", "heldReference", "recordShape", "pendingChange",
        "unsyncedRecord", "capturePause", "storeGeneration", "peer", "peerSession", "pairingAttempt",
        "assetReference", "assetLeftover", "assetWish", "assetUnstored", "refusedRecord", "peerZone",
        "formerPeer",
    ]
    private static let indexes = [
        "recordZoneID", "remoteRecordChange", "remoteRecordOffTable", "heldReferenceTarget",
        "unsyncedRecordZone", "assetReferenceHash",
    ]

    /// Whether a database has a store of format 1, and not only tables of an app that are called like some of its.
    static func isPresent(_ db: Database) throws -> Bool {
        for table in ["syncState", "pendingChange", "remoteRecord", "capturePause"]
        where try !db.tableExists(table) {
            return false
        }
        let columns = Set(try db.columns(in: "remoteRecord").map(\.name))
        return columns.isSuperset(of: ["remoteRecordID", "changeSequence"])
    }

    /// Gives the tables, indexes and triggers the names of format 2.
    ///
    /// A table `syncState` stays, which says only that the format is 2: otherwise a program that knows format 1 would
    /// take the database for one without a store, and put another one into it.
    ///
    /// - Returns: whether the store was last written under other rules between records.
    static func bringOver(_ db: Database) throws -> Bool {
        let areRulesNew = try db.tableExists("unsettledRecord")
        if areRulesNew {
            try db.execute(
                sql: "DROP TABLE unsettledRecord; ALTER TABLE pendingChange ADD COLUMN formerValues TEXT")
        }
        // SQLite then writes the new names into the triggers and foreign keys.
        for table in tables where try db.tableExists(table) {
            try db.execute(sql: "ALTER TABLE \(table) RENAME TO \(MetadataTables.prefix)\(table)")
        }
        for index in indexes { try rename(db, "INDEX", index) }
        let triggers = try String.fetchAll(
            db,
            sql: """
                SELECT trigger.name FROM sqlite_master AS trigger
                JOIN \(MetadataTables.prefix)syncState AS state ON state.name = 'captured:' || tbl_name
                WHERE type = 'trigger' AND trigger.name GLOB tbl_name || '_capture*'
                """)
        for trigger in triggers { try rename(db, "TRIGGER", trigger) }
        try db.execute(
            sql: """
                CREATE TABLE syncState (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
                INSERT INTO syncState (name, value) VALUES ('formatVersion', 2);
                """)
        return areRulesNew
    }

    /// Removes the table that keeps programs of format 1 away.
    static func removeMark(_ db: Database) throws {
        guard try db.tableExists("syncState"), try !isPresent(db),
            try Row.fetchAll(db, sql: "SELECT * FROM syncState") == [["name": "formatVersion", "value": 2]]
        else { return }
        try db.execute(sql: "DROP TABLE syncState")
    }

    /// Makes an index or a trigger anew under its new name.
    private static func rename(_ db: Database, _ kind: String, _ name: String) throws {
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [name])
        guard let sql, let old = sql.firstRange(of: name) else { return }
        let new = sql.replacingCharacters(in: old, with: MetadataTables.prefix + name)
        try db.execute(sql: "DROP \(kind) \(name.quotedDatabaseIdentifier)")
        try db.execute(sql: new)
    }
}

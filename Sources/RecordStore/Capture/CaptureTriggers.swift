import CSQLiteConfiguration
import GRDB
import SyncModel

/// The triggers that record every local write, whoever makes it, in `pendingChange`.
///
/// They are plain SQL and permanent, so they work in the `sqlite3` shell and in programs without our code. They
/// only append: a trial with an upsert keyed by record name ran at a third of the speed.
enum CaptureTriggers {
    /// Milliseconds since 1970 in SQL; `unixepoch('subsec')` would need SQLite 3.42. Without an argument it is the moment of
    /// the statement, as with 'now', which SQLite would have to read first.
    private static let now = "CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"
    private static let isCapturing = "NOT EXISTS (SELECT 1 FROM capturePause)"

    /// The names and statements of a type's triggers.
    static func statements(for type: RecordType) -> [(name: String, sql: String)] {
        let table = type.name
        let changed = type.fieldNames.enumerated()
            .map { "((OLD.\($1) IS NOT NEW.\($1)) << \($0))" }
            .joined(separator: " | ")
        // Most updates change one column: this ends with the first that differs, where the mask looks at all.
        let isAnyChanged = type.fieldNames.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
        let columns = type.fieldNames.joined(separator: ", ")
        let former = FormerValues.sql(type.fieldNames)
        // What a reference had that a foreign key's action empties is in no other place.
        let emptied = type.references.filter { $0.rule == .nullify }
            .map { "(NEW.\($0.field) IS NULL AND OLD.\($0.field) IS NOT NULL)" }
            .joined(separator: " OR ")
        let formerOfUpdate = emptied.isEmpty ? "NULL" : "CASE WHEN \(emptied) THEN \(former) END"
        return [
            (
                "\(table)_captureInsert",
                """
                CREATE TRIGGER \(table)_captureInsert AFTER INSERT ON \(table)
                WHEN \(isCapturing)
                BEGIN
                    INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
                    VALUES ('\(table)', NEW.recordName, -1, \(now));
                END
                """
            ),
            (
                "\(table)_captureUpdate",
                """
                CREATE TRIGGER \(table)_captureUpdate AFTER UPDATE OF \(columns) ON \(table)
                WHEN (\(isAnyChanged)) AND \(isCapturing) AND OLD.recordName = NEW.recordName
                BEGIN
                    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
                    VALUES ('\(table)', NEW.recordName, \(changed), \(now), \(formerOfUpdate));
                END
                """
            ),
            (
                "\(table)_captureRename",
                """
                CREATE TRIGGER \(table)_captureRename AFTER UPDATE OF recordName ON \(table)
                WHEN OLD.recordName <> NEW.recordName AND \(isCapturing)
                BEGIN
                    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
                    VALUES ('\(table)', OLD.recordName, 0, \(now), \(former)),
                        ('\(table)', NEW.recordName, -1, \(now), NULL);
                END
                """
            ),
            (
                "\(table)_captureDelete",
                """
                CREATE TRIGGER \(table)_captureDelete AFTER DELETE ON \(table)
                WHEN \(isCapturing)
                BEGIN
                    INSERT INTO pendingChange (recordType, recordName, changedColumns, time, formerValues)
                    VALUES ('\(table)', OLD.recordName, 0, \(now), \(former));
                END
                """
            ),
        ]
    }

    /// How the triggers that a type's table has compare with those that it should have.
    enum Difference {
        case none
        /// Some are missing, or are those of another version.
        case some
        /// There are none at all.
        case all
    }

    static func difference(_ db: Database, for type: RecordType) throws -> Difference {
        let wanted = statements(for: type)
        let present = try present(db, on: type)
        guard wanted.contains(where: { present[$0.name] != nil }) else { return .all }
        return wanted.allSatisfy { present[$0.name] == $0.sql } ? .none : .some
    }

    /// Puts a type's triggers in place, where they are missing or differ.
    static func install(_ db: Database, for type: RecordType) throws {
        let present = try present(db, on: type)
        for (name, sql) in statements(for: type) where present[name] != sql {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(name)")
            try db.execute(sql: sql)
        }
        let fields = type.fieldNames.joined(separator: " ")
        // A store that is as it should be is opened without writing, which also a full disk allows.
        if try SyncState.text(db, .captured(type.name)) != fields {
            try SyncState.set(db, .captured(type.name), fields)
        }
    }

    /// The statements of the triggers that a type's table has, by name.
    private static func present(_ db: Database, on type: RecordType) throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: Row.fetchAll(
                db,
                sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
                arguments: [type.name]
            ).map { ($0["name"] as String, $0["sql"] as String) })
    }

    /// Journals rows that sync does not know, as insertions made now: the triggers may not have been there when they were
    /// written.
    ///
    /// - Throws: `tableMismatch` when a row has no name, which SQLite lets be in tables that others have made.
    static func adoptRows(_ db: Database, of type: RecordType) throws {
        let sql = "SELECT EXISTS (SELECT 1 FROM \(type.name) WHERE recordName IS NULL)"
        guard try Bool.fetchOne(db, sql: sql) != true else {
            throw RecordStoreError(
                .tableMismatch, "the table \(type.name) has a row whose recordName is NULL; give it a name")
        }
        try db.execute(
            sql: """
                INSERT INTO pendingChange (recordType, recordName, changedColumns, time)
                SELECT '\(type.name)', recordName, -1, \(now) FROM \(type.name)
                WHERE \(isUnknown(type)) ORDER BY recordName
                """)
    }

    /// SQL for whether sync does not know the row of a type's table. A row may have the name of a record of another type.
    static func isUnknown(_ type: RecordType) -> String {
        """
        (recordName NOT IN (SELECT remoteRecordID FROM remoteRecord)
            OR recordName NOT GLOB '\(type.name)\(RecordName.separator)*')
        """
    }

    /// Ends a pause that somebody has left behind.
    ///
    /// - Returns: whether there was one, so that writes were missed.
    static func endPause(_ db: Database) throws -> Bool {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM capturePause)") == true else {
            return false
        }
        try db.execute(sql: "DELETE FROM capturePause")
        return true
    }

    /// Runs `body` with the triggers silent. Nobody else sees the pause: it is over before the transaction ends.
    static func paused<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO capturePause (id) VALUES (1)").execute()
        let result = Result { try body() }
        // Also after an error: an app may catch it and commit what it wrote before.
        try db.cachedStatement(sql: "DELETE FROM capturePause").execute()
        return try result.get()
    }

    // MARK: Switching off

    /// Whether no triggers fire on this connection but those that capture.
    static func areAlone(_ db: Database, _ schema: RecordSchema) throws -> Bool {
        let own = schema.types.flatMap { statements(for: $0).map(\.name) }
        let all = try String.fetchSet(
            db.cachedStatement(
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'trigger'
                    UNION ALL SELECT 'temp.' || name FROM sqlite_temp_master WHERE type = 'trigger'
                    """))
        return all.isSubset(of: own)
    }

    /// Keeps a connection's triggers from firing at all, until ``switchOn(_:)``: what they would ask for each row whether
    /// they are to be silent, and what SQLite keeps of each page in case that one of them fails, costs as much as a sixth
    /// of a bulk insertion. All statements of the connection are compiled again, so it is worth it only for many rows.
    ///
    /// Other connections do not notice, and a rollback does not end it. Triggers of others would not fire either: see
    /// ``areAlone(_:_:)``.
    ///
    /// - Returns: whether they were on before.
    static func switchOff(_ db: Database) -> Bool { setEnabled(db, false) }

    /// Ends what ``switchOff(_:)`` began.
    static func switchOn(_ db: Database) { _ = setEnabled(db, true) }

    private static func setEnabled(_ db: Database, _ isEnabled: Bool) -> Bool {
        guard let connection = db.sqliteConnection else { return false }
        return sqlite_enable_triggers(UnsafeMutableRawPointer(connection), isEnabled)
    }
}

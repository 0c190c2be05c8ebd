import CSQLiteConfiguration
import GRDB
import SyncModel

/// The triggers that record every local write, by any program, in `pendingChange`.
///
/// They are plain SQL and permanent, so they work in the `sqlite3` shell and in programs without our code. They only
/// append: in a trial, an upsert keyed by record name ran at a third of the speed.
enum CaptureTriggers {
    /// Milliseconds since 1970 in SQL; `unixepoch('subsec')` would need SQLite 3.42. Without an argument `julianday`
    /// takes the moment of the statement, as with 'now', but SQLite does not have to parse that text first.
    ///
    /// ``setClock(_:_:)`` replaces `julianday()` with a clock of the caller's.
    private static let now = "CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"
    private static let isCapturing = "NOT EXISTS (SELECT 1 FROM capturePause)"

    /// Lets the triggers stamp what comes through a connection with another clock, in milliseconds since 1970.
    static func setClock(_ db: Database, _ now: @escaping @Sendable () -> Int64) {
        db.add(
            function: DatabaseFunction("julianday", argumentCount: 0) { _ in
                Double(now()) / 86_400_000 + 2_440_587.5
            })
    }

    /// The names and statements of a type's triggers.
    static func statements(for type: RecordType) -> [(name: String, sql: String)] {
        let table = type.name
        let changed = type.fieldNames.enumerated()
            .map { "((OLD.\($1) IS NOT NEW.\($1)) << \($0))" }
            .joined(separator: " | ")
        // Most updates change one column. This condition ends with the first column that differs; the mask compares
        // all.
        let isAnyChanged = type.fieldNames.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
        let columns = type.fieldNames.joined(separator: ", ")
        let former = FormerValues.sql(type.fieldNames)
        // A foreign key's action empties these references, and only this trigger sees what they held.
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

    /// The difference between the triggers on a type's table and those that it should have.
    enum Difference {
        case none
        /// Some triggers are missing, or come from another version.
        case some
        /// All triggers are missing.
        case all
    }

    static func difference(_ db: Database, for type: RecordType) throws -> Difference {
        let wanted = statements(for: type)
        let present = try present(db, on: type)
        guard wanted.contains(where: { present[$0.name] != nil }) else { return .all }
        return wanted.allSatisfy { present[$0.name] == $0.sql } ? .none : .some
    }

    /// Creates the triggers of a type that are missing, and replaces those that differ.
    static func install(_ db: Database, for type: RecordType) throws {
        let present = try present(db, on: type)
        for (name, sql) in statements(for: type) where present[name] != sql {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(name)")
            try db.execute(sql: sql)
        }
        let fields = type.fieldNames.joined(separator: " ")
        // Opening an up-to-date store writes nothing, so it also works on a full disk.
        if try SyncState.text(db, .captured(type.name)) != fields {
            try SyncState.set(db, .captured(type.name), fields)
        }
    }

    /// The statements of the triggers on a type's table, by name.
    private static func present(_ db: Database, on type: RecordType) throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: Row.fetchAll(
                db,
                sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
                arguments: [type.name]
            ).map { ($0["name"] as String, $0["sql"] as String) })
    }

    /// Journals rows that sync does not know as insertions made now: the triggers may have been missing when a program
    /// wrote them.
    ///
    /// - Throws: `tableMismatch` when a row has no name. SQLite allows that in tables that others have made.
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

    /// SQL for whether sync does not know a row of a type's table. A row may have the name of a record of another type.
    static func isUnknown(_ type: RecordType) -> String {
        """
        (recordName NOT IN (SELECT remoteRecordID FROM remoteRecord)
            OR recordName NOT GLOB '\(type.name)\(RecordName.separator)*')
        """
    }

    /// Ends a pause that an earlier run has left behind.
    ///
    /// - Returns: whether there was a pause, so that the triggers have missed writes.
    static func endPause(_ db: Database) throws -> Bool {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM capturePause)") == true else {
            return false
        }
        try db.execute(sql: "DELETE FROM capturePause")
        return true
    }

    /// Runs `body` with the triggers silent. Other connections never see the pause: it ends before the transaction
    /// does.
    static func paused<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO capturePause (id) VALUES (1)").execute()
        let result = Result { try body() }
        // Ends the pause after an error too: an app may catch the error and commit what it wrote before.
        try db.cachedStatement(sql: "DELETE FROM capturePause").execute()
        return try result.get()
    }

    // MARK: Switching off

    /// Whether only capture triggers can fire on this connection.
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

    /// Keeps all triggers of a connection from firing, until ``switchOn(_:)``. Triggers that only stay silent still
    /// cost a sixth of the time of a bulk insertion: each row asks whether there is a pause, and SQLite keeps a copy of
    /// each page in case a trigger fails. SQLite compiles all statements of the connection again, so this is only worth
    /// it for many rows.
    ///
    /// Other connections do not notice, and a rollback does not end it. Triggers of others would not fire either: see
    /// ``areAlone(_:_:)``.
    ///
    /// - Returns: whether the triggers were on before.
    static func switchOff(_ db: Database) -> Bool { setEnabled(db, false) }

    /// Switches the triggers on again after ``switchOff(_:)``.
    static func switchOn(_ db: Database) { _ = setEnabled(db, true) }

    private static func setEnabled(_ db: Database, _ isEnabled: Bool) -> Bool {
        guard let connection = db.sqliteConnection else { return false }
        return sqlite_enable_triggers(UnsafeMutableRawPointer(connection), isEnabled)
    }
}

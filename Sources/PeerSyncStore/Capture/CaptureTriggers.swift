import CSQLiteConfiguration
import GRDB
import PeerSyncModel

/// The triggers that record every local write, by any program, in `grdb_sync_pendingChange`.
///
/// They are plain SQL and permanent, so they work in the `sqlite3` shell and in programs without our code. They only
/// append: in a trial, an upsert keyed by record name ran at a third of the speed.
enum CaptureTriggers {
    /// Milliseconds since 1970 in SQL; `unixepoch('subsec')` would need SQLite 3.42. Without an argument `julianday`
    /// takes the moment of the statement, as with 'now', but SQLite does not have to parse that text first.
    ///
    /// ``setClock(_:_:)`` replaces `julianday()` with a clock of the caller's.
    private static let now = "CAST((julianday() - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"
    private static let create = "CREATE TRIGGER "
    private static let isCapturing = "NOT EXISTS (SELECT 1 FROM grdb_sync_capturePause)"

    /// `Leave` only where a deletion may have consequences, and the last two only where a row may replace one with another key.
    private static let events = ["Insert", "Update", "Rename", "Delete", "Leave", "Replace", "Displace"]

    /// In `grdb_sync_pendingChange.changedColumns`: a row is about to be deleted. What SQLite takes along stands behind it.
    static let leaving: Int64 = -2

    private static func name(of event: String, on type: String) -> String {
        "\(MetadataTables.prefix)\(type)_capture\(event)"
    }

    /// The names and statements of a table's triggers.
    static func statements(for table: RecordTable) -> [(name: String, sql: String)] {
        let fields = table.columns.map(\.sqlName)
        // Without the column's own collation, which may take different texts for the same.
        let differs = table.columns.map { column in
            let (old, new) = ("OLD.\(column.sqlName)", "NEW.\(column.sqlName)")
            // To SQL 1 and 1.0 are the same. Only a column without affinity can have either.
            let kind = column.affinity == .blob ? " OR typeof(\(old)) <> typeof(\(new))" : ""
            return "\(old) IS NOT \(new) COLLATE BINARY\(kind)"
        }
        let changed = differs.enumerated().map { "((\($1)) << \($0))" }.joined(separator: " | ")
        // Most updates change one column. This condition ends with the first column that differs; the mask compares
        // all.
        let isAnyChanged = differs.joined(separator: " OR ")
        let former = FormerValues.sql(fields.map { "OLD.\($0)" })
        // A foreign key's action empties these references, and only this trigger sees what they held.
        let nullified = table.type.references.filter { !$0.rule.needsTarget }
        let emptied = nullified.map(\.column.sqlName)
            .map { "(NEW.\($0) IS NULL AND OLD.\($0) IS NOT NULL)" }.joined(separator: " OR ")
        let isKeyKept = table.key.columns.map(\.name.sqlName)
            .map { "OLD.\($0) IS NEW.\($0) COLLATE BINARY" }.joined(separator: " AND ")
        let old = Entry(table, of: "OLD.")
        let new = Entry(table, of: "NEW.")
        // A row with another key takes nothing along: what refers to it got the new key before, or was emptied.
        let left = table.hasFollowers ? [old.sql(mask: "\(leaving)")] : []
        // An INTEGER key may be written as `rowid`, too, which no list of columns has.
        let keyColumns = table.key.columns.map(\.kind) == [.integer] ? "" : " OF \(table.key.sql)"
        return [
            trigger(on: table, "Insert", "AFTER INSERT", when: isCapturing, [new.sql(mask: "-1")]),
            trigger(
                on: table, "Update", "AFTER UPDATE OF \(fields.joined(separator: ", "))",
                when: "(\(isAnyChanged)) AND \(isCapturing) AND \(isKeyKept)",
                [
                    new.sql(
                        mask: changed,
                        formerValues: emptied.isEmpty ? "NULL" : "CASE WHEN \(emptied) THEN \(former) END")
                ]),
            trigger(
                on: table, "Rename", "AFTER UPDATE\(keyColumns)",
                when: "NOT (\(isKeyKept)) AND \(isCapturing)",
                left + [old.sql(mask: "0", formerValues: former), new.sql(mask: "-1")]),
            trigger(
                on: table, "Delete", "AFTER DELETE", when: isCapturing,
                [old.sql(mask: "0", formerValues: former)]),
        ] + leavings(in: table) + replacements(in: table)
    }

    /// The trigger that says when the deletion of a row begins. SQLite does its consequences before it fires the trigger that says
    /// that the row is gone; so they stand between the two entries.
    private static func leavings(in table: RecordTable) -> [(name: String, sql: String)] {
        guard table.hasFollowers else { return [] }
        return [
            trigger(
                on: table, "Leave", "BEFORE DELETE", when: isCapturing,
                [Entry(table, of: "OLD.").sql(mask: "\(leaving)")])
        ]
    }

    /// The triggers that see what `INSERT OR REPLACE` and `UPDATE OR REPLACE` remove because of a UNIQUE index, and the former
    /// because of the row's number: SQLite fires no DELETE trigger for that. If the row stays after all, its entry in the journal
    /// says nothing.
    private static func replacements(in table: RecordTable) -> [(name: String, sql: String)] {
        let entry = Entry(table, of: "replaced.")
        let former = FormerValues.sql(table.columns.map { "replaced.\($0.sqlName)" })
        func trigger(
            _ event: String, _ when: String, if condition: String, like equals: [String], except row: String
        ) -> (name: String, sql: String) {
            let isOwn = table.key.columns.map(\.name.sqlName)
                .map { "replaced.\($0) IS \(row)\($0)" }.joined(separator: " AND ")
            return Self.trigger(
                on: table, event, when, when: condition,
                entries: equals.map { isEqual in
                    """
                    SELECT \(entry.values(mask: "0", formerValues: former)) FROM \(table.type.table.sqlName) AS replaced
                        WHERE \(isEqual) AND NOT (\(isOwn))
                    """
                })
        }
        let indexed = table.replacingIndexes.map { index in
            index.condition(on: "replaced.") { "NEW." + $0.sqlName }
        }
        // NEW has -1 in place of its number if the statement names none, as nearly all do.
        guard !indexed.isEmpty else {
            guard let rowID = table.hiddenRowID else { return [] }
            return [
                trigger(
                    "Replace", "BEFORE INSERT", if: "NEW.\(rowID) <> -1 AND \(isCapturing)",
                    like: ["replaced.\(rowID) = NEW.\(rowID)"], except: "NEW.")
            ]
        }
        let numbered = table.hiddenRowID.map { ["NEW.\($0) <> -1 AND replaced.\($0) = NEW.\($0)"] } ?? []
        let columns = Set(table.replacingIndexes.flatMap(\.columns).compactMap(\.self).map(\.sqlName))
            .sorted()
            .joined(separator: ", ")
        return [
            trigger("Replace", "BEFORE INSERT", if: isCapturing, like: indexed + numbered, except: "NEW."),
            trigger(
                "Displace", "BEFORE UPDATE OF \(columns)", if: isCapturing, like: indexed, except: "OLD."),
        ]
    }

    /// An entry of the journal that a trigger writes.
    private struct Entry {
        let type: String
        let key: String

        /// - Parameter row: `OLD.` or `NEW.`
        init(_ table: RecordTable, of row: String) {
            type = table.type.name
            key = table.key.journalSQL(row)
        }

        func sql(mask: String, formerValues: String = "NULL") -> String {
            "(\(values(mask: mask, formerValues: formerValues)))"
        }

        func values(mask: String, formerValues: String) -> String {
            "'\(type)', \(key), \(mask), \(now), \(formerValues)"
        }
    }

    private static func trigger(
        on table: RecordTable, _ event: String, _ when: String, when condition: String, _ entries: [String]
    ) -> (name: String, sql: String) {
        trigger(
            on: table, event, when, when: condition,
            entries: ["VALUES \(entries.joined(separator: ",\n        "))"])
    }

    /// - Parameter entries: SQL for the entries that the trigger appends, one statement for each.
    private static func trigger(
        on table: RecordTable, _ event: String, _ when: String, when condition: String, entries: [String]
    ) -> (name: String, sql: String) {
        let name = name(of: event, on: table.type.name)
        let statements = entries.map { entries in
            """
                INSERT INTO grdb_sync_pendingChange (recordType, recordName, changedColumns, time, formerValues)
                \(entries);
            """
        }
        return (
            name,
            """
            \(create)\(name.sqlName) \(when) ON \(table.type.table.sqlName)
            WHEN \(condition)
            BEGIN
            \(statements.joined(separator: "\n"))
            END
            """
        )
    }

    /// What is not as it should be with the triggers on a table.
    struct Difference {
        /// Whether a trigger is missing, or comes from another version. `Replace` does not count: without it, no row is unknown.
        let isAny: Bool
        /// Whether all triggers are missing, as after the table was made anew.
        let areAllMissing: Bool
        let isUpdateMissing: Bool
        let isDeleteMissing: Bool
    }

    static func difference(_ db: Database, for table: RecordTable) throws -> Difference {
        let wanted = statements(for: table)
        let present = try present(db, on: table)
        let isMissing = { (event: String) in present[name(of: event, on: table.type.name)] == nil }
        let replace = name(of: "Replace", on: table.type.name)
        return Difference(
            isAny: wanted.contains { present[$0.name] != $0.sql && $0.name != replace }
                || !surplus(present, wanted, on: table).isEmpty,
            areAllMissing: events.allSatisfy(isMissing),
            isUpdateMissing: isMissing("Update"), isDeleteMissing: isMissing("Delete"))
    }

    /// Creates the triggers of a table that are missing, and replaces those that differ.
    static func install(_ db: Database, for table: RecordTable) throws {
        let present = try present(db, on: table)
        let wanted = statements(for: table)
        for name in surplus(present, wanted, on: table) {
            try db.execute(sql: "DROP TRIGGER \(name.sqlName)")
        }
        for (name, sql) in wanted where present[name] != sql {
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(name.sqlName)")
            // SQLite would put a trigger on a temporary table of that name; it leaves `main.` out of the text that it keeps.
            try db.execute(sql: "\(create)main.\(sql.dropFirst(create.count))")
        }
        // Opening an up-to-date store writes nothing, so it also works on a full disk.
        for (state, texts) in [
            (SyncState.captured(table.type.name), table.fieldNames),
            (.fieldKinds(table.type.name), table.type.fields.map(\.noted)),
        ] where try SyncState.text(db, state) != texts.joined(separator: " ") {
            try SyncState.set(db, state, texts.joined(separator: " "))
        }
        let (name, noted) = (table.type.table, try SyncState.text(db, .table(table.type.name)))
        if NameEncoding.name(of: table.type.name) == name {
            if noted != nil { try SyncState.remove(db, .table(table.type.name)) }
        } else if noted != name {
            try SyncState.set(db, .table(table.type.name), name)
        }
    }

    /// All triggers of the engine on a table, whatever its records are called.
    static func names(_ db: Database, onTable table: String) throws -> [String] {
        try db.triggers(onTable: table).map(\.name).filter { $0.hasPrefix(MetadataTables.prefix) }
    }

    /// Removes all triggers of the engine from a table, whatever its records are called.
    static func remove(_ db: Database, fromTable table: String) throws {
        for name in try names(db, onTable: table) { try db.execute(sql: "DROP TRIGGER main.\(name.sqlName)") }
    }

    /// Removes the triggers of a record type's table.
    static func remove(_ db: Database, from type: String) throws {
        for event in events {
            let name = name(of: event, on: type).sqlName
            try db.execute(sql: "DROP TRIGGER IF EXISTS \(name)")
        }
    }

    /// The triggers that a table has had, and needs no more.
    private static func surplus(
        _ present: [String: String], _ wanted: [(name: String, sql: String)], on table: RecordTable
    ) -> [String] {
        events.map { name(of: $0, on: table.type.name) }.filter { name in
            present[name] != nil && !wanted.contains { $0.name == name }
        }
    }

    /// The statements of the triggers on a table, by name.
    private static func present(_ db: Database, on table: RecordTable) throws -> [String: String] {
        try Dictionary(uniqueKeysWithValues: db.triggers(onTable: table.type.table).map { ($0.name, $0.sql) })
    }

    /// Journals rows that sync does not know as insertions made now: the triggers may have been missing when a program
    /// wrote them.
    ///
    /// - Throws: `tableMismatch` when a column of a row's key is NULL. SQLite allows that in tables that others have
    ///   made.
    static func adoptRows(_ db: Database, of table: RecordTable) throws {
        // Of a key of several columns the journal has a text, which is then listed as no name.
        if table.key.columns.count == 1 {
            let column = table.key.columns[0].name
            let sql = "SELECT EXISTS (SELECT 1 FROM \(table.sqlName) WHERE \(column.sqlName) IS NULL)"
            guard try Bool.fetchOne(db, sql: sql) != true else {
                throw RecordStoreError.tableMismatch(
                    "the table \(table.type.table) has a row whose \(column) is NULL; give it a value")
            }
        }
        let adopt = try db.makeStatementToBind(
            """
            INSERT INTO grdb_sync_pendingChange (recordType, recordName, changedColumns, time)
            VALUES ('\(table.type.name)', ?, -1, \(now))
            """)
        try UnknownRow.forEach(db, of: table) { row in
            row.bindKey(to: adopt, at: 1)
            try adopt.execute()
        }
    }

    /// Ends a pause that an earlier run has left behind.
    ///
    /// - Returns: whether there was a pause, so that the triggers have missed writes.
    static func endPause(_ db: Database) throws -> Bool {
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM grdb_sync_capturePause)") == true
        else { return false }
        try db.execute(sql: "DELETE FROM grdb_sync_capturePause")
        return true
    }

    /// Runs `body` with the triggers silent. Other connections never see the pause: it ends before the transaction
    /// does.
    static func paused<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.executeCached("INSERT OR IGNORE INTO grdb_sync_capturePause (id) VALUES (1)")
        let result = Result { try body() }
        // Ends the pause after an error too: an app may catch the error and commit what it wrote before.
        try db.executeCached("DELETE FROM grdb_sync_capturePause")
        return try result.get()
    }

    /// The tables on which others have triggers, in any capitals. These fire for what the engine writes, too.
    static func tablesOfOthers(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name NOT GLOB 'grdb_sync_*'
                    UNION SELECT tbl_name FROM sqlite_temp_master WHERE type = 'trigger'
                    """))
    }

    // MARK: Switching off

    /// Keeps all triggers of a connection from firing, until ``switchOn(_:)``. Triggers that only stay silent still
    /// cost a sixth of the time of a bulk insertion: each row asks whether there is a pause, and SQLite keeps a copy of
    /// each page in case a trigger fails. SQLite compiles all statements of the connection again, so this is only worth
    /// it for many rows.
    ///
    /// Other connections do not notice, and a rollback does not end it. Triggers of others would not fire either: see
    /// ``tablesOfOthers(_:)``.
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

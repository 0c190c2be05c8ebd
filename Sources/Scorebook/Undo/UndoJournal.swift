import Foundation
import GRDB
import PeerSync

/// What the last commands of this machine changed, so that they can be taken back.
///
/// The journal is a table of this machine alone. It holds former values for a day at most, of few commands, and nothing of a
/// record that was deleted for ever.
enum UndoJournal {
    /// The maximum number of commands that are kept.
    private static let kept = 100
    private static let lifetime: Int64 = 86_400_000
    /// The maximum number of records of one write. A larger import can be taken back by a backup alone.
    private static let largest = 50_000

    /// The change of one record.
    struct Change: Codable {
        let name: String
        /// The columns of before, as SQL; nil if there was no such row. Of an edit only those that changed.
        var old: [String: String]?
        /// The columns of after, as SQL; nil if there is no such row any more.
        var new: [String: String]?
    }

    /// The writes of one command.
    struct Entry {
        let run: String
        let command: String
        let time: Int64
        /// The changes, the last write first.
        let changes: [Change]
    }

    // MARK: Recording

    /// Notes what `body` changes in the tables.
    ///
    /// - Parameter check: may refuse the changes; the caller's transaction is rolled back then.
    static func record<Value>(
        _ db: Database, _ command: Habits.Command, _ now: Int64, _ body: (Database) throws -> Value,
        _ check: ([Change]) throws -> Void
    ) throws -> Value {
        try begin(db)
        let value: Value
        do {
            value = try body(db)
        } catch {
            try end(db)
            throw error
        }
        let changes = try changes(db)
        try end(db)
        if let changes {
            try check(changes)
            if !changes.isEmpty { try save(db, changes, command, now) }
        } else {
            // Otherwise ``last(_:now:)`` would be an older command, which nobody means.
            try forgetAll(db)
        }
        return value
    }

    private static func begin(_ db: Database) throws {
        try db.execute(
            sql: "CREATE TEMP TABLE IF NOT EXISTS scorebookChange (recordName TEXT PRIMARY KEY, old TEXT); "
                + "DELETE FROM scorebookChange")
        for (table, columns) in ScorebookSchema.columns {
            let values = columns.map { name, kind in
                // Bytes that another program put there become a picture; they are no value to keep.
                "'\(name)', "
                    + (kind == .asset
                        ? "CASE typeof(OLD.\(name)) WHEN 'blob' THEN 'NULL' ELSE \(quoted("OLD.\(name)")) END"
                        : quoted("OLD.\(name)"))
            }.joined(separator: ", ")
            for (event, row, old) in [
                ("INSERT", "NEW", "NULL"), ("UPDATE", "OLD", "json_object(\(values))"),
                ("DELETE", "OLD", "json_object(\(values))"),
            ] {
                try db.execute(
                    sql: """
                        CREATE TEMP TRIGGER IF NOT EXISTS scorebookChange_\(table)_\(event) AFTER \(event) ON main.\(table)
                        WHEN NOT EXISTS (SELECT 1 FROM scorebookChange WHERE recordName = \(row).recordName)
                        BEGIN INSERT INTO scorebookChange VALUES (\(row).recordName, \(old)); END
                        """)
            }
        }
    }

    private static func end(_ db: Database) throws {
        for (table, _) in ScorebookSchema.columns {
            for event in ["INSERT", "UPDATE", "DELETE"] {
                try db.execute(sql: "DROP TRIGGER IF EXISTS temp.scorebookChange_\(table)_\(event)")
            }
        }
        try db.execute(sql: "DELETE FROM scorebookChange")
    }

    /// - Returns: nil if they are too many to keep.
    private static func changes(_ db: Database) throws -> [Change]? {
        guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM scorebookChange") ?? 0 <= largest else {
            return nil
        }
        let rows = try Row.fetchAll(db, sql: "SELECT recordName, old FROM scorebookChange ORDER BY rowid")
        return try rows.compactMap { row in
            let name: String = row[0]
            let old = try (row[1] as String?).map {
                try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
            }
            let new = try values(db, name)
            guard let old, let new else {
                // The values of a new record tell later whether somebody has corrected it since.
                return old == nil && new == nil
                    ? nil : Change(name: name, old: old, new: new.map(Self.filled))
            }
            let changed = old.filter { new[$0.key] != $0.value }
            guard !changed.isEmpty else { return nil }
            return Change(name: name, old: changed, new: new.filter { changed[$0.key] != nil })
        }
    }

    /// SQL for a value as SQL. SQLite's own function ends at U+0000, and has a word for infinity that it does not read.
    private static func quoted(_ value: String) -> String {
        """
        CASE WHEN typeof(\(value)) = 'text' AND instr(\(value), char(0)) > 0
            THEN 'CAST(X''' || hex(\(value)) || ''' AS TEXT)'
        WHEN typeof(\(value)) = 'real' AND abs(\(value)) = 9e999 THEN iif(\(value) > 0, '9e999', '-9e999')
        ELSE quote(\(value)) END
        """
    }

    /// The columns that have a value.
    static func filled(_ values: [String: String]) -> [String: String] {
        values.filter { $0.value != "NULL" }
    }

    /// Returns the columns of a record as SQL; nil if it has no row.
    static func values(_ db: Database, _ name: String) throws -> [String: String]? {
        let table = String(name.prefix { $0 != "|" })
        guard let columns = ScorebookSchema.columns.first(where: { $0.key == table })?.value else {
            return nil
        }
        let list = columns.map { quoted($0.key) }.joined(separator: ", ")
        let row = try Row.fetchOne(
            db, sql: "SELECT \(list) FROM \(table) WHERE recordName = ?", arguments: [name])
        guard let row else { return nil }
        return Dictionary(uniqueKeysWithValues: columns.enumerated().map { ($1.key, row[$0]) })
    }

    private static func save(_ db: Database, _ changes: [Change], _ command: Habits.Command, _ now: Int64)
        throws
    {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS scorebook_undo (
                    id INTEGER PRIMARY KEY, run TEXT NOT NULL, command TEXT NOT NULL, time INTEGER NOT NULL,
                    changes TEXT NOT NULL)
                """)
        try db.execute(
            sql: "INSERT INTO scorebook_undo (run, command, time, changes) VALUES (?, ?, ?, ?)",
            arguments: [
                command.run, command.name, now,
                String(decoding: try JSONEncoder().encode(changes), as: UTF8.self),
            ])
        // Whole commands go: `play` writes with each line.
        try db.execute(
            sql: """
                DELETE FROM scorebook_undo WHERE time < ? OR run NOT IN
                    (SELECT run FROM scorebook_undo GROUP BY run ORDER BY max(id) DESC LIMIT \(kept))
                """, arguments: [now - lifetime])
    }

    /// Adds a record that was moved to a merge of before, so that it moves back with the merge.
    static func note(_ db: Database, _ reference: MergedRecords.Reference) throws {
        guard try db.tableExists("scorebook_undo") else { return }
        let quoted = try String.fetchAll(
            db, sql: "SELECT quote(?) UNION ALL SELECT quote(?)", arguments: [reference.from, reference.to])
        let change = Change(
            name: reference.recordName, old: [reference.column: quoted[0]], new: [reference.column: quoted[1]]
        )
        let merge = """
            SELECT max(id) FROM scorebook_undo WHERE EXISTS (
                SELECT 1 FROM json_each(scorebook_undo.changes) AS change
                WHERE json_extract(change.value, '$.name') = ?
                    AND json_extract(change.value, '$.new.mergedInto') <> 'NULL')
            """
        try db.execute(
            sql:
                "UPDATE scorebook_undo SET changes = json_insert(changes, '$[#]', json(?)) WHERE id = (\(merge))",
            arguments: [String(decoding: try JSONEncoder().encode(change), as: UTF8.self), reference.from])
    }

    // MARK: Reading

    /// Returns a command of the last day; nil if there is none.
    ///
    /// - Parameter run: the command's run; nil for the last command.
    static func last(_ db: Database, run: String? = nil, now: Int64) throws -> Entry? {
        guard try db.tableExists("scorebook_undo") else { return nil }
        let sql = """
            SELECT run, command, time, changes FROM scorebook_undo
            WHERE run = (
                SELECT run FROM scorebook_undo WHERE time >= ? AND (? IS NULL OR run = ?) ORDER BY id DESC LIMIT 1)
            ORDER BY id DESC
            """
        let rows = try Row.fetchAll(db, sql: sql, arguments: [now - lifetime, run, run])
        guard let first = rows.first else { return nil }
        let changes = try rows.flatMap { row in
            try JSONDecoder().decode([Change].self, from: Data((row[3] as String).utf8)).reversed()
        }
        return Entry(run: first[0], command: first[1], time: first[2], changes: changes)
    }

    static func has(_ db: Database, run: String) throws -> Bool {
        guard try db.tableExists("scorebook_undo") else { return false }
        let sql = "SELECT EXISTS (SELECT 1 FROM scorebook_undo WHERE run = ?)"
        return try Bool.fetchOne(db, sql: sql, arguments: [run]) ?? false
    }

    static func forget(_ db: Database, runs: [String]) throws {
        for run in runs {
            try db.execute(sql: "DELETE FROM scorebook_undo WHERE run = ?", arguments: [run])
        }
    }

    /// Returns the records of which the journal has values.
    ///
    /// - Parameter candidates: the only records to look for; nil for all. If there are none, nothing of the journal is read: it may be
    ///   large.
    static func names(_ db: Database, among candidates: [RecordName]? = nil) throws -> [RecordName] {
        guard candidates?.isEmpty != true, try db.tableExists("scorebook_undo") else { return [] }
        let list = try candidates.map {
            String(decoding: try JSONEncoder().encode($0.map(\.description)), as: UTF8.self)
        }
        return try RecordName.fetchAll(
            db,
            sql: """
                SELECT DISTINCT json_extract(change.value, '$.name') AS name
                FROM scorebook_undo, json_each(scorebook_undo.changes) AS change
                WHERE ?1 IS NULL OR name IN (SELECT value FROM json_each(?1))
                """, arguments: [list])
    }

    /// Forgets the writes that changed a record, with all that they changed beside it.
    static func forget(_ db: Database, changesOf name: String) throws {
        try db.execute(
            sql: """
                DELETE FROM scorebook_undo WHERE EXISTS (
                    SELECT 1 FROM json_each(scorebook_undo.changes) AS change
                    WHERE json_extract(change.value, '$.name') = ?)
                """, arguments: [name])
    }

    /// Forgets everything: a value that was deleted for ever must not stay here.
    static func forgetAll(_ db: Database) throws {
        guard try db.tableExists("scorebook_undo") else { return }
        try db.execute(sql: "DELETE FROM scorebook_undo")
    }
}

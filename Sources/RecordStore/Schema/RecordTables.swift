import GRDB

/// The tables of a schema, as one database declares them.
struct RecordTables: Sendable {
    let schema: RecordSchema
    private let byType: [String: RecordTable]
    /// Whether all tables declare their foreign keys so that SQLite checks them at the end of a transaction.
    private let areForeignKeysDeferred: Bool

    /// Reads the tables' declarations of columns.
    init(_ schema: RecordSchema, _ db: Database) throws {
        self.schema = schema
        byType = try Dictionary(
            uniqueKeysWithValues: schema.types.map { ($0.name, try RecordTable($0, db)) })
        areForeignKeysDeferred = try schema.types.allSatisfy { try Self.defersForeignKeys($0.name, db) }
    }

    subscript(type: String) -> RecordTable? { byType[type] }

    /// Lets this transaction write rows before the rows that they refer to.
    ///
    /// It uses the pragma only when it must: SQLite then compiles every statement anew, which costs a small transaction
    /// more than all the rest.
    func deferForeignKeys(_ db: Database) throws {
        guard !areForeignKeysDeferred else { return }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
    }

    /// Whether every foreign key of a table is `DEFERRABLE INITIALLY DEFERRED`. SQLite shows this only in the text of
    /// the declaration.
    private static func defersForeignKeys(_ table: String, _ db: Database) throws -> Bool {
        let keys = try db.foreignKeys(on: table).count
        guard keys > 0 else { return true }
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            arguments: [table])
        let lines = (sql ?? "").uppercased().split(separator: "\n")
        // Skips comments after `--`. A `--` in other places can only hide a part of the declaration, so that the count
        // is too low.
        let words = lines.flatMap { line in
            line.prefix(upTo: line.firstRange(of: "--")?.lowerBound ?? line.endIndex).split { !$0.isLetter }
        }
        let clause: [Substring] = ["DEFERRABLE", "INITIALLY", "DEFERRED"]
        let deferred = words.indices.count { index in
            words[index...].starts(with: clause) && (index == 0 || words[index - 1] != "NOT")
        }
        return deferred == keys
    }
}

import GRDB

/// The tables of a schema, as one database declares them.
struct RecordTables: Sendable {
    let schema: RecordSchema
    private let byType: [String: RecordTable]
    /// Whether the foreign keys of all tables are declared to be checked at the end of a transaction.
    private let areForeignKeysDeferred: Bool

    /// Reads how the tables declare their columns.
    init(_ schema: RecordSchema, _ db: Database) throws {
        self.schema = schema
        byType = try Dictionary(
            uniqueKeysWithValues: schema.types.map { ($0.name, try RecordTable($0, db)) })
        areForeignKeysDeferred = try schema.types.allSatisfy { try Self.defersForeignKeys($0.name, db) }
    }

    subscript(type: String) -> RecordTable? { byType[type] }

    /// Lets rows of this transaction be written before those that they refer to.
    ///
    /// Only where it is needed: SQLite compiles every statement anew after this pragma, which costs a small transaction
    /// more than all the rest.
    func deferForeignKeys(_ db: Database) throws {
        guard !areForeignKeysDeferred else { return }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
    }

    /// Whether every foreign key of a table is `DEFERRABLE INITIALLY DEFERRED`, which SQLite tells nowhere but in the
    /// text of the declaration.
    private static func defersForeignKeys(_ table: String, _ db: Database) throws -> Bool {
        let keys = try db.foreignKeys(on: table).count
        guard keys > 0 else { return true }
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            arguments: [table])
        let lines = (sql ?? "").uppercased().split(separator: "\n")
        // What follows `--` is a comment, or at worst a piece of the declaration that then is not counted.
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

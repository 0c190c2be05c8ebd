import GRDB
import GRDBSQLite
import PeerSyncModel

/// The tables of a schema, as one database declares them.
struct RecordTables: Sendable {
    let schema: RecordSchema
    private let byType: [String: RecordTable]
    /// The keys of all tables, by type.
    let keys: [String: RecordKey]
    /// The columns that were fields before, by type. Only the opening of a store has them.
    private(set) var formerColumns: [String: FormerColumns] = [:]
    /// Whether all tables declare their foreign keys so that SQLite checks them at the end of a transaction.
    private let areForeignKeysDeferred: Bool

    /// Reads the tables' declarations of columns.
    init(_ schema: RecordSchema, _ db: Database) throws {
        self.schema = schema
        let keys = try Dictionary(uniqueKeysWithValues: schema.types.map { ($0.name, try RecordKey($0, db)) })
        self.keys = keys
        byType = try Dictionary(
            uniqueKeysWithValues: schema.types.map {
                ($0.name, try RecordTable($0, keys, schema.relationships(to: $0.name), db))
            })
        areForeignKeysDeferred = byType.values.allSatisfy(\.defersForeignKeys)
    }

    /// The tables as they were when the store was opened last, as far as the database still has them.
    ///
    /// - Parameter former: the tables of then, by type, those of types that have left the schema included.
    init(_ tables: RecordTables, as former: [String: RecordTable]) {
        schema = RecordSchema(
            unchecked: tables.schema.types.map { former[$0.name]?.type ?? $0 }
                + former.keys.sorted().filter { tables[$0] == nil }.map { former[$0]!.type })
        byType = tables.byType.merging(former) { $1 }
        keys = tables.keys.merging(former.mapValues(\.key)) { $1 }
        areForeignKeysDeferred = false
        formerColumns = [:]
    }

    /// The same tables, with the columns that were fields before. Whoever loads a record then also finds their values.
    func keeping(_ former: [String: FormerColumns]) -> RecordTables {
        var tables = self
        tables.formerColumns = former
        return tables
    }

    /// The tables in the order in which the app listed their types.
    var all: [RecordTable] { schema.types.compactMap { byType[$0.name] } }

    subscript(type: String) -> RecordTable? { byType[type] }

    /// The record of an entry of the journal, with its table; nil when the row's key has no name, or the schema has no
    /// such type.
    ///
    /// - Parameters:
    ///   - type: the index of the column `recordType`; journals of earlier versions have NULL there.
    ///   - key: the index of the column `recordName`.
    func record(journal row: SQLiteStatement, type: Int32, key: Int32) -> (
        table: RecordTable, name: RecordName
    )? {
        let type =
            RecordTable.text(row, type)
            ?? RecordTable.text(row, key).flatMap { try? RecordName($0) }?.recordType
        guard let table = type.flatMap({ byType[$0] }), let name = table.key.name(journal: row, key) else {
            return nil
        }
        return (table, name)
    }

    /// The names of the records of which the journal has entries.
    func journaledNames(_ db: Database) throws -> Set<RecordName> {
        let statement = try db.cachedStatement(
            sql: "SELECT recordType, recordName FROM grdb_sync_pendingChange")
        let rows = try Row.fetchCursor(statement)
        var names: Set<RecordName> = []
        while try rows.next() != nil {
            if let (_, name) = record(journal: statement.sqliteStatement, type: 0, key: 1) {
                names.insert(name)
            }
        }
        return names
    }

    /// Lets this transaction write rows before the rows that they refer to.
    ///
    /// It uses the pragma only when it must: SQLite then compiles every statement anew, which costs a small transaction
    /// more than all the rest.
    func deferForeignKeys(_ db: Database) throws {
        guard !areForeignKeysDeferred else { return }
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
    }
}

import GRDB
import GRDBSQLite
import PeerSyncModel

/// Reads the metadata of records together with their rows, each type in order of name. One pass over the two tables
/// side by side replaces one search per record.
struct RecordScan {
    /// A record during the scan; valid only within the body.
    struct Record {
        let name: String
        fileprivate let row: Row
        fileprivate let statement: SQLiteStatement
        /// The record's own row, if there is one.
        fileprivate let own: Own

        fileprivate enum Own {
            case missing
            case joined(RecordTable)
            case found(StoredRecord.Present)
        }

        fileprivate static let firstValue: Int32 = 5

        var zone: Int64 { sqlite3_column_int64(statement, 3) }

        /// The table with the record's own row, if the scan has joined one.
        var joinedTable: RecordTable? { if case .joined(let table) = own { table } else { nil } }

        func stored(_ shapes: ShapeTable) throws -> StoredRecord {
            let present: StoredRecord.Present? =
                switch own {
                case .missing: nil
                case .joined(let table):
                    .init(table: table, values: table.values(statement, from: Self.firstValue))
                case .found(let present): present
                }
            return try StoredRecord(RecordName(name), row, present, shapes: shapes)
        }

        /// The id of a record that is in its table with the values that sync last knew; nil also when it takes a closer look to
        /// say. Makes no values.
        func intactID(_ plain: inout PlainRecords) throws -> RecordID? {
            guard let table = joinedTable,
                sqlite3_column_int64(statement, 1) == RecordStatus.inTable.rawValue,
                let metadata = try plain.read(statement, 2), try plain.hasFields(of: table, metadata),
                plain.areValuesIntact(table, statement, from: Self.firstValue, metadata)
            else { return nil }
            return try plain.id(RecordName(name), metadata)
        }
    }

    let db: Database
    let tables: RecordTables

    /// The types to read: first those of the schema, targets of references before the types that refer to them; then,
    /// by name, those that only other machines know.
    func types() throws -> [String] {
        tables.schema.namesInOrderOfReference + (try unknownTypes())
    }

    private func unknownTypes() throws -> [String] {
        var types: [String] = []
        var bound = ""
        let statement = try db.cachedStatement(
            sql:
                "SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE remoteRecordID > ? ORDER BY remoteRecordID LIMIT 1"
        )
        while let text = try String.fetchOne(statement, arguments: [bound]) {
            let type = try RecordName(text).recordType
            if tables[type] == nil { types.append(type) }
            bound = Self.end(of: type)
        }
        return types
    }

    /// The least text above all names of a type: `~` follows the last character of the separator.
    static func end(of type: String) -> String { type + "|~}" }

    /// Reads every record that sync knows.
    func readAll(_ body: (Record) throws -> Void) throws {
        for type in try types() {
            _ = try read(type, after: type + RecordName.separator) { record in
                try body(record)
                return true
            }
        }
    }

    /// Reads the records of a type whose names are above `lower`, until `body` returns false.
    ///
    /// - Parameter condition: SQL that selects records; `known` is the row of `grdb_sync_remoteRecord`.
    /// - Returns: whether `body` stopped it.
    func read(
        _ type: String, after lower: String, where condition: String = "TRUE",
        _ arguments: [(any DatabaseValueConvertible)?] = [], _ body: (Record) throws -> Bool
    ) throws -> Bool {
        let table = tables[type]
        // Only names can be joined in SQL: the rows of other tables are looked up.
        let joined = table.flatMap { $0.key.holdsNames ? $0 : nil }
        let statement = try db.cachedStatement(
            sql: """
                SELECT known.remoteRecordID, known.status, known.remoteRecord, known.zone\(joined?.joinedColumns ?? "")
                FROM grdb_sync_remoteRecord AS known \(joined?.join ?? "")
                WHERE known.remoteRecordID > ? AND known.remoteRecordID < ? AND \(condition)
                ORDER BY known.remoteRecordID
                """)
        let bounds: [(any DatabaseValueConvertible)?] = [lower, Self.end(of: type)]
        let rows = try Row.fetchCursor(statement, arguments: StatementArguments(bounds + arguments))
        while let row = try rows.next() {
            let name: String = row[0]
            let own: Record.Own =
                if let joined {
                    row[4] as Bool ? .joined(joined) : .missing
                } else {
                    try table.flatMap { try StoredRecord.Present($0, RecordName(name), db) }.map(
                        Record.Own.found) ?? .missing
                }
            let record = Record(name: name, row: row, statement: statement.sqliteStatement, own: own)
            guard try body(record) else { return true }
        }
        return false
    }
}

extension RecordTable {
    /// The columns of a row that is joined: whether there is one, and the values.
    fileprivate var joinedColumns: String {
        (["recordName IS NOT NULL"] + columns.map(\.sqlName)).map { ", row.\($0)" }
            .joined()
    }

    fileprivate var join: String { "LEFT JOIN \(sqlName) AS row ON row.recordName = known.remoteRecordID" }
}

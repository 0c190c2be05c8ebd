import GRDB
import SyncModel

/// Reads the metadata of records together with their rows, each type in order of name. One pass over the two tables
/// side by side replaces one search per record.
struct RecordScan {
    /// A record during the scan.
    struct Record {
        let name: String
        /// A row with the columns `status`, `remoteRecord` and `zone`.
        let row: Row
        /// The record's own row, if there is one.
        fileprivate let present: StoredRecord.Present?

        func stored(_ shapes: ShapeTable) throws -> StoredRecord {
            try StoredRecord(RecordName(name), row, present, shapes: shapes)
        }
    }

    private let db: Database
    private let tables: RecordTables

    init(_ db: Database, _ tables: RecordTables) {
        self.db = db
        self.tables = tables
    }

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
                "SELECT remoteRecordID FROM remoteRecord WHERE remoteRecordID > ? ORDER BY remoteRecordID LIMIT 1"
        )
        while let text = try String.fetchOne(statement, arguments: [bound]) {
            let type = try RecordName(text).recordType
            if tables[type] == nil { types.append(type) }
            bound = Self.end(of: type)
        }
        return types
    }

    /// The least text above all names of a type: `~` follows the last character of the separator.
    private static func end(of type: String) -> String { type + "|~}" }

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
    /// - Parameter condition: SQL that selects records; `known` is the row of `remoteRecord`.
    /// - Returns: whether `body` stopped it.
    func read(
        _ type: String, after lower: String, where condition: String = "TRUE",
        _ arguments: [(any DatabaseValueConvertible)?] = [], _ body: (Record) throws -> Bool
    ) throws -> Bool {
        let table = tables[type]
        let columns = (["recordName IS NOT NULL"] + (table?.fieldNames ?? [])).map { ", row.\($0)" }.joined()
        let join = "LEFT JOIN \(type) AS row ON row.recordName = known.remoteRecordID"
        let statement = try db.cachedStatement(
            sql: """
                SELECT known.remoteRecordID, known.status, known.remoteRecord, known.zone\(table == nil ? "" : columns)
                FROM remoteRecord AS known \(table == nil ? "" : join)
                WHERE known.remoteRecordID > ? AND known.remoteRecordID < ? AND \(condition)
                ORDER BY known.remoteRecordID
                """)
        let bounds: [(any DatabaseValueConvertible)?] = [lower, Self.end(of: type)]
        let rows = try Row.fetchCursor(statement, arguments: StatementArguments(bounds + arguments))
        while let row = try rows.next() {
            let present: StoredRecord.Present? =
                if let table, row[4] as Bool {
                    .init(table: table, values: table.values(statement.sqliteStatement, from: 5))
                } else { nil }
            let record = Record(name: row[0], row: row, present: present)
            guard try body(record) else { return true }
        }
        return false
    }
}

import GRDB
import PeerSyncModel

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
            let values: [FieldValue]? =
                if let joined {
                    row[4] as Bool ? joined.values(statement.sqliteStatement, from: 5) : nil
                } else {
                    try table?.values(db, RecordName(row[0]))
                }
            let present = table.flatMap { table in
                values.map { StoredRecord.Present(table: table, values: $0) }
            }
            let record = Record(name: row[0], row: row, present: present)
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

import Foundation
import GRDB
import GRDBSQLite
import SyncModel

/// Reads and writes the rows of one record type.
struct RecordTable {
    let type: RecordType
    /// The field names of ``type``, sorted.
    let fieldNames: [String]
    private let kinds: [String: FieldDefinition.Kind]
    private let selectSQL: String
    private let existsSQL: String
    private let deleteSQL: String
    private let affinities: [String: ColumnAffinity]

    /// Reads the table's declarations of columns.
    init(_ type: RecordType, _ db: Database) throws {
        affinities = try Dictionary(
            uniqueKeysWithValues: db.columns(in: type.name).map {
                ($0.name, ColumnAffinity(declaredType: $0.type))
            })
        self.type = type
        fieldNames = type.fieldNames
        kinds = Dictionary(uniqueKeysWithValues: type.fields.map { ($0.name, $0.kind) })
        let columns = type.fieldNames.joined(separator: ", ")
        selectSQL = "SELECT \(columns), modificationDate FROM \(type.name) WHERE recordName = ?"
        existsSQL = "SELECT 1 FROM \(type.name) WHERE recordName = ?"
        deleteSQL = "DELETE FROM \(type.name) WHERE recordName = ?"
    }

    func hasColumn(_ field: String) -> Bool { kinds[field] != nil }

    /// The kind and affinity of a field's column; nil for a field without a column.
    func column(_ field: String) -> (kind: FieldDefinition.Kind, affinity: ColumnAffinity)? {
        guard let kind = kinds[field], let affinity = affinities[field] else { return nil }
        return (kind, affinity)
    }

    /// The values of a record's row in order of ``RecordType/fields``, or nil when there is no row.
    func values(_ db: Database, _ name: String) throws -> [FieldValue]? { try row(db, name)?.values }

    /// The values of a record's row in order of ``RecordType/fields``, and its `modificationDate`; nil when there is no row.
    func row(_ db: Database, _ name: String) throws -> (values: [FieldValue], modificationDate: String?)? {
        let statement = try db.cachedStatement(sql: selectSQL)
        statement.arguments = [name]
        let rows = try Row.fetchCursor(statement)
        guard let row = try rows.next() else { return nil }
        let values = self.values(statement.sqliteStatement, from: 0)
        // Other programs may have written any value there.
        let modificationDate = String.fromDatabaseValue(row[type.fields.count])
        // Steps to the end, so that the statement does not hold the transaction open.
        while try rows.next() != nil {}
        return (values, modificationDate)
    }

    /// Reads the values of a row in order of ``RecordType/fields`` from the columns of a statement, beginning at
    /// `first`.
    func values(_ row: SQLiteStatement, from first: Int32) -> [FieldValue] {
        var values: [FieldValue] = []
        values.reserveCapacity(type.fields.count)
        var index = first
        for field in type.fields {
            values.append(Self.value(row, index, field.kind))
            index += 1
        }
        return values
    }

    func exists(_ db: Database, _ name: String) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: existsSQL), arguments: [name]) ?? false
    }

    /// Inserts or updates a record's row: the columns of its fields that the table has, and `modificationDate`.
    /// Columns that no replica has written keep their values, or take their defaults.
    func upsert(_ state: RecordState, by statements: RowStatements) throws {
        let fields = state.fields.filter { hasColumn($0.name) }
        let columns = ["recordName"] + fields.map(\.name) + ["modificationDate"]
        var bindings = Bindings()
        bindings.append(state.name.description)
        for field in fields { bindings.append(field.value) }
        bindings.append(state.modificationDate)
        let isWhole = fields.count == fieldNames.count
        try bindings.execute(statements.statement(upsertSQL(columns), isOneOfFew: isWhole))
    }

    /// Updates a record's row where the state has other values than the row, and `modificationDate`. SQLite then leaves
    /// the indexes of other columns alone.
    ///
    /// - Parameter present: the fields with the values of the row.
    /// - Returns: false when there is no row.
    func update(
        _ db: Database, _ state: RecordState, from present: [RecordField], by statements: RowStatements
    ) throws -> Bool {
        let values = Dictionary(present.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        let fields = state.fields.filter { hasColumn($0.name) && values[$0.name] != $0.value }
        let columns = (fields.map(\.name) + ["modificationDate"]).map { "\($0) = ?" }.joined(separator: ", ")
        var bindings = Bindings()
        for field in fields { bindings.append(field.value) }
        bindings.append(state.modificationDate)
        bindings.append(state.name.description)
        let isOneOfFew = fields.count <= 1 || fields.count == fieldNames.count
        try bindings.execute(
            statements.statement(
                "UPDATE \(type.name) SET \(columns) WHERE recordName = ?", isOneOfFew: isOneOfFew))
        return db.changesCount > 0
    }

    /// The fields of a row just written whose columns return another value. For example, a peer whose table has other
    /// column types sends a text of digits for a column of integers. The store keeps such values beside the row, so
    /// that it passes on exactly what it has received.
    func alteredFields(_ db: Database, _ state: RecordState) throws -> Set<String> {
        let isSuspicious = state.fields.contains { field in
            guard let column = column(field.name) else { return false }
            return !column.affinity.surelyKeeps(field.value, column.kind)
        }
        guard isSuspicious, let values = try values(db, state.name.description) else { return [] }
        var altered: Set<String> = []
        for (field, value) in zip(type.fields, values) {
            if let written = state.field(field.name), written.value != value { altered.insert(field.name) }
        }
        return altered
    }

    func delete(_ db: Database, _ name: String) throws {
        try db.cachedStatement(sql: deleteSQL).execute(arguments: [name])
    }

    private func upsertSQL(_ columns: [String]) -> String {
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let updates = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO \(type.name) (\(columns.joined(separator: ", "))) VALUES (\(marks))
            ON CONFLICT (recordName) DO UPDATE SET \(updates)
            """
    }

    // MARK: Values

    private static func value(
        _ statement: SQLiteStatement, _ index: Int32, _ kind: FieldDefinition.Kind
    ) -> FieldValue {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER:
            return .integer(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT:
            return .real(sqlite3_column_double(statement, index))
        case SQLITE_TEXT:
            return understood(text(statement, index) ?? "", kind)
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(statement, index)
            let length = Int(sqlite3_column_bytes(statement, index))
            return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: length)))
        default:
            return .null
        }
    }

    /// Reads the text of a column by its length: SQLite text may contain NUL, and GRDB reads only up to it. nil when
    /// the column holds no text.
    static func text(_ statement: SQLiteStatement, _ index: Int32) -> String? {
        guard sqlite3_column_type(statement, index) == SQLITE_TEXT else { return nil }
        let text = sqlite3_column_text(statement, index)
        let length = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }

    /// Converts text to the column's kind, if that loses nothing.
    static func understood(_ text: String, _ kind: FieldDefinition.Kind) -> FieldValue {
        switch kind {
        case .value: .text(text)
        case .date: ISO8601.milliseconds(canonical: text).map(FieldValue.date) ?? .text(text)
        case .reference: (try? RecordName(text)).map(FieldValue.reference) ?? .text(text)
        case .asset: Asset(json: text).map(FieldValue.asset) ?? .text(text)
        }
    }
}

extension RecordState {
    /// The value of the column `modificationDate`.
    var modificationDate: String? {
        newestWrite.flatMap { ISO8601.text(milliseconds: $0.time.milliseconds, fraction: .always) }
    }
}

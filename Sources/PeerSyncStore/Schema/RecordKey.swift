import GRDB
import GRDBSQLite
import PeerSyncModel

/// The primary key of a record type's table, and how it becomes record names.
///
/// A table whose only key column is called `recordName` holds whole names there. Any other table holds keys of the
/// app's own, and ``KeyEncoding`` makes names of them.
struct RecordKey: Sendable {
    struct Column: Sendable {
        let name: String
        let kind: KeyEncoding.Kind
    }

    /// The column that holds whole record names.
    static let nameColumn = "recordName"

    let type: String
    /// The columns in the order of the key.
    let columns: [Column]
    /// Whether the only column holds whole record names.
    let holdsNames: Bool
    /// The columns for SQL, with commas between them.
    let sql: String
    /// SQL for the row with a key; it has one `?` for each column.
    let condition: String

    /// - Throws: `tableMismatch` when sync cannot make names of the keys.
    init(_ type: RecordType, _ db: Database) throws {
        self.type = type.name
        let names = try Self.columnNames(db, type.table)
        let declarations = Dictionary(
            uniqueKeysWithValues: try db.declaredColumns(of: type.table).map { ($0.name, $0) })
        let holdsNames = names == [Self.nameColumn]
        self.holdsNames = holdsNames
        columns = try names.map { name in
            guard let declaration = declarations[name] else { throw Self.missingKey(type) }
            return Column(
                name: declaration.name,
                kind: try holdsNames ? .text : Self.kind(of: declaration, in: type, db))
        }
        guard !columns.isEmpty else { throw Self.missingKey(type) }
        sql = columns.map { $0.name.sqlName }.joined(separator: ", ")
        condition = columns.map { "\($0.name.sqlName) = ?" }.joined(separator: " AND ")
    }

    /// The columns of a table's primary key; empty when it declares none.
    static func columnNames(_ db: Database, _ table: String) throws -> [String] {
        guard try db.hasTable(table) else { return [] }
        return try db.declaredColumns(of: table).filter { $0.primaryKeyIndex > 0 }
            .sorted { $0.primaryKeyIndex < $1.primaryKeyIndex }.map(\.name)
    }

    private static func missingKey(_ type: RecordType) -> RecordStoreError {
        RecordStoreError.tableMismatch(
            "the table \(type.table) has no primary key, so its rows have no name on other machines: declare one"
        )
    }

    private static func kind(of column: ColumnInfo, in type: RecordType, _ db: Database) throws
        -> KeyEncoding.Kind
    {
        // Where the store has synced such a table, and nobody has made it anew since, the names of its records were made of a BLOB.
        guard try !column.type.isEmpty || !CaptureTriggers.names(db, onTable: type.table).isEmpty else {
            throw RecordStoreError.tableMismatch(
                "the key column \(type.table).\(column.name) is declared without a type, so only rows with a BLOB there "
                    + "would have a name on other machines, and the others would stay here: declare it TEXT, BLOB or INTEGER"
            )
        }
        switch ColumnAffinity(declaredType: column.type) {
        case .text: return .text
        case .blob: return .blob
        case .integer: return .integer
        case .real, .numeric:
            if column.type.uppercased() == "ANY", try db.isStrict(type.table) {
                throw RecordStoreError.tableMismatch(
                    "the key column \(type.table).\(column.name) is declared ANY, so the text 1 and the number 1 could be "
                        + "two rows, and their records would have one name: declare it TEXT, BLOB or INTEGER")
            }
            throw RecordStoreError.tableMismatch(
                "the key column \(type.table).\(column.name) is declared \(column.type), which SQLite converts: declare it "
                    + "TEXT, BLOB or INTEGER")
        }
    }

    // MARK: Names

    /// The name of the record with a key; nil when the key has none.
    func name(of values: [FieldValue]) -> RecordName? {
        if holdsNames {
            guard case .text(let text) = values[0], let name = try? RecordName(text) else { return nil }
            return name.isOfType(type) ? name : nil
        }
        guard zip(values, columns).allSatisfy({ $0.isKey(of: $1.kind) }) else { return nil }
        return KeyEncoding.suffix(of: values).flatMap { try? RecordName(recordType: type, suffix: $0) }
    }

    /// The key of a record; nil when no row can have that name.
    func values(of name: RecordName) -> [FieldValue]? {
        guard name.isOfType(type) else { return nil }
        return holdsNames
            ? [.text(name.description)] : KeyEncoding.values(of: name.suffix, kinds: columns.map(\.kind))
    }

    /// Reads a key from the columns of a statement, beginning at `first`. nil when it has no name.
    func name(_ row: SQLiteStatement, from first: Int32) -> RecordName? {
        var values: [FieldValue] = []
        for index in columns.indices {
            guard let value = Self.value(row, first + Int32(index)) else { return nil }
            values.append(value)
        }
        return name(of: values)
    }

    /// Returns nil for a text that is not valid UTF-8: another key would have the same name.
    private static func value(_ row: SQLiteStatement, _ index: Int32) -> FieldValue? {
        guard sqlite3_column_type(row, index) == SQLITE_TEXT else {
            return RecordColumn.storedValue(row, index)
        }
        let text = sqlite3_column_text(row, index)
        let length = Int(sqlite3_column_bytes(row, index))
        let key = String(validating: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
        return key.map(FieldValue.text)
    }

    // MARK: The journal

    /// SQL for the key of a row as the journal holds it: the value of the only column, or a text of all of them.
    ///
    /// - Parameter row: what stands before a column: `NEW.`, `OLD.`, or nothing.
    func journalSQL(_ row: String = "") -> String {
        let names = columns.map { row + $0.name.sqlName }
        return names.count == 1 ? names[0] : FormerValues.sql(names)
    }

    /// Reads the name of a row from the column of the journal with its key. nil when it has none.
    func name(journal row: SQLiteStatement, _ index: Int32) -> RecordName? {
        guard let value = Self.value(row, index) else { return nil }
        guard columns.count > 1 else {
            // The journal's column turns numbers into texts.
            guard columns[0].kind == .integer, case .text(let text) = value else { return name(of: [value]) }
            return Int64(text).flatMap { name(of: [.integer($0)]) }
        }
        guard case .text(let text) = value, let values = FormerValues.values(text),
            values.count == columns.count
        else { return nil }
        return name(of: values)
    }
}

extension FieldValue {
    fileprivate func isKey(of kind: KeyEncoding.Kind) -> Bool {
        switch (self, kind) {
        case (.text, .text), (.blob, .blob), (.integer, .integer): true
        default: false
        }
    }
}

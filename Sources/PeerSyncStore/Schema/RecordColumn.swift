import GRDB
import GRDBSQLite
import PeerSyncModel

/// A synced column of a table: what its values mean, and how the table keeps them.
///
/// It is a class because every value that is read or written passes one: a copy of all its texts takes longer than the value.
final class RecordColumn: Sendable {
    /// What the values of the column mean to sync.
    private enum Meaning {
        case plain, date, asset, recordName
        /// The key of a row of another table.
        indirect case key(RecordKey)
    }

    let field: FieldDefinition
    /// The column's name for SQL.
    let sqlName: String
    let affinity: ColumnAffinity
    /// The column's place in the key of its own table; nil when it does not belong to the key.
    let indexInKey: Int?
    private let meaning: Meaning

    /// - Parameter target: the key of the rows to which a column of references refers.
    init(_ field: FieldDefinition, _ affinity: ColumnAffinity, target: RecordKey?, indexInKey: Int?) {
        self.field = field
        sqlName = field.column.sqlName
        self.affinity = affinity
        self.indexInKey = indexInKey
        meaning =
            switch field.kind {
            case .value: .plain
            case .date: .date
            case .asset: .asset
            case .reference: target.flatMap { $0.holdsNames ? nil : .key($0) } ?? .recordName
            }
    }

    var isReference: Bool { if case .reference = field.kind { true } else { false } }

    /// Whether the column refers to rows by keys of the app's own. All other values go into columns as ``Bindings`` append them.
    var holdsKeys: Bool { if case .key = meaning { true } else { false } }

    // MARK: Reading

    /// Reads a value from a column of a statement.
    func value(_ row: SQLiteStatement, _ index: Int32) -> FieldValue {
        let value = Self.storedValue(row, index)
        if case .plain = meaning { return value }
        return understood(value)
    }

    /// Appends the canonical encoding of a value of a statement.
    ///
    /// - Returns: false, and anything appended, for the reference to a file.
    func appendCanonical(_ row: SQLiteStatement, _ index: Int32, to output: inout [UInt8]) -> Bool {
        let type = sqlite3_column_type(row, index)
        if type == SQLITE_NULL {
            output.append(ValueTag.null)
            return true
        }
        if case .asset = meaning { return false }
        guard case .plain = meaning, type == SQLITE_TEXT, let text = sqlite3_column_text(row, index) else {
            value(row, index).appendCanonical(to: &output)
            return true
        }
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(row, index)))
        // Other texts may be no UTF-8.
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            value(row, index).appendCanonical(to: &output)
            return true
        }
        output.append(ValueTag.text)
        VariableLengthInteger.append(UInt64(bytes.count), to: &output)
        output.append(contentsOf: bytes)
        return true
    }

    /// Reads a value as the table has it.
    static func storedValue(_ row: SQLiteStatement, _ index: Int32) -> FieldValue {
        switch sqlite3_column_type(row, index) {
        case SQLITE_INTEGER:
            return .integer(sqlite3_column_int64(row, index))
        case SQLITE_FLOAT:
            return .real(sqlite3_column_double(row, index))
        case SQLITE_TEXT:
            return .text(RecordTable.text(row, index) ?? "")
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(row, index)
            let length = Int(sqlite3_column_bytes(row, index))
            return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: length)))
        default:
            return .null
        }
    }

    /// Whether a column of a statement has a text that is no UTF-8, and that ``storedValue(_:_:)`` therefore does not return as it is.
    static func isNoUTF8(_ row: SQLiteStatement, _ index: Int32) -> Bool {
        guard let text = RecordTable.text(row, index) else { return false }
        let bytes = UnsafeBufferPointer(
            start: sqlite3_column_text(row, index), count: Int(sqlite3_column_bytes(row, index)))
        return !text.utf8.elementsEqual(bytes)
    }

    /// Converts a value of the table to what sync carries, if that loses nothing.
    func understood(_ value: FieldValue) -> FieldValue {
        switch meaning {
        case .plain: return value
        case .key(let key): return key.name(of: [value]).map(FieldValue.reference) ?? value
        case .date, .asset, .recordName: break
        }
        guard case .text(let text) = value else { return value }
        switch meaning {
        case .date: return ISO8601.milliseconds(canonical: text).map(FieldValue.date) ?? value
        case .asset: return Asset(json: text).map(FieldValue.asset) ?? value
        case .recordName: return (try? RecordName(text)).map(FieldValue.reference) ?? value
        case .plain, .key: return value
        }
    }

    // MARK: Writing

    /// Converts a value that sync carries to one of the table. A reference becomes the key of its target; if its name is
    /// no key of that, a text.
    func stored(_ value: FieldValue) -> FieldValue {
        if case .reference(let name) = value, case .key(let key) = meaning,
            let key = key.values(of: name)?.first
        {
            return key
        }
        return value.columnText.map(FieldValue.text) ?? value
    }

    /// Whether a value surely comes back unchanged. If false, the caller has to read the column.
    func surelyKeeps(_ value: FieldValue) -> Bool {
        if case .key(let key) = meaning, case .reference(let name) = value {
            return key.values(of: name)?.first.map { affinity.surelyKeeps($0, .value) } ?? false
        }
        return affinity.surelyKeeps(value, field.kind)
    }
}

extension FieldValue {
    /// The text that a column holds for a date, a reference or a file; nil for a value that SQLite has itself.
    var columnText: String? {
        switch self {
        case .date(let milliseconds):
            ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) ?? String(milliseconds)
        case .reference(let name): name.description
        case .asset(let asset): asset.json
        case .null, .integer, .real, .text, .blob: nil
        }
    }
}

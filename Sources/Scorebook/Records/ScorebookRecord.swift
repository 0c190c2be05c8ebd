import GRDB
import PeerSync

extension Row {
    /// Returns the value of a column; nil if it holds something else.
    ///
    /// SQLite lets any program write any value into any column; one odd value must not hide the whole
    /// scorebook.
    func lenient<Value: DatabaseValueConvertible>(_ column: String) -> Value? {
        Value.fromDatabaseValue(self[column] as DatabaseValue)
    }

    /// Returns yes or no of a column; nil if it holds anything but the integers 1 and 0.
    func lenient(_ column: String) -> Bool? {
        switch (self[column] as DatabaseValue).storage {
        case .int64(1): true
        case .int64(0): false
        default: nil
        }
    }

    /// Returns the record name in a column that must have one.
    func recordName(_ column: String) throws -> RecordName {
        guard let name: RecordName = lenient(column) else {
            throw RecordStoreError(
                .corrupt, "“\(self[column] as DatabaseValue)” in the column \(column) is no record name")
        }
        return name
    }
}

/// A row of one of the seven tables.
///
/// Programs read and write records with GRDB's own functions: `insert`, `update`, `fetchAll` and so on. Triggers
/// capture the writes for sync. The engine keeps the date of the last change.
///
/// In a row, a value of another kind than the column's counts as none, as does another number than 1 and 0 for yes or no. A record name, or the name of a record to which the row refers,
/// that is none throws ``RecordStoreError`` `corrupt`.
public protocol ScorebookRecord: FetchableRecord, PersistableRecord, Encodable, Sendable {
    /// The kind of these records.
    static var kind: RecordKind { get }
    /// The name of the record, which is the key of its row.
    var recordName: RecordName { get }
}

extension ScorebookRecord {
    /// The name of the record type: ``RecordKind/recordType``.
    public static var databaseTableName: String { kind.recordType }
}

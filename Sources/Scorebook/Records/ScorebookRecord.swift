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
public protocol ScorebookRecord: FetchableRecord, PersistableRecord, Encodable, Sendable {
    static var kind: RecordKind { get }
    var recordName: RecordName { get }
}

extension ScorebookRecord {
    public static var databaseTableName: String { kind.recordType }
}

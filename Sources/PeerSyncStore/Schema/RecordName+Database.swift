import GRDB
import PeerSyncModel

/// Columns hold record names as text: the column `recordName`, and references to such tables.
extension RecordName: DatabaseValueConvertible {
    /// The whole name as text.
    public var databaseValue: DatabaseValue { description.databaseValue }

    /// Reads a name; nil if the value is no text, or no record name.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> RecordName? {
        String.fromDatabaseValue(value).flatMap { try? RecordName($0) }
    }
}

import GRDB
import PeerSyncModel

/// Columns hold assets as the text of ``/PeerSyncModel/Asset/json``, once a fold has put the bytes into a file.
extension Asset: DatabaseValueConvertible {
    /// The text of ``/PeerSyncModel/Asset/json``.
    public var databaseValue: DatabaseValue { json.databaseValue }

    /// Reads an asset; nil if the value is no such text, as bytes that a program has just written are none.
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Asset? {
        String.fromDatabaseValue(value).flatMap(Asset.init(json:))
    }
}

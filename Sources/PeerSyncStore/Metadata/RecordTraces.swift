import GRDB
import PeerSyncModel

/// Removes records from the engine's tables. Each table with a column for a record's name belongs here.
///
/// It leaves the rows in the tables of the types alone. ``RecordWriter`` itself takes back what it has just
/// written.
enum RecordTraces {
    /// Forgets a record.
    ///
    /// It keeps the note that a peer has refused the record: the peer still holds another state. So it does with what this store has
    /// refused of a peer's.
    static func remove(_ db: Database, of name: RecordName) throws {
        try db.cachedStatement(sql: "DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?")
            .execute(arguments: [name.description])
        try AssetTable.remove(db, of: name.description)
        try HeldReferenceTable.remove(db, of: name.description)
        try UnsyncedRecords.removeSize(db, name)
        try HistoryTable.remove(db, of: name)
        try FuseTables.remove(db, of: name)
    }

    /// Forgets all records of a zone, and the files that they have had.
    static func removeAll(_ db: Database, in zone: Int64) throws {
        for sql in [
            """
            DELETE FROM grdb_sync_heldReference WHERE recordName IN (
                SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE zone = ?)
            """,
            """
            DELETE FROM grdb_sync_history WHERE recordName IN (
                SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE zone = ?)
            """,
            "DELETE FROM grdb_sync_withheldRecord WHERE zone = ?",
            "DELETE FROM grdb_sync_recentLoss WHERE zone = ?",
            "DELETE FROM grdb_sync_remoteRecord WHERE zone = ?",
            "DELETE FROM grdb_sync_assetReference WHERE zone = ?",
            "DELETE FROM grdb_sync_assetLeftover WHERE zone = ?",
            "DELETE FROM grdb_sync_refusedRecord WHERE zone = ?",
            "DELETE FROM grdb_sync_ownRefusal WHERE zone = ?",
            "DELETE FROM grdb_sync_unsyncedRecord WHERE zone = ?",
        ] {
            try db.execute(sql: sql, arguments: [zone])
        }
    }
}

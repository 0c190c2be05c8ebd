import GRDB
import PeerSyncModel

/// Removes records from the engine's tables. Each table with a column for a record's name belongs here.
///
/// It leaves the rows in the tables of the types alone. ``RecordWriter`` itself takes back what it has just
/// written.
enum RecordTraces {
    /// Forgets a record. The caller tells those who observe the records, once for all that it forgets: `Database.notifyRecords()`.
    ///
    /// It keeps the note that a peer has refused the record: the peer still holds another state. So it does with what this store has
    /// refused of a peer's.
    static func remove(_ db: Database, of name: RecordName) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?", [name.description])
        try AssetTable.remove(db, of: name.description)
        try HeldReferenceTable.remove(db, of: name.description)
        try UnsyncedRecords.remove(db, name)
        try HistoryTable.remove(db, of: name)
        try FuseTables.remove(db, of: name)
    }

    /// Forgets all records of a zone, and the files that they have had.
    static func removeAll(_ db: Database, in zone: Int64) throws {
        let ofZone = "recordName IN (SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE zone = ?)"
        for (table, condition) in [
            ("heldReference", ofZone), ("history", ofZone), ("withheldRecord", "zone = ?"),
            ("recentLoss", "zone = ?"), ("remoteRecord", "zone = ?"), ("assetReference", "zone = ?"),
            ("assetLeftover", "zone = ?"), ("refusedRecord", "zone = ?"), ("ownRefusal", "zone = ?"),
            ("unsyncedRecord", "zone = ?"),
        ] {
            let name = MetadataTables.prefix + table
            try db.execute(sql: "DELETE FROM \(name) WHERE \(condition)", arguments: [zone])
            try db.notifyIfChanged(name)
        }
    }
}

import GRDB
import SyncModel

/// What the engine's tables hold of records, and how it is removed: a table with a column for a record's name belongs here.
///
/// The rows in the tables of the types are not touched. What ``NewRecords`` and a ``WorkingSet`` take back of what they have
/// written themselves is not a trace.
enum RecordTraces {
    /// Forgets a record.
    ///
    /// That a peer has refused the record stays noted: the peer still holds something else.
    static func remove(_ db: Database, of name: RecordName) throws {
        for sql in [
            "DELETE FROM remoteRecord WHERE remoteRecordID = ?",
            "DELETE FROM heldReference WHERE recordName = ?",
            "DELETE FROM assetReference WHERE recordName = ?",
        ] {
            try db.cachedStatement(sql: sql).execute(arguments: [name.description])
        }
        try UnsyncedRecords.removeSize(db, name)
    }

    /// Forgets all records of a zone, and which files they have had.
    static func removeAll(_ db: Database, in zone: Int64) throws {
        for sql in [
            """
            DELETE FROM heldReference WHERE recordName IN (
                SELECT remoteRecordID FROM remoteRecord WHERE zone = ?)
            """,
            "DELETE FROM remoteRecord WHERE zone = ?",
            "DELETE FROM assetReference WHERE zone = ?",
            "DELETE FROM assetLeftover WHERE zone = ?",
            "DELETE FROM refusedRecord WHERE zone = ?",
            "DELETE FROM unsyncedRecord WHERE zone = ?",
        ] {
            try db.execute(sql: sql, arguments: [zone])
        }
    }
}

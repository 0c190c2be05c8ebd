import GRDB
import PeerSyncModel

/// The tables of the fuse: `grdb_sync_withheldRecord` and `grdb_sync_recentLoss`.
enum FuseTables {
    /// In the column `peer`: programs on this machine.
    static let here: Int64 = 0

    /// Stores of format 2 got these tables before the first release, so an opening makes them where they are missing.
    static let create = """
        -- What a person has to allow first. state: the state of a peer that this store has taken in and not merged, as in
        -- grdb_sync_remoteRecord, with all values. peer 0: what a program wrote here and this store does not send; its
        -- state has the fields that were written, without values, if another machine has the record as it was, and is NULL otherwise. since: milliseconds since 1970.
        CREATE TABLE IF NOT EXISTS grdb_sync_withheldRecord (
            recordName TEXT NOT NULL,
            peer INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            since INTEGER NOT NULL,
            state BLOB,
            PRIMARY KEY (recordName, peer)
        ) WITHOUT ROWID;

        -- The records that a peer, or programs here (peer 0), took away or overwrote lately. time: milliseconds since 1970.
        CREATE TABLE IF NOT EXISTS grdb_sync_recentLoss (
            recordName TEXT NOT NULL,
            zone INTEGER NOT NULL,
            peer INTEGER NOT NULL,
            time INTEGER NOT NULL,
            PRIMARY KEY (recordName, peer)
        ) WITHOUT ROWID;
        """

    /// Forgets a record.
    static func remove(_ db: Database, of name: RecordName) throws {
        for table in ["withheldRecord", "recentLoss"] {
            try db.executeCached("DELETE FROM grdb_sync_\(table) WHERE recordName = ?", [name.description])
        }
    }
}

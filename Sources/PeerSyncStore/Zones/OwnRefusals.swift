import GRDB
import PeerSyncModel

/// The table `grdb_sync_ownRefusal`: what this store has refused of peers. Mailboxes tell the peers.
enum OwnRefusals {
    /// Stores of format 2 got this table before the first release, so an opening makes it where it is missing.
    static let create = """
        -- The records of a peer that this store has not taken, so that it can tell the peer in a mailbox. reason: as in
        -- grdb_sync_refusedRecord, but not 1: rights tell that.
        CREATE TABLE IF NOT EXISTS grdb_sync_ownRefusal (
            peer INTEGER NOT NULL REFERENCES grdb_sync_peer (id) ON DELETE CASCADE,
            zone INTEGER NOT NULL,
            recordName TEXT NOT NULL,
            reason INTEGER NOT NULL,
            PRIMARY KEY (peer, zone, recordName)
        ) WITHOUT ROWID;
        """

    /// Notes what the store has refused of a peer's batch, and forgets what it has taken.
    ///
    /// It notes no deletion of a record that is in another zone here: neither side shows that record in the peer's zone.
    static func note(
        _ db: Database, _ states: [RecordState], refused: RefusedNames, peer: Int64, zone: Int64
    ) throws {
        if try isAny(db, peer: peer, zone: zone) {
            for state in states {
                try db.executeCached(
                    "DELETE FROM grdb_sync_ownRefusal WHERE peer = ? AND zone = ? AND recordName = ?",
                    [peer, zone, state.name.description])
            }
        }
        guard !refused.isEmpty else { return }
        let deleted = Set(states.filter(\.isDeleted).map(\.name))
        for (reason, names) in refused where reason != .readOnly {
            for name in names where reason != .otherZone || !deleted.contains(name) {
                try db.executeCached(
                    "INSERT OR REPLACE INTO grdb_sync_ownRefusal (peer, zone, recordName, reason) VALUES (?, ?, ?, ?)",
                    [peer, zone, name.description, reason.rawValue])
            }
        }
    }

    /// Mostly the store has refused nothing.
    private static func isAny(_ db: Database, peer: Int64, zone: Int64) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_ownRefusal WHERE peer = ? AND zone = ?)", [peer, zone])
    }

    /// Forgets what the store has refused of a peer, or of all: their records come again.
    static func forget(_ db: Database, of peer: Int64? = nil, in zone: Int64? = nil) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_ownRefusal WHERE (?1 IS NULL OR peer = ?1) AND (?2 IS NULL OR zone = ?2)",
            [peer, zone])
    }

    /// What the store has refused of a peer, by name.
    ///
    /// - Parameter limit: how many names it gives at most.
    /// - Returns: the names, and the number of further ones.
    static func all(
        _ db: Database, peer: Int64, zone: Int64, limit: Int
    ) throws -> (named: [(name: RecordName, reason: Int)], further: Int) {
        // What a third machine has brought into the zone meanwhile is refused no more.
        let still = """
            FROM grdb_sync_ownRefusal WHERE peer = ?1 AND zone = ?2 AND NOT (reason = ?3 AND EXISTS (
                SELECT 1 FROM grdb_sync_remoteRecord WHERE remoteRecordID = recordName AND zone = ?2))
            """
        let reason = Refusal.Reason.otherZone.rawValue
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT recordName, reason \(still) ORDER BY recordName LIMIT ?4"),
            arguments: [peer, zone, reason, limit])
        let count = try db.fetchCountCached("SELECT COUNT(*) \(still)", [peer, zone, reason])
        return (try rows.map { (try RecordName($0[0]), $0[1]) }, count - rows.count)
    }
}

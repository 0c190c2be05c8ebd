import GRDB
import PeerSyncModel

/// The table `grdb_sync_recentLoss`, of one zone, and either of all peers or of the programs on this machine.
struct RecentLosses {
    /// The time in milliseconds within which losses count together: an hour.
    static let window: Int64 = 3_600_000

    let db: Database
    let zone: Int64
    /// The source of new losses.
    let peer: Int64
    let now: Int64

    /// SQL for the losses that count together with those of ``peer``.
    private var condition: String {
        """
        zone = \(zone) AND peer \(peer == FuseTables.here ? "=" : "<>") \(FuseTables.here)
            AND time > \(now - Self.window)
        """
    }

    /// Returns how many records are gone or overwritten once these are.
    func count(with names: Set<RecordName>, isExactAbove limit: Int) throws -> Int {
        let count = try db.fetchCountCached(
            """
            SELECT COUNT(DISTINCT recordName) FROM grdb_sync_recentLoss
            WHERE zone = ?1 AND (peer = \(FuseTables.here)) = (?2 = \(FuseTables.here)) AND time > ?3
            """, [zone, peer, now - Self.window])
        guard count > 0, count + names.count > limit else { return count + names.count }
        let known = Set(
            try String.fetchAll(db, sql: "SELECT recordName FROM grdb_sync_recentLoss WHERE \(condition)"))
        return count + names.filter { !known.contains($0.description) }.count
    }

    /// Notes losses.
    func note(_ names: Set<RecordName>) throws {
        let statement = try db.statementToBind(
            """
            INSERT INTO grdb_sync_recentLoss (recordName, zone, peer, time) VALUES (?, ?, ?, ?)
            ON CONFLICT (recordName, peer) DO UPDATE SET zone = excluded.zone, time = excluded.time
            """)
        var bindings = Bindings()
        // In order, so that the rows of many come one after the other.
        for name in names.sorted() {
            bindings.begin()
            bindings.append(name.description)
            bindings.append(zone)
            bindings.append(peer)
            bindings.append(now)
            try bindings.execute(statement)
        }
    }

    /// The records that the source took away or overwrote within the time, by name.
    func names() throws -> [RecordName] {
        try RecordName.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT recordName FROM grdb_sync_recentLoss WHERE zone = ? AND peer = ? AND time > ?
                    ORDER BY recordName
                    """), arguments: [zone, peer, now - Self.window])
    }

    /// Begins to count anew.
    static func removeAll(_ db: Database, zone: Int64) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_recentLoss WHERE zone = ?", arguments: [zone])
    }

    /// Forgets what counts no more, but where something waits: whoever refuses it gets back what went before.
    static func purge(_ db: Database, now: Int64) throws {
        try db.execute(
            sql: """
                DELETE FROM grdb_sync_recentLoss
                WHERE time <= ? AND zone NOT IN (SELECT zone FROM grdb_sync_withheldRecord)
                """, arguments: [now - window])
    }
}

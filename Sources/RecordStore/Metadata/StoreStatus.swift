import GRDB
import SyncModel

/// What a store holds, in numbers.
public struct StoreStatus: Sendable {
    /// How many records each type's table has.
    public let records: [String: Int]
    /// How many deletions are remembered.
    public let tombstones: Int
    /// How many records nobody has deleted, but go with one that somebody has, and come back with it.
    public let hidden: Int
    /// How many records are kept aside because something they need is not here.
    public let held: Int
    /// How many changes wait for at least one paired machine, or have not been looked at by sync yet.
    public let pending: Int
    /// The digest of the default zone's live records.
    public let digest: ZoneDigest
    /// The default zone first.
    public let zones: [Zone]
    /// The records that peers have refused.
    public let refused: [RefusedRecord]
    /// The rows and records of this store that stay here; of very many the first ``maximumUnsyncedListed``.
    public let unsynced: [UnsyncedRecord]
    /// How many these are in all.
    public let unsyncedCount: Int
    /// Whether sync is switched on.
    public let isSyncOn: Bool
    public let peers: [Peer]
    /// How far the newest stamp lies in the future, in milliseconds; 0 when it does not.
    public let clockAhead: Int64

    /// The most entries of ``unsynced``.
    public static let maximumUnsyncedListed = 1000

    init(_ db: Database, schema: RecordSchema, now: Int64) throws {
        var records: [String: Int] = [:]
        for type in schema.types {
            records[type.name] =
                try Int.fetchOne(db.cachedStatement(sql: "SELECT COUNT(*) FROM \(type.name)")) ?? 0
        }
        self.records = records
        func count(_ status: RecordStatus) throws -> Int {
            let sql = "SELECT COUNT(*) FROM remoteRecord WHERE status = \(status.rawValue) AND status <> 0"
            return try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0
        }
        tombstones = try count(.deleted)
        hidden = try count(.hidden)
        held = try count(.held)
        digest = try Zones.digest(db, Zones.defaultID)
        zones = try Zones.all(db)
        refused = try RefusedRecords.all(db)
        unsynced = try UnsyncedRecords.all(db, limit: Self.maximumUnsyncedListed)
        unsyncedCount = try UnsyncedRecords.count(db)
        isSyncOn = try SyncSettings(db).isSyncOn
        peers = try PeerTable.all(db)
        clockAhead = max(0, try StoredClock.load(db).last.milliseconds - now)
        let journal = try Int.fetchOne(db, sql: "SELECT COUNT(DISTINCT recordName) FROM pendingChange") ?? 0
        pending = try journal + (peers.map { try PeerTable.behind(db, $0) }.max() ?? 0)
    }
}

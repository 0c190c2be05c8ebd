import GRDB
import PeerSyncModel

/// The content of a store, in numbers.
public struct StoreStatus: Sendable, Equatable {
    /// The number of records in each table, by its name.
    public let records: [String: Int]
    /// The number of deletions that the store remembers.
    public let tombstones: Int
    /// The number of records that nobody has deleted, but that are hidden with a deleted one, and come back with it.
    public let hidden: Int
    /// The number of held records: each waits for what ``heldRecords`` says.
    public let held: Int
    /// The held records by name, and what each waits for; at most ``maximumHeldListed`` of them.
    public let heldRecords: [RecordListEntry]
    /// The number of changes that at least one paired machine has not acknowledged, or that sync has not folded yet. Machines
    /// that others have introduced count when this one has met them.
    public let pending: Int
    /// The number of changes that each paired machine has not acknowledged, by its name.
    public let pendingByPeer: [String: Int]
    /// How it stands with each paired machine in each zone: by name of the machine, and the default zone first.
    public let peerZones: [PeerZoneStatus]
    /// The digest of the default zone's live records.
    public let digest: ZoneDigest
    /// All zones, the default zone first.
    public let zones: [Zone]
    /// The records that peers have refused.
    public let refused: [RefusedRecord]
    /// The rows and records that stay in this store, at most ``maximumUnsyncedListed`` of them.
    public let unsynced: [UnsyncedRecord]
    /// The number of all rows and records that stay in this store.
    public let unsyncedCount: Int
    /// What waits for a person, because it would take away much at once; the oldest first.
    public let alarms: [FuseAlarm]
    /// The name of the machine for whose default zone this store gave up its own, until all that it had has come; nil otherwise.
    public let awaitedCopy: String?
    /// Whether sync is switched on.
    public let isSyncOn: Bool
    /// The machines that this one is paired with, and how it stands with each.
    public let peers: [Peer]
    /// The distance of the newest stamp into the future, in milliseconds; 0 when it lies in the past.
    public let clockAhead: Int64

    /// The most entries of ``heldRecords``. ``StoreListing/held(_:type:in:limit:)`` lists all.
    public static let maximumHeldListed = 100
    /// The most entries of ``unsynced``.
    public static let maximumUnsyncedListed = 1000

    init(_ db: Database, _ store: RecordStore) throws {
        records = try Dictionary(
            uniqueKeysWithValues: store.tables.all.map { ($0.type.table, try $0.count(db)) })
        func count(_ status: RecordStatus) throws -> Int {
            try db.fetchCountCached(
                "SELECT COUNT(*) FROM grdb_sync_remoteRecord WHERE status = \(status.rawValue) AND status <> 0"
            )
        }
        tombstones = try count(.deleted)
        hidden = try count(.hidden)
        held = try count(.held)
        heldRecords = held == 0 ? [] : try store.listing.held(db, limit: Self.maximumHeldListed)
        digest = try Zones.digest(db, Zones.defaultID)
        refused = try RefusedRecords.all(db)
        unsynced = try UnsyncedRecords.all(db, limit: Self.maximumUnsyncedListed, in: store.tables)
        unsyncedCount = try UnsyncedRecords.count(db)
        alarms = try store.fuse.alarms(db)
        awaitedCopy = try AwaitedCopy.machine(db)
        isSyncOn = try SyncSettings(db).isSyncOn
        zones = try Zones.all(db)
        peers = try PeerTable.all(db)
        clockAhead = max(0, try StoredClock.load(db).last.milliseconds - store.now())
        let journaled = "SELECT DISTINCT recordType, recordName FROM grdb_sync_pendingChange"
        let journal = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM (\(journaled))") ?? 0
        peerZones = try peers.flatMap { try PeerTable.zones(db, $0) }
        let pendingByPeer = Dictionary(grouping: peerZones, by: \.peer).mapValues {
            $0.reduce(0) { $0 + $1.pending }
        }
        self.pendingByPeer = pendingByPeer
        let awaited = peers.filter(\.awaitsChanges).compactMap { pendingByPeer[$0.name] }
        pending = journal + (awaited.max() ?? 0)
    }
}

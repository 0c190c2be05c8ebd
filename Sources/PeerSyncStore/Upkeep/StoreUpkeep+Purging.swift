import GRDB
import PeerSyncModel

/// Forgets old deletions.
extension StoreUpkeep {
    private static let purgeInterval: Int64 = 86_400_000

    /// Forgets the deletions that every paired machine has acknowledged and that are older than the retention time.
    /// Part of the open transaction.
    ///
    /// Each record that such a deletion has hidden gets a deletion of its own with the same stamp, which the store
    /// later forgets like any other. So nobody can restore it any more.
    ///
    /// A machine may come later with an older token, because somebody restored its store from a backup or its pairing
    /// had ended. The store refuses it with `changeTokenExpired`: it may hold records whose deletion nobody remembers.
    ///
    /// - Parameters:
    ///   - db: the connection of the open transaction.
    ///   - retention: the retention time in milliseconds.
    /// - Returns: the number of forgotten deletions.
    @discardableResult
    public func purge(_ db: Database, retention: Int64 = Self.defaultRetention) throws -> Int {
        _ = try store.fold(db)
        let limit = store.now() - retention
        var count = 0
        for zone in try Int64.fetchAll(db, sql: "SELECT id FROM grdb_sync_recordZone") {
            let acknowledged = try Self.acknowledgedByAll(db, zone: zone)
            let outOfSight = try OutOfSight(db, store.tables, zone: zone)
            let sent = try WithheldRecords.Sent(db, zone: zone)
            let due = outOfSight.deleted.filter { record in
                guard let original = record.original, let deletion = record.state.deletion else {
                    return false
                }
                // A peer acknowledges past a deletion that this store does not send, and still has the record.
                return deletion.time.milliseconds <= limit && original.changeSequence <= acknowledged
                    && sent.contains(record.name)
            }
            for record in due {
                for name in try outOfSight.below(record) {
                    guard let hidden = outOfSight.set.loaded(name), hidden.placement == .hidden else {
                        continue
                    }
                    // A record below one that was deleted for ever may be newer than that deletion.
                    let deletion = latest(
                        latest(record.state.deletion, hidden.state.life), hidden.state.deletion)
                    hidden.state = RecordState(
                        name: name, deletion: deletion, revival: hidden.state.revival,
                        erasure: hidden.state.erasure)
                }
            }
            _ = try outOfSight.set.save(generation: store.generation)
            var last: Int64 = 0
            for record in due {
                try RecordTraces.remove(db, of: record.name)
                last = max(last, record.original?.changeSequence ?? 0)
                count += 1
            }
            try Zones.raisePurgedSequence(db, zone, to: last)
        }
        if count > 0 { try db.notifyRecords() }
        return count
    }

    /// Purges once a day, and removes the files that no record needs.
    ///
    /// Where the clock says that the last time was long ago, or is yet to come, it only notes the time, and waits another day: a clock that is
    /// wrong for some hours must not take what is kept for half a year.
    package func purgeIfDue() async throws {
        let last = try await store.database.read { try SyncState.integer($0, .lastPurge) }
        let passed = last.map { store.now() - $0 }
        guard passed.map({ $0 >= Self.purgeInterval || $0 < 0 }) ?? true else { return }
        if let passed, passed < 0 || passed > Self.defaultRetention / 2 {
            return try await store.database.write { try SyncState.set($0, .lastPurge, store.now()) }
        }
        try await store.database.write { [self] db in
            try purge(db)
            try HistoryTable.purge(db, before: store.now() - Self.defaultRetention)
            try RecentLosses.purge(db, now: store.now())
            try SyncState.set(db, .lastPurge, store.now())
        }
        try await store.assets.removeUnreferred()
    }

    /// The number up to which every paired machine has acknowledged the changes of a zone. One without rights counts if it has
    /// acknowledged any before: it holds records, and may get its rights back.
    static func acknowledgedByAll(_ db: Database, zone: Int64) throws -> Int64 {
        let least = try Int64.fetchOne(
            db,
            sql: """
                SELECT MIN(COALESCE(acknowledgedSequence, 0))
                FROM grdb_sync_peer LEFT JOIN grdb_sync_peerZone ON peer = id AND zone = ?1
                WHERE \(Zones.rights("rights", in: "?1")) > 0 OR acknowledgedSequence > 0
                """, arguments: [zone])
        return try least ?? SyncState.integer(db, .lastSequence) ?? 0
    }
}

import GRDB
import SyncModel

extension RecordStore {
    /// Merges states that carry their own stamps, as an import has them. Part of the transaction that is open; all
    /// or nothing.
    ///
    /// - Parameter zone: where records go that are new; the default zone if none is given.
    /// - Throws: `otherZone` when one of the records is in another zone; `invalidRecord` when one is larger than
    ///   ``maximumRecordSize``.
    public func merge(_ db: Database, _ states: [RecordState], zone: Zone? = nil) throws -> StoreChanges {
        let zoneID = zone?.row ?? Zones.defaultID
        var changes = StoreChanges()
        try db.inSavepoint {
            _ = try fold(db)
            var refused = RefusedNames()
            changes = try merge(db, states, zoneID: zoneID, from: nil, refused: &refused)
            if let name = refused[.tooLarge]?.first {
                throw RecordStoreError(
                    .invalidRecord,
                    "\(name) is too large to be synced: at most 8 MiB and 1024 fields are allowed")
            }
            if let name = refused[.otherZone]?.first {
                throw RecordStoreError(
                    .otherZone,
                    "\(name) is in another zone of this store already; a record is in one zone only")
            }
            return .commit
        }
        return changes
    }

    /// Merges states, after what is pending was folded.
    ///
    /// - Parameters:
    ///   - isLoose: a reconciliation has found that we lack these states, so the peer lacks ours.
    ///   - refused: gets the records that are left out: those that are too large, and those that are in another zone here,
    ///     because whoever may write in one zone has no say in another.
    ///   - hashes: those of the states, in the same order, if somebody has computed them.
    ///   - writer: of simply new records, if there is one in this transaction.
    func merge(
        _ db: Database, _ states: [RecordState], hashes: [RecordHashes]? = nil, zoneID: Int64,
        from peer: Int64?, isLoose: Bool = false, refused: inout RefusedNames,
        with writer: NewRecords? = nil
    ) throws -> StoreChanges {
        var clock = try StoredClock.load(db)
        var numbering = try ChangeNumbering(db)
        var changes = StoreChanges()
        let new = try writer ?? NewRecords(db, tables, zone: zoneID, peer: peer)
        var others: [RecordState] = []
        try CaptureTriggers.paused(db) {
            for (index, state) in states.enumerated() {
                if state.isTooLarge {
                    refused[.tooLarge, default: []].append(state.name)
                } else if try new.insert(state, hashes: hashes?[index], &numbering) {
                    if let newest = state.newestWrite { clock.observe(newest.time) }
                } else {
                    others.append(state)
                }
            }
        }
        changes.changed = numbering.count
        let arrival = Arrival(zoneID: zoneID, peer: peer, isLoose: isLoose)
        changes += try merge(db, others, arrival, &clock, &numbering, &refused)
        if !others.isEmpty { new.forget() }
        try StoredClock.save(db, clock)
        try numbering.save(db, generation: generation)
        return changes
    }

    /// Whence states come.
    private struct Arrival {
        let zoneID: Int64
        let peer: Int64?
        let isLoose: Bool
    }

    /// Merges states that are not simply new.
    private func merge(
        _ db: Database, _ states: [RecordState], _ arrival: Arrival, _ clock: inout HybridLogicalClock,
        _ numbering: inout ChangeNumbering, _ refused: inout RefusedNames
    ) throws -> StoreChanges {
        let set = try WorkingSet(db, tables)
        let (zoneID, peer) = (arrival.zoneID, arrival.peer)
        let acknowledged =
            try peer.map { try PeerTable.progress(db, peer: $0, zone: zoneID).acknowledgedSequence } ?? 0
        for state in states {
            let record = try set.record(state.name, newIn: zoneID)
            guard record.zone == zoneID else {
                refused[.otherZone, default: []].append(state.name)
                continue
            }
            var merged = record.state
            let isNews = merged.merge(state)
            guard !isNews || merged.isKept else {
                refused[.tooLarge, default: []].append(state.name)
                continue
            }
            record.state = merged
            // Some peers may send a deletion with the fields that it has ended; that is no difference.
            let received = state.transferred
            if let peer, let original = record.original, !isNews, received != record.state.transferred {
                record.isAnswer =
                    arrival.isLoose || original.changeSequence <= acknowledged || original.sourcePeer == peer
            }
            record.sourcePeer = peer
            record.receivedState = received
            if let newest = state.newestStamp { clock.observe(newest.time) }
        }
        guard !set.order.isEmpty else { return StoreChanges() }
        return try set.save(&numbering)
    }
}

extension RecordState {
    /// Whether a store keeps what a record has come to by merging.
    fileprivate var isKept: Bool {
        fields.count <= Self.maximumFieldCount && size <= Self.maximumMergedSize
    }
}

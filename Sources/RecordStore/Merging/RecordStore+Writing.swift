import GRDB
import MergeRules
import SyncModel

/// What people and programs write as records: they merge states, delete records, and bring them back.
extension RecordStore {
    // MARK: Merging

    /// Merges states that carry their own stamps, as an import has them. Part of the transaction that is open; all
    /// or nothing.
    ///
    /// - Parameter zone: where records go that are new.
    /// - Throws: `otherZone` when one of the records is in another zone; `invalidRecord` when one is larger than
    ///   ``maximumRecordSize``.
    public func merge(
        _ db: Database, _ states: [RecordState], zone: ZoneTarget = .default
    ) throws -> StoreChanges {
        var changes = StoreChanges()
        try db.inSavepoint {
            _ = try fold(db)
            var refused = RefusedNames()
            changes = try merge(db, states, zoneID: zone.row, from: nil, refused: &refused)
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

    /// Writes the fields of some records as if somebody had written them here just now, all under one new stamp. This brings
    /// back records that are deleted or hidden. Part of the transaction that is open.
    ///
    /// - Parameter zone: where records go that are new.
    /// - Throws: what ``merge(_:_:zone:)`` throws.
    @discardableResult
    public func writeAnew(
        _ db: Database, _ states: [RecordState], zone: ZoneTarget = .default
    ) throws -> StoreChanges {
        // What other programs wrote before gets an older stamp.
        _ = try fold(db)
        let stamp = try clock.newStamp(db)
        let written = states.map { state in
            RecordState(
                name: state.name,
                fields: state.fields.map { RecordField(name: $0.name, value: $0.value, stamp: stamp) })
        }
        return try merge(db, written, zone: zone)
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

    // MARK: Deleting

    /// Deletes a record, and with it what goes by the delete rules. Part of the transaction that is open.
    ///
    /// ``restore(_:_:)`` brings all of it back, until the retention time is over.
    ///
    /// - Returns: what was done, in order; the record itself comes last.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func delete(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        var steps: [DeletionStep] = []
        try db.inSavepoint {
            _ = try fold(db)
            steps = try deletionSteps(db, name)
            try change(db, [name]) { state, stamp in state.raise(\.deletion, to: stamp) }
            return .commit
        }
        return steps
    }

    /// What ``delete(_:_:)`` would do, in order, without doing it.
    public func deletionSteps(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        try DeletionPlan(tables: tables).steps(db, deleting: name)
    }

    /// Deletes a record, and what goes with it, for ever: every machine that hears of it forgets at once what was written. A
    /// record that is deleted, hidden or held can be named, too; and what was deleted below the record before goes with it.
    /// Part of the transaction that is open.
    ///
    /// - Returns: the names of the records.
    /// - Throws: `noSuchRecord`; `deletionDenied` with the names of the records in the way.
    @discardableResult
    public func deleteForever(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        var names: [RecordName] = []
        try db.inSavepoint {
            _ = try fold(db)
            let set = try WorkingSet(db, tables)
            // Who is shown may be in the way of those that deny it.
            if try set.hasRow(name) || set.known(name) == nil { _ = try deletionSteps(db, name) }
            var rules = try RuleApplication(set)
            names = try rules.below(name)
            try change(db, names) { state, stamp in state.erase(at: stamp) }
            return .commit
        }
        return names
    }

    /// Brings a deleted record back, with everything that had gone only because of its deletion, and with the deleted
    /// records that it needs. Part of the transaction that is open.
    ///
    /// - Returns: the records that are shown again, by name.
    /// - Throws: `noSuchRecord` when nothing is known of the record; `notDeleted`.
    @discardableResult
    public func restore(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        var shown: [RecordName] = []
        try db.inSavepoint {
            _ = try fold(db)
            guard let record = try WorkingSet(db, tables).known(name), !record.state.fields.isEmpty else {
                throw RecordStoreError(.noSuchRecord, "nothing is known here of a record \(name)")
            }
            guard record.original.map({ [.deleted, .hidden].contains($0.status) }) == true else {
                throw RecordStoreError(.notDeleted, "\(name) is not deleted")
            }
            let changed = try change(db, [name]) { state, stamp in state.raise(\.revival, to: stamp) }
            shown = changed.filter { record in
                record.placement == .inTable && record.original?.status != .inTable
            }.map(\.name).sorted()
            return .commit
        }
        return shown
    }

    /// Changes the states of some records, under one new stamp.
    ///
    /// - Returns: these records, and those that came or went with them.
    @discardableResult
    private func change(
        _ db: Database, _ names: [RecordName], _ body: (inout RecordState, Stamp) -> Void
    ) throws -> [WorkingRecord] {
        let set = try WorkingSet(db, tables)
        let stamp = try clock.newStamp(db)
        for name in names { try body(&set.record(name, newIn: Zones.defaultID).state, stamp) }
        _ = try set.save(generation: generation)
        return set.order
    }

    /// Forgets records, and nobody else hears of it. The rules then see them as unknown: what needs one of them is held, and a
    /// reference with the rule nullify is empty in its row. Part of the transaction that is open.
    func forget(_ db: Database, _ names: [RecordName]) throws {
        let set = try WorkingSet(db, tables)
        for name in names { try set.known(name)?.forget() }
        _ = try set.save(generation: generation)
    }
}

extension RecordState {
    /// Whether a store keeps what a record has come to by merging.
    fileprivate var isKept: Bool {
        fields.count <= Self.maximumFieldCount && size <= Self.maximumMergedSize
    }
}

import GRDB
import PeerSyncModel

/// Holds back what would take away much of a zone within a short time, until a person allows it.
///
/// A state *takes something away* if the record is in its table here, and merging the state would delete it, or replace or
/// remove a value that is not NULL. Everything else is merged as ever. See ``StoreFuse``.
struct Fuse {
    private let db: Database
    private let zone: Int64
    private let peer: Int64
    private let now: Int64
    private let setting: FuseSetting?
    private let shapes: ShapeTable
    private let isAnyWithheld: Bool

    /// - Parameter peer: the source; ``FuseTables/here`` for programs on this machine.
    /// - Returns: nil if the fuse is off and nothing waits.
    init?(_ db: Database, _ store: RecordStore, zone: Int64, peer: Int64, _ shapes: ShapeTable) throws {
        setting = try store.fuse.setting(db)
        isAnyWithheld = try WithheldRecords.isAny(db)
        guard setting != nil || isAnyWithheld else { return nil }
        self.db = db
        self.zone = zone
        self.peer = peer
        self.shapes = shapes
        now = store.now()
    }

    private var losses: RecentLosses { RecentLosses(db: db, zone: zone, peer: peer, now: now) }

    /// Whether this many more records may not go unasked.
    private func isTripped(by names: Set<RecordName>) throws -> Bool {
        if try WithheldRecords.isAny(db, peer: peer, zone: zone) { return true }
        guard let setting else { return false }
        let limit = setting.limit(of: try Zones.digest(db, zone).count)
        return try losses.count(with: names, isExactAbove: limit) > limit
    }

    // MARK: What peers send

    /// Sorts out the states that wait for a person, and keeps them.
    ///
    /// - Parameters:
    ///   - states: states of the peer.
    ///   - set: the working set that they are to be merged in, before the first of them is.
    /// - Returns: the states to merge, and the newest stamp of those that wait.
    func sift(_ states: [RecordState], in set: WorkingSet) throws -> (merged: [RecordState], newest: Stamp?) {
        var taking: [Int] = []
        var passedOn: [Int] = []
        var names: Set<RecordName> = []
        // Most batches delete nothing.
        var rules: RuleApplication?
        for (index, state) in states.enumerated() {
            guard let record = try set.known(state.name), record.zone == zone,
                record.loses(to: state)
            else { continue }
            taking.append(index)
            var merged = record.state
            merged.merge(state)
            guard try !isWaiting(merged, instead: record.state) else {
                passedOn.append(index)
                continue
            }
            names.insert(state.name)
            guard merged.isDeleted else { continue }
            if rules == nil { rules = try RuleApplication(set) }
            for below in try rules!.below(state.name)
            where try set.known(below)?.original?.status == .inTable { names.insert(below) }
        }
        if try taking.isEmpty || !isTripped(by: names) {
            if !names.isEmpty, setting != nil { try losses.note(names) }
            taking = passedOn
        }
        var newest: Stamp?
        for index in taking {
            try WithheldRecords.insert(db, states[index], shapes, peer: peer, zone: zone, now: now)
            newest = latest(newest, states[index].newestStamp)
        }
        let waiting = Set(taking)
        let merged = states.indices.filter { !waiting.contains($0) }.map { states[$0] }
        try release(merged, in: set)
        return (merged, newest)
    }

    /// Whether another peer has sent what a state takes away, and it waits: then this peer only passes it on, and the question stays
    /// the same, however late and in however small parts it comes.
    private func isWaiting(_ merged: RecordState, instead present: RecordState) throws -> Bool {
        guard isAnyWithheld else { return false }
        return try WithheldRecords.entries(db, shapes, of: merged.name).contains { entry in
            guard entry.peer != peer else { return false }
            if let deletion = merged.deletion, merged.isDeleted {
                return entry.state.deletion.map { $0 >= deletion } ?? false
            }
            return present.losses(by: merged).contains { lost in
                guard let won = merged.field(lost.name)?.stamp,
                    let waiting = entry.state.field(lost.name)?.stamp
                else { return false }
                return waiting >= won
            }
        }
    }

    /// Merges the states that wait, of records of which new states come, if they would take nothing away after these: somebody
    /// has written since.
    private func release(_ states: [RecordState], in set: WorkingSet) throws {
        guard isAnyWithheld else { return }
        for state in states {
            let waiting = try WithheldRecords.entries(db, shapes, of: state.name)
            guard !waiting.isEmpty, let record = try set.known(state.name), record.zone == zone else {
                continue
            }
            var next = record.state
            next.merge(state)
            let isShown = record.original?.status == .inTable && !next.isDeleted
            let all = waiting.reduce(into: next) { $0.merge($1.state) }
            guard !isShown || !next.loses(by: all) else { continue }
            for entry in waiting { record.state.merge(entry.state) }
            try WithheldRecords.removeStates(db, of: state.name)
        }
    }

    // MARK: What programs write here

    /// Judges what a fold has taken in, in each zone.
    static func judge(_ db: Database, _ store: RecordStore, _ records: [WorkingRecord]) throws {
        for zone in Set(records.map(\.zone)).sorted() {
            guard let fuse = try Fuse(db, store, zone: zone, peer: FuseTables.here, ShapeTable(db)),
                try db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM grdb_sync_peer)")
            else { continue }
            try fuse.judge(records)
        }
    }

    /// Keeps from being sent what programs took away or overwrote, if it is too much.
    ///
    /// - Parameter records: the records of a fold that are saved.
    func judge(_ records: [WorkingRecord]) throws {
        let lost = records.filter { $0.zone == zone && $0.hasLost }
        guard !lost.isEmpty else { return }
        let names = Set(lost.map(\.name))
        guard try isTripped(by: names) else { return try losses.note(names) }
        for record in lost {
            try WithheldRecords.insert(
                db, unsent: RecordState(name: record.name, fields: record.writes), shapes,
                isElsewhere: isElsewhere(record), zone: zone, now: now)
        }
    }

    /// Whether a peer has the record as it was before this transaction.
    private func isElsewhere(_ record: WorkingRecord) throws -> Bool {
        guard let original = record.original else { return false }
        if original.sourcePeer != nil { return true }
        // A peer acknowledges what it refuses, and does not have it.
        return try db.fetchBoolCached(
            """
            SELECT EXISTS (
                SELECT 1 FROM grdb_sync_peerZone AS known JOIN grdb_sync_peer ON id = peer
                WHERE known.zone = ?1 AND acknowledgedSequence >= ?2 AND NOT EXISTS (
                    SELECT 1 FROM grdb_sync_refusedRecord AS refused
                    WHERE refused.peer = known.peer AND refused.zone = ?1 AND recordName = ?3))
            """, [zone, original.changeSequence, record.name.description])
    }
}

extension RecordState {
    /// Whether the record is deleted in a later state, or lacks a value that nobody has refused.
    fileprivate func loses(by later: RecordState) -> Bool {
        later.isDeleted || !losses(by: later).isEmpty
    }

    /// The values, none of which a person has refused, that a later state replaces or removes.
    fileprivate func losses(by later: RecordState) -> some Collection<RecordField> {
        let isAligned = hasSameNames(as: later.fields)
        return fields.indices.lazy.filter { index in
            let field = fields[index]
            guard field.value != .null, !RefusedTime.contains(field.stamp.time) else { return false }
            return (isAligned ? later.fields[index] : later.field(field.name))?.value != field.value
        }.map { fields[$0] }
    }
}

extension WorkingRecord {
    /// Whether merging a state would take something away that is shown.
    fileprivate func loses(to state: RecordState) -> Bool {
        guard original?.status == .inTable else { return false }
        var merged = self.state
        return merged.merge(state) && self.state.loses(by: merged)
    }

    /// The fields that the transaction has written, without their values.
    fileprivate var writes: [RecordField] {
        state.fields.compactMap { field in
            guard field.stamp != original?.state.field(field.name)?.stamp else { return nil }
            return RecordField(name: field.name, value: .null, stamp: field.stamp)
        }
    }

    /// Whether a fold took the record's row away, or found other values in it.
    fileprivate var hasLost: Bool {
        guard let original, original.status == .inTable else { return false }
        guard placement == .inTable else { return true }
        // The store has read the values of the row, which a program has changed; only the stamps tell which.
        let isAligned = state.hasSameNames(as: original.state.fields)
        var isAnyWritten = false
        var former = original.state.fields
        for (index, field) in former.enumerated() {
            let now = isAligned ? state.fields[index] : state.field(field.name)
            guard now?.stamp != field.stamp else { continue }
            isAnyWritten = true
            former[index].value = .null
        }
        guard isAnyWritten else { return false }
        // Whoever fills fields that were empty takes nothing away.
        return RecordID.valueHash(of: former) != original.valueHash
    }
}

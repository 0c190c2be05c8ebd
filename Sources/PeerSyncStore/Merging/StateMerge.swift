import GRDB
import PeerSyncModel

/// Merges states into a store, in one transaction, after a fold.
struct StateMerge {
    /// The origin and the destination of states.
    struct Arrival {
        let zone: Int64
        /// The peer that sent the states; nil for an import.
        var peer: Int64?
        /// Whether a reconciliation brought the states: we lacked them, so the peer lacks ours.
        var isLoose = false
        /// Whether the fuse has nothing to say.
        var isAllowed = false
        /// The stamp of the states, if they are what somebody writes here now.
        var writeStamp: Stamp?
    }

    private let db: Database
    private let store: RecordStore
    private let arrival: Arrival
    private let writer: RecordWriter
    private var history: HistoryTable.Writer?
    private var clock: HybridLogicalClock
    private var numbering: ChangeNumbering
    /// The records that it left out: too large ones, and those that are in another zone here. The right to write in one
    /// zone gives no right in another.
    private(set) var refused = RefusedNames()
    /// What the states changed in the tables.
    private(set) var arrived = ArrivedChanges()
    /// How many states wait for a person.
    private(set) var withheldCount = 0

    /// - Parameter writer: the transaction's writer, if it has one.
    init(_ db: Database, _ store: RecordStore, _ arrival: Arrival, with writer: RecordWriter? = nil) throws {
        self.db = db
        self.store = store
        self.arrival = arrival
        self.writer = writer ?? RecordWriter(db, store.tables)
        if arrival.peer != nil { history = HistoryTable.Writer(db, store) }
        clock = try StoredClock.load(db)
        numbering = try ChangeNumbering(db)
    }

    /// Merges all states. Call it once.
    ///
    /// - Parameter hashes: the hashes of the states, in the same order, if the caller has computed them.
    mutating func run(_ states: [RecordState], hashes: [RecordHashes]? = nil) throws -> StoreChanges {
        var others: [RecordState] = []
        var added: [RecordName] = []
        // New and known records rarely come mixed.
        var wasKnown = false
        try CaptureTriggers.paused(db) {
            for (index, state) in states.enumerated() {
                if state.isTooLarge {
                    refused[.tooLarge, default: []].append(state.name)
                } else if try !(wasKnown && writer.isKnown(state.name))
                    && writer.insertIfNew(
                        state, hashes: hashes?[index], zone: arrival.zone, peer: arrival.peer, &numbering)
                {
                    wasKnown = false
                    if let newest = state.newestWrite { clock.observe(newest.time) }
                    added.append(state.name)
                } else {
                    wasKnown = true
                    others.append(state)
                }
            }
        }
        arrived.note(added: added)
        var changes = StoreChanges()
        changes.changed = numbering.count
        changes += try merge(others)
        try StoredClock.save(db, clock)
        try numbering.save(db, generation: store.generation)
        return changes
    }

    /// Merges states that are not simply new.
    private mutating func merge(_ states: [RecordState]) throws -> StoreChanges {
        let set = WorkingSet(writer, writeStamp: arrival.writeStamp)
        let peer = arrival.peer
        let acknowledged =
            try peer.map { try PeerTable.progress(db, peer: $0, zone: arrival.zone).acknowledgedSequence }
            ?? 0
        for state in try sifted(states, set) {
            let record = try set.record(state.name, newIn: arrival.zone)
            guard record.zone == arrival.zone else {
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
            // Some peers may send a deletion together with the fields that it has ended; that is no difference.
            let received = state.transferred
            if let peer, let original = record.original, !isNews, received != record.state.transferred {
                let isBehind =
                    arrival.isLoose || original.changeSequence <= acknowledged || original.sourcePeer == peer
                record.treatment = isBehind ? .sendAgain : .none
            }
            // A peer may have forgotten meanwhile what waited here.
            record.sourcePeer = arrival.isAllowed ? nil : peer
            record.receivedState = received
            if let newest = state.newestStamp { clock.observe(newest.time) }
        }
        guard !set.order.isEmpty else { return StoreChanges() }
        let changes = try set.save(&numbering)
        for record in set.order {
            arrived.note(record)
            history?.note(record)
        }
        try history?.save()
        return changes
    }

    /// The states without those that wait for a person.
    private mutating func sifted(_ states: [RecordState], _ set: WorkingSet) throws -> [RecordState] {
        guard !arrival.isAllowed, let peer = arrival.peer, !states.isEmpty,
            let fuse = try Fuse(db, store, zone: arrival.zone, peer: peer, writer.shapes)
        else { return states }
        let (merged, newest) = try fuse.sift(states, in: set)
        withheldCount += states.count - merged.count
        // Whoever refuses them writes values that have to be newer.
        if let newest { clock.observe(newest.time) }
        return merged
    }
}

extension RecordState {
    /// Whether the store keeps the merged state.
    fileprivate var isKept: Bool {
        fields.count <= Self.maximumFieldCount && size <= Self.maximumMergedSize
    }
}

import SyncModel

/// Applies the rules that connect records: first deletions go down the references until nothing changes any more,
/// then what is left alive brings back what it needs. Which tables show the result is for ``Placement``.
///
/// Within each of the two phases a rule only raises a stamp, or makes a reference null under the stamp it has, and no
/// revival changes what the deletions do. So the order in which records are looked at does not matter, and replicas
/// that hold the same states settle them alike. Protocol/ "Merge rules" is the normative text.
struct Settlement {
    private let working: WorkingSet
    /// Records whose fate is new, and those that refer to them do not know it yet. The newest deletion goes down first: so
    /// it need not go where an older one has been before, which in a long chain would take for ever.
    private var spreading = MaxHeap<WorkingRecord, Stamp>()
    private var queue: [WorkingRecord] = []
    private var queued: Set<RecordName> = []
    /// The records of the set that refer to a name, as far as they have been looked at.
    private var referrers: [RecordName: Set<RecordName>] = [:]
    private let hasHeldRecords: Bool
    /// The peer whose stream is still under way: what a deletion would do is left for its end.
    private let unfinishedPeer: Int64?

    private var schema: RecordSchema { working.tables.schema }

    /// - Parameter unfinishedPeer: the peer whose stream the set is a part of, unless it is the last part. A record
    ///   that was moved away from its parent may come after the parent's deletion in a stream; settling before the
    ///   stream has ended would take it along.
    init(_ set: WorkingSet, unfinishedPeer: Int64? = nil) throws {
        working = set
        self.unfinishedPeer = unfinishedPeer
        hasHeldRecords = try WorkingSet.hasHeldRecords(set.db)
    }

    /// Settles the records of the set, and loads and settles whatever they touch.
    mutating func run() throws {
        // What comes into the set meanwhile is looked at when it does.
        for record in working.order { try takeDeletions(record) }
        while let (record, _) = spreading.popMax() { try spreadFate(of: record) }
        guard unfinishedPeer == nil else { return }
        for record in working.order { enqueue(record) }
        try drain()
    }

    private mutating func enqueue(_ record: WorkingRecord) {
        guard queued.insert(record.name).inserted else { return }
        queue.append(record)
    }

    /// Works on the queue in order of arrival; `queued` keeps a record from standing in it twice.
    private mutating func drain() throws {
        var head = 0
        while head < queue.count {
            let record = queue[head]
            head += 1
            queued.remove(record.name)
            try reviveParents(of: record)
        }
        queue.removeAll()
    }

    /// The references of a record that lead to one that was deleted at some time.
    private mutating func deletedParents(of record: WorkingRecord) throws -> [DeletedParent] {
        var parents: [DeletedParent] = []
        for relationship in schema.type(record.name.recordType)?.references ?? [] {
            guard let field = record.state.field(relationship.field),
                case .reference(let target) = field.value,
                target.recordType == relationship.target
            else { continue }
            referrers[target, default: []].insert(record.name)
            guard try !working.isSound(target, in: record.zone) else { continue }
            // Who may write in one zone deletes nothing, and brings nothing back, in another.
            guard let parent = try working.known(target), parent.zone == record.zone,
                let deletion = parent.state.deletion
            else { continue }
            parents.append(
                DeletedParent(rule: relationship.rule, field: field, record: parent, deletion: deletion))
        }
        return parents
    }

    private struct DeletedParent {
        let rule: DeleteRule
        let field: RecordField
        let record: WorkingRecord
        let deletion: Stamp
    }

    // MARK: Deletions

    /// Does to a record what the deletions of those do that it refers to.
    private mutating func takeDeletions(_ record: WorkingRecord) throws {
        for parent in try deletedParents(of: record) {
            if let unfinishedPeer {
                try Unsettled.insert(working.db, record.name, from: unfinishedPeer)
                continue
            }
            switch parent.rule {
            case .cascade, .deny:
                record.state.raise(\.deletion, to: parent.deletion)
            case .nullify where parent.field.stamp <= parent.deletion:
                // Under the stamp that it has: nobody wrote it, so it must not keep a record alive. Whether the parent
                // lives again does not matter: the deletion would have to be undone in every order.
                record.state.write(
                    RecordField(name: parent.field.name, value: .null, stamp: parent.field.stamp))
            case .nullify:
                break
            }
        }
        guard WorkingRecord.Fate(record.state) != record.announced else { return }
        spreading.insert(record, record.state.deletion ?? .least)
    }

    /// Lets the records that refer to this one know of its fate, along the relationships in their priority order.
    private mutating func spreadFate(of record: WorkingRecord) throws {
        let fate = WorkingRecord.Fate(record.state)
        guard fate != record.announced else { return }
        record.announced = fate
        if let unfinishedPeer {
            return try Unsettled.insert(working.db, record.name, from: unfinishedPeer)
        }
        for name in (referrers[record.name] ?? []).sorted() {
            if let referrer = working.loaded(name) { try takeDeletions(referrer) }
        }
        for referrer in try working.referrers(of: record, includingHeld: hasHeldRecords) {
            try takeDeletions(referrer)
        }
    }

    // MARK: Revivals

    private mutating func reviveParents(of record: WorkingRecord) throws {
        guard !record.state.isDeleted, let life = record.state.life else { return }
        for parent in try deletedParents(of: record) where parent.record.state.isDeleted {
            let stamp = parent.rule == .nullify ? parent.field.stamp : life
            guard parent.record.state.raise(\.revival, to: stamp) else { continue }
            enqueue(parent.record)
        }
    }
}

extension Stamp {
    /// Below every stamp that is one.
    fileprivate static let least = Stamp(time: HybridTime(rawValue: 0), replica: ReplicaID(rawValue: 0))
}

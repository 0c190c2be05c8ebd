import SyncModel

/// Applies the rules that connect records, until nothing changes any more: deletions go down the references, and
/// newer children bring their parents back. Which tables show the result is for ``Placement``.
///
/// Each rule only raises a stamp, or makes a reference null under the stamp it has. So the order in which records
/// are looked at does not matter, and replicas that hold the same states settle them alike.
/// Protocol/ "Merge rules" is the normative text.
struct Settlement {
    private let working: WorkingSet
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
        hasHeldRecords =
            try Bool.fetchOne(set.db, sql: "SELECT EXISTS (SELECT 1 FROM heldReference)") ?? false
    }

    /// Settles the records of the set, and loads and settles whatever they touch.
    mutating func run() throws {
        for record in working.order { enqueue(record) }
        // In order of arrival; `queued` keeps a record from standing in it twice.
        var head = 0
        while head < queue.count {
            let record = queue[head]
            head += 1
            queued.remove(record.name)
            try settle(record)
        }
    }

    private mutating func enqueue(_ record: WorkingRecord) {
        guard queued.insert(record.name).inserted else { return }
        queue.append(record)
    }

    private mutating func settle(_ record: WorkingRecord) throws {
        for relationship in schema.type(record.name.recordType)?.references ?? [] {
            try follow(relationship, of: record)
        }
        let fate = WorkingRecord.Fate(record.state)
        guard fate != record.announced else { return }
        record.announced = fate
        if let unfinishedPeer {
            try Unsettled.insert(working.db, record.name, from: unfinishedPeer)
        } else {
            try enqueueReferrers(of: record)
        }
    }

    /// Applies the rules of one reference.
    private mutating func follow(_ relationship: Relationship, of record: WorkingRecord) throws {
        guard let field = record.state.field(relationship.field), case .reference(let target) = field.value,
            target.recordType == relationship.target
        else { return }
        referrers[target, default: []].insert(record.name)
        guard let parent = try working.known(target), let deletion = parent.state.deletion else { return }
        if let unfinishedPeer { return try Unsettled.insert(working.db, record.name, from: unfinishedPeer) }
        switch relationship.rule {
        case .cascade, .deny:
            record.state.raise(\.deletion, to: deletion)
            if let life = record.state.life, !record.state.isDeleted, parent.state.isDeleted {
                revive(parent, life)
            }
        case .nullify:
            // Under the stamp that it has: nobody wrote it, so it must not keep a record alive. Whether the parent
            // lives again does not matter: the deletion would have to be undone in every order.
            if field.stamp <= deletion {
                record.state.write(RecordField(name: field.name, value: .null, stamp: field.stamp))
            } else if !record.state.isDeleted, parent.state.isDeleted {
                revive(parent, field.stamp)
            }
        }
    }

    private mutating func revive(_ parent: WorkingRecord, _ stamp: Stamp) {
        guard parent.state.raise(\.revival, to: stamp) else { return }
        enqueue(parent)
    }

    /// Looks at every record that refers to this one, along the relationships in their priority order.
    private mutating func enqueueReferrers(of record: WorkingRecord) throws {
        for name in (referrers[record.name] ?? []).sorted() {
            if let referrer = working.loaded(name) { enqueue(referrer) }
        }
        for referrer in try working.referrers(of: record, includingHeld: hasHeldRecords) { enqueue(referrer) }
    }
}

import GRDB
import SyncModel

/// Applies the rules that connect records, until nothing changes any more: deletions go down the references, newer
/// children bring their parents back, and what misses a record it needs is held.
///
/// Each rule only raises a stamp, or writes a null under a stamp that follows from the states alone. So the order
/// in which records are looked at does not matter, and replicas that hold the same states settle them alike.
/// Protocol/ "Merge rules" is the normative text.
struct Settlement {
    private let working: WorkingSet
    private var queue: [WorkingRecord] = []
    private var queued: Set<RecordName> = []
    /// The records of the set that refer to a name, as far as they have been looked at.
    private var referrers: [RecordName: Set<RecordName>] = [:]
    private let hasHeldRecords: Bool

    private var db: Database { working.db }
    private var schema: RecordSchema { working.tables.schema }

    init(_ set: WorkingSet) throws {
        working = set
        hasHeldRecords =
            try Bool.fetchOne(set.db, sql: "SELECT EXISTS (SELECT 1 FROM heldReference)") ?? false
    }

    /// Settles the records of the set, and loads and settles whatever they touch.
    mutating func run() throws {
        for record in working.order { enqueue(record) }
        try drain()
    }

    /// Settles again around a record whose circumstances have changed.
    mutating func run(from record: WorkingRecord) throws {
        enqueue(record)
        try drain()
    }

    private mutating func drain() throws {
        // In order of arrival; `queued` keeps a record from standing in it twice.
        var head = 0
        while head < queue.count {
            let record = queue[head]
            head += 1
            queued.remove(record.name)
            try settle(record)
        }
        queue.removeAll(keepingCapacity: true)
    }

    private mutating func enqueue(_ record: WorkingRecord) {
        guard queued.insert(record.name).inserted else { return }
        queue.append(record)
    }

    private mutating func settle(_ record: WorkingRecord) throws {
        var isComplete = schema.type(record.name.recordType) != nil && !record.isRefused
        for relationship in schema.type(record.name.recordType)?.references ?? [] {
            isComplete = try follow(relationship, of: record) && isComplete
        }
        if record.state.isDeleted {
            record.placement = .deleted
        } else {
            record.placement = isComplete && record.state.isLive ? .inTable : .held
        }
        let circumstances = WorkingRecord.Circumstances(
            placement: record.placement, deletion: record.state.deletion)
        guard circumstances != record.announced else { return }
        let wasUnknown = record.announced.placement == nil
        record.announced = circumstances
        try enqueueReferrers(of: record, inTables: !wasUnknown || record.isRowPresent)
    }

    /// Applies the rules of one reference.
    ///
    /// - Returns: whether the reference leads to a record that is in its table, or to nothing where it may.
    private mutating func follow(_ relationship: Relationship, of record: WorkingRecord) throws -> Bool {
        guard let field = record.state.field(relationship.field) else {
            return !relationship.isRequired
        }
        guard case .reference(let target) = field.value else {
            return field.value == .null && !relationship.isRequired
        }
        guard target.recordType == relationship.target else { return false }
        referrers[target, default: []].insert(record.name)
        guard let parent = try working.known(target) else {
            // Not known to sync; a row that was written and not yet folded still counts.
            return try working.tables[target.recordType]?.exists(db, target.description) ?? false
        }
        if let deletion = parent.state.deletion {
            let isNulled = apply(deletion, of: parent, along: relationship, to: record, field)
            if isNulled { return true }
        }
        return parent.placement == .inTable || (parent.placement == nil && parent.state.isLive)
    }

    /// What a parent's deletion does to a record that refers to it.
    ///
    /// - Returns: whether the reference is null now.
    private mutating func apply(
        _ deletion: Stamp, of parent: WorkingRecord, along relationship: Relationship,
        to record: WorkingRecord,
        _ field: RecordField
    ) -> Bool {
        switch relationship.rule {
        case .cascade, .deny:
            record.state.raise(\.deletion, to: deletion)
            if !record.state.isDeleted, let life = record.state.life, parent.state.isDeleted {
                revive(parent, life)
            }
            return false
        case .nullify:
            guard parent.state.isDeleted else { return false }
            if field.stamp > deletion {
                if !record.state.isDeleted { revive(parent, field.stamp) }
                return false
            }
            record.isRowStale = true
            return record.state.write(RecordField(name: field.name, value: .null, stamp: deletion))
        }
    }

    private mutating func revive(_ parent: WorkingRecord, _ stamp: Stamp) {
        guard parent.state.raise(\.revival, to: stamp) else { return }
        enqueue(parent)
    }

    /// Looks again at every record that refers to this one, along the relationships in their priority order.
    ///
    /// - Parameter inTables: false for a record whose table had no row of it, so that no row can refer to it.
    private mutating func enqueueReferrers(of record: WorkingRecord, inTables: Bool) throws {
        for name in referrers[record.name] ?? [] {
            if let referrer = working.loaded(name) { enqueue(referrer) }
        }
        for relationship in schema.relationships(to: record.name.recordType) where inTables {
            let statement = try db.cachedStatement(
                sql: "SELECT recordName FROM \(relationship.recordType) WHERE \(relationship.field) = ?")
            try enqueue(String.fetchAll(statement, arguments: [record.name.description]))
        }
        guard hasHeldRecords else { return }
        let statement = try db.cachedStatement(sql: "SELECT recordName FROM heldReference WHERE target = ?")
        try enqueue(String.fetchAll(statement, arguments: [record.name.description]))
    }

    private mutating func enqueue(_ names: [String]) throws {
        for text in names {
            guard let name = try? RecordName(text), let record = try working.known(name) else { continue }
            enqueue(record)
        }
    }
}

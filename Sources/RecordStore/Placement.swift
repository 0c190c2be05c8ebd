import SyncModel

/// Decides which of the settled records are in their tables, which are deleted and which are held.
///
/// A live record is shown when its type is known and every record it refers to is shown. That is a greatest fixed
/// point: records that refer to each other in a circle are shown together, or held together. So everything that may
/// be shown is taken to be shown first, and falls when something it needs is not.
struct Placement {
    private let working: WorkingSet
    private var queue: [WorkingRecord] = []
    private var considered: Set<RecordName> = []
    /// The records of the set that refer to a name.
    private var referrers: [RecordName: [WorkingRecord]] = [:]
    private let hasHeldRecords: Bool

    private var schema: RecordSchema { working.tables.schema }

    init(_ working: WorkingSet) throws {
        self.working = working
        hasHeldRecords = try WorkingSet.hasHeldRecords(working.db)
    }

    /// Places the records of the set, and those whose place depends on them.
    mutating func run() throws {
        for record in working.order { try consider(record) }
        try drain()
    }

    /// Holds a record whose row its table refused, and what needs it.
    mutating func hold(_ record: WorkingRecord) throws {
        record.isRefused = true
        try fall(record)
        try drain()
    }

    /// Takes a record to be where it would like to be, and looks at it later, as it does with those that its coming or
    /// going concerns. Each once only: from then on it can fall.
    ///
    /// A chain of records that wait for each other is as long as a peer likes, so it is walked without recursion.
    private mutating func consider(_ record: WorkingRecord) throws {
        var waiting = [record]
        while let next = waiting.popLast() {
            guard considered.insert(next.name).inserted else { continue }
            waiting += try concerned(byPlacing: next).reversed()
        }
    }

    /// - Returns: the records that may come or go with this one.
    private mutating func concerned(byPlacing record: WorkingRecord) throws -> [WorkingRecord] {
        queue.append(record)
        let references = schema.type(record.name.recordType)?.references
        for relationship in references ?? [] {
            guard let target = record.state.reference(relationship) else { continue }
            referrers[target, default: []].append(record)
        }
        if record.state.isDeleted {
            record.placement = .deleted
        } else {
            record.placement =
                references != nil && record.state.isLive && !record.isRefused ? .inTable : .held
        }
        // Its arrival may be what others have waited for, its going what others cannot do without.
        guard record.placement != record.original?.status || !record.isRowPresent else { return [] }
        return try working.referrers(of: record, includingHeld: hasHeldRecords)
    }

    private mutating func drain() throws {
        while let record = queue.popLast() {
            guard record.placement == .inTable, try !isComplete(record) else { continue }
            try fall(record)
        }
    }

    private mutating func fall(_ record: WorkingRecord) throws {
        record.placement = .held
        for referrer in try working.referrers(of: record, includingHeld: false) { try consider(referrer) }
        queue.append(contentsOf: referrers[record.name] ?? [])
    }

    private mutating func isComplete(_ record: WorkingRecord) throws -> Bool {
        for relationship in schema.type(record.name.recordType)?.references ?? [] {
            guard let target = record.state.reference(relationship) else {
                let value = record.state.field(relationship.field)?.value ?? .null
                guard value == .null, !relationship.isRequired else { return false }
                continue
            }
            guard target.recordType == relationship.target else { return false }
            guard try !working.isSound(target, in: record.zone) else { continue }
            guard let parent = try working.known(target) else {
                // Not known to sync; a row that was written and not yet folded still counts.
                guard try working.hasRow(target) else { return false }
                continue
            }
            if parent.placement == .held { try consider(parent) }
            guard parent.placement == .inTable else { return false }
        }
        return true
    }
}

extension RecordState {
    /// The record that a reference leads to; nil when it is null, or no record name.
    fileprivate func reference(_ relationship: Relationship) -> RecordName? {
        guard case .reference(let target)? = field(relationship.field)?.value else { return nil }
        return target
    }
}

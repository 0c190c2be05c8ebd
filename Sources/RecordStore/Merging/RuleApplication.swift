import MergeRules
import SyncModel

/// Applies the rules between records to those of a working set: brings back what is newer than its deletion, and finds out
/// which records have a row.
///
/// `MergeRules` has the rules; this loads what they ask for, and no more than what may come or go by what has changed.
/// Protocol/ "Merge rules" is the normative text.
struct RuleApplication {
    private var neighbourhood: WorkingNeighbourhood
    private let working: WorkingSet
    /// The records that are looked at together.
    private var region: [RecordName: RuleRecord] = [:]
    /// Of these, the ones that may come or go, so that those that refer to them are looked at as well.
    private var moving: Set<RecordName> = []

    init(_ working: WorkingSet) throws {
        self.working = working
        neighbourhood = try WorkingNeighbourhood(working)
    }

    /// Applies the rules to the records of the set, and loads those that they concern.
    mutating func run() throws {
        let changed = working.order.filter(isConcerned)
        let changes = changed.map { record in
            Revival.Change(
                before: record.original.map { neighbourhood.rules(record, $0.state) },
                after: neighbourhood.take(record))
        }
        let revivals = try Revival.stamps(after: changes, in: &neighbourhood)
        for (name, stamp) in revivals {
            guard let record = working.loaded(name) else { continue }
            record.state.raise(\.revival, to: stamp)
            neighbourhood.take(record)
        }
        try look(at: changed.map(\.name) + revivals.keys.sorted())
        try place()
    }

    /// Holds records whose row their table has refused, and what needs them.
    mutating func hold(_ refused: [WorkingRecord]) throws {
        for record in refused { record.isRefused = true }
        try look(at: refused.map(\.name))
        try place()
    }

    /// The records that one cannot be shown without.
    mutating func needed(by name: RecordName) throws -> [RecordName] {
        try neighbourhood.record(name)?.needed ?? []
    }

    /// The records that cannot be there without one, and this one first.
    mutating func below(_ name: RecordName) throws -> [RecordName] {
        var found = [name]
        var visited: Set = [name]
        var next = 0
        while next < found.count {
            let zone = try neighbourhood.record(found[next])?.zone
            for name in try neighbourhood.referrers(of: found[next]) {
                guard let referrer = try neighbourhood.record(name), referrer.zone == zone,
                    referrer.needed.contains(found[next]), visited.insert(name).inserted
                else { continue }
                found.append(name)
            }
            next += 1
        }
        return found
    }

    /// Whether the rules may come to another result for a record than before. Most changes are of values, in a record that is
    /// shown and stays so.
    private func isConcerned(_ record: WorkingRecord) -> Bool {
        guard let original = record.original, !record.isForgotten else { return true }
        guard record.isRowPresent == (original.status == .inTable), !record.isRefused, !record.isRelearnt,
            record.emptiedFields == original.emptiedFields
        else { return true }
        guard record.isStateChanged else { return false }
        guard original.status == .inTable, original.emptiedFields.isEmpty,
            record.state.deletion == original.state.deletion
        else { return true }
        let references = working.tables.schema.type(record.name.recordType)?.references ?? []
        return references.contains { record.state.field($0.field) != original.state.field($0.field) }
    }

    // MARK: The region

    /// Takes records into the region, with those that refer to them as far as these may come or go with them.
    private mutating func look(at names: [RecordName]) throws {
        var waiting = names
        while let name = waiting.popLast() {
            guard !moving.contains(name), !working.isLater(name), let record = try working.known(name)
            else { continue }
            let rules = neighbourhood.take(record)
            region[name] = rules
            guard mayMove(record, rules) else { continue }
            moving.insert(name)
            waiting += try neighbourhood.referrers(of: name)
            try tryAgain(rules)
        }
    }

    /// Looks at the held records that one refers to: their table may take now what it refused before.
    private mutating func tryAgain(_ rules: RuleRecord) throws {
        var waiting = rules.needed
        while let name = waiting.popLast() {
            guard try region[name] == nil && !neighbourhood.isSound(name),
                let record = try working.known(name),
                record.original?.status == .held
            else { continue }
            let rules = neighbourhood.take(record)
            region[name] = rules
            waiting += rules.needed
        }
    }

    /// Whether a record may come or go. Where this is too small a guess, ``place()`` finds out.
    private func mayMove(_ record: WorkingRecord, _ rules: RuleRecord) -> Bool {
        guard record.original?.status == .inTable, record.isRowPresent, !record.isRefused,
            !record.isForgotten
        else {
            return record.original?.status != .deleted || !rules.isDeleted
        }
        return rules.isDeleted || rules.needed.contains(where: moving.contains)
    }

    // MARK: What is shown

    /// Finds out where the records of the region are to be. When one comes or goes of which that was not expected, those that
    /// refer to it are looked at, too.
    private mutating func place() throws {
        while true {
            let refused = Set(region.keys.filter { working.loaded($0)?.isRefused == true })
            let visibility = try Visibility.of(region, refused: refused) { try outside($0) }
            var surprising: [RecordName] = []
            for (name, seen) in visibility {
                guard let record = working.loaded(name) else { continue }
                try place(record, seen, visibility)
                if record.placement != record.original?.status, !moving.contains(name) {
                    surprising.append(name)
                }
            }
            guard !surprising.isEmpty else { return }
            for name in surprising {
                moving.insert(name)
                try look(at: neighbourhood.referrers(of: name))
            }
        }
    }

    private func place(
        _ record: WorkingRecord, _ seen: Visibility, _ visibility: [RecordName: Visibility]
    ) throws {
        record.placement =
            switch seen {
            case .shown: .inTable
            case .deleted: .deleted
            case .hidden: .hidden
            case .held: .held
            }
        record.emptiedFields = []
        guard seen == .shown else { return }
        for relationship in working.tables.schema.type(record.name.recordType)?.references ?? []
        where relationship.rule == .nullify {
            guard case .reference(let target)? = record.state.field(relationship.field)?.value else {
                continue
            }
            guard try visibility[target] ?? outside(target)?.1 != .shown else { continue }
            record.emptiedFields.insert(relationship.field)
        }
    }

    /// A record that stays as it is.
    private func outside(_ name: RecordName) throws -> (RuleRecord, Visibility)? {
        guard try !working.isSound(name) else { return (.unchanged(name), .shown) }
        guard let record = try working.known(name) else {
            // Not known to sync; a row that was written and not yet folded still counts.
            return try working.hasRow(name) ? (.unchanged(name), .shown) : nil
        }
        let rules = neighbourhood.rules(record, record.state)
        if working.isLater(name) { return (rules, .hidden(by: name, since: .none)) }
        switch record.placement {
        case .inTable: return (rules, .shown)
        case .deleted: return (rules, .deleted)
        case .hidden: return (rules, .hidden(by: name, since: rules.deletion ?? .none))
        case .held, nil: return (rules, .held)
        }
    }
}

/// The records of a working set, and those around them, as the merge rules ask for them.
private struct WorkingNeighbourhood: Neighbourhood {
    private let working: WorkingSet
    private let hasHeldRecords: Bool
    /// The records of the set that have been looked at.
    private var taken: [RecordName: RuleRecord] = [:]
    /// Of these, those that refer to a name: what the store says of them may be out of date.
    private var referrers: [RecordName: Set<RecordName>] = [:]

    init(_ working: WorkingSet) throws {
        self.working = working
        hasHeldRecords = try WorkingSet.hasHeldRecords(working.db)
    }

    /// Looks at a record, or looks again when its state has changed.
    @discardableResult
    mutating func take(_ record: WorkingRecord) -> RuleRecord {
        let rules = rules(record, record.state)
        taken[record.name] = rules
        for case .record(let target) in (rules.references ?? []).map(\.target) {
            referrers[target, default: []].insert(record.name)
        }
        return rules
    }

    mutating func record(_ name: RecordName) throws -> RuleRecord? {
        if let known = taken[name] { return known }
        return try working.known(name).map { take($0) }
    }

    func isSound(_ name: RecordName) throws -> Bool { try taken[name] == nil && working.isSound(name) }

    func referrers(of name: RecordName) throws -> [RecordName] {
        let stored = try working.referrers(of: name, includingHeld: hasHeldRecords)
        guard let own = referrers[name] else { return stored }
        return stored + own.subtracting(stored).sorted()
    }

    /// A state of a record, as the rules see it.
    func rules(_ record: WorkingRecord, _ state: RecordState) -> RuleRecord {
        RuleRecord(
            name: record.name, zone: record.zone, life: state.life, deletion: state.deletion,
            isErased: state.isErased, hasFields: !state.fields.isEmpty,
            references: working.tables.schema.type(record.name.recordType)?.references.map { relationship in
                let field = state.field(relationship.field)
                let target: RuleRecord.Target =
                    switch field?.value {
                    case .reference(let name) where name.recordType == relationship.target: .record(name)
                    case .null, nil: .none
                    default: .invalid
                    }
                return RuleRecord.Reference(
                    rule: relationship.rule, isRequired: relationship.isRequired, target: target,
                    stamp: field?.stamp)
            })
    }
}

extension RuleRecord {
    /// A record that has nothing to do with what goes on.
    fileprivate static func unchanged(_ name: RecordName) -> RuleRecord {
        RuleRecord(name: name, zone: 0, life: nil, deletion: nil, hasFields: true, references: [])
    }
}

extension Stamp {
    /// Below every stamp that is one: it is known that something hides a record, and does not matter since when.
    fileprivate static let none = Stamp(time: HybridTime(rawValue: 0), replica: ReplicaID(rawValue: 0))
}

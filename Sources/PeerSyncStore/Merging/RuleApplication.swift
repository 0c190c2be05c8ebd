import PeerSyncModel
import PeerSyncRules

/// Applies the rules between records to a working set: it brings back records that are newer than their deletion, and
/// decides which records have a row.
///
/// `Revival` and `Visibility` of PeerSyncRules have the rules. This type loads the records that they ask for, and no more than may come or go after the
/// changes. Protocol/ "Merge rules" is the normative text.
struct RuleApplication {
    private var neighbourhood: WorkingNeighbourhood
    private let working: WorkingSet
    /// The records that it decides on together.
    private var region: [RecordName: RuleRecord] = [:]
    /// Those of them that may come or go, so that it takes the records that refer to them into the region too.
    private var moving: Set<RecordName> = []

    init(_ working: WorkingSet) throws {
        self.working = working
        neighbourhood = try WorkingNeighbourhood(working)
    }

    /// Applies the rules to the records of the set, and loads those that they concern.
    mutating func run() throws {
        let concerned = working.order.filter(isConcerned)
        let states = try concerned.map { try neighbourhood.take($0) }
        var changed: [WorkingRecord] = []
        var changes: [Revival.Change] = []
        for (record, after) in zip(concerned, states) {
            guard try !goesAlone(record) else {
                record.placement = .deleted
                record.emptiedFields = []
                continue
            }
            changed.append(record)
            changes.append(
                Revival.Change(
                    before: try record.original.map { try neighbourhood.rules(record, $0.state) },
                    after: after))
        }
        let revivals = try Revival.stamps(after: changes, in: &neighbourhood)
        for (name, stamp) in revivals {
            guard let record = working.loaded(name) else { continue }
            record.state.raise(\.revival, to: stamp)
            try neighbourhood.take(record)
        }
        try look(at: changed.map(\.name) + revivals.keys.sorted())
        try place()
    }

    /// Holds records whose rows their tables have refused, and the records that need them.
    mutating func hold(_ refused: [WorkingRecord]) throws { try judge(refused) { .refused(isPresent: $0) } }

    /// Lets records try again that their tables have refused.
    mutating func release(_ refused: [WorkingRecord]) throws { try judge(refused) { $0 ? .stale : .absent } }

    /// - Parameter row: the new state of a row; it gets whether there is one.
    private mutating func judge(_ records: [WorkingRecord], row: (Bool) -> WorkingRecord.Row) throws {
        guard !records.isEmpty else { return }
        for record in records { record.row = row(record.isRowPresent) }
        try look(at: records.map(\.name))
        try place()
    }

    /// The records without which a record cannot be shown.
    mutating func needed(by name: RecordName) throws -> [RecordName] {
        try neighbourhood.record(name)?.needed ?? []
    }

    /// The first column of a record that refers to no row, and whose value names no record.
    mutating func columnWithoutTarget(of name: RecordName) throws -> String? {
        let references = working.tables.schema.type(name.recordType)?.references ?? []
        let targets = try neighbourhood.record(name)?.references?.map(\.target) ?? []
        return zip(references, targets).first { $1 == .invalid }?.0.column
    }

    /// A record, followed by the records that cannot be shown without it.
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

    /// Whether the rules may come to a new result for a record. Most changes only change values of a record that stays
    /// shown.
    private func isConcerned(_ record: WorkingRecord) -> Bool {
        guard let original = record.original, record.treatment != .forget else { return true }
        guard record.isRowPresent == (original.status == .inTable), record.treatment != .saveAnew,
            record.emptiedFields == original.emptiedFields
        else { return true }
        guard record.isStateChanged else { return false }
        guard original.status == .inTable, original.emptiedFields.isEmpty,
            record.state.deletion == original.state.deletion
        else { return true }
        let references = working.tables.schema.type(record.name.recordType)?.references ?? []
        return references.contains { record.state.field($0.field) != original.state.field($0.field) }
            || isContestedAnew(record)
    }

    /// Whether a record is newly deleted, and nothing refers to it: its deletion then concerns no other record.
    private mutating func goesAlone(_ record: WorkingRecord) throws -> Bool {
        guard working.writer.takesShortWays, let original = record.original, original.status == .inTable,
            record.state.isDeleted, record.treatment != .saveAnew,
            working.tables[record.name.recordType]?.uniqueIndexes.isEmpty == true,
            // Otherwise the change may be in what it refers to.
            original.emptiedFields.isEmpty, record.emptiedFields.isEmpty,
            !needsAnew(record, since: original.state)
        else { return false }
        return try neighbourhood.referrers(of: record.name).isEmpty
    }

    /// Whether a record has come to need another one, which may wait to be tried again.
    private func needsAnew(_ record: WorkingRecord, since former: RecordState) -> Bool {
        (working.tables.schema.type(record.name.recordType)?.references ?? []).contains { relationship in
            guard relationship.rule.needsTarget, let value = record.state.field(relationship.field)?.value
            else { return false }
            return value != former.field(relationship.field)?.value
        }
    }

    /// Whether a record may lose its row to another one with the same values, or free the values for another one.
    private func isContestedAnew(_ record: WorkingRecord) -> Bool {
        guard let original = record.original, let table = working.tables[record.name.recordType] else {
            return false
        }
        return table.isContestedAnew(record.state, since: original.state)
    }

    // MARK: The region

    /// Takes records into the region, with those that refer to them and may come or go with them.
    private mutating func look(at names: [RecordName]) throws {
        var waiting = names
        while let name = waiting.popLast() {
            guard !moving.contains(name), !working.isLater(name), let record = try working.known(name)
            else { continue }
            let rules = try neighbourhood.take(record)
            region[name] = rules
            guard mayMove(record, rules) else { continue }
            moving.insert(name)
            waiting += try neighbourhood.referrers(of: name) + working.rivals(of: record)
            try tryAgain(rules)
        }
    }

    /// Takes the held records that a record needs into the region: their tables may now take what they refused before.
    private mutating func tryAgain(_ rules: RuleRecord) throws {
        var waiting = rules.needed
        while let name = waiting.popLast() {
            guard try region[name] == nil && !neighbourhood.isSound(name),
                let record = try working.known(name),
                record.original?.status == .held
            else { continue }
            let rules = try neighbourhood.take(record)
            region[name] = rules
            waiting += rules.needed
        }
    }

    /// Whether a record may come or go. If this guess is too small, ``place()`` finds the rest.
    private func mayMove(_ record: WorkingRecord, _ rules: RuleRecord) -> Bool {
        guard record.original?.status == .inTable, record.isRowPresent, !record.isRefused,
            record.treatment != .forget
        else { return record.original?.status != .deleted || !rules.isDeleted }
        return rules.isDeleted || rules.needed.contains(where: moving.contains) || isContestedAnew(record)
    }

    // MARK: What is shown

    /// Decides the places of the records of the region. When a record unexpectedly comes or goes, it also takes the
    /// records that refer to it, or wait for its values, into the region.
    private mutating func place() throws {
        while true {
            let refused = Set(region.keys.filter { working.loaded($0)?.isRefused == true })
            let visibility = try Visibility.of(region, refused: refused) { try outside($0) }
            var found: [RecordName] = []
            for (name, seen) in visibility {
                guard let record = working.loaded(name) else { continue }
                try place(record, seen, visibility)
                if record.placement != record.original?.status, moving.insert(name).inserted {
                    found += try neighbourhood.referrers(of: name) + working.rivals(of: record)
                }
            }
            guard !found.isEmpty else { return }
            try look(at: found)
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
        where !relationship.rule.needsTarget {
            guard case .reference(let target)? = record.state.field(relationship.field)?.value else {
                continue
            }
            guard try visibility[target] ?? outside(target)?.1 != .shown else { continue }
            record.emptiedFields.insert(relationship.field)
        }
    }

    /// A record outside the region, which stays as it is.
    private func outside(_ name: RecordName) throws -> (RuleRecord, Visibility)? {
        guard try !working.isSound(name) else { return (.unchanged(name), .shown) }
        guard let record = try working.known(name) else {
            // Sync does not know the name; but a row that a program wrote and nobody has folded yet counts.
            return try working.hasRow(name) ? (.unchanged(name), .shown) : nil
        }
        let rules = try neighbourhood.rules(record, record.state)
        if working.isLater(name) { return (rules, .hidden(by: name, since: .none)) }
        switch record.placement {
        case .inTable: return (rules, .shown)
        case .deleted: return (rules, .deleted)
        case .hidden: return (rules, .hidden(by: name, since: rules.deletion ?? .none))
        case .held, nil: return (rules, .held)
        }
    }
}

/// The records of a working set and those around them, in the form that the merge rules ask for.
private struct WorkingNeighbourhood: Neighbourhood {
    private let working: WorkingSet
    private let hasHeldRecords: Bool
    /// The records of the set in the form of the rules, as last read.
    private var taken: [RecordName: RuleRecord] = [:]
    /// Those of them that refer to a name, because the store's answer may be out of date for them.
    private var referrers: [RecordName: Set<RecordName>] = [:]

    init(_ working: WorkingSet) throws {
        self.working = working
        hasHeldRecords = try HeldReferenceTable.isAny(working.db)
    }

    /// Reads a record for the rules, again if its state has changed.
    @discardableResult
    mutating func take(_ record: WorkingRecord) throws -> RuleRecord {
        let rules = try rules(record, record.state)
        taken[record.name] = rules
        for case .record(let target) in (rules.references ?? []).map(\.target) {
            referrers[target, default: []].insert(record.name)
        }
        return rules
    }

    mutating func record(_ name: RecordName) throws -> RuleRecord? {
        if let known = taken[name] { return known }
        return try working.known(name).map { try take($0) }
    }

    func isSound(_ name: RecordName) throws -> Bool { try taken[name] == nil && working.isSound(name) }

    func referrers(of name: RecordName) throws -> [RecordName] {
        let stored = try working.referrers(of: name, includingHeld: hasHeldRecords)
        guard let own = referrers[name] else { return stored }
        return stored + own.subtracting(stored).sorted()
    }

    /// Converts a state of a record to the form of the rules.
    func rules(_ record: WorkingRecord, _ state: RecordState) throws -> RuleRecord {
        try RuleRecord(
            name: record.name, zone: record.zone, life: state.life, deletion: state.deletion,
            isErased: state.isErased, hasFields: !state.fields.isEmpty,
            references: working.tables.schema.type(record.name.recordType)?.references.map { relationship in
                let field = state.field(relationship.field)
                return try RuleRecord.Reference(
                    rule: relationship.rule, isRequired: relationship.isRequired,
                    target: target(field?.value, relationship), stamp: field?.stamp)
            })
    }

    private func target(_ value: FieldValue?, _ relationship: Relationship) throws -> RuleRecord.Target {
        switch value {
        case .reference(let name) where name.recordType == relationship.target: return .record(name)
        case .null, nil: return .none
        case .some(let value):
            let column = working.tables[relationship.recordType]?.column(relationship.field)
            let table = working.tables[relationship.target]
            guard let key = column?.stored(value), try table?.hasRow(working.db, key: key) == true else {
                return .invalid
            }
            return .unnamedRow
        }
    }
}

extension RuleRecord {
    /// A record that the current changes do not concern.
    fileprivate static func unchanged(_ name: RecordName) -> RuleRecord {
        RuleRecord(name: name, zone: 0, life: nil, deletion: nil, hasFields: true, references: [])
    }
}

extension Stamp {
    /// Less than every real stamp: something hides the record, and the time does not matter.
    fileprivate static let none = Stamp(time: HybridTime(rawValue: 0), replica: ReplicaID(rawValue: 0))
}

import PeerSyncModel

/// The merge rules written down a second time, as plainly as possible: a function from the states of all machines
/// together to the records that every machine must show in the end.
///
/// It knows nothing of tables, order or time. Both implementations follow Protocol/ "Merge rules".
struct Oracle {
    /// (referring type, field, target type, rule)
    private static let references: [Reference] = [
        ("Team", "captain", "Member", .nullify), ("Member", "team", "Team", .cascade),
        ("Note", "member", "Member", .cascade),
        ("Seat", "team", "Team", .cascade), ("Seat", "member", "Member", .cascade),
        ("Fee", "member", "Member", .deny),
        ("Prize", "member", "Member", .cascade),
    ]

    private enum Rule { case cascade, deny, nullify }

    /// The joined states, with all revivals that follow.
    let settled: [RecordName: RecordState]

    init(joining machines: [[RecordName: RecordState]], knowingPrizes: Bool) {
        var states: [RecordName: RecordState] = [:]
        for machine in machines {
            for (name, state) in machine {
                if states[name] == nil { states[name] = state } else { states[name]!.merge(state) }
            }
        }
        var isChanging = true
        while isChanging {
            isChanging = false
            for name in states.keys.sorted() where !Self.isDead(states[name]!) {
                guard knowingPrizes || name.recordType != "Prize" else { continue }
                isChanging = Self.revive(from: name, &states) || isChanging
            }
        }
        settled = states
    }

    /// The names of the records that no machine has deleted for good.
    var live: Set<RecordName> { Set(settled.values.filter(\.isLive).map(\.name)) }

    // MARK: Visibility

    /// The deleted records, and the records that cannot exist without one of them.
    static func outOfSight(_ states: [RecordName: RecordState], version: Int) -> Set<RecordName> {
        var gone = Set(states.values.filter(isDead).map(\.name))
        while true {
            let next = states.values.filter { state in
                !gone.contains(state.name) && isKnown(state.name, version)
                    && targets(of: state).contains { $0.rule != .nullify && gone.contains($0.name) }
            }
            if next.isEmpty { return gone }
            gone.formUnion(next.map(\.name))
        }
    }

    /// The records that cannot exist without one of some records, however far below.
    static func below(_ names: Set<RecordName>, _ states: [RecordName: RecordState]) -> Set<RecordName> {
        var found = names
        while true {
            let next = states.values.filter { state in
                !found.contains(state.name)
                    && targets(of: state).contains { $0.rule != .nullify && found.contains($0.name) }
            }
            if next.isEmpty { return found.subtracting(names) }
            found.formUnion(next.map(\.name))
        }
    }

    /// The records that a machine of a version shows: of the records in sight whose type it knows, the largest set in
    /// which each record's references lead to shown records. A reference with the rule nullify is empty where its
    /// target is not shown.
    static func shown(_ states: [RecordName: RecordState], version: Int) -> Set<RecordName> {
        let gone = outOfSight(states, version: version)
        var shown = Set(
            states.values.filter { !gone.contains($0.name) && $0.isLive && isKnown($0.name, version) }
                .map(\.name))
        while true {
            let incomplete = shown.filter { name in
                references.contains { reference in
                    guard reference.type == name.recordType else { return false }
                    switch states[name]!.field(reference.field)?.value {
                    case .reference(let target) where target.recordType == reference.target:
                        return !shown.contains(target) && reference.rule != .nullify
                    case .null, nil: return reference.rule != .nullify
                    default: return true
                    }
                }
            }
            if incomplete.isEmpty { return shown }
            shown.subtract(incomplete)
        }
    }

    /// The value that a row shows for a field.
    static func shownValue(_ field: RecordField, of name: RecordName, shown: Set<RecordName>)
        -> FieldValue
    {
        guard case .reference(let target) = field.value, !shown.contains(target),
            references.contains(where: {
                $0.type == name.recordType && $0.field == field.name && $0.rule == .nullify
            })
        else { return field.value }
        return .null
    }

    private static func isKnown(_ name: RecordName, _ version: Int) -> Bool {
        SimulatedSchema.tables(version: version).contains { $0.type == name.recordType }
    }

    // MARK: Revival

    private typealias Reference = (type: String, field: String, target: String, rule: Rule)

    private static func targets(of state: RecordState) -> [(name: RecordName, rule: Rule, stamp: Stamp)] {
        references.compactMap { reference in
            guard reference.type == state.name.recordType, let field = state.field(reference.field),
                case .reference(let target) = field.value, target.recordType == reference.target
            else { return nil }
            return (target, reference.rule, field.stamp)
        }
    }

    /// Lets a record that is not deleted revive its ancestors, however far up, and the records that it has referred to
    /// since their deletion.
    private static func revive(from name: RecordName, _ states: inout [RecordName: RecordState]) -> Bool {
        let life = life(states[name]!)!
        var isChanged = false
        for target in targets(of: states[name]!) where target.rule == .nullify {
            isChanged = raise(target.name, target.stamp, &states) || isChanged
        }
        var above: Set<RecordName> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            for target in states[next].map(targets(of:)) ?? [] where target.rule != .nullify {
                guard above.insert(target.name).inserted else { continue }
                isChanged = raise(target.name, life, &states) || isChanged
                waiting.append(target.name)
            }
        }
        return isChanged
    }

    private static func raise(_ name: RecordName, _ stamp: Stamp, _ states: inout [RecordName: RecordState])
        -> Bool
    {
        guard let state = states[name], isDead(state), stamp > state.deletion! else { return false }
        states[name]!.revival = stamp
        return true
    }

    private static func life(_ state: RecordState) -> Stamp? {
        (state.fields.map(\.stamp) + [state.revival].compactMap { $0 }).max()
    }

    private static func isDead(_ state: RecordState) -> Bool {
        guard let deletion = state.deletion else { return false }
        return life(state).map { $0 <= deletion } ?? true
    }
}

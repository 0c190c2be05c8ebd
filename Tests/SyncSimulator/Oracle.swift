import SyncModel

/// The merge rules written down a second time, as plainly as they can be: a function from the states that machines
/// hold together to the records that everybody must see in the end.
///
/// It knows nothing of tables, order, or what was looked at when. Protocol/ "Merge rules" is what both follow.
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

    /// The joined states after all rules have been applied until none changes anything.
    let settled: [RecordName: RecordState]

    init(joining machines: [[RecordName: RecordState]], knowingPrizes: Bool) {
        var states: [RecordName: RecordState] = [:]
        for machine in machines {
            for (name, state) in machine {
                if states[name] == nil { states[name] = state } else { states[name]!.merge(state) }
            }
        }
        // All deletions first; who is alive then brings back what it needs.
        for rules in [Self.delete, Self.revive] {
            var isChanging = true
            while isChanging {
                isChanging = false
                for name in states.keys.sorted() {
                    for reference in Self.references where reference.type == name.recordType {
                        guard reference.type != "Prize" || knowingPrizes else { continue }
                        isChanging = rules(reference, name, &states) || isChanging
                    }
                }
            }
        }
        settled = states
    }

    /// The names of the records that live.
    var live: Set<RecordName> { Set(settled.values.filter(\.isLive).map(\.name)) }

    /// The records that a machine of a version shows: of those that live and whose type it knows, the most that can
    /// be shown together so that each shows all that it refers to.
    static func shown(_ states: [RecordName: RecordState], version: Int) -> Set<RecordName> {
        let known = Set(SimulatedSchema.tables(version: version).map(\.type))
        var shown = Set(states.values.filter { $0.isLive && known.contains($0.name.recordType) }.map(\.name))
        while true {
            let incomplete = shown.filter { name in
                references.contains { $0.type == name.recordType && !isMet($0, of: states[name]!, shown) }
            }
            if incomplete.isEmpty { return shown }
            shown.subtract(incomplete)
        }
    }

    private static func isMet(
        _ reference: Reference, of state: RecordState,
        _ shown: Set<RecordName>
    ) -> Bool {
        switch state.field(reference.field)?.value {
        case .reference(let target): target.recordType == reference.target && shown.contains(target)
        case .null, nil: reference.rule == .nullify
        default: false
        }
    }

    private typealias Reference = (type: String, field: String, target: String, rule: Rule)

    /// The reference's write, and the deletion of what it refers to.
    private static func target(
        _ reference: Reference, _ name: RecordName, _ states: [RecordName: RecordState]
    ) -> (parent: RecordName, stamp: Stamp, deletion: Stamp)? {
        guard let field = states[name]!.field(reference.field), case .reference(let parent) = field.value,
            parent.recordType == reference.target, let deletion = states[parent]?.deletion
        else { return nil }
        return (parent, field.stamp, deletion)
    }

    private static func delete(
        _ reference: Reference, _ name: RecordName, _ states: inout [RecordName: RecordState]
    ) -> Bool {
        guard let (_, stamp, deletion) = target(reference, name, states) else { return false }
        guard reference.rule == .nullify else { return raise(&states[name]!.deletion, deletion) }
        guard stamp <= deletion else { return false }
        return states[name]!.write(RecordField(name: reference.field, value: .null, stamp: stamp))
    }

    private static func revive(
        _ reference: Reference, _ name: RecordName, _ states: inout [RecordName: RecordState]
    ) -> Bool {
        guard let (parent, stamp, _) = target(reference, name, states), !isDead(states[name]!),
            isDead(states[parent]!)
        else { return false }
        let child = states[name]!
        let life = (child.fields.map(\.stamp) + [child.revival].compactMap { $0 }).max()!
        return raise(&states[parent]!.revival, reference.rule == .nullify ? stamp : life)
    }

    private static func isDead(_ state: RecordState) -> Bool {
        guard let deletion = state.deletion else { return false }
        let life = (state.fields.map(\.stamp) + [state.revival].compactMap { $0 }).max()
        return life.map { $0 <= deletion } ?? true
    }

    private static func raise(_ stamp: inout Stamp?, _ other: Stamp) -> Bool {
        guard stamp.map({ $0 < other }) ?? true else { return false }
        stamp = other
        return true
    }
}

import MergeRules
import SyncModel

/// A small set of states, and the rules between them: games, whose matches go with them and may have a venue; notes, which
/// hang on each other.
struct Household: Hashable {
    static let replica = ReplicaID(rawValue: 1)

    var states: [RecordName: RecordState] = [:]

    /// The references of each type: field, target, rule, required.
    private static let schema:
        [String: [(field: String, target: String, rule: DeleteRule, isRequired: Bool)]] = [
            "Game": [], "Venue": [],
            "Match": [("game", "Game", .cascade, true), ("venue", "Venue", .nullify, false)],
            "Loan": [("match", "Match", .deny, true)],
            "Note": [("on", "Note", .cascade, false)],
        ]

    static func stamp(_ time: Int) -> Stamp {
        Stamp(time: HybridTime(rawValue: UInt64(time)), replica: replica)
    }

    /// The rules' view of a state.
    private static func rules(_ state: RecordState) -> RuleRecord {
        RuleRecord(
            name: state.name, zone: 1, life: state.life, deletion: state.deletion,
            hasFields: !state.fields.isEmpty,
            references: schema[state.name.recordType]?.map { reference in
                let field = state.field(reference.field)
                let target: RuleRecord.Target =
                    switch field?.value {
                    case .reference(let name) where name.recordType == reference.target: .record(name)
                    case .null, nil: .none
                    default: .invalid
                    }
                return RuleRecord.Reference(
                    rule: reference.rule, isRequired: reference.isRequired, target: target,
                    stamp: field?.stamp)
            })
    }

    /// Everything that is known, as the rules ask for it.
    private struct Everything: Neighbourhood {
        let records: [RecordName: RuleRecord]
        private var referrers: [RecordName: [RecordName]] = [:]

        init(_ states: some Sequence<RecordState>) {
            records = Dictionary(uniqueKeysWithValues: states.map { ($0.name, Household.rules($0)) })
            for record in records.values.sorted(by: { $0.name < $1.name }) {
                for case .record(let target) in (record.references ?? []).map(\.target) {
                    referrers[target, default: []].append(record.name)
                }
            }
        }

        func record(_ name: RecordName) -> RuleRecord? { records[name] }
        func referrers(of name: RecordName) -> [RecordName] { referrers[name] ?? [] }
    }

    // MARK: The rules

    /// Revives what states bring back of which these have just changed.
    mutating func revive(after changed: some Sequence<RecordName>) throws {
        var everything = Everything(states.values)
        for (name, stamp) in try Revival.stamps(after: changed, in: &everything) {
            states[name]!.raise(\.revival, to: stamp)
        }
    }

    func visibility(refused: Set<RecordName> = []) throws -> [RecordName: Visibility] {
        try Visibility.of(Everything(states.values).records, refused: refused) { _ in nil }
    }

    /// The names of what is shown, sorted.
    func shown() throws -> [String] {
        try visibility().filter { $0.value == .shown }.map(\.key.description).sorted()
    }

    // MARK: What people do

    mutating func write(_ name: String, _ fields: [String: FieldValue] = ["name": .text("x")], at time: Int)
        throws
    {
        let name = try RecordName(name)
        for (field, value) in fields {
            states[name, default: RecordState(name: name)].write(
                RecordField(name: field, value: value, stamp: Self.stamp(time)))
        }
        try revive(after: [name])
    }

    mutating func delete(_ name: String, at time: Int) throws {
        let name = try RecordName(name)
        states[name, default: RecordState(name: name)].raise(\.deletion, to: Self.stamp(time))
        try revive(after: [name])
    }

    mutating func restore(_ name: String, at time: Int) throws {
        let name = try RecordName(name)
        states[name]?.raise(\.revival, to: Self.stamp(time))
        try revive(after: [name])
    }

    /// Takes in what another machine holds.
    mutating func hear(_ other: Household) throws {
        var changed: [RecordName] = []
        for state in other.states.values {
            if states[state.name, default: RecordState(name: state.name)].merge(state) {
                changed.append(state.name)
            }
        }
        try revive(after: changed)
    }
}

func reference(_ name: String) throws -> FieldValue { .reference(try RecordName(name)) }

import PeerSyncModel
import PeerSyncRules

/// A small set of states, and the rules between them: games, whose matches go with them and may have a venue; notes, which
/// hang on each other.
struct Household: Hashable {
    static let replica = ReplicaID(rawValue: 1)

    var states: [RecordName: RecordState] = [:]
    /// The records that are in another zone than the rest.
    var elsewhere: Set<RecordName> = []

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
    private func rules(_ state: RecordState) -> RuleRecord {
        RuleRecord(
            name: state.name, zone: elsewhere.contains(state.name) ? 2 : 1, life: state.life,
            deletion: state.deletion, isErased: state.isErased, hasFields: !state.fields.isEmpty,
            references: Self.schema[state.name.recordType]?.map { reference in
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

        init(_ household: Household) {
            records = household.states.mapValues { household.rules($0) }
            for record in records.values.sorted(by: { $0.name < $1.name }) {
                for case .record(let target) in (record.references ?? []).map(\.target) {
                    referrers[target, default: []].append(record.name)
                }
            }
        }

        func record(_ name: RecordName) -> RuleRecord? { records[name] }
        func isSound(_ name: RecordName) -> Bool { false }
        func referrers(of name: RecordName) -> [RecordName] { referrers[name] ?? [] }
    }

    // MARK: The rules

    /// Changes states, and revives what that brings back.
    private mutating func change(_ body: (inout [RecordName: RecordState]) throws -> Void) rethrows {
        let before = states
        try body(&states)
        let changes = states.values.filter { before[$0.name] != $0 }.map {
            Revival.Change(before: before[$0.name].map(rules), after: rules($0))
        }
        var everything = Everything(self)
        for (name, stamp) in try! Revival.stamps(after: changes, in: &everything) {
            states[name]!.raise(\.revival, to: stamp)
        }
    }

    /// Whether nothing is left to revive, were every record new.
    func isSettled() throws -> Bool {
        var everything = Everything(self)
        let changes = states.values.map { Revival.Change(before: nil, after: rules($0)) }
        return try Revival.stamps(after: changes, in: &everything).isEmpty
    }

    func visibility(refused: Set<RecordName> = []) throws -> [RecordName: Visibility] {
        try Visibility.of(Everything(self).records, refused: refused) { _ in nil }
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
        change { states in
            for (field, value) in fields {
                states[name, default: RecordState(name: name)].write(
                    RecordField(name: field, value: value, stamp: Self.stamp(time)))
            }
        }
    }

    mutating func delete(_ name: String, at time: Int) throws {
        let name = try RecordName(name)
        change { $0[name, default: RecordState(name: name)].raise(\.deletion, to: Self.stamp(time)) }
    }

    /// Deletes a record for ever.
    mutating func erase(_ name: String, at time: Int) throws {
        let name = try RecordName(name)
        change { _ = $0[name, default: RecordState(name: name)].erase(at: Self.stamp(time)) }
    }

    mutating func restore(_ name: String, at time: Int) throws {
        let name = try RecordName(name)
        change { $0[name]?.raise(\.revival, to: Self.stamp(time)) }
    }

    /// Takes in what another machine holds.
    mutating func hear(_ other: Household) {
        change { states in
            for state in other.states.values {
                states[state.name, default: RecordState(name: state.name)].merge(state)
            }
        }
    }
}

func reference(_ name: String) throws -> FieldValue { .reference(try RecordName(name)) }

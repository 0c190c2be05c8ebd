import GRDB
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// What must always hold.
extension Simulation {
    /// Checks that a machine that has started over with another keeps only records that the other has never had, what goes with
    /// those, and what all these need.
    func checkStartOver(
        _ replica: SimulatedReplica, _ states: [RecordName: RecordState], with other: SimulatedReplica
    ) throws {
        // Two machines may hold records of a third, or of a lost store, without knowing that the other holds them.
        guard replicas.count == 2, counts.restores == 0 else { return }
        // A machine that revives a record by a rule does not know that the other has come to the same revival by itself.
        let unseen = states.values.filter {
            !history[other.number].contains($0) || ($0.revival != nil && $0.revival == $0.newestStamp)
        }
        let below = Oracle.below(Set(unseen.filter(\.isLive).map(\.name)), states)
        let needed = closure(of: below.union(unseen.map(\.name))) { states[$0]?.targets ?? [] }
        let left = states.values.filter { $0.isLive && !needed.contains($0.name) }.map(\.name).sorted()
        guard left.isEmpty else {
            throw SimulationFailure(
                "machine \(replica.number) started over, and keeps what the other has had: \(left)")
        }
    }

    /// Checks that after a complete session both machines have what the rules make of their states together.
    func checkPair(_ pair: [SimulatedReplica], _ before: [[RecordName: RecordState]]) throws {
        let after = try pair.map { try $0.states() }
        try FileRules.check(pair, after, before: before)
        let lives = after.map { $0.values.filter(\.isLive).sorted { $0.name < $1.name } }
        let fields = lives.map { $0.map { ($0.name, $0.fields) } }
        guard fields[0].elementsEqual(fields[1], by: { $0 == $1 }) else {
            let difference = Set(lives[0]).symmetricDifference(lives[1]).map {
                "\($0.name): \(Self.text($0))"
            }.sorted()
            throw SimulationFailure(
                "machines \(pair.map(\.number)) hold different fields:\n\(difference.joined(separator: "\n"))"
            )
        }
        // A machine that does not know a type ignores its references.
        guard pair[0].version == pair[1].version else { return }
        let oracle = Oracle(joining: before, knowingPrizes: pair[0].version >= 2)
        let expected = oracle.settled.values.filter(\.isLive).sorted { $0.name < $1.name }
        let live = lives[0].filter {
            oracle.live.contains($0.name) || !Self.isRevivedEarly($0, before, after[0])
        }
        guard expected.map(\.name) == live.map(\.name) else {
            let difference = oracle.live.symmetricDifference(live.map(\.name)).sorted()
            let details = difference.map { name in
                "\(name): before \(before.map { $0[name].map(Self.text) ?? "unknown" }), "
                    + "after \(after.map { $0[name].map(Self.text) ?? "unknown" }), "
                    + "by the rules \(oracle.settled[name].map(Self.text) ?? "unknown")"
            }
            let all = Set(before.flatMap(\.keys)).sorted().map { name in
                "\(name): \(before.map { $0[name].map(Self.text) ?? "unknown" })"
            }
            throw SimulationFailure(
                "machines \(pair.map(\.number)), whether these live:\n\(details.joined(separator: "\n"))\n"
                    + "they knew before:\n\(all.joined(separator: "\n"))")
        }
        for (rule, state) in zip(expected, live) where rule.fields != state.fields {
            throw SimulationFailure("a write was lost: \(state.name) is \(state.fields), not \(rule.fields)")
        }
    }

    /// Whether a record was revived because of a record below it, as one of the machines knew that record or those
    /// between. The machine may hear later that one of them refers to another record. Such a revival keeps more than
    /// the rules ask for.
    private static func isRevivedEarly(
        _ state: RecordState, _ before: [[RecordName: RecordState]], _ after: [RecordName: RecordState]
    ) -> Bool {
        guard let revival = state.revival else { return false }
        let all = before + [after]
        let speaking = all.flatMap(\.values).filter { other in
            other.name != state.name
                && (other.revival == revival || other.fields.contains { $0.stamp == revival })
        }
        let above = closure(of: Set(speaking.map(\.name))) { name in all.flatMap { $0[name]?.targets ?? [] } }
        return above.contains(state.name)
    }

    private static func text(_ state: RecordState) -> String {
        let fields = state.fields.map { "\($0.name)=\($0.value)@\($0.stamp)" }.joined(separator: " ")
        return
            "[\(fields) deletion \(state.deletion?.description ?? "-") revival \(state.revival?.description ?? "-")]"
    }

    mutating func checkEnd() throws {
        let states = try replicas.map { try $0.states() }
        let statuses = try replicas.map { replica in
            try replica.read { try replica.store.status($0) }
        }
        for (replica, status) in zip(replicas, statuses) {
            guard status.digest == statuses[0].digest else {
                throw SimulationFailure("machine \(replica.number) has another digest than machine 0")
            }
            try check(replica, states[replica.number], status)
        }
        try checkNothingLost(states)
        try FileRules.check(replicas, states)
        let newest = replicas.filter { $0.version >= 2 }
        for group in [replicas.filter { $0.version < 2 }, newest] {
            guard let first = try group.first?.rows() else { continue }
            for replica in group {
                let difference = try Set(replica.rows()).symmetricDifference(first)
                guard difference.isEmpty else {
                    let rows = difference.sorted().joined(separator: "\n")
                    throw SimulationFailure(
                        "machines \(group[0].number) and \(replica.number) differ in rows:\n\(rows)")
                }
            }
        }
        counts.holds += statuses.map(\.held).reduce(0, +)
        counts.hidden += statuses.map(\.hidden).reduce(0, +)
        counts.deletions += statuses[0].tombstones
        counts.revivals += states[0].values.filter { $0.revival != nil && $0.isLive }.count
    }

    /// Checks that everything that any machine ever wrote has its effect in the end, however it travelled, and
    /// whichever machine has forgotten something.
    private func checkNothingLost(_ states: [[RecordName: RecordState]]) throws {
        // A restored backup loses later writes that were not synced. With different versions, the older ones settle
        // less.
        guard counts.restores == 0, Set(replicas.map(\.version)).count == 1 else { return }
        let oracle = Oracle(joining: [everKnown], knowingPrizes: replicas[0].version >= 2)
        let live = Set(states[0].values.filter(\.isLive).map(\.name))
        let difference = live.symmetricDifference(oracle.live).filter { name in
            // More records may live than the rules ask for: a record that was revived for another stays when that one
            // turns out to refer elsewhere.
            if live.contains(name), states[0][name]?.revival != nil { return false }
            guard counts.purged > 0 else { return true }
            // A forgotten deletion does not cascade to records that come later from a machine that was not paired
            // then. It also takes the fields along, so the record cannot come back whole.
            return oracle.live.contains(name) && everKnown[name]?.deletion == nil
        }.sorted()
        guard difference.isEmpty else {
            let details = difference.map { name in
                "\(name) is \(states[0][name].map(Self.text) ?? "unknown"), "
                    + "by the rules \(oracle.settled[name].map(Self.text) ?? "unknown")"
            }
            throw SimulationFailure(
                "after all that was ever written, these should live or not:\n\(details.joined(separator: "\n"))"
            )
        }
    }

    private func check(
        _ replica: SimulatedReplica, _ states: [RecordName: RecordState], _ status: StoreStatus
    ) throws {
        var digest = ZoneDigest()
        for state in states.values where state.isLive { digest.insert(RecordID(state)) }
        guard digest == status.digest else {
            throw SimulationFailure(
                "machine \(replica.number) keeps a digest that is not that of its records")
        }
        try replica.read { db in
            guard try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty else {
                throw SimulationFailure("machine \(replica.number) breaks a foreign key")
            }
            guard try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok" else {
                throw SimulationFailure("the database of machine \(replica.number) is damaged")
            }
            for table in ["grdb_sync_pendingChange", "grdb_sync_capturePause"] {
                guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(table)") == 0 else {
                    throw SimulationFailure("something is left in \(table) of machine \(replica.number)")
                }
            }
        }
        try checkTables(replica, states)
    }

    /// Checks that the tables show the records that the rules show, with the values of their states.
    private func checkTables(_ replica: SimulatedReplica, _ states: [RecordName: RecordState]) throws {
        let expected = Oracle.shown(states, version: replica.version)
        for type in SimulatedSchema.tables(version: replica.version) {
            let shown = try replica.values(of: type.type)
            let names = Set(expected.filter { $0.recordType == type.type })
            guard names == Set(shown.keys) else {
                throw SimulationFailure(
                    "machine \(replica.number) shows \(type.type) \(shown.keys.sorted()), not \(names.sorted())"
                )
            }
            for (name, row) in shown {
                let state = states[name]!
                for (column, value) in row {
                    guard let field = state.field(column) else { continue }
                    let shown = Oracle.shownValue(field, of: name, shown: expected)
                    guard shown.databaseText != value else { continue }
                    throw SimulationFailure(
                        "machine \(replica.number) shows \(name).\(column) as \(value), but it is \(shown)"
                    )
                }
            }
        }
    }
}

/// The names, and all that can be reached from them.
private func closure(of names: Set<RecordName>, _ step: (RecordName) -> [RecordName]) -> Set<RecordName> {
    var reached = names
    var left = Array(names)
    while let name = left.popLast() {
        for next in step(name) where reached.insert(next).inserted { left.append(next) }
    }
    return reached
}

extension RecordState {
    /// The records that this one refers to.
    fileprivate var targets: [RecordName] {
        fields.compactMap { if case .reference(let target) = $0.value { target } else { nil } }
    }
}

extension FieldValue {
    /// The text that SQLite's `quote` gives for the column that holds the value.
    fileprivate var databaseText: String {
        switch self {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .text(let text): "'\(text)'"
        case .reference(let name): SimulatedKeys.reference(to: name.description)
        case .asset(let asset): "'\(asset.json)'"
        case .date, .blob: "never simulated"
        }
    }
}

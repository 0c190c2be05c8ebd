import PeerSyncModel
import PeerSyncRules
import Testing

/// Tries out every schedule of a few operations on three machines: all machines come to the same, and what they show is
/// what a second statement of the rules says.
struct CompleteTrialTests {
    /// What people may do. The stamp of an operation is its number.
    fileprivate enum Operation {
        case write(String)
        case move(String, String, to: String)
        case delete(String)
        case restore(String)
        case hear(Int)
    }

    /// Three records of two types that depend on each other in one way.
    enum Scene: String, CaseIterable {
        /// A match that goes with its game, and may go over to another.
        case cascade
        /// A loan that denies the deletion of its match here, and goes with it when it was deleted elsewhere.
        case deny
        /// A match that may have a venue.
        case nullify
        /// Notes that hang on each other, in chains and circles.
        case circle

        var records: [String] {
            switch self {
            case .cascade: ["Game|~|1", "Game|~|2", "Match|~|m"]
            case .deny: ["Match|~|1", "Match|~|2", "Loan|~|l"]
            case .nullify: ["Venue|~|1", "Game|~|1", "Match|~|m"]
            case .circle: ["Note|~|1", "Note|~|2", "Note|~|3"]
            }
        }

        /// Where references may lead.
        fileprivate var moves: [Operation] {
            switch self {
            case .cascade: records.prefix(2).map { .move("Match|~|m", "game", to: $0) }
            case .deny: records.prefix(2).map { .move("Loan|~|l", "match", to: $0) }
            case .nullify: [.move("Match|~|m", "venue", to: "Venue|~|1")]
            case .circle:
                [
                    .move("Note|~|1", "on", to: "Note|~|2"), .move("Note|~|2", "on", to: "Note|~|3"),
                    .move("Note|~|3", "on", to: "Note|~|1"),
                ]
            }
        }

        /// What all machines hold at the beginning.
        fileprivate func household() throws -> Household {
            var household = Household()
            for (index, name) in records.enumerated() {
                var fields: [String: FieldValue] = ["name": .text("x")]
                switch self {
                case .cascade where index == 2: fields["game"] = try reference("Game|~|1")
                case .deny where index == 2: fields["match"] = try reference("Match|~|1")
                case .deny: fields["game"] = try reference("Game|~|0")
                case .nullify where index == 2:
                    fields["game"] = try reference("Game|~|1")
                    fields["venue"] = try reference("Venue|~|1")
                case .circle where index > 0: fields["on"] = try reference("Note|~|\(index)")
                default: break
                }
                try household.write(name, fields, at: index + 1)
            }
            if self == .deny { try household.write("Game|~|0", at: 4) }
            return household
        }
    }

    /// Every schedule of so many operations. One more takes a hundred times as long.
    @Test(arguments: Scene.allCases, [2]) func everySchedule(scene: Scene, length: Int) throws {
        var trial = try Trial(scene)
        try trial.run(length)
        // So that a trial that tries nothing fails.
        #expect(trial.schedules > 100)
        #expect(trial.failure == nil)
    }

    private struct Trial {
        private let operations: [(machine: Int, Operation)]
        private var machines: [Household]
        /// What people did, without what the rules have made of it.
        private var written: [Household]
        private var path: [String] = []
        private(set) var schedules = 0
        private(set) var failure: String?

        init(_ scene: Scene) throws {
            let own =
                scene.records.flatMap { [Operation.write($0), .delete($0), .restore($0)] } + scene.moves
            operations = (0..<3).flatMap { machine in
                let others = (0..<3).filter { $0 != machine }.map { Operation.hear($0) }
                return (own + others).map { (machine, $0) }
            }
            machines = try Array(repeating: scene.household(), count: 3)
            written = machines
        }

        mutating func run(_ length: Int) throws {
            guard failure == nil else { return }
            guard length > 0 else {
                schedules += 1
                return try check()
            }
            let (before, writtenBefore) = (machines, written)
            for (machine, operation) in operations {
                // At the beginning the machines are alike, so whichever does the first thing is the first machine.
                if path.isEmpty, machine > 0 { continue }
                path.append("\(machine): \(operation)")
                if try perform(operation, machine, at: 100 - length) { try run(length - 1) }
                path.removeLast()
                (machines, written) = (before, writtenBefore)
            }
        }

        /// - Returns: false when people cannot do that, because they do not see the record, or it would change nothing.
        private mutating func perform(_ operation: Operation, _ machine: Int, at time: Int) throws -> Bool {
            let before = machines[machine]
            let isShown = { (name: String) in try before.shown().contains(name) }
            switch operation {
            case .write(let name):
                guard try isShown(name) else { return false }
                try machines[machine].write(name, at: time)
                written[machine].note(name, ["name": .text("x")], at: time)
            case .move(let name, let field, let target):
                guard try isShown(name), try isShown(target) else { return false }
                try machines[machine].write(name, [field: reference(target)], at: time)
                written[machine].note(name, [field: try reference(target)], at: time)
            case .delete(let name):
                guard try isShown(name) else { return false }
                try machines[machine].delete(name, at: time)
                written[machine].states[try RecordName(name)]?.raise(\.deletion, to: Household.stamp(time))
            case .restore(let name):
                guard try before.visibility()[RecordName(name)] == .deleted else { return false }
                try machines[machine].restore(name, at: time)
                written[machine].states[try RecordName(name)]?.raise(\.revival, to: Household.stamp(time))
            case .hear(let other):
                machines[machine].hear(machines[other])
                written[machine].join(written[other])
            }
            return machines[machine] != before
        }

        private mutating func check() throws {
            guard try machines.allSatisfy({ try $0.isSettled() }) else {
                return fail("something is not brought back")
            }
            var ends = machines
            for _ in 0..<2 {
                for machine in 0..<3 {
                    for other in 0..<3 where other != machine { ends[machine].hear(ends[other]) }
                }
            }
            guard ends.allSatisfy({ $0 == ends[0] }) else { return fail("the machines differ") }
            let shown = Set(try ends[0].shown())
            guard shown == Rules.shown(ends[0].states) else {
                return fail("shown otherwise than the rules say")
            }
            // What people wrote decides; a revival that a machine has made on the way only keeps more.
            var all = written[0]
            for other in written.dropFirst() { all.join(other) }
            guard Rules.shown(Rules.revived(all.states)).isSubset(of: shown) else {
                return fail("something is out of sight that nobody has deleted")
            }
        }

        private mutating func fail(_ reason: String) {
            failure = "\(reason): \(path.joined(separator: "; "))"
        }
    }
}

extension Household {
    /// Keeps a write, without what follows from it.
    fileprivate mutating func note(_ name: String, _ fields: [String: FieldValue], at time: Int) {
        guard let name = try? RecordName(name) else { return }
        for (field, value) in fields {
            states[name]?.write(RecordField(name: field, value: value, stamp: Self.stamp(time)))
        }
    }

    fileprivate mutating func join(_ other: Household) {
        states.merge(other.states) { mine, theirs in
            var merged = mine
            merged.merge(theirs)
            return merged
        }
    }
}

/// A second statement of the rules, as short as it can be said: over all records, again and again, until nothing changes.
private enum Rules {
    private static let references: [String: [(field: String, isCascade: Bool, isRequired: Bool)]] = [
        "Match": [("game", true, true), ("venue", false, false)], "Loan": [("match", true, true)],
        "Note": [("on", true, false)],
    ]

    private static func targets(_ state: RecordState) -> [(name: RecordName, isCascade: Bool, stamp: Stamp)] {
        (references[state.name.recordType] ?? []).compactMap { reference in
            guard let field = state.field(reference.field), case .reference(let name) = field.value else {
                return nil
            }
            return (name, reference.isCascade, field.stamp)
        }
    }

    static func revived(_ given: [RecordName: RecordState]) -> [RecordName: RecordState] {
        var states = given
        while true {
            let before = states
            for state in before.values where !state.isDeleted {
                var above: Set<RecordName> = []
                var waiting = targets(state).filter(\.isCascade).map(\.name)
                while let name = waiting.popLast() {
                    guard above.insert(name).inserted, let next = before[name] else { continue }
                    waiting += targets(next).filter(\.isCascade).map(\.name)
                }
                for name in above where states[name]?.isDeleted == true {
                    states[name]!.raise(\.revival, to: state.life)
                }
                for target in targets(state) where !target.isCascade && states[target.name]?.isDeleted == true
                {
                    states[target.name]!.raise(\.revival, to: target.stamp)
                }
            }
            // A revival that is older than the deletion says nothing.
            for state in states.values where state.isDeleted { states[state.name] = before[state.name] }
            if states == before { return states }
        }
    }

    static func shown(_ states: [RecordName: RecordState]) -> Set<String> {
        var shown = Set(states.values.filter { !$0.isDeleted }.map(\.name))
        while true {
            let next = shown.filter { name in
                targets(states[name]!).allSatisfy { !$0.isCascade || shown.contains($0.name) }
            }
            if next == shown { return Set(shown.map(\.description)) }
            shown = next
        }
    }
}

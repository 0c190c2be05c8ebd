import PeerSyncModel

/// All scripts of a length for three machines that begin with the same records. A step changes one of a few records
/// that depend on each other, on any machine, or lets any two machines run or cut a session.
///
/// Each is a script like those of seeds, so a simulation checks everything that must hold after it.
public struct CompleteTrial: Sequence, IteratorProtocol, Sendable {
    /// The operation of one step, on one machine or between two.
    enum Operation: CaseIterable {
        case writeTeam, writeMember, writeNote, writeFee
        case deleteTeam, deleteMember, deleteNote
        case restoreTeam, restoreMember, restoreNote
        case removeTeam, removeMember, removeNote, removeTeamAlone, removeMemberAlone
        case moveMember, moveNote, moveFee, nameCaptain, dismissCaptain
        case session, sessionCutEarly, sessionCutLate

        var isOfTwo: Bool { [.session, .sessionCutEarly, .sessionCutLate].contains(self) }

        /// The SQL of a program that writes to the tables, if the operation is that.
        var statement: (sql: String, hasForeignKeys: Bool)? {
            switch self {
            case .writeTeam: ("UPDATE Team SET title = title || 'x' WHERE \(Self.is(Self.team))", true)
            case .writeMember: ("UPDATE Member SET age = age + 1 WHERE \(Self.is(Self.member))", true)
            case .writeNote: ("UPDATE Note SET text = text || 'x' WHERE \(Self.is(Self.note))", true)
            case .writeFee: ("UPDATE Fee SET amount = amount + 1 WHERE \(Self.is(Self.fee))", true)
            case .removeTeam: ("DELETE FROM Team WHERE \(Self.is(Self.team))", true)
            case .removeMember: ("DELETE FROM Member WHERE \(Self.is(Self.member))", true)
            case .removeNote: ("DELETE FROM Note WHERE \(Self.is(Self.note))", true)
            case .removeTeamAlone: ("DELETE FROM Team WHERE \(Self.is(Self.team))", false)
            case .removeMemberAlone: ("DELETE FROM Member WHERE \(Self.is(Self.member))", false)
            case .moveMember: (Self.move(Self.member, "team", to: SimulatedKeys.name("Team", 1)), true)
            case .moveNote: (Self.move(Self.note, "member", to: SimulatedKeys.name("Member", 2)), true)
            case .moveFee: (Self.move(Self.fee, "member", to: Self.member), true)
            case .nameCaptain: (Self.move(SimulatedKeys.name("Team", 1), "captain", to: Self.member), true)
            case .dismissCaptain: ("UPDATE Team SET captain = NULL WHERE \(Self.is(Self.team))", true)
            default: nil
            }
        }

        private static let team = SimulatedKeys.name("Team", 0)
        private static let member = SimulatedKeys.name("Member", 0)
        private static let note = SimulatedKeys.name("Note", 0)
        private static let fee = SimulatedKeys.name("Fee", 0)

        private static func `is`(_ name: String) -> String { SimulatedKeys.condition(name) }

        private static func move(_ name: String, _ column: String, to target: String) -> String {
            let type = name.prefix { $0 != "|" }
            return
                "UPDATE \(type) SET \(column) = \(SimulatedKeys.reference(to: target)) WHERE \(Self.is(name))"
        }

        /// The record that the operation deletes or restores through the library, if any.
        var deleted: String? {
            switch self {
            case .deleteTeam: Self.team
            case .deleteMember: Self.member
            case .deleteNote: Self.note
            default: nil
            }
        }

        var restored: String? {
            switch self {
            case .restoreTeam: Self.team
            case .restoreMember: Self.member
            case .restoreNote: Self.note
            default: nil
            }
        }
    }

    static let machines = 3

    /// The steps that may stand at each place of a script.
    private static let steps: [Script.Step] = Operation.allCases.enumerated().flatMap { number, operation in
        (0..<machines).flatMap { machine in
            let others = operation.isOfTwo ? Array(machine + 1..<machines) : [(machine + 1) % machines]
            return others.map { Script.Step(kind: .exact, machine: machine, other: $0, seed: UInt64(number)) }
        }
    }

    /// The numbers of the steps of the next script.
    private var numbers: [Int]?

    /// - Parameter length: the number of steps of each script.
    public init(length: Int) {
        numbers = Array(repeating: 0, count: length)
    }

    public mutating func next() -> Script? {
        while let current = numbers {
            numbers = Self.successor(of: current)
            let steps = current.map { Self.steps[$0] }
            // The machines are alike at first, so only scripts are needed that begin on machines 0 and 1.
            guard steps.first.map({ $0.machine == 0 && $0.other == 1 }) != false else { continue }
            return Script(exactly: steps, machines: Self.machines)
        }
        return nil
    }

    private static func successor(of numbers: [Int]) -> [Int]? {
        var numbers = numbers
        for index in numbers.indices.reversed() {
            numbers[index] += 1
            guard numbers[index] == steps.count else { return numbers }
            numbers[index] = 0
        }
        return nil
    }
}

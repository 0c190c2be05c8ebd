import SyncModel

/// All scripts of a length for three machines that begin with the same records. A step changes one of a few records
/// that depend on each other, on any machine, or lets any two machines run or cut a session.
///
/// Each is a script like those of seeds, so a simulation checks everything that must hold after it.
/// Each is a script like those that seeds stand for, so all that must hold is checked after it.
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
            case .writeTeam: ("UPDATE Team SET title = title || 'x' WHERE recordName = 'Team|~|0'", true)
            case .writeMember: ("UPDATE Member SET age = age + 1 WHERE recordName = 'Member|~|0'", true)
            case .writeNote: ("UPDATE Note SET text = text || 'x' WHERE recordName = 'Note|~|0'", true)
            case .writeFee: ("UPDATE Fee SET amount = amount + 1 WHERE recordName = 'Fee|~|0'", true)
            case .removeTeam: ("DELETE FROM Team WHERE recordName = 'Team|~|0'", true)
            case .removeMember: ("DELETE FROM Member WHERE recordName = 'Member|~|0'", true)
            case .removeNote: ("DELETE FROM Note WHERE recordName = 'Note|~|0'", true)
            case .removeTeamAlone: ("DELETE FROM Team WHERE recordName = 'Team|~|0'", false)
            case .removeMemberAlone: ("DELETE FROM Member WHERE recordName = 'Member|~|0'", false)
            case .moveMember: ("UPDATE Member SET team = 'Team|~|1' WHERE recordName = 'Member|~|0'", true)
            case .moveNote: ("UPDATE Note SET member = 'Member|~|2' WHERE recordName = 'Note|~|0'", true)
            case .moveFee: ("UPDATE Fee SET member = 'Member|~|0' WHERE recordName = 'Fee|~|0'", true)
            case .nameCaptain: ("UPDATE Team SET captain = 'Member|~|0' WHERE recordName = 'Team|~|1'", true)
            case .dismissCaptain: ("UPDATE Team SET captain = NULL WHERE recordName = 'Team|~|0'", true)
            default: nil
            }
        }

        /// The record that the operation deletes or restores through the library, if any.
        var deleted: String? {
            switch self {
            case .deleteTeam: "Team|~|0"
            case .deleteMember: "Member|~|0"
            case .deleteNote: "Note|~|0"
            default: nil
            }
        }

        var restored: String? {
            switch self {
            case .restoreTeam: "Team|~|0"
            case .restoreMember: "Member|~|0"
            case .restoreNote: "Note|~|0"
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

import TestSupport

/// The steps of a simulation: made from a seed, written as text, shortened when it fails.
public struct Script: Sendable, CustomStringConvertible {
    /// One step. Its own seed determines everything random in it, so that it means the same in a shorter script.
    public struct Step: Sendable, Hashable, CustomStringConvertible {
        enum Kind: String, CaseIterable {
            /// The true time advances.
            case advance
            /// A program writes to a machine's tables in one transaction.
            case write
            /// A program deletes a record through the library.
            case delete
            /// One of ``CompleteTrial/Operation``, whose number is the seed.
            case exact
            /// A user restores a deleted record.
            case undo
            /// A machine's engine folds what programs have written.
            case fold
            /// Two machines sync.
            case session
            /// Two machines sync, and the line is cut, or one of them crashes.
            case cutSession
            /// Two machines sync over two connections at the same time, each of which may be cut.
            case doubleSession
            case restart
            case backup
            case restore
            case upgrade
            /// A machine forgets old deletions that its peers know.
            case purge
            /// Two machines end their pairing; the next session pairs them again.
            case part
            /// A user allows or refuses what waits on a machine because it would take much away.
            case decide
            /// Two machines are paired, if they are not: the first one types the code of the second.
            case pair
            /// A machine removes another one from the household.
            case remove
            /// A machine ends its pairing with another one, and keeps that to itself.
            case forget
            /// A machine introduces those of its peers that nobody has introduced.
            case introduce
            /// A machine lets another one do less, or more, in its default zone.
            case grant
        }

        let kind: Kind
        let machine: Int
        let other: Int
        let seed: UInt64

        public var description: String { "\(kind.rawValue) \(machine) \(other) \(seed)" }

        init(kind: Kind, machine: Int, other: Int, seed: UInt64) {
            self.kind = kind
            self.machine = machine
            self.other = other
            self.seed = seed
        }

        /// Reads the text that ``description`` has written.
        init?(_ text: some StringProtocol) {
            let parts = text.split(separator: " ")
            guard parts.count == 4, let kind = Kind(rawValue: String(parts[0])), let machine = Int(parts[1]),
                let other = Int(parts[2]), let seed = UInt64(parts[3])
            else { return nil }
            self.init(kind: kind, machine: machine, other: other, seed: seed)
        }
    }

    let machines: Int
    /// The seed of the machines' properties. With 0, all have the first version, a correct clock, and the same records
    /// at the beginning.
    let setup: UInt64
    var steps: [Step]
    /// Whether the script is about the household, and not about records.
    let isOfHousehold: Bool
    /// Whether the machines ask a user before they show what would take much away.
    let hasFuses: Bool

    var isExact: Bool { setup == 0 }

    /// Creates a script of given steps between machines that are alike.
    init(exactly steps: [Step], machines: Int, isOfHousehold: Bool = false) {
        self.machines = machines
        setup = 0
        self.steps = steps
        self.isOfHousehold = isOfHousehold
        hasFuses = false
    }

    /// Creates the script of a household: whom it takes in and loses, while machines are away or set back.
    public init(householdSeed seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        machines = [3, 3, 3, 4, 4, 5].randomElement(using: &random)!
        setup = random.next() | 1
        isOfHousehold = true
        hasFuses = false
        let kinds: [Step.Kind] = [
            .pair, .pair, .pair, .session, .session, .session, .session, .cutSession, .remove, .remove,
            .forget,
            .introduce, .grant, .backup, .restore, .restart, .advance,
        ]
        steps = []
        for _ in 0..<Int.random(in: 5...30, using: &random) {
            let machine = Int.random(in: 0..<machines, using: &random)
            let other = (machine + Int.random(in: 1..<machines, using: &random)) % machines
            steps.append(
                Step(
                    kind: kinds.randomElement(using: &random)!, machine: machine, other: other,
                    seed: random.next()))
        }
    }

    /// Creates the script of a seed, of machines that ask nobody.
    public init(seed: UInt64) { self.init(seed: seed, hasFuses: false) }

    /// Creates the script of a seed.
    ///
    /// - Parameter hasFuses: whether the machines ask a user before they show what would take much away.
    public init(seed: UInt64, hasFuses: Bool) {
        var random = SeededGenerator(seed: seed)
        // Most scripts have few machines: they conflict more often, and a failing script is short.
        machines = [2, 2, 3, 3, 3, 4, 5, 8].randomElement(using: &random)!
        setup = random.next()
        isOfHousehold = false
        self.hasFuses = hasFuses
        let hasBackups = random.oneIn(2)
        let hasUpgrades = random.oneIn(2)
        steps = []
        for _ in 0..<Int.random(in: 6...40, using: &random) {
            let roll = Int.random(in: 0..<100, using: &random)
            let kind: Step.Kind =
                switch roll {
                case 0..<5: hasFuses ? .decide : .advance
                case 5..<12: .advance
                case 12..<34: .write
                case 34..<38: .undo
                case 38..<44: .delete
                case 44..<46: .part
                case 46..<52: .delete
                case 52..<56: .fold
                case 56..<76: .session
                case 76..<82: .cutSession
                case 82..<85: .doubleSession
                case 85..<87: .restart
                case 87..<89: .purge
                case 89..<92: hasBackups ? .backup : .write
                case 92..<96: hasBackups ? .restore : .session
                default: hasUpgrades ? .upgrade : .write
                }
            // Only the machine that made a backup can use it, so one machine makes and restores all of them.
            let machine =
                kind == .backup || kind == .restore ? 0 : Int.random(in: 0..<machines, using: &random)
            let other = (machine + Int.random(in: 1..<machines, using: &random)) % machines
            steps.append(Step(kind: kind, machine: machine, other: other, seed: random.next()))
        }
    }

    /// Reads the text that ``description`` has written.
    public init?(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let head = lines.first?.split(separator: " "), head.count == 3,
            ["machines", "household", "fuses"].contains(head[0]),
            let machines = Int(head[1]), (2...8).contains(machines), let setup = UInt64(head[2])
        else { return nil }
        self.machines = machines
        self.setup = setup
        isOfHousehold = head[0] == "household"
        hasFuses = head[0] == "fuses"
        steps = []
        for line in lines.dropFirst() {
            guard let step = Step(line), step.machine < machines, step.other < machines else { return nil }
            steps.append(step)
        }
    }

    public var description: String {
        (["\(isOfHousehold ? "household" : hasFuses ? "fuses" : "machines") \(machines) \(setup)"]
            + steps.map(\.description))
            .joined(separator: "\n")
    }

    /// Finds a script with fewer steps that still fails, by leaving out ever smaller parts.
    public func shortened(while fails: (Script) -> Bool) -> Script {
        var best = self
        var size = max(1, steps.count / 2)
        while true {
            var start = 0
            var didShorten = false
            while start < best.steps.count {
                var shorter = best
                shorter.steps.removeSubrange(start..<min(start + size, best.steps.count))
                if fails(shorter) {
                    best = shorter
                    didShorten = true
                } else {
                    start += size
                }
            }
            if size == 1, !didShorten { return best }
            if !didShorten || size > 1 { size = max(1, size / 2) }
        }
    }
}

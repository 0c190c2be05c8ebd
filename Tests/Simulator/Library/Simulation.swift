import GRDB
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport

/// Runs a script, and checks what must always hold after it and after every complete session.
public struct Simulation {
    private let clock = SimulatedClock()
    let replicas: [SimulatedReplica]
    private let script: Script
    var counts = SimulationCounts()
    /// The links on which a session was cut. The machines must finish these streams in the end.
    private var cutLinks: Set<[Int]> = []
    /// The join of all states that any machine had before a session.
    private(set) var everKnown: [RecordName: RecordState] = [:]
    /// The states that each machine has had before and after its sessions since it last started over.
    private(set) var history: [Set<RecordState>]

    private init(_ script: Script) throws {
        self.script = script
        var random = SeededGenerator(seed: script.setup)
        let clock = clock
        history = Array(repeating: [], count: script.machines)
        replicas = try (0..<script.machines).map { number in
            let skew = random.oneIn(2) ? Int64.random(in: -5000...5000, using: &random) : 0
            let version = random.oneIn(3) ? 2 : 1
            return script.isExact
                ? try SimulatedReplica(number: number, version: 1, skew: 0, clock: clock)
                : try SimulatedReplica(number: number, version: version, skew: skew, clock: clock)
        }
        // After each switch, SQLite compiles all statements of the connection anew, which takes longer than the batch.
        var switching = SeededGenerator(seed: script.setup &+ 4)
        for replica in replicas where !script.isExact && !switching.oneIn(3) { replica.manyRecords = .max }
        if script.hasFuses { for replica in replicas { try replica.setFuse() } }
        // Most runs begin with complete records, because a machine holds random ones for long.
        if script.isExact || !random.oneIn(4) {
            try replicas[0].shell(SimulatedWrites.beginning(version: replicas[0].version))
            for asset in [SimulatedPictures.small, SimulatedPictures.large] {
                replicas[0].disk.files[asset.hash] = asset.size
            }
        }
        guard script.isExact else { return }
        for other in 1..<script.machines { try session(0, other, end: .never, &random) }
        clock.advance(1)
    }

    /// Runs a script to its end.
    ///
    /// - Throws: a sentence that says what does not hold.
    public static func run(_ script: Script) throws -> SimulationCounts {
        guard !script.isOfHousehold else { return try HouseholdSimulation.run(script) }
        var simulation = try Simulation(script)
        for step in script.steps { try simulation.perform(step) }
        try simulation.settle()
        try simulation.goBack()
        try simulation.checkEnd()
        simulation.counts.runs = 1
        simulation.counts.filesMoved = simulation.filesMoved
        return simulation.counts
    }

    private var filesMoved: Int { replicas.reduce(0) { $0 + $1.disk.received.count } }

    // MARK: Steps

    private mutating func perform(_ step: Script.Step) throws {
        var random = SeededGenerator(seed: step.seed)
        let replica = replicas[step.machine]
        switch step.kind {
        case .advance:
            clock.advance(Int64.random(in: 0...2000, using: &random))
        case .write:
            clock.advance(Int64.random(in: 0...2, using: &random))
            let statements = try SimulatedWrites.statements(replica, &random)
            try replica.shell(statements, hasForeignKeys: random.oneIn(3))
            counts.writes += statements.count
        case .delete:
            try delete(replica, &random)
        case .undo:
            try undo(replica, &random)
        case .exact:
            try perform(CompleteTrial.Operation.allCases[Int(step.seed)], step, &random)
        case .fold:
            _ = try replica.states()
        case .session:
            try session(step.machine, step.other, end: .never, &random)
        case .cutSession:
            let end: SimulatedSession.End =
                random.oneIn(3)
                ? .crash(afterBatches: Int.random(in: 0...3, using: &random))
                : .randomCut(&random)
            try session(step.machine, step.other, end: end, &random)
        case .doubleSession:
            try doubleSession(replica, replicas[step.other], &random)
        case .restart:
            try replica.restart()
        case .part:
            try replica.part(from: replicas[step.other])
            try replicas[step.other].part(from: replica)
            counts.partings += 1
            guard random.oneIn(2) else { break }
            try delete(replica, &random)
            clock.advance(1)
            try purge(retention: 0)
        case .purge:
            try purge(retention: random.oneIn(2) ? 0 : Int64.random(in: 0...3000, using: &random))
        case .backup:
            try replica.makeBackup()
        case .restore:
            if try replica.restoreBackup() { counts.restores += 1 }
        case .upgrade:
            if replica.version < 2 { counts.upgrades += 1 }
            try replica.upgrade(&random)
        case .decide:
            counts.decisions += try replica.decide(allowing: random.oneIn(2))
        case .pair, .remove, .forget, .introduce, .grant:
            throw SimulationFailure("\(step) belongs to a script of a household")
        }
    }

    private mutating func purge(retention: Int64) throws {
        // A machine without peers forgets deletions that no other machine knows, so this keeps them.
        for states in try note(replicas) { remember(states) }
        for replica in replicas { counts.purged += try replica.purge(retention: retention) }
    }

    private mutating func delete(_ replica: SimulatedReplica, _ random: inout SeededGenerator) throws {
        let type = ["Team", "Team", "Member", "Member", "Note", "Seat"].randomElement(using: &random)!
        guard let text = try replica.names(of: type).randomElement(using: &random) else { return }
        try delete(RecordName(text), on: replica)
    }

    private mutating func delete(_ name: RecordName, on replica: SimulatedReplica) throws {
        do {
            _ = try replica.write { try replica.store.delete($0, name) }
            counts.deletions += 1
        } catch let error as RecordStoreError
            where error.code == .deletionDenied || error.code == .noSuchRecord
        {
            // The store denied the deletion, or the fold before it held the record back.
        }
    }

    private mutating func perform(
        _ operation: CompleteTrial.Operation, _ step: Script.Step, _ random: inout SeededGenerator
    ) throws {
        let replica = replicas[step.machine]
        clock.advance(1)
        if let (sql, hasForeignKeys) = operation.statement {
            try replica.shell([sql], hasForeignKeys: hasForeignKeys)
            counts.writes += 1
        } else if let name = try operation.deleted.map({ try RecordName($0) }) {
            try delete(name, on: replica)
        } else if let name = try operation.restored.map({ try RecordName($0) }) {
            do {
                _ = try replica.write { try replica.store.restore($0, name) }
                counts.undone += 1
            } catch let error as RecordStoreError where [.notDeleted, .noSuchRecord].contains(error.code) {
                // The record is not deleted.
            }
        } else {
            let end: SimulatedSession.End =
                switch operation {
                case .sessionCutEarly: .cut(afterBytes: 150)
                case .sessionCutLate: .crash(afterBatches: 1)
                default: .never
                }
            try session(step.machine, step.other, end: end, &random)
        }
    }

    private mutating func undo(_ replica: SimulatedReplica, _ random: inout SeededGenerator) throws {
        clock.advance(1)
        try replica.write { db in
            _ = try replica.store.fold(db)
            let deleted = try replica.store.listing.deleted(db)
            guard let record = deleted.randomElement(using: &random) else { return }
            let shown = try replica.store.restore(db, record.name)
            // This machine may not know the records that it needs, and may hold it for that.
            guard try shown.contains(record.name) || replica.isHeld(db, record.name) else {
                throw SimulationFailure(
                    "machine \(replica.number) does not show \(record.name), which it restored")
            }
            counts.undone += 1
        }
    }

    private mutating func session(
        _ left: Int, _ right: Int, end: SimulatedSession.End, _ random: inout SeededGenerator
    ) throws {
        let pair = [replicas[left], replicas[right]]
        var before = try note(pair)
        let call = SessionCall(isOnce: random.oneIn(2), comparesEverything: random.oneIn(8))
        var session = SimulatedSession(pair[0], pair[1], call, end: end)
        var outcome = try session.run(&random)
        var startedOver: Set<Int> = []
        // Two machines that were not paired may each have forgotten deletions.
        while let expired = outcome.expired {
            guard counts.restores + counts.partings > 0 else {
                throw SimulationFailure(
                    "machine \(pair[expired].number) was never away, and is to start over")
            }
            guard startedOver.insert(expired).inserted else {
                throw SimulationFailure("machine \(pair[expired].number) cannot start over")
            }
            let knowsWhatOtherHas = try pair[expired].startOver(with: pair[1 - expired])
            counts.startOvers += 1
            history[pair[expired].number] = []
            before = try note(pair)
            if knowsWhatOtherHas, !script.hasFuses {
                try checkStartOver(pair[expired], before[expired], with: pair[1 - expired])
            }
            session = SimulatedSession(pair[0], pair[1], call, end: end)
            outcome = try session.run(&random)
        }
        counts.sessions += 1
        counts.recordsMoved += outcome.recordsMoved
        counts.resyncs += outcome.resyncs
        counts.pairings += outcome.pairings
        counts.reconciliations += outcome.reconciliations
        // What waits on one of the two, a digest does not have.
        let isWaiting = try pair.contains { try $0.isWaiting }
        // A token can be wrong only after a machine has lost its records or given them up.
        guard outcome.resyncs == 0 || counts.restores + counts.startOvers > 0 else {
            throw SimulationFailure(
                "machines \(left) and \(right) found that their tokens do not say the truth")
        }
        for states in before { remember(states) }
        _ = try note(pair)
        if outcome.isCut {
            counts.cuts += 1
            cutLinks.insert([left, right])
            return
        }
        guard outcome.isConfirmed else {
            throw SimulationFailure(
                "machines \(left) and \(right) did not end up equal, and nothing was left to do")
        }
        if !isWaiting { try checkPair(pair, before) }
    }

    /// Lets two machines sync over two connections at the same time. Later sessions find out whether the tokens are
    /// still true.
    private mutating func doubleSession(
        _ left: SimulatedReplica, _ right: SimulatedReplica, _ random: inout SeededGenerator
    ) throws {
        let before = try note([left, right])
        var connections = DoubleSession(left, right, &random)
        let outcomes = try connections.run(&random)
        for states in before { remember(states) }
        _ = try note([left, right])
        counts.doubles += 1
        counts.pairings += outcomes.reduce(0) { $0 + $1.pairings }
        counts.recordsMoved += outcomes.reduce(0) { $0 + $1.recordsMoved }
        if outcomes.contains(where: { !$0.isConfirmed }) { cutLinks.insert([left.number, right.number]) }
        let hasLost = counts.restores + counts.startOvers > 0
        guard hasLost || outcomes.allSatisfy({ $0.resyncs == 0 }) else {
            throw SimulationFailure(
                "machines \(left.number) and \(right.number), with two connections, found that their tokens do not "
                    + "say the truth")
        }
        guard counts.restores + counts.partings > 0 || outcomes.allSatisfy({ $0.expired == nil }) else {
            throw SimulationFailure("a machine with two connections was never away, and is to start over")
        }
    }

    /// Notes the states that machines have now.
    private mutating func note(_ pair: [SimulatedReplica]) throws -> [[RecordName: RecordState]] {
        try pair.map { replica in
            let states = try replica.states()
            history[replica.number].formUnion(states.values)
            return states
        }
    }

    /// Adds states to all that any machine ever knew.
    private mutating func remember(_ states: [RecordName: RecordState]) {
        for (name, state) in states {
            if everKnown[name] == nil { everKnown[name] = state } else { everKnown[name]!.merge(state) }
        }
    }

    /// Syncs all machines in lines and rings, and on all links that were cut, until nothing moves any more.
    private mutating func quiesce() throws {
        var random = SeededGenerator(seed: script.setup &+ 1)
        for _ in 0..<(4 * script.machines + 4) {
            let before = (counts.recordsMoved, filesMoved)
            for index in 0..<script.machines {
                try session(index, (index + 1) % script.machines, end: .never, &random)
            }
            for link in cutLinks.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                try session(link[0], link[1], end: .never, &random)
            }
            if (counts.recordsMoved, filesMoved) == before { return }
        }
        throw SimulationFailure("records or files keep moving although nobody writes")
    }

    /// Syncs all machines, and lets users decide, until nothing moves and nothing waits any more.
    private mutating func settle() throws {
        var random = SeededGenerator(seed: script.setup &+ 3)
        for round in 0..<20 {
            try quiesce()
            // A refusal overwrites what others wrote, which then ask their own users. In the end all allow it.
            let decided = try replicas.map { replica in
                try replica.decide(allowing: round > 2 || random.oneIn(2))
            }.reduce(0, +)
            counts.decisions += decided
            if decided == 0 { return }
            clock.advance(1)
        }
        throw SimulationFailure("users are asked again and again, although nobody writes")
    }

    /// In some runs, lets all machines forget old deletions, and then brings a machine back that was away since its
    /// backup.
    private mutating func goBack() throws {
        var random = SeededGenerator(seed: script.setup &+ 2)
        guard !script.isExact, random.oneIn(2) else { return }
        clock.advance(1)
        try purge(retention: 0)
        if random.oneIn(2), try replicas[0].restoreBackup() {
            counts.restores += 1
            if random.oneIn(2) { try replicas[0].shell(SimulatedWrites.statements(replicas[0], &random)) }
        }
        try settle()
    }
}

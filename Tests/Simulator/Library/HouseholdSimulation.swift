import GRDB
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport

/// Runs the script of a household, and checks after each step, and in the end, that all who hear each other agree, and that
/// nobody is accepted whom somebody has removed.
///
/// Machines pair, introduce, remove and forget each other, restrict each other's rights, are away, and are set back to
/// backups. They sync by real sessions on real stores.
struct HouseholdSimulation {
    /// What a machine must not lose, unless its store is set back.
    private struct Memory {
        /// The introductions of which the machine knows that they were removed.
        var removed: Set<Introduction.ID> = []
        /// The machines that its user has forgotten.
        var forgotten: Set<Int> = []
    }

    private let clock = SimulatedClock()
    private let replicas: [SimulatedReplica]
    private var memories: [Memory]
    private var backups: [Int: Memory] = [:]
    private var counts = SimulationCounts()

    private init(_ script: Script) throws {
        let clock = clock
        replicas = try (0..<script.machines).map {
            let replica = try SimulatedReplica(number: $0, version: 1, skew: 0, clock: clock)
            replica.introduces = true
            return replica
        }
        memories = Array(repeating: Memory(), count: script.machines)
    }

    /// Runs a script to its end.
    ///
    /// - Throws: a sentence that says what does not hold.
    static func run(_ script: Script) throws -> SimulationCounts {
        var simulation = try HouseholdSimulation(script)
        for step in script.steps {
            try simulation.perform(step)
            try simulation.check()
        }
        try simulation.quiesce(SeededGenerator(seed: script.setup))
        try simulation.checkAgreement()
        simulation.counts.runs = 1
        return simulation.counts
    }

    // MARK: Steps

    private mutating func perform(_ step: Script.Step) throws {
        var random = SeededGenerator(seed: step.seed)
        let (replica, other) = (replicas[step.machine], replicas[step.other])
        clock.advance(1)
        switch step.kind {
        case .pair: try session(replica, other, end: .never, pairs: true, &random)
        case .session: try session(replica, other, end: .never, pairs: false, &random)
        case .cutSession:
            try session(replica, other, end: .randomCut(&random), pairs: random.oneIn(3), &random)
        case .remove: try remove(other, by: replica)
        case .forget:
            guard let peer = try peer(other, of: replica) else { return }
            try replica.write { try replica.store.peers.remove($0, peer) }
            memories[replica.number].forgotten.insert(other.number)
            counts.partings += 1
        case .introduce:
            let own = replica.key
            _ = try replica.write { try replica.store.household.introduce($0, nil, by: own) }
        case .grant:
            guard let peer = try peer(other, of: replica) else { return }
            let rights = [ZoneRights.none, .read, .write, .write].randomElement(using: &random)!
            try replica.write { db in
                let zone = try replica.store.zones.current(db, .default)
                try replica.store.zones.setRights(db, rights, to: peer, in: zone)
            }
        case .backup:
            try replica.makeBackup()
            backups[replica.number] = memories[replica.number]
        case .restore:
            guard try replica.restoreBackup(), let memory = backups[replica.number] else { return }
            memories[replica.number] = memory
            counts.restores += 1
        case .restart: try replica.restart()
        case .advance: clock.advance(Int64.random(in: 0...2000, using: &random))
        case .write, .delete, .exact, .undo, .fold, .doubleSession, .upgrade, .purge, .part,
            .decide:
            throw SimulationFailure("\(step) belongs to a script of records")
        }
    }

    private mutating func remove(_ other: SimulatedReplica, by replica: SimulatedReplica) throws {
        let set = try set(of: replica)
        guard case .member = set.standing(of: other.key) else { return }
        _ = try replica.write {
            try replica.store.household.remove($0, other.key.hexadecimal, by: replica.key)
        }
        counts.removals += 1
        for entry in set.entries where entry.introduction.key == other.key {
            memories[replica.number].removed.insert(entry.id)
        }
    }

    /// Lets two machines sync, if they accept each other.
    private mutating func session(
        _ caller: SimulatedReplica, _ listener: SimulatedReplica, end: SimulatedSession.End, pairs: Bool,
        _ random: inout SeededGenerator
    ) throws {
        let call = SessionCall(isOnce: random.oneIn(2))
        // Who restricts another one, or removes it, ends sessions, or lets none begin.
        var session = SimulatedSession(
            caller, listener, call, end: end,
            tolerating: [.notPaired, .removed, .notPermitted, .zonesChanged, .noCommonZone])
        let outcome = try session.run(&random, pairs: pairs)
        counts.sessions += 1
        counts.cuts += outcome.isCut ? 1 : 0
        counts.introductions += outcome.introductions
        counts.pairings += outcome.pairings
        // A line that is cut may leave the pairing with one side only.
        for (side, other) in zip(session.sides, [listener, caller]) where side.didKeepPeer {
            memories[side.replica.number].forgotten.remove(other.number)
        }
    }

    // MARK: What holds after each step

    private func set(of replica: SimulatedReplica) throws -> Household {
        try replica.read { try replica.store.household.set($0) }
    }

    private func peer(_ other: SimulatedReplica, of replica: SimulatedReplica) throws -> Peer? {
        try replica.read { try replica.store.peers.find($0, key: other.key) }
    }

    private mutating func check() throws {
        for replica in replicas {
            let set = try set(of: replica)
            let removed = Set(set.entries.filter { $0.removal != nil }.map(\.id))
            guard memories[replica.number].removed.isSubset(of: removed) else {
                throw SimulationFailure("machine \(replica.number) has lost a removal")
            }
            memories[replica.number].removed = removed
            for other in replicas where try peer(other, of: replica) != nil {
                guard other.number != replica.number else {
                    throw SimulationFailure("machine \(other.number) is its own peer")
                }
                if case .removed = set.standing(of: other.key) {
                    throw SimulationFailure(
                        "machine \(replica.number) accepts machine \(other.number), which was removed")
                }
                guard !memories[replica.number].forgotten.contains(other.number) else {
                    throw SimulationFailure(
                        "machine \(replica.number) accepts machine \(other.number), which its user has forgotten"
                    )
                }
            }
        }
    }

    // MARK: The end

    /// Lets all pairs of machines sync until nobody hears anything new.
    private mutating func quiesce(_ seeded: SeededGenerator) throws {
        var random = seeded
        for _ in 0...(2 * replicas.count) {
            let before = try replicas.map { try set(of: $0).digest }
            for caller in replicas {
                for listener in replicas where listener.number != caller.number {
                    try session(caller, listener, end: .never, pairs: false, &random)
                    try check()
                }
            }
            if try replicas.map({ try set(of: $0).digest }) == before { return }
        }
        throw SimulationFailure("the machines do not come to an end")
    }

    /// Whether two machines hear each other.
    private func areTogether(_ one: SimulatedReplica, _ other: SimulatedReplica) throws -> Bool {
        for (replica, remote) in [(one, other), (other, one)] {
            guard let peer = try peer(remote, of: replica) else { return false }
            let share = try replica.read { try replica.store.household.shared($0, with: peer).share }
            guard share == .all else { return false }
        }
        return true
    }

    private func checkAgreement() throws {
        for one in replicas {
            for other in replicas where other.number > one.number {
                guard try areTogether(one, other) else { continue }
                let sets = try [set(of: one), set(of: other)]
                guard sets[0] == sets[1] else {
                    throw SimulationFailure(
                        "machines \(one.number) and \(other.number) hear each other, and know different households"
                    )
                }
                for member in sets[0].members {
                    for replica in [one, other] where member.key != replica.key {
                        guard let machine = replicas.first(where: { $0.key == member.key }),
                            !memories[replica.number].forgotten.contains(machine.number)
                        else { continue }
                        guard try peer(machine, of: replica) != nil else {
                            throw SimulationFailure(
                                "machine \(replica.number) does not accept the member \(machine.number)")
                        }
                    }
                }
            }
        }
    }
}

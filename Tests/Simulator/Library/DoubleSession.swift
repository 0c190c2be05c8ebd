import PeerSyncProtocol
import TestSupport

/// Two sessions of the same two machines at the same time, over a connection each, as two programs on one machine have
/// them. Both use the same stores, and each hears of the other's changes.
struct DoubleSession {
    private var sessions: [SimulatedSession]
    /// How many steps the first session does before the second begins.
    private let delay: Int

    init(_ left: SimulatedReplica, _ right: SimulatedReplica, _ random: inout SeededGenerator) {
        let pairs = random.oneIn(2) ? [(left, right), (left, right)] : [(left, right), (right, left)]
        sessions = pairs.map { caller, listener in
            let call = SessionCall(isOnce: random.oneIn(2))
            return SimulatedSession(
                caller, listener, call, end: random.oneIn(2) ? .never : .randomCut(&random),
                tolerating: [.notPaired, .zonesChanged])
        }
        delay = Int.random(in: 0...40, using: &random)
    }

    /// Runs until neither session can do anything more.
    mutating func run(_ random: inout SeededGenerator) throws -> [SimulatedSession.Outcome] {
        try sessions[0].connect(.ifUnknown(SimulatedSession.code))
        var steps = 0
        while steps < delay, try step(0, &random) { steps += 1 }
        try sessions[1].connect(.ifUnknown(SimulatedSession.code))
        var isBusy = true
        var retries = 0
        while isBusy {
            let index = Int.random(in: 0...1, using: &random)
            isBusy = try step(index, &random) || step(1 - index, &random)
            guard !isBusy, sessions.map({ $0.retryBusy() }).contains(true) else { continue }
            isBusy = true
            retries += 1
            guard retries < 1000 else {
                throw SimulationFailure("two sessions of one machine wait for each other's files")
            }
        }
        for index in sessions.indices { try sessions[index].end() }
        return sessions.map(\.outcome)
    }

    private mutating func step(_ index: Int, _ random: inout SeededGenerator) throws -> Bool {
        let before = sessions[index].sides.map {
            ($0.applications, $0.sharings, $0.replica.disk.received.count)
        }
        guard try sessions[index].step(&random) else { return false }
        for (side, (applications, sharings, files)) in zip(sessions[index].sides, before) {
            for other in sessions[1 - index].sides where other.replica === side.replica {
                if side.applications != applications { other.storeChanged() }
                if side.sharings != sharings { try other.settingsChanged() }
                for hash in side.replica.disk.received[files...] { try other.files?.arrived(hash) }
            }
        }
        return true
    }
}

import PeerSyncStore

/// What the clock of this machine says beside those of the other machines, and beside the writes in the store.
enum ClockChecks {
    /// 2026-01-01: this program did not exist before, so a clock that says so was never set.
    static let earliestTime: Int64 = 1_767_225_600_000

    /// As many machines have to agree before they are believed: of two clocks that differ, either may be wrong.
    static let witnesses = 2

    static func findings(_ facts: DiagnosticFacts) -> [Finding] {
        if facts.now < earliestTime { return [Finding(.problem, .clockUnset, number: facts.now)] }
        let ahead = ownAhead(facts.peers)
        var findings: [Finding] = []
        if let ahead { findings.append(Finding(.problem, .clockWrong, number: ahead)) }
        // To a clock that is behind, every newer write lies in the future.
        if case .read(let content) = facts.store.state, StoreClock.isTooFarAhead(content.clockAhead),
            (ahead ?? 0) >= 0
        {
            findings.append(Finding(.problem, .writesInFuture, number: content.clockAhead))
        }
        return findings
    }

    /// How far the clock of the peer is ahead, in milliseconds, if it differs from this machine's.
    static func difference(_ peer: PeerFacts) -> Int64? { peer.clockAhead.flatMap { exceeds($0) ? $0 : nil } }

    /// Whether the clock of this machine explains why others differ from it.
    static func isOwnWrong(_ facts: DiagnosticFacts) -> Bool { ownAhead(facts.peers) != nil }

    /// Whether the difference of two clocks, in milliseconds, is larger than a session takes.
    private static func exceeds(_ difference: Int64) -> Bool { StoreClock.isTooFarAhead(abs(difference)) }

    /// How far the clock of this machine is ahead of the others', in milliseconds, if several answer and agree on it; nil if
    /// its clock is right, or nobody can tell.
    private static func ownAhead(_ peers: [PeerFacts]) -> Int64? {
        let others = peers.compactMap(\.clockAhead).sorted()
        guard others.count >= witnesses, let least = others.first, let greatest = others.last,
            exceeds(least), exceeds(greatest), !exceeds(greatest - least)
        else { return nil }
        return -others[others.count / 2]
    }
}

extension PeerFacts {
    /// How far the clock of the peer is ahead, in milliseconds, if it has proved who it is and said so.
    fileprivate var clockAhead: Int64? {
        guard case .machine(let answer)? = outcome, answer.key == noted?.key,
            case .hello(let hello) = answer.greeting
        else { return nil }
        return hello.clockAhead
    }
}

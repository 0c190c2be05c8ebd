import PeerSyncStore

/// What the facts of another machine say.
enum PeerChecks {
    /// After half of the time for which a store remembers deletions, somebody should think of the machine.
    static let longAwayDays: Int64 = StoreUpkeep.defaultRetention / 86_400_000 / 2

    static func whetherAny(_ facts: DiagnosticFacts) -> [Finding] {
        // Without its key the store is that of a machine which nobody knows.
        guard case .read(let content) = facts.store.state, facts.store.key == .good, content.peers == 0 else {
            return []
        }
        return [Finding(.warning, .noPeers)]
    }

    static func findings(_ peer: PeerFacts, _ facts: DiagnosticFacts) -> [Finding] {
        let comesByMailbox =
            peer.name.map { name in facts.mailboxes.contains { $0.heard.contains(name) } } ?? false
        let reach = self.reach(peer, facts).map { (found: Finding) -> Finding in
            // Machines with a mailbox need not reach each other.
            comesByMailbox && found.error == .unreachable
                ? Finding(.warning, found.code, peer: found.peer, subject: found.subject, error: found.error)
                : found
        }
        let answers = reach.contains { $0.code == .answers }
        return reach + noted(peer, facts, answers: answers)
    }

    private static func reach(_ peer: PeerFacts, _ facts: DiagnosticFacts) -> [Finding] {
        guard let address = peer.address else {
            return peer.noted?.isConnected == true ? [] : [Finding(.warning, .noAddress, peer: peer.name)]
        }
        switch peer.outcome {
        case nil: return []
        case .unreachable(let reason): return [unreachable(peer, address, reason)]
        case .stranger(let code):
            let kind: Finding.Code =
                switch code {
                case .incompatible: .incompatible
                case .noPeer, .otherApp: .strangerListens
                default: .cutOff
                }
            return [Finding(.problem, kind, peer: peer.name, subject: address, error: code)]
        case .machine(let answer): return answered(peer, facts, address, answer)
        }
    }

    private static func unreachable(
        _ peer: PeerFacts, _ address: String, _ reason: PeerProbe.Unreachable
    ) -> Finding {
        let code: Finding.Code
        switch (reason, peer.neighbour) {
        case (.noAnswer, .silent(let isWireless)), (.noRoute, .silent(let isWireless)):
            code = isWireless ? .nobodyThereOrKeptApart : .nobodyThere
        case (.unknownName, _): code = .unknownName
        case (.refused, _):
            code = peer.noted?.lastError == .peerSwitchedOff ? .peerSwitchedOff : .connectionRefused
        case (.noAnswer, _): code = .noAnswer
        case (.noRoute, _): code = .noWay
        case (.forbidden, _): code = .forbiddenHere
        }
        return Finding(.problem, code, peer: peer.name, subject: address, error: .unreachable)
    }

    private static func answered(
        _ peer: PeerFacts, _ facts: DiagnosticFacts, _ address: String, _ answer: PeerProbe.Answer
    ) -> [Finding] {
        func finding(_ severity: Finding.Severity, _ code: Finding.Code, _ number: Int64? = nil) -> Finding {
            Finding(severity, code, peer: peer.name, subject: address, number: number)
        }
        if answer.isSelf { return [finding(.problem, .thisMachine)] }
        if let noted = peer.noted, noted.key != answer.key {
            return [Finding(.problem, .wrongMachine, peer: peer.name, subject: address)]
        }
        guard peer.noted != nil else { return [finding(.problem, .notPaired)] }
        switch answer.greeting {
        case .refused(.notPaired): return [finding(.problem, .notPairedThere)]
        case .refused(.removed): return [finding(.problem, .removedThere)]
        case .refused(.peerSwitchedOff): return [finding(.problem, .peerSwitchedOff)]
        case .refused(let code):
            return [Finding(.problem, .cutOff, peer: peer.name, subject: address, error: code)]
        case .hello(let hello):
            var findings = [finding(.fine, .answers)]
            if let ahead = ClockChecks.difference(peer), !ClockChecks.isOwnWrong(facts) {
                findings.append(finding(.problem, .clocksDiffer, ahead))
            }
            switch hello.sharing {
            case .nothing: findings.append(finding(.problem, .noCommonZone))
            case .toBeDecided: findings.append(finding(.warning, .differentZones))
            case .something: break
            }
            return findings
        }
    }

    private static func noted(_ peer: PeerFacts, _ facts: DiagnosticFacts, answers: Bool) -> [Finding] {
        guard let noted = peer.noted, !noted.isConnected else { return [] }
        var findings: [Finding] = []
        // Errors of the way to the machine are seen better now. The others say what a greeting cannot.
        // An error of the clocks is told already while they differ.
        let isTold = noted.lastError == .clockSkew && ClockChecks.difference(peer) != nil
        if let error = noted.lastError, answers, !isTold, !isOutdatedByAnswer(error) {
            findings.append(
                Finding(.problem, .lastError, peer: peer.name, error: error, reason: noted.lastErrorText))
        }
        if let last = noted.lastSync, facts.now - last > longAwayDays * 86_400_000 {
            findings.append(
                Finding(.warning, .longAway, peer: peer.name, number: (facts.now - last) / 86_400_000))
        }
        return findings
    }

    /// Whether an answer of the machine has outdated an error.
    private static func isOutdatedByAnswer(_ error: PeerSyncError.Code) -> Bool {
        switch error {
        case .unreachable, .interrupted, .timeout, .peerSwitchedOff, .switchedOff, .duplicateConnection,
            .storeBusy, .zonesChanged, .notPaired, .noPeer, .otherApp, .noCommonZone, .storeMended:
            true
        case .otherMachine, .noDiscovery, .noMachineFound, .severalMachinesFound, .cannotListen, .removed,
            .householdFull, .changeTokenExpired, .clockSkew, .sameIdentity, .differentZones, .declined,
            .notAllowed, .pairingFailed, .pairingUnavailable, .pairingBusy, .tooManyAttempts, .invalidInput,
            .incompatible, .protocolViolation, .notPermitted, .unsafeIdentity, .foreignIdentity,
            .invalidIdentity, .missingIdentity, .diskFailure, .peerStoreFailure, .storeUnusable,
            .damagedRecord:
            false
        // ErrorCodeTests find no other.
        default: false
        }
    }
}

import PeerSyncModel
import PeerSyncProtocol
import Testing

@testable import PeerSync

/// Facts and what they say: a table, without a machine that has the trouble.
struct DiagnosisTests {
    private static let now: Int64 = 1_790_000_000_000
    private static let day: Int64 = 86_400_000

    private static func store(
        _ state: StoreFacts.State = .read(StoreContent(peers: 1)),
        _ change: (inout StoreFacts) -> Void = { _ in }
    ) -> StoreFacts {
        var facts = StoreFacts(
            directory: "/store", database: "/store/db", keyFile: "/store/key", state: state, key: .good,
            bytesLeft: 1 << 40)
        change(&facts)
        return facts
    }

    private static func content(_ change: (inout StoreContent) -> Void) -> StoreFacts {
        var content = StoreContent(peers: 1)
        change(&content)
        return store(.read(content))
    }

    /// What is found besides the things that are well.
    private func troubles(
        _ store: StoreFacts = store(), _ network: NetworkFacts? = nil, _ peers: [PeerFacts] = [],
        now: Int64 = Self.now
    ) -> [Finding] {
        Diagnosis.findings(of: DiagnosticFacts(now: now, store: store, network: network, peers: peers))
            .filter { $0.severity != .fine }
    }

    @Test func aSoundMachineHasNoTrouble() {
        let network = NetworkFacts(port: 7431, listener: .thisStore(addresses: ["0.0.0.0:7431"]))
        #expect(troubles(Self.store(), network).isEmpty)
        let all = Diagnosis.findings(
            of: DiagnosticFacts(now: Self.now, store: Self.store(), network: network))
        #expect(all.map(\.code) == [.sound, .listening])
    }

    // MARK: Mailboxes

    @Test(arguments: [
        (
            MailboxFacts(name: "nas", wasInStep: true),
            Finding(.fine, .mailboxInStep, subject: "nas")
        ),
        (
            MailboxFacts(name: "nas", wasInStep: false),
            Finding(.warning, .mailboxUnused, subject: "nas")
        ),
        (
            MailboxFacts(name: "nas", wasInStep: true, failure: "it is full"),
            Finding(.problem, .mailboxFailed, subject: "nas", reason: "it is full")
        ),
    ]) func aMailboxIsInStepUnusedOrFails(mailbox: MailboxFacts, finding: Finding) {
        let facts = DiagnosticFacts(now: Self.now, store: Self.store(), network: nil, mailboxes: [mailbox])
        #expect(Diagnosis.findings(of: facts) == [Finding(.fine, .sound, number: 0), finding])
    }

    /// Two machines with a mailbox need not reach each other.
    @Test func whoIsHeardOfThroughAMailboxNeedNotAnswer() {
        var facts = DiagnosticFacts(
            now: Self.now, store: Self.store(), network: nil, peers: [Self.peer(.unreachable(.noAnswer))],
            mailboxes: [MailboxFacts(name: "nas", wasInStep: true, heard: ["study"])])
        func severity() -> Finding.Severity? {
            Diagnosis.findings(of: facts).first { $0.code == .noAnswer }?.severity
        }
        #expect(severity() == .warning)
        facts.mailboxes[0].heard = ["cellar"]
        #expect(severity() == .problem)
        facts.mailboxes[0].unreadable = ["cellar": "it is damaged"]
        #expect(
            Diagnosis.findings(of: facts).contains(
                Finding(.problem, .mailboxUnreadable, peer: "cellar", subject: "nas", reason: "it is damaged")
            ))
    }

    // MARK: The store

    @Test(arguments: [
        (store(.missing) { $0.key = .missing }, [Finding(.problem, .noStore, subject: "/store")]),
        (store(.unreadable(path: "/store/db")), [Finding(.problem, .unreadable, subject: "/store/db")]),
        (store(.damaged), [Finding(.problem, .damaged, subject: "/store/db")]),
        (store(.newer), [Finding(.problem, .newerStore, subject: "/store/db")]),
        (store(.unusable), [Finding(.problem, .storeUnusable, subject: "/store/db")]),
        (store { $0.isReadOnlyDisk = true }, [Finding(.problem, .readOnlyDisk, subject: "/store")]),
        (store { $0.unwritable = ["/store/db"] }, [Finding(.problem, .unwritable, subject: "/store/db")]),
        (store { $0.bytesLeft = 4096 }, [Finding(.problem, .diskFull, subject: "/store", number: 4096)]),
        (
            store { $0.bytesLeft = 32 << 20 },
            [Finding(.warning, .diskAlmostFull, subject: "/store", number: 32 << 20)]
        ),
        (store { $0.bytesLeft = nil }, []),
        (store { $0.key = .missing }, [Finding(.problem, .noKey, subject: "/store/key")]),
        (
            store { $0.key = .unusable(.unsafeIdentity) },
            [Finding(.problem, .keyUnusable, subject: "/store/key", error: .unsafeIdentity)]
        ),
    ])
    func theFilesOfTheStore(facts: StoreFacts, findings: [Finding]) { #expect(troubles(facts) == findings) }

    @Test(arguments: [
        (content { $0.isSyncOn = false }, [Finding(.problem, .switchedOff)]),
        (content { $0.unsound = 3 }, [Finding(.problem, .unsound, number: 3)]),
        (content { $0.held = 2 }, [Finding(.warning, .held, number: 2)]),
        (content { $0.unsynced = 1 }, [Finding(.warning, .unsynced, number: 1)]),
        (content { $0.clockAhead = 300_000 }, []),
        (content { $0.clockAhead = 300_001 }, [Finding(.problem, .writesInFuture, number: 300_001)]),
        (content { $0.peers = 0 }, [Finding(.warning, .noPeers)]),
        (
            content {
                $0.refused = [.init(peer: "study", zone: "club"): 4, .init(peer: "attic", zone: "club"): 1]
            },
            [
                Finding(.warning, .refused, peer: "attic", subject: "club", number: 1),
                Finding(.warning, .refused, peer: "study", subject: "club", number: 4),
            ]
        ),
    ])
    func whatTheStoreHolds(facts: StoreFacts, findings: [Finding]) { #expect(troubles(facts) == findings) }

    @Test func aClockThatNobodySet() {
        #expect(troubles(now: 0) == [Finding(.problem, .clockUnset, number: 0)])
    }

    /// A store that belongs to no key has no peers, whoever was paired.
    @Test func aStoreWithoutItsKeySaysNothingOfPeers() {
        let facts = Self.store(.read(StoreContent())) { $0.key = .missing }
        #expect(troubles(facts).map(\.code) == [.noKey])
    }

    // MARK: The network here

    @Test(arguments: [
        (NetworkFacts.Listener.nobody, [Finding(.warning, .notListening, number: 7431)]),
        (.other, [Finding(.problem, .portTaken, number: 7431)]),
        (
            .thisStore(addresses: ["127.0.0.1:7431"]),
            [Finding(.warning, .listeningToItself, subject: "127.0.0.1:7431")]
        ),
        (
            .thisStore(addresses: ["[::1]:7431"]),
            [Finding(.warning, .listeningToItself, subject: "[::1]:7431")]
        ),
        (.thisStore(addresses: ["127.0.0.1:7431", "[::]:7431"]), []),
    ])
    func whoListens(listener: NetworkFacts.Listener, findings: [Finding]) {
        #expect(troubles(Self.store(), NetworkFacts(port: 7431, listener: listener)) == findings)
    }

    @Test func firewallsDiscoveryAndNoNetwork() {
        var facts = NetworkFacts(port: 7431, listener: .thisStore(addresses: ["0.0.0.0:7431"]))
        facts.firewall = .blocks(program: "nftables")
        #expect(
            troubles(Self.store(), facts) == [
                Finding(.problem, .firewallBlocks, subject: "nftables", number: 7431)
            ])
        facts.firewall = .mayBlock(program: "ufw")
        #expect(
            troubles(Self.store(), facts) == [
                Finding(.warning, .firewallMayBlock, subject: "ufw", number: 7431)
            ])
        facts.firewall = .open
        facts.discovery = .missing(name: "Avahi")
        #expect(troubles(Self.store(), facts) == [Finding(.warning, .noDiscovery, subject: "Avahi")])
        facts.discovery = .running
        facts.hasAddress = false
        #expect(troubles(Self.store(), facts) == [Finding(.problem, .noNetwork)])
    }

    // MARK: Another machine

    private static let key: [UInt8] = Array(repeating: 7, count: 32)

    private static func peer(
        _ outcome: PeerProbe.Outcome?, neighbour: PeerFacts.Neighbour = .unknown,
        lastError: PeerSyncError.Code? = nil, lastSync: Int64? = nil
    ) -> PeerFacts {
        PeerFacts(
            name: "study", noted: .init(key: key, lastError: lastError, lastSync: lastSync),
            address: "host:1",
            outcome: outcome, neighbour: neighbour)
    }

    private static func hello(
        _ ahead: Int64 = 0, _ sharing: PeerProbe.Hello.Sharing = .something, key: [UInt8] = key
    ) -> PeerProbe.Outcome {
        .machine(
            .init(key: key, isSelf: false, greeting: .hello(.init(clockAhead: ahead, sharing: sharing))))
    }

    private static func refused(_ code: PeerSyncError.Code) -> PeerProbe.Outcome {
        .machine(.init(key: key, isSelf: false, greeting: .refused(code)))
    }

    @Test(arguments: [
        (peer(.unreachable(.refused)), Finding.Code.connectionRefused),
        (peer(.unreachable(.refused), lastError: .peerSwitchedOff), .peerSwitchedOff),
        (peer(.unreachable(.noAnswer)), .noAnswer),
        (peer(.unreachable(.noAnswer), neighbour: .silent(isWireless: false)), .nobodyThere),
        (peer(.unreachable(.noRoute), neighbour: .silent(isWireless: false)), .nobodyThere),
        (peer(.unreachable(.noRoute), neighbour: .silent(isWireless: true)), .nobodyThereOrKeptApart),
        // Who refuses is there.
        (peer(.unreachable(.refused), neighbour: .silent(isWireless: true)), .connectionRefused),
        (peer(.unreachable(.noRoute)), .noWay),
        (peer(.unreachable(.forbidden)), .forbiddenHere),
        (peer(.unreachable(.unknownName)), .unknownName),
        (peer(.stranger(.noPeer)), .strangerListens),
        (peer(.stranger(.otherApp)), .strangerListens),
        (peer(.stranger(.incompatible)), .incompatible),
        (peer(.stranger(.timeout)), .cutOff),
        (peer(.machine(.init(key: key, isSelf: true, greeting: .refused(.sameIdentity)))), .thisMachine),
        (peer(hello(key: [1])), .wrongMachine),
        (peer(refused(.notPaired)), .notPairedThere),
        (peer(refused(.removed)), .removedThere),
        (peer(refused(.peerSwitchedOff)), .peerSwitchedOff),
        (peer(refused(.timeout)), .cutOff),
        (peer(hello(300_001)), .clocksDiffer),
        (peer(hello(-300_001)), .clocksDiffer),
        (peer(hello(0, .nothing)), .noCommonZone),
        (peer(hello(), lastError: .changeTokenExpired), .lastError),
    ])
    func aMachineThatCannotBeReachedOrWouldNotSync(facts: PeerFacts, code: Finding.Code) {
        let found = troubles(Self.store(), nil, [facts])
        #expect(
            found.map(\.code) == [code] && found.allSatisfy { $0.severity == .problem && $0.peer == "study" })
    }

    @Test(arguments: [
        peer(hello()), peer(hello(300_000)), peer(hello(-300_000)), peer(hello(), lastError: .unreachable),
        peer(hello(), lastError: .interrupted), peer(nil), peer(hello(), lastSync: now - 90 * day),
    ])
    func aMachineThatWouldSync(facts: PeerFacts) { #expect(troubles(Self.store(), nil, [facts]).isEmpty) }

    /// Each of them is how far the clocks of two or three other machines are ahead.
    @Test(arguments: [
        ([10_800_000, 10_801_000], [Finding(.problem, .clockWrong, number: -10_801_000)]),
        ([-10_800_000, -10_801_000, -10_802_000], [Finding(.problem, .clockWrong, number: 10_801_000)]),
        // Most are right with this one, or nobody agrees with anybody.
        (
            [0, 10_800_000],
            [Finding(.problem, .clocksDiffer, peer: "1", subject: "host:1", number: 10_800_000)]
        ),
        (
            [10_800_000, -10_800_000],
            [
                Finding(.problem, .clocksDiffer, peer: "0", subject: "host:1", number: 10_800_000),
                Finding(.problem, .clocksDiffer, peer: "1", subject: "host:1", number: -10_800_000),
            ]
        ),
    ])
    func whoseClockIsWrong(ahead: [Int64], findings: [Finding]) {
        let peers = ahead.enumerated().map { number, ahead in
            var peer = Self.peer(Self.hello(ahead), lastError: ahead == 0 ? nil : .clockSkew)
            peer.name = "\(number)"
            return peer
        }
        #expect(troubles(Self.store(), nil, peers) == findings)
    }

    /// To a clock that is behind, everything newer lies in the future: nothing has to be repaired.
    @Test func aClockThatIsBehindLeavesTheWritesAlone() {
        let store = Self.content { $0.clockAhead = 2 * Self.day }
        let others = [Self.peer(Self.hello(2 * Self.day)), Self.peer(Self.hello(2 * Self.day))]
        #expect(troubles(store, nil, others).map(\.code) == [.clockWrong])
        #expect(troubles(store, nil, [others[0]]).map(\.code) == [.writesInFuture, .clocksDiffer])
        let ahead = [Self.peer(Self.hello(-Self.day)), Self.peer(Self.hello(-Self.day))]
        #expect(troubles(store, nil, ahead).map(\.code) == [.clockWrong, .writesInFuture])
    }

    @Test func theLastErrorIsToldInItsWords() {
        var peer = Self.peer(Self.hello(), lastError: .changeTokenExpired)
        peer.noted?.lastErrorText = "it was away"
        #expect(
            troubles(Self.store(), nil, [peer]) == [
                Finding(
                    .problem, .lastError, peer: "study", error: .changeTokenExpired, reason: "it was away")
            ])
    }

    @Test func whatIsNotedOrTypedOnly() {
        let away = Self.peer(Self.hello(), lastSync: Self.now - 91 * Self.day)
        #expect(
            troubles(Self.store(), nil, [away]) == [Finding(.warning, .longAway, peer: "study", number: 91)])
        let unknown = PeerFacts(name: "attic", noted: .init(key: [2]), address: nil, outcome: nil)
        #expect(troubles(Self.store(), nil, [unknown]) == [Finding(.warning, .noAddress, peer: "attic")])
        let typed = PeerFacts(name: nil, noted: nil, address: "host:1", outcome: Self.refused(.notPaired))
        #expect(troubles(Self.store(), nil, [typed]) == [Finding(.problem, .notPaired, subject: "host:1")])
        #expect(
            troubles(Self.store(), nil, [Self.peer(Self.hello(0, .toBeDecided))]).map(\.code) == [
                .differentZones
            ])
    }

    private static func offer(
        _ owner: UInt64, _ recordCount: UInt64, _ fingerprint: UInt8, isShared: Bool = false,
        isDefault: Bool = true
    ) -> ZoneOffer {
        ZoneOffer(
            id: ZoneID(name: ZoneName("club")!, owner: ReplicaID(rawValue: owner)), name: "club",
            isDefault: isDefault, isShared: isShared, rights: .write, recordCount: recordCount,
            fingerprint: [UInt8](repeating: fingerprint, count: ZoneOffer.fingerprintLength))
    }

    /// Two default zones that a session unites without a question need no warning.
    @Test(arguments: [
        ([offer(1, 3, 1)], [offer(2, 4, 2)], PeerProbe.Hello.Sharing.toBeDecided),
        ([offer(1, 3, 1)], [offer(2, 3, 2)], .toBeDecided),
        ([offer(1, 3, 1)], [offer(2, 0, 0, isShared: true)], .toBeDecided),
        ([offer(1, 3, 1)], [offer(2, 0, 0)], .something),
        ([offer(1, 0, 0)], [offer(2, 4, 2, isShared: true)], .something),
        ([offer(1, 3, 1)], [offer(2, 3, 1)], .something),
        ([offer(1, 3, 1)], [offer(1, 4, 2)], .something),
        ([offer(1, 3, 1)], [], .nothing),
        ([offer(1, 3, 1)], [offer(2, 4, 2, isDefault: false)], .something),
    ])
    func whatTwoMachinesShare(own: [ZoneOffer], theirs: [ZoneOffer], sharing: PeerProbe.Hello.Sharing) {
        #expect(PeerProbe.sharing(own, theirs, [own[0].id]) == sharing)
    }

    /// People mend from the top.
    @Test func causesComeBeforeWhatTheyCause() {
        let network = NetworkFacts(port: 7431, listener: .nobody)
        let facts = Self.content { $0.isSyncOn = false }
        let found = troubles(facts, network, [Self.peer(.unreachable(.refused))])
        #expect(found.map(\.code) == [.switchedOff, .notListening, .connectionRefused])
    }
}

import Logging
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import ServiceLifecycle
import TestSupport
import Testing

@testable import PeerSync

/// Machines of one network find each other, and believe nothing that they hear there.
struct NearbyMachinesTests {
    private static let name = "test"
    private let network = MemoryDiscovery()

    private func machine(_ name: String, announces: Bool = true) throws -> LoopbackMachine {
        try LoopbackMachine(
            name,
            discovery: DiscoveryOptions(through: network, serviceName: Self.name, announces: announces))
    }

    /// Makes two machines know each other. Neither has an address of the other.
    private func pair(_ one: LoopbackMachine, _ other: LoopbackMachine) async throws {
        for (machine, peer) in [(one, other), (other, one)] {
            _ = try await machine.engine.store.peers.add(
                key: peer.engine.identity.publicKey.bytes, name: peer.engine.displayName)
        }
    }

    private func connected(_ machine: LoopbackMachine, after start: Int = 0) async throws -> String {
        try await machine.event(after: start) { if case .connected(let name, _) = $0 { name } else { nil } }
    }

    /// The error of the first event that says that somebody else answers, or that discovery fails.
    private func trouble(_ machine: LoopbackMachine, after start: Int = 0) async throws -> PeerSyncError {
        try await machine.event(after: start) { event in
            switch event {
            case .retrying(_, _, let error), .discoveryTrouble(let error): error
            default: nil
            }
        }
    }

    /// Announces a machine under other names, each with addresses of its own, while `body` runs.
    private func repeating(
        _ machine: LoopbackMachine, at places: [[PeerAddress]], while body: () async throws -> Void
    ) async throws {
        let text = Announcement(of: machine.engine.identity.publicKey, showsCode: false).text
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, addresses) in places.enumerated() {
                let service = FoundService(name: "thief \(number)", text: text, addresses: addresses)
                group.addTask { [network] in
                    try await network.announce(service, type: "_\(Self.name)._tcp")
                }
            }
            try await body()
            group.cancelAll()
        }
    }

    @Test(.timeLimit(.minutes(5))) func pairedMachinesConnectWithoutAnAddress() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study", announces: false))
        try await pair(kitchen, study)
        try await study.listening(dialsKnownPeers: true) { _ in
            try await kitchen.listening { _ in
                let name = try await connected(study)
                #expect(name == "kitchen")
            }
            _ = try await study.event { if case .disconnected = $0 { true } else { nil as Bool? } }
            let before = study.events.count
            // On another port.
            try await kitchen.listening { _ in
                let name = try await connected(study, after: before)
                #expect(name == "kitchen")
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aMachineIsFoundByItsName() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        try await pair(kitchen, study)
        let peer = try #require(try await study.engine.store.peers.all().first)
        await #expect {
            try await SyncConnector(study.engine, to: peer).syncOnce()
        } throws: {
            ($0 as? PeerSyncError)?.code == .unreachable
        }
        try await kitchen.listening { port in
            try await SyncConnector(study.engine, to: peer).syncOnce()
            // That was noted, and serves where nobody is found.
            network.isAvailable = false
            try await SyncConnector(study.engine, to: peer).syncOnce()
            network.isAvailable = true
            // The kitchen announces itself again some moments later.
            let found = try await eventually("the kitchen") {
                let found = try await study.engine.machines(within: .milliseconds(300))
                return found.isEmpty ? nil : found
            }
            #expect(found.map(\.peer) == ["kitchen"])
            #expect(found.first?.addresses.map(\.port) == [port])
        }
    }

    /// A machine that only ever listened has no address of its peers, and their names need not be those of hosts.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func aPairedMachineThatIsNowhereIsNoUnknownHost(isTyped: Bool) async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await pair(kitchen, study)
        let peer = try #require(try await study.engine.store.peers.all().first)
        // Nobody listens there.
        let place = PeerAddress(host: "127.0.0.1", port: 1)
        let connector = SyncConnector(study.engine, to: peer, orAt: isTyped ? place : nil)
        var error = await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
        #expect(error?.code == .unreachable)
        #expect(error?.message.hasPrefix("kitchen is paired, but is not found") == true)
        #expect(error?.message.contains("cannot reach \(place)") == isTyped)
        #expect(error?.message.contains("give its address") == !isTyped)
        // What is wrong where it was says more.
        try await study.engine.store.peers.noteAddress(place.description, of: peer)
        error = await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
        #expect(error?.message.hasPrefix("cannot reach \(place)") == true)
    }

    @Test(.timeLimit(.minutes(5))) func aStoreThatCannotBeReadHidesNothingThatWasFoundOut() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await pair(kitchen, study)
        let engine = study.engine
        let peer = try #require(try await engine.store.peers.all().first)
        let place = PeerAddress(host: "127.0.0.1", port: 1)
        let reaching = Reaching(engine: engine, peer: peer, typed: place, finder: Finder(engine))
        let error = await #expect(throws: PeerSyncError.self) {
            try await reaching.first { _ -> Void in
                try await engine.store.database.write {
                    try $0.execute(sql: "ALTER TABLE grdb_sync_peer RENAME TO gone")
                }
                throw PeerSyncError(.otherMachine, "somebody else answers there")
            }
        }
        #expect(error?.code == .otherMachine)
    }

    /// A list of an app has each of them once.
    @Test func machinesWithTheSameAddressesAreOne() {
        let (here, there) = (PeerAddress(host: "10.0.0.1", port: 1), PeerAddress(host: "10.0.0.2", port: 1))
        let plain = FoundMachine(addresses: [here])
        let showing = FoundMachine(addresses: [here], showsCode: true)
        let paired = FoundMachine(peer: "kitchen", addresses: [here])
        let other = FoundMachine(addresses: [there, here])
        #expect(FoundMachine.distinct([plain, other, showing, plain]) == [showing, other])
        #expect(FoundMachine.distinct([showing, paired, plain, other]) == [paired, other])
    }

    @Test(.timeLimit(.minutes(5))) func whoIsHiddenIsNotFoundAndFinds() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study", announces: false))
        try await study.listening { _ in
            let found = try await kitchen.engine.machines(within: .milliseconds(300))
            #expect(found.isEmpty)
        }
        try await kitchen.listening { _ in
            let found = try await eventually("the kitchen") {
                let found = try await study.engine.machines(within: .milliseconds(300))
                return found.isEmpty ? nil : found
            }
            // They are not paired, so that it has no name.
            #expect(found.map(\.peer) == [nil])
            #expect(found.map(\.showsCode) == [false])
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoRepeatsAnAnnouncementIsFoundOutAndLearnsNothing() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        try await pair(kitchen, study)
        // It announces nothing of its own.
        let silent = try LoopbackMachine("thief")
        try await silent.listening { port in
            try await repeating(kitchen, at: [[PeerAddress(host: "127.0.0.1", port: port)]]) {
                try await study.listening(dialsKnownPeers: true) { _ in
                    let error = try await trouble(study)
                    #expect(error.code == .otherMachine)
                    #expect(error.message.contains("kitchen"))
                    let refused = try await silent.event { event in
                        if case .refused(_, let error) = event { error } else { nil }
                    }
                    #expect(refused.code == .interrupted)
                    // The kitchen itself is found beside it.
                    try await kitchen.listening { _ in
                        let name = try await connected(study)
                        #expect(name == "kitchen")
                    }
                }
            }
        }
    }

    /// Somebody announces a machine's address in the name of another one.
    @Test(.timeLimit(.minutes(5))) func anAnnouncementInAnotherNameKeepsNobodyFromBeingDialled() async throws
    {
        let (kitchen, study) = (try machine("kitchen", announces: false), try machine("study"))
        let attic = try machine("attic")
        for other in [kitchen, attic] { try await pair(other, study) }
        try await kitchen.listening { port in
            try await repeating(attic, at: [[PeerAddress(host: "127.0.0.1", port: port)]]) {
                try await study.listening(dialsKnownPeers: true) { _ in
                    #expect(try await trouble(study).message.contains("attic is said to be at"))
                    let key = kitchen.engine.identity.publicKey.bytes
                    let peer = try #require(try await study.engine.store.peers.find(key: key))
                    try await study.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: peer)
                    #expect(try await connected(study) == "kitchen")
                }
            }
        }
    }

    /// Somebody repeats an announcement under some names, with as many addresses as one machine is dialled at, before the machine
    /// comes.
    @Test(.timeLimit(.minutes(5)), arguments: [2, Finder.addressLimit])
    func whoRepeatsAnAnnouncementLeavesRoomForTheMachine(names: Int) async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        try await pair(kitchen, study)
        try await Trap.opening(count: Finder.addressLimit, isSilent: false) { places, _ in
            let share = places.count / names
            let shares = (0..<names).map { Array(places[$0 * share..<($0 + 1) * share]) }
            try await repeating(kitchen, at: shares) {
                try await eventually("the repetitions", within: .seconds(300)) {
                    try await study.engine.machines(within: .milliseconds(300)).count == names
                }
                try await kitchen.listening { _ in
                    try await study.listening(dialsKnownPeers: true) { _ in
                        let name = try await connected(study)
                        #expect(name == "kitchen")
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func theEndOfDiscoveryIsToldOnceAndEverythingComesBack() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        try await pair(kitchen, study)
        network.isAvailable = false
        try await study.listening(dialsKnownPeers: true) { _ in
            #expect(try await trouble(study).code == .noDiscovery)
            try await Task.sleep(for: .milliseconds(1200))
            try await kitchen.listening { _ in
                network.isAvailable = true
                let name = try await connected(study)
                #expect(name == "kitchen")
                // Both parts have to work again: announcing tries anew after a pause.
                _ = try await study.event { event in
                    if case .discoveryTroubleEnded = event { true } else { nil as Bool? }
                }
                let kinds = study.events.compactMap { event in
                    switch event {
                    case .discoveryTrouble: "trouble"
                    case .discoveryTroubleEnded: "ended"
                    default: nil
                    }
                }
                #expect(kinds.prefix(2) == ["trouble", "ended"])
                #expect(kinds.count { $0 == "trouble" } == 1)
            }
        }
    }

    /// Somebody repeats an announcement, and then says nothing, or hangs up. The machine itself is announced beside it, or only
    /// where it was last.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false], [true, false])
    func whoSaysNothingAtAnAnnouncedAddressHoldsNobodyUp(isSilent: Bool, isAnnounced: Bool) async throws {
        let (kitchen, study) = (try machine("kitchen", announces: isAnnounced), try machine("study"))
        study.engine.deadlines.handshake = .seconds(5)
        try await pair(kitchen, study)
        try await Trap.opening(isSilent: isSilent) { trap, _ in
            try await repeating(kitchen, at: [[trap]]) {
                try await kitchen.listening { port in
                    let peer = try #require(try await study.engine.store.peers.all().first)
                    if !isAnnounced {
                        try await study.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: peer)
                    }
                    try await eventually("all that is announced") {
                        try await study.engine.machines(within: .milliseconds(300))
                            .flatMap(\.addresses).count == (isAnnounced ? 2 : 1)
                    }
                    try await SyncConnector(study.engine, to: peer).syncOnce()
                }
            }
        }
    }

    /// A machine that was started anew is announced at its former addresses at first. Each new announcement comes when somebody
    /// has tried the one before.
    @Test(.timeLimit(.minutes(5))) func aMachineIsLookedForAgainAfterEachAddressWithoutIt() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        try await pair(kitchen, study)
        let text = Announcement(of: kitchen.engine.identity.publicKey, showsCode: false).text
        try await Trap.opening(count: 3, isSilent: false) { places, trap in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let peer = try #require(try await study.engine.store.peers.all().first)
                group.addTask { try await SyncConnector(study.engine, to: peer).syncOnce() }
                try await withThrowingTaskGroup(of: Void.self) { announcements in
                    for (number, place) in places.enumerated() {
                        let service = FoundService(name: "former \(number)", text: text, addresses: [place])
                        announcements.addTask { [network] in
                            try await network.announce(service, type: "_\(Self.name)._tcp")
                        }
                        try await eventually("somebody at the former address") { trap.seen == number + 1 }
                    }
                    try await kitchen.listening { _ in try await group.next() }
                    announcements.cancelAll()
                }
            }
        }
    }

    /// Nobody listens at the machine's port while it is started anew. A new announcement says that it is back.
    @Test(.timeLimit(.minutes(5))) func aMachineThatIsBackIsTriedAgainWhereItWas() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        try await pair(kitchen, study)
        let text = Announcement(of: kitchen.engine.identity.publicKey, showsCode: false).text
        let peer = try #require(try await study.engine.store.peers.all().first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            let port = try await Trap.opening(isSilent: false) { place, trap in
                let service = FoundService(name: "former", text: text, addresses: [place])
                group.addTask { [network] in
                    try await network.announce(service, type: "_\(Self.name)._tcp")
                }
                group.addTask { try await SyncConnector(study.engine, to: peer).syncOnce() }
                try await eventually("somebody there") { trap.seen == 1 }
                return place.port
            }
            try await kitchen.listening(on: port) { _ in try await group.next() }
            group.cancelAll()
        }
    }

    /// Others name many addresses, and who is there says nothing: only some are dialled at a time, and all in the end.
    @Test(.timeLimit(.minutes(5))) func onlySomeAddressesAreDialledAtATime() async throws {
        let study = try machine("study")
        let count = KnownPeers.dialLimit + 4
        try await Trap.opening(count: count) { places, trap in
            for (number, place) in places.enumerated() {
                let peer = try await study.engine.store.peers.add(
                    key: [UInt8](repeating: UInt8(number + 1), count: 32), name: "member \(number)")
                try await study.engine.store.peers.noteAddress(place.description, of: peer)
            }
            try await study.listening(dialsKnownPeers: true) { _ in
                try await eventually("the first ones") { trap.open == KnownPeers.dialLimit }
                // Those that end make room for others.
                try await eventually("all") {
                    trap.closeAll()
                    return trap.seen == count
                }
                #expect(trap.most == KnownPeers.dialLimit)
            }
        }
    }

    // MARK: Pairing

    /// The first address of a link is that of somebody who says nothing, or hangs up.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func whoSaysNothingKeepsNobodyFromPairing(isSilent: Bool) async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        study.engine.deadlines.handshake = .seconds(5)
        try await Trap.opening(isSilent: isSilent) { trap, _ in
            try await kitchen.listening { port in
                let code = try await kitchen.engine.pairing.show(for: nil)
                let link = PairingLink(
                    to: kitchen.engine, code: code.code,
                    at: [trap, PeerAddress(host: "127.0.0.1", port: port)])
                network.isAvailable = false
                #expect(try await study.engine.pair(link: link).peer == "kitchen")
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func theMachineThatShowsTheCodeIsFound() async throws {
        let (kitchen, study, attic) = (try machine("kitchen"), try machine("study"), try machine("attic"))
        try await attic.listening { _ in
            try await kitchen.listening { _ in
                let code = try await kitchen.engine.pairing.show()
                let report = try await study.engine.pair(code: code)
                #expect(report.didPair && report.peer == "kitchen")
                #expect(try await attic.engine.store.peers.all().isEmpty)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func noCodeIsTriedWhereSeveralMachinesShowOne() async throws {
        let (kitchen, study, attic) = (try machine("kitchen"), try machine("study"), try machine("attic"))
        try await attic.listening { _ in
            try await kitchen.listening { _ in
                let (code, other) = (
                    try await kitchen.engine.pairing.show(for: nil),
                    try await attic.engine.pairing.show(for: nil)
                )
                try await eventually("both are found") {
                    try await study.engine.machinesThatShowCodes().count == 2
                }
                await #expect {
                    try await study.engine.pair(code: code.code)
                } throws: {
                    ($0 as? PeerSyncError)?.code == .severalMachinesFound
                }
                #expect(try await code.state == .shown(attemptsLeft: 3))
                #expect(try await other.state == .shown(attemptsLeft: 3))
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func nobodyShowsACode() async throws {
        let (kitchen, study) = (try machine("kitchen"), try machine("study"))
        study.engine.deadlines.search = .milliseconds(100)
        try await kitchen.listening { _ in
            await #expect {
                try await study.engine.pair(code: .random())
            } throws: {
                ($0 as? PeerSyncError)?.code == .noMachineFound
            }
        }
    }

    /// Whoever ends the app, or taps Cancel, waits for nothing.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func whoLooksForACodeCanEnd(isGraceful: Bool)
        async throws
    {
        struct Looking: Service {
            let engine: SyncEngine
            func run() async throws { try await engine.pair(code: .random()) }
        }
        let study = try machine("study")
        study.engine.deadlines.search = .seconds(3600)
        let services = ServiceGroup(services: [Looking(engine: study.engine)], logger: Logger(label: "test"))
        let running = Task { try await services.run() }
        if isGraceful { await services.triggerGracefulShutdown() } else { running.cancel() }
        await #expect {
            try await running.value
        } throws: { error in
            isGraceful ? (error as? PeerSyncError)?.code == .interrupted : error is CancellationError
        }
    }

    @Test(.timeLimit(.minutes(5))) func aLinkLeadsToItsMachineOnly() async throws {
        let (kitchen, study, attic) = (try machine("kitchen"), try machine("study"), try machine("attic"))
        try await attic.listening { wrongPort in
            try await kitchen.listening { port in
                let code = try await kitchen.engine.pairing.show(for: nil)
                let addresses = [wrongPort, port].map { PeerAddress(host: "127.0.0.1", port: $0) }
                let wrong = PairingLink(to: kitchen.engine, code: code.code, at: [addresses[0]])
                network.isAvailable = false
                await #expect {
                    try await study.engine.pair(link: wrong)
                } throws: {
                    ($0 as? PeerSyncError)?.code == .otherMachine
                }
                #expect(try await code.state == .shown(attemptsLeft: 3))
                let right = PairingLink(to: kitchen.engine, code: code.code, at: addresses)
                #expect(try await study.engine.pair(link: right).peer == "kitchen")
            }
        }
    }

    // MARK: Names

    @Test func eachAppHasAServiceOfItsOwn() {
        let name = DiscoveryOptions.serviceName(of: "org.example.books")
        #expect(name == DiscoveryOptions.serviceName(of: "org.example.books"))
        #expect(name != DiscoveryOptions.serviceName(of: "org.example.todo"))
        #expect(name.wholeMatch(of: /ps-[0-9a-f]{10}/) != nil)
        #expect(DiscoveryOptions().serviceType(of: "org.example.books") == "_\(name)._tcp")
        #expect(DiscoveryOptions.isServiceName(name))
    }

    @Test(arguments: [
        ("books", true), ("ps-1", true), ("a2345678901234b", true), ("", false), ("a23456789012345b", false),
        ("A", false), ("a b.c", false), ("bücher", false), ("12-3", false), ("-a", false), ("a-", false),
        ("a--b", false),
    ]) func aServiceHasANameOfItsStandard(name: String, isOne: Bool) {
        #expect(DiscoveryOptions.isServiceName(name) == isOne)
    }
}

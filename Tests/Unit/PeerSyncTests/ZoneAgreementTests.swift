import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// What two machines agree on, and what is done when another session, program or user was faster.
@Suite(.timeLimit(.minutes(5))) struct ZoneAgreementTests {
    private let machine: LoopbackMachine
    private let peer: Peer

    private var store: RecordStore { machine.engine.store }

    init() async throws {
        machine = try LoopbackMachine("kitchen")
        peer = try await machine.engine.store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "study")
        try await machine.engine.store.write { db in
            try db.execute(sql: "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan')")
        }
    }

    // MARK: Offers

    private static func id(_ owner: UInt64, _ name: String = "ScorebookData") -> ZoneID {
        ZoneID(name: ZoneName(name)!, owner: ReplicaID(rawValue: owner))
    }

    /// What the other side offers of a zone.
    private func offer(
        _ id: ZoneID, isDefault: Bool = true, isShared: Bool = false, rights: ZoneRights = .write
    ) -> ZoneOffer {
        ZoneOffer(
            id: id, name: id.name.description, isDefault: isDefault, isShared: isShared, rights: rights,
            recordCount: 3, fingerprint: [UInt8](repeating: 3, count: ZoneOffer.fingerprintLength))
    }

    /// What this side offers.
    private func own(rights: ZoneRights = .write) async throws -> [ZoneOffer] {
        try await store.zones.all().map { zone in
            ZoneOffer(
                id: zone.id, name: zone.name, isDefault: zone.isDefault, isShared: zone.isShared,
                rights: rights, recordCount: zone.digest.count, fingerprint: zone.digest.fingerprint)
        }
    }

    private func agreement(_ theirs: [ZoneOffer], own: [ZoneOffer]? = nil, isCaller: Bool) async throws
        -> ZoneAgreement
    {
        let mine = if let own { own } else { try await self.own() }
        return ZoneAgreement(
            ZoneAgreement.Situation(
                peer: peer.name, isCaller: isCaller, own: mine, theirs: theirs,
                held: Set(try await store.zones.all().map(\.id))))
    }

    /// Does for an agreement what it asks for, until it waits for the other side.
    ///
    /// - Returns: what was said, and the zones once the two have agreed.
    private func follow(
        _ first: [ZoneAgreement.Step], _ agreement: inout ZoneAgreement, answer: ZoneAnswer = .nobody
    ) async throws -> (open: Message.Open?, zones: [ZoneAgreement.Entry]) {
        var (open, zones): (Message.Open?, [ZoneAgreement.Entry]) = (nil, [])
        var steps = first[...]
        while let step = steps.popFirst() {
            switch step {
            case .ask: steps += try agreement.decided(answer)
            case .readTokens(let ids):
                steps += agreement.tokensRead(try await store.exchange.receivedTokens(of: peer, in: ids))
            case .share(let plan):
                _ = try await store.exchange.share(plan, with: peer, since: nil)
                steps += agreement.shared()
            case .send(let message): if case .open(let said) = message { open = said }
            case .agreed(let entries): zones = entries
            }
        }
        return (open, zones)
    }

    /// Calls, and has the other side take part in all that this side names.
    ///
    /// - Parameter meanwhile: what others do before the answer comes.
    private func call(
        _ wanted: ZoneUnion?, _ theirs: [ZoneOffer], answering union: ZoneUnion? = nil,
        meanwhile: () async throws -> Void = {}
    ) async throws -> [ZoneAgreement.Entry] {
        var agreement = try await agreement(theirs, isCaller: true)
        let open = try #require(try await follow(try agreement.call(wanted), &agreement).open)
        try await meanwhile()
        let answer = Message.Open(union: union ?? open.union, zones: open.zones)
        return try await follow(try agreement.received(answer), &agreement).zones
    }

    private func answer(
        _ union: ZoneUnion, _ theirs: [ZoneOffer], own: [ZoneOffer]? = nil, answer: ZoneAnswer = .nobody
    ) async throws -> [ZoneAgreement.Entry] {
        let open = Message.Open(union: union, zones: theirs.map { .init(id: $0.id, received: nil) })
        var agreement = try await agreement(theirs, own: own, isCaller: false)
        return try await follow(try agreement.received(open), &agreement, answer: answer).zones
    }

    private func code(_ body: () async throws -> [ZoneAgreement.Entry]) async -> ProtocolError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? ProtocolError)?.code ?? ProtocolError(toldToPeer: error)?.code
        }
    }

    private func zones() async throws -> [ZoneID] { try await store.zones.all().map(\.id) }

    // MARK: What was agreed

    /// The rights in a zone that was brought together are those in what the other side had before.
    @Test func theRightsAreThoseInWhatBecameTheZone() async throws {
        let mine = try await zones()[0]
        // The greatest owner there is: both go on in the zone of this side.
        let entries = try await call(.merge, [offer(Self.id(.max))])
        #expect(entries.map(\.id) == [mine])
        #expect(entries.map(\.rights) == [.write])
    }

    /// Otherwise this side would give up its default zone, and get nothing.
    @Test func nothingComesBesideAsManyZonesAsThereMayBe() async throws {
        for number in 2...ZoneID.maximumCount { _ = try await store.zones.create("zone \(number)") }
        let theirs = [offer(Self.id(.max), isShared: true)]
        #expect(await code { try await call(.beside, theirs) } == .notPermitted)
        #expect(try await store.exchange.zones(for: peer).granted.map(\.rights) == [.write])
    }

    /// The other side lets whoever gives it a zone write there, whatever it lets them do in its own default zone.
    @Test func inAZoneThatTheOtherSideTakesUpThisSideMayWrite() async throws {
        let mine = try await zones()[0]
        let club = try await store.zones.create("club").id
        for theirs in [[offer(mine, isShared: true, rights: .read)], []] {
            let entries = try await call(nil, theirs)
            #expect(entries.first { $0.id == club }?.rights == .write)
            #expect(entries.first { $0.id == mine }?.rights == (theirs.first?.rights ?? .write))
        }
    }

    /// Its user wants it here after all.
    @Test func aDeletedZoneThatBecomesTheDefaultOneIsNotDeletedAnyMore() async throws {
        let club = try await store.zones.create("club")
        try await store.zones.delete(club.name)
        #expect(try await store.zones.declined().map(\.id) == [club.id])
        try await store.write { try store.zones.adopt($0, club.id) }
        #expect(try await store.zones.declined().isEmpty)
    }

    @Test func aZoneThatIsOfferedIsTakenUp() async throws {
        let mine = try await zones()[0]
        let club = Self.id(9, "club")
        let entries = try await call(
            nil, [offer(mine, isShared: true), offer(club, isDefault: false, rights: .read)])
        #expect(Set(entries.map(\.id)) == [mine, club])
        #expect(entries.first { $0.id == club }?.rights == .read)
        #expect(try await zones() == [mine, club])
    }

    @Test func whatTheOtherSideDoesNotSayDoesNotHappen() async throws {
        let mine = try await zones()
        let code = await code { try await call(.merge, [offer(Self.id(0))], answering: ZoneUnion.none) }
        #expect(code == .unexpectedMessage)
        #expect(try await zones() == mine)
    }

    /// A wish for two that meet does not give up what they have in common. Who starts over says so.
    @Test(arguments: [true, false]) func whatIsOneIsReplacedOnPurposeOnly(isSpared: Bool) async throws {
        let mine = try await own()
        for union: ZoneUnion in [.replaceCaller, .replaceListener] {
            let situation = ZoneAgreement.Situation(
                peer: peer.name, isCaller: true, own: mine, theirs: [offer(mine[0].id, isShared: true)],
                held: [mine[0].id])
            var agreement = ZoneAgreement(situation, sparesOneZone: isSpared)
            let open = try await follow(try agreement.call(union), &agreement).open
            #expect(open?.union == (isSpared ? ZoneUnion.none : union))
        }
    }

    /// Before a machine gives up what it has, the one that gives it something else still can refuse.
    @Test func whoGivesAZoneKnowsForWhatTheOtherGivesSomethingUp() async throws {
        let (mine, theirs) = (try await zones()[0], Self.id(0))
        for union: ZoneUnion in [.replaceListener, .replaceCaller, .merge] {
            var agreement = try await agreement([offer(theirs)], isCaller: true)
            #expect(agreement.given.zones.isEmpty)
            _ = try agreement.call(union)
            #expect(agreement.given.zones == (union == .replaceListener ? [mine] : []))
        }
        for received: ChangeToken? in [.start, nil] {
            var agreement = try await agreement([offer(theirs)], isCaller: false)
            _ = try agreement.received(
                Message.Open(union: .replaceCaller, zones: [.init(id: mine, received: received)]))
            #expect(agreement.given.zones == (received == .start ? [mine] : []))
        }
    }

    // MARK: What has changed meanwhile

    @Test func aZoneThatAnotherSessionHasTakenUpIsNotTakenUpTwice() async throws {
        let mine = try await zones()[0]
        let club = Self.id(9, "club")
        let other = try await store.peers.add(key: [UInt8](repeating: 8, count: 32), name: "attic")
        let code = await code {
            try await call(nil, [offer(mine), offer(club, isDefault: false)]) {
                _ = try await store.database.write { [store] in
                    try store.zones.takeUp($0, club, called: "club", from: other)
                }
            }
        }
        #expect(code == .zonesChanged)
        #expect(try await store.zones.all().map(\.name) == ["ScorebookData", "club"])
        // Its rights are those that the other session gave.
        let grants = try await store.database.read { [store, peer] in try store.zones.grants($0, to: peer) }
        #expect(grants.first { $0.zone == "club" }?.rights == ZoneRights.none)
    }

    @Test func aZoneThatWasSharedMeanwhileIsNotMixed() async throws {
        let mine = try await zones()
        let code = await code {
            try await call(.merge, [offer(Self.id(0))]) {
                let peerZone = PeerZone(store: store, peer: peer)
                try await store.database.write { try peerZone.noteBegun($0, at: nil) }
            }
        }
        #expect(code == .zonesChanged)
        #expect(try await zones() == mine)
    }

    /// No store has one zone twice.
    @Test func aZoneThatCameMeanwhileDoesNotBecomeTheDefaultOne() async throws {
        let mine = try await zones()[0]
        let theirs = Self.id(0)
        let code = await code {
            try await call(.merge, [offer(theirs)]) {
                _ = try await store.database.write { [store, peer] in
                    try store.zones.takeUp($0, theirs, called: "theirs", from: peer)
                }
            }
        }
        #expect(code == .zonesChanged)
        #expect(try await zones() == [mine, theirs])
    }

    @Test func aZoneThatIsBesideTheDefaultOneDoesNotBecomeIt() async throws {
        let theirs = Self.id(0)
        _ = try await store.database.write { [store, peer] in
            try store.zones.takeUp($0, theirs, called: "theirs", from: peer)
        }
        let mine = try await own().filter(\.isDefault)
        let code = await code { try await answer(.merge, [offer(theirs)], own: mine) }
        #expect(code == .notPermitted)
    }

    // MARK: What is offered and not taken

    @Test func aZoneThatNobodyHereSharesIsNotedUntilSomebodySaysSomething() async throws {
        let club = try await store.zones.create("club")
        let exchange = store.exchange
        func obstacle() async throws -> PeerZoneStatus.Obstacle? {
            try await store.database.read { [store] in try store.status($0) }.peerZones
                .first { $0.zone == "club" }?.obstacle
        }
        let offered = [ZonePlan.Offered(id: club.id, rights: .write)]
        #expect(try await exchange.noteOffered(offered, by: peer).map(\.name) == ["club"])
        // It is told once, and the beginning of the session takes nothing of it back.
        try await exchange.noteZones([], with: peer)
        #expect(try await obstacle() == .notGranted)
        #expect(try await exchange.noteOffered(offered, by: peer).isEmpty)
        #expect(try await exchange.noteOffered([], by: peer).isEmpty)
        #expect(try await obstacle() == nil)
        #expect(try await exchange.noteOffered(offered, by: peer).count == 1)
        // Somebody here does not want to.
        try await store.zones.grant(.none, to: peer.name, in: "club")
        #expect(try await obstacle() == nil)
        #expect(try await exchange.noteOffered(offered, by: peer).isEmpty)
    }

    @Test func theAgreementNamesWhatIsOfferedAndNotTaken() async throws {
        let (mine, club, old) = (Self.id(1), Self.id(2, "club"), Self.id(2, "old"))
        var agreement = ZoneAgreement(
            ZoneAgreement.Situation(
                peer: "study", isCaller: true, own: [offer(mine)],
                theirs: [
                    offer(mine), offer(club, isDefault: false, rights: .read), offer(old, isDefault: false),
                    offer(Self.id(2, "new"), isDefault: false),
                ], held: [mine, club], declined: [old]))
        _ = try agreement.call(nil)
        _ = agreement.tokensRead([:])
        let steps = try agreement.received(
            Message.Open(union: .none, zones: [.init(id: mine, received: nil)]))
        guard case .share(let plan)? = steps.first else {
            Issue.record("nothing is shared: \(steps)")
            return
        }
        #expect(
            plan.offered == [
                ZonePlan.Offered(id: club, rights: .read), ZonePlan.Offered(id: old, rights: .write),
            ])
        #expect(plan.takenUp.map(\.name) == ["new"])
    }

    // MARK: What the listener allows

    @Test func whatIsOneAlreadyIsNotBroughtTogether() async throws {
        let mine = try await zones()[0]
        for union: ZoneUnion in [.merge, .beside] {
            #expect(await code { try await answer(union, [offer(mine)]) } == .unexpectedMessage)
        }
        #expect(try await answer(.none, [offer(mine)]).map(\.id) == [mine])
    }

    /// The rights in an offer are those of its receiver.
    @Test func whoDoesNotTakeWhatTheOtherWritesIsGivenNothing() async throws {
        let (mine, closed) = (try await own(), try await own(rights: .read))
        let theirs = Self.id(0)
        #expect(
            await code { try await answer(.merge, [offer(theirs, rights: .read)], own: mine) }
                == .notPermitted)
        #expect(await code { try await answer(.merge, [offer(theirs)], own: closed) } == .notPermitted)
        #expect(
            await code { try await answer(.replaceListener, [offer(theirs)], own: closed) } == .notPermitted)
        #expect(try await zones() == mine.map(\.id))
    }

    /// Two that are shared with others are mixed, and one is given up, only when somebody here says so too.
    @Test(
        arguments: [
            (ZoneAnswer.nobody, ProtocolError.Code.differentZones, ProtocolError.Code.declined),
            (.cancel, .declined, .declined), (.union(.none), .declined, .declined),
            (.union(.merge), nil, .declined), (.union(.beside), .declined, .declined),
        ] as [(ZoneAnswer, ProtocolError.Code?, ProtocolError.Code?)])
    func somebodyHereIsAsked(said: ZoneAnswer, merge: ProtocolError.Code?, replace: ProtocolError.Code?)
        async throws
    {
        let peerZone = PeerZone(store: store, peer: peer)
        try await store.database.write { try peerZone.noteBegun($0, at: nil) }
        let theirs = [offer(Self.id(0), isShared: true)]
        #expect(await code { try await answer(.replaceListener, theirs, answer: said) } == replace)
        #expect(await code { try await answer(.merge, theirs, answer: said) } == merge)
    }

    /// A scorebook that others share takes in another one only if somebody here says so, and so does one that is mixed into
    /// theirs.
    @Test func somebodyIsAskedAboutOneThatNobodyElseHas() async throws {
        let theirs = [offer(Self.id(0), isShared: true)]
        #expect(await code { try await answer(.merge, theirs, answer: .cancel) } == .declined)
        #expect(await code { try await answer(.merge, theirs, answer: .nobody) } == .differentZones)
        #expect(try await answer(.merge, theirs, answer: .union(.merge)).map(\.id) == [Self.id(0)])
    }

    @Test func nobodyIsAskedAboutTwoThatNobodyElseHas() async throws {
        let entries = try await answer(.merge, [offer(Self.id(0))], answer: .cancel)
        #expect(entries.map(\.id) == [Self.id(0)])
    }
}

/// A scorebook that is given up is in the backup, with all that was written until then.
@Suite(.timeLimit(.minutes(5))) struct ReplacementTests {
    /// Replaces a scorebook by an empty one.
    ///
    /// - Parameter meanwhile: SQL that another program runs between the backup and what is done then.
    private func replace(_ meanwhile: String?) async throws -> (games: [String], backups: Int) {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let directory = files.url
        let path = directory.appendingPathComponent("scorebook.sqlite").path
        let other = try DatabaseQueue(path: path)
        let isBackedUp = Mutex(false)
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.trace { event in
                let sql = "\(event)"
                if sql.hasPrefix("VACUUM INTO") { isBackedUp.withLock { $0 = true } }
                // It has no lock yet.
                let isTime = sql.hasPrefix("BEGIN IMMEDIATE") && isBackedUp.withLock { $0 }
                guard isTime, let meanwhile else { return }
                isBackedUp.withLock { $0 = false }
                #expect(throws: Never.self) { try other.write { try $0.execute(sql: meanwhile) } }
            }
        }
        let machine = try LoopbackMachine("kitchen", DatabaseQueue(path: path, configuration: configuration))
        let store = machine.engine.store
        try await store.write { db in
            try db.execute(sql: "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan')")
        }
        let peer = try await store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "study")
        let zone = try await store.zones.all()[0]
        let plan = ZonePlan(
            takenUp: [],
            defaultZone: ZonePlan.DefaultZone(id: zone.id, isShared: false, change: .replace(by: zone.id)))
        do {
            let backup = try await machine.engine.backUp()
            _ = try await store.exchange.share(plan, with: peer, since: backup.moment)
        } catch let error as RecordStoreError {
            #expect(error.code == .zonesChanged)
        }
        let games = try await store.database.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM SBGame ORDER BY name")
        }
        let backups = try? FileManager.default.contentsOfDirectory(
            atPath: directory.appendingPathComponent("backups").path)
        return (games, backups?.count ?? 0)
    }

    @Test func whatIsReplacedIsInTheBackup() async throws {
        let (games, backups) = try await replace(nil)
        #expect(games.isEmpty)
        #expect(backups == 1)
    }

    /// What was written since the backup would be in none.
    @Test func whatIsWrittenBehindTheBackupIsNotGivenUp() async throws {
        let (games, _) = try await replace(
            "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|2', 'Scythe')")
        #expect(games == ["Catan", "Scythe"])
    }
}

import NIOCore
import PeerSyncChannel
import PeerSyncModel
import Testing

@testable import PeerSyncProtocol

/// What a session does in each of its phases, without a store, a network or a clock.
struct SessionTests {
    private static let own = KeyPair.generate().publicKey
    private static let other = KeyPair.generate().publicKey
    private static let zone = ZoneID(name: ZoneName("club")!, owner: ReplicaID(rawValue: 1))
    private static let grants = SessionGrants(zones: [zone], rights: [.write], erasures: 0)

    /// One side, whose store answers at once, and what it has said and asked for.
    private struct Side {
        var machine: Session
        var said: [Message] = []
        var asked: [Session.Action] = []
        var isPaired = true
        var answer: ZoneAnswer?
        var offer: ZoneOffer
        var current = ChangeToken.start
        var received: ChangeToken?
        /// Whether the store notes at once that both sides hold the same.
        var notes = true
        /// Whether the store says where a zone begins.
        var begins = true
        /// Whether the store makes at once what the two have agreed on.
        var shares = true

        init(_ purpose: SessionPurpose, isDefault: Bool = true, zone: ZoneID = SessionTests.zone) {
            machine = Session(
                Session.Identity(
                    key: SessionTests.own, replica: ReplicaID(rawValue: 1), instance: 1,
                    displayName: "kitchen"),
                purpose)
            offer = SessionTests.offer(zone)
        }

        /// Hands something in, and answers what the machine asks for.
        mutating func hand(_ event: (inout Session) -> [Session.Action]) {
            for action in event(&machine) { perform(action) }
        }

        mutating func receive(_ message: Message) { hand { $0.received(message) } }

        private mutating func perform(_ action: Session.Action) {
            switch action {
            case .send(let message): said.append(message)
            case .findPeer: hand { [isPaired] in $0.peerFound(isPaired ? "study" : nil) }
            case .readOffers: hand { [offer] in $0.offersRead([offer], held: [offer.id], clock: 0) }
            case .ask:
                asked.append(action)
                if let answer { hand { $0.decided(answer) } }
            case .readTokens: hand { $0.tokensRead([:]) }
            case .share:
                asked.append(action)
                if shares { hand { $0.shared() } }
            case .readGrants: hand { $0.grantsRead(SessionTests.grants) }
            case .begin(let zone, _, _):
                guard begins else { break }
                hand { [current] in $0.began(zone: zone, at: current, isHeldTokenVoid: false, recordCount: 0)
                }
            case .keepPeer: hand { $0.peerKept("study") }
            case .zone(let zone, .compare(let theirs)):
                let ours = summary
                hand { $0.compared(ours, with: theirs, zone: zone) }
            case .noteInSync(let zone, _):
                asked.append(action)
                if notes { hand { $0.inSyncNoted(zone: zone) } }
            default: asked.append(action)
            }
        }

        var summary: ZoneSummary { ZoneSummary(current: current, received: received, digest: ZoneDigest()) }

        /// Sends what there is to send.
        mutating func pump() {
            while let request = machine.nextRequest(zone: 0) {
                switch request {
                case .read(let token, _):
                    let batch = ChangeBatch(records: [], token: token, isLast: true)
                    if let message = machine.batchRead(batch, zone: 0) { said.append(message) }
                case .readNamed:
                    if let message = machine.namedRead(NamedRecords(), zone: 0) { said.append(message) }
                case .summarize: hand { [summary] in $0.summarized(summary, zone: 0) }
                }
            }
        }

        var error: ProtocolError.Code? {
            guard case .failed(let error)? = machine.end else { return nil }
            return (error as? ProtocolError)?.code
        }

        func hasAsked(_ isMeant: (Session.Action) -> Bool) -> Bool { asked.contains(where: isMeant) }
    }

    private static func offer(
        _ id: ZoneID, isShared: Bool = false, recordCount: UInt64 = 0
    ) -> ZoneOffer {
        ZoneOffer(
            id: id, name: "club", isDefault: true, isShared: isShared, rights: .write,
            recordCount: recordCount,
            fingerprint: [UInt8](repeating: UInt8(truncatingIfNeeded: recordCount), count: 16))
    }

    private static func hello(_ offers: [ZoneOffer] = [offer(zone)]) -> Message {
        .hello(
            Message.Hello(
                minorVersion: 0, replica: ReplicaID(rawValue: 2), instance: 2, displayName: "study", clock: 0,
                zones: offers))
    }

    private static let hash = AssetHash([UInt8](repeating: 1, count: 32))!

    private static let open = Message.open(
        Message.Open(union: .none, zones: [Message.Open.Entry(id: zone, received: nil)]))

    private static let begin = Message.begin(
        Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 0))

    private static let channel = SecuredChannel(
        remoteKey: other, handshakeHash: [UInt8](repeating: 3, count: 32))

    /// A side whose handshake is done.
    private func secured(_ purpose: SessionPurpose, _ prepare: (inout Side) -> Void = { _ in }) -> Side {
        var side = Side(purpose)
        prepare(&side)
        side.hand { $0.secured(Self.channel) }
        return side
    }

    /// A side that exchanges records.
    private func exchanging(_ purpose: SessionPurpose = .answer) -> Side {
        var side = secured(purpose)
        side.receive(Self.hello())
        side.receive(Self.open)
        return side
    }

    // MARK: The way to the exchange

    @Test func theCallerSpeaksFirst() {
        var side = secured(.call(SessionCall()))
        #expect(side.said.count == 1)
        guard case .hello? = side.said.last else {
            Issue.record("\(side.said)")
            return
        }
        side.receive(Self.hello())
        guard case .open? = side.said.last else {
            Issue.record("\(side.said)")
            return
        }
        side.receive(Self.open)
        guard case .begin? = side.said.last else {
            Issue.record("\(side.said)")
            return
        }
        #expect(side.machine.isExchanging)
    }

    @Test func theListenerAnswers() {
        var side = secured(.answer)
        #expect(side.said == [])
        side.receive(Self.hello())
        #expect(side.said.count == 1)
        side.receive(Self.open)
        #expect(side.said.count == 3 && side.machine.isExchanging)
        guard case .open = side.said[1], case .begin = side.said[2] else {
            Issue.record("\(side.said)")
            return
        }
    }

    @Test func theTimeoutFollowsFromThePhase() {
        var side = Side(.answer)
        #expect(side.machine.timeout == .handshake)
        #expect(side.machine.maximumMessage == ProtocolLimits.maximumUnpairedMessage)
        side.hand { $0.secured(Self.channel) }
        #expect(side.machine.timeout == .greeting)
        #expect(side.machine.maximumMessage == ProtocolLimits.maximumUnpairedMessage)
        side.receive(Self.hello())
        #expect(side.machine.timeout == .decision)
        #expect(side.machine.maximumMessage == ProtocolLimits.maximumMessage)
        side.receive(Self.open)
        #expect(side.machine.timeout == .silence)
        side.hand { $0.stop() }
        #expect(side.machine.timeout == .farewell)
    }

    /// Behind the opens nobody is asked any more, and a backup of a large store takes longer than people.
    @Test(arguments: [true, false]) func ownWorkBehindTheOpensHasItsOwnTime(isCaller: Bool) {
        var side = secured(isCaller ? .call(SessionCall()) : .answer) {
            ($0.shares, $0.begins) = (false, false)
        }
        side.receive(Self.hello())
        #expect(side.machine.timeout == .decision)
        side.receive(Self.open)
        // The listener sends its open when its store has changed.
        #expect(side.machine.timeout == (isCaller ? .work : .decision))
        side.hand { $0.shared() }
        #expect(side.machine.timeout == .work && !side.machine.isExchanging)
        side.hand { $0.began(zone: 0, at: .start, isHeldTokenVoid: false, recordCount: 0) }
        #expect(side.machine.timeout == .silence)
    }

    @Test func aCopyOfThisStoreIsNoPeer() {
        var side = Side(.answer)
        side.hand { $0.secured(SecuredChannel(remoteKey: Self.own, handshakeHash: [])) }
        #expect(side.error == .sameIdentity)
    }

    @Test func aStrangerIsToldSo() {
        for purpose in [SessionPurpose.answer, .call(SessionCall())] {
            var side = secured(purpose) { $0.isPaired = false }
            side.receive(Self.hello())
            #expect(side.error == .notPaired)
            guard case .error(let told)? = side.said.last else {
                Issue.record("\(side.said)")
                return
            }
            #expect(told.code == .notPaired)
            #expect(!side.hasAsked { if case .authenticated = $0 { true } else { false } })
        }
    }

    /// A ping between two opens would be out of turn; behind them the other side waits for one.
    @Test(arguments: [true, false]) func pingsBeginBehindTheOpens(isCaller: Bool) {
        let purpose: SessionPurpose = isCaller ? .call(SessionCall()) : .answer
        var side = secured(purpose) { ($0.shares, $0.begins) = (false, false) }
        #expect(side.machine.ping() == nil)
        side.receive(Self.hello())
        #expect(side.machine.ping() == nil)
        // The store makes what the two have agreed on; only then the listener sends its open.
        side.receive(Self.open)
        #expect((side.machine.ping() != nil) == isCaller)
        side.hand { $0.shared() }
        #expect(side.machine.ping() != nil && !side.machine.isExchanging)
        let ping = Message.ping([UInt8](repeating: 1, count: MessageCodec.pingLength))
        #expect(side.machine.readiness(for: ping) == .afterAnswers)
        side.hand { $0.began(zone: 0, at: .start, isHeldTokenVoid: false, recordCount: 0) }
        #expect(side.machine.ping() != nil && side.machine.isExchanging)
        side.hand { $0.stop() }
        #expect(side.machine.ping() == nil)
    }

    // MARK: What is legal when

    /// In each phase every message but those that lead on ends the session.
    @Test(arguments: ["first", "hello", "open"]) func whatIsOutOfTurnEndsTheSession(phase: String) {
        let all: [Message] = [
            Self.hello(), .pairingTag(Message.PairingTag(tag: [], displayName: "")), Self.open, Self.begin,
            .acknowledge(zone: 0, .start), .ping([]), .assetMissing(Self.hash),
            .digest(zone: 0, ZoneSummary(current: .start, received: nil, digest: ZoneDigest())),
        ]
        for message in all {
            var side = secured(phase == "hello" ? .call(SessionCall()) : .answer)
            if phase == "open" { side.receive(Self.hello()) }
            let leadsOn =
                switch message {
                case .hello: phase != "open"
                case .open: phase == "open"
                default: false
                }
            side.receive(message)
            #expect((side.error == .unexpectedMessage) == !leadsOn, "\(message) in the phase \(phase)")
            #expect(side.machine.isOver == !leadsOn)
        }
    }

    @Test func nobodyGreetsTwice() {
        for message in [Self.hello(), Self.open, .pairingShare([])] {
            var side = exchanging()
            side.receive(message)
            #expect(side.error == .unexpectedMessage)
        }
    }

    @Test func aZoneThatIsNoPartOfItIsRefused() {
        var side = exchanging()
        side.receive(.acknowledge(zone: 1, .start))
        #expect(side.error == .malformed)
    }

    /// So the store tells what the other side refuses from what has changed since and is on its way.
    /// The peer refuses records of a batch before it acknowledges the batch, and others may be on their way.
    @Test func aRefusalIsOfTheOldestBatch() throws {
        var side = exchanging()
        side.receive(Self.begin)
        let tokens = [7, 9].map { ChangeToken(generation: [UInt8](repeating: 4, count: 8), sequence: $0) }
        for token in tokens {
            #expect(side.machine.nextRequest(zone: 0) != nil)
            _ = side.machine.batchRead(ChangeBatch(records: [], token: token, isLast: false), zone: 0)
        }
        let names = [try RecordName("Game|~|1")]
        for token in tokens {
            side.receive(.refuse(Message.Refuse(zone: 0, reason: 3, names: names)))
            #expect(side.hasAsked { if case .noteRefused(0, 3, names, token) = $0 { true } else { false } })
            side.receive(.acknowledge(zone: 0, token))
        }
    }

    @Test func whatIsUnknownIsSkipped() {
        for var side in [secured(.answer), secured(.call(SessionCall())), exchanging()] {
            let before = side.said
            side.receive(.unknown(type: 99))
            #expect(side.machine.end == nil && side.said == before)
        }
    }

    /// Whoever answers a ping has dealt with all that came before it; and batches alone need not wait for one another.
    @Test func messagesWaitForTheBatchesBeforeThem() {
        let side = exchanging()
        let batch = Message.batch(zone: 0, ChangeBatch(records: [], token: .start, isLast: true))
        #expect(side.machine.readiness(for: batch) == .ready)
        #expect(side.machine.readiness(for: Self.begin) == .afterBatches(ofZone: 0))
        for message in [Message.ping([]), .goodbye, .error(ProtocolError(.timeout, ""))] {
            #expect(side.machine.readiness(for: message) == .afterAllBatches)
        }
        #expect(side.machine.readiness(for: .assetMissing(Self.hash)) == .ready)
    }

    // MARK: People

    /// Two scorebooks of which nobody has said what becomes of them.
    private func asking(_ answer: ZoneAnswer?) -> Side {
        var side = secured(.call(SessionCall())) {
            $0.offer = Self.offer(Self.zone, isShared: true, recordCount: 1)
            $0.answer = answer
        }
        let other = ZoneID(name: ZoneName("club")!, owner: ReplicaID(rawValue: 2))
        side.receive(Self.hello([Self.offer(other, isShared: true, recordCount: 2)]))
        return side
    }

    @Test func aPersonIsAskedAndMayThink() {
        let side = asking(nil)
        #expect(side.said.count == 1 && side.machine.end == nil && side.machine.timeout == .decision)
        #expect(side.hasAsked { if case .ask = $0 { true } else { false } })
        // What comes meanwhile waits, but for a farewell.
        #expect(side.machine.readiness(for: .ping([])) == .afterAnswers)
        #expect(side.machine.readiness(for: .goodbye) == .ready)
    }

    @Test func aPersonWhoHasAnsweredLeadsOn() {
        let side = asking(.union(.merge))
        guard case .open(let open)? = side.said.last else {
            Issue.record("\(side.said)")
            return
        }
        #expect(open.union == .merge)
        #expect(side.hasAsked { if case .checkPairing = $0 { true } else { false } })
    }

    @Test func whoGoesWhileAPersonThinksEndsTheSession() {
        var side = asking(nil)
        side.hand { $0.left(EarlyGoodbye()) }
        guard case .failed(let error)? = side.machine.end else {
            Issue.record("it goes on")
            return
        }
        #expect(error is EarlyGoodbye)
        let before = side.said
        side.hand { $0.decided(.union(.merge)) }
        #expect(side.said == before)
    }

    @Test func aPersonWhoSaysNoLeavesEverythingAsItIs() {
        let side = asking(.cancel)
        #expect(side.error == .declined)
        #expect(!side.hasAsked { if case .share = $0 { true } else { false } })
    }

    // MARK: Pairing

    /// Lets a caller that has typed a code and a listener that shows one talk to each other.
    ///
    /// - Parameter rounds: how often each of the two hears what the other has said.
    private func pair(_ typed: String, _ shown: String, rounds: Int = 8) throws -> (
        caller: Side, listener: Side
    ) {
        var caller = secured(.call(SessionCall(pairing: .ifUnknown(try PairingCode(typed))))) {
            $0.isPaired = false
        }
        var listener = Side(.answer)
        listener.machine = Session(
            Session.Identity(
                key: Self.other, replica: ReplicaID(rawValue: 2), instance: 2, displayName: "study"), .answer)
        listener.hand {
            $0.secured(SecuredChannel(remoteKey: Self.own, handshakeHash: Self.channel.handshakeHash))
        }
        var heard = (0, 0)
        for _ in 0..<rounds {
            while heard.0 < caller.said.count {
                listener.receive(caller.said[heard.0])
                heard.0 += 1
                if listener.hasAsked({ if case .beginPairingAttempt = $0 { true } else { false } }) {
                    listener.asked.removeAll()
                    let code = try PairingCode(shown)
                    listener.hand { $0.pairingAttemptBegan(code) }
                }
                if listener.hasAsked({ if case .endPairingAttempt(false) = $0 { true } else { false } }) {
                    listener.asked.removeAll()
                    listener.hand { $0.pairingAttemptFailed(attemptsLeft: 2) }
                }
            }
            while heard.1 < listener.said.count {
                caller.receive(listener.said[heard.1])
                heard.1 += 1
            }
        }
        return (caller, listener)
    }

    @Test func theRightCodePairsAndLeadsOn() throws {
        let (caller, listener) = try pair("123-456", "123-456")
        #expect(caller.machine.didPair && listener.machine.didPair)
        #expect(caller.machine.isExchanging && listener.machine.isExchanging)
        #expect(listener.hasAsked { if case .endPairingAttempt(true) = $0 { true } else { false } })
    }

    /// The code is proved, but the caller's hello is still what a stranger may send.
    @Test func theHelloBehindAPairingIsShort() throws {
        let (caller, listener) = try pair("123-456", "123-456", rounds: 2)
        guard case .hello? = caller.said.last else {
            Issue.record("the caller has not come to its hello")
            return
        }
        #expect(listener.machine.didPair)
        #expect(listener.machine.maximumMessage == ProtocolLimits.maximumUnpairedMessage)
        #expect(caller.machine.maximumMessage == ProtocolLimits.maximumMessage)
    }

    @Test func aWrongCodeIsToldWithWhatIsLeft() throws {
        let (caller, listener) = try pair("123-456", "123-457")
        #expect(!caller.machine.didPair && !listener.machine.didPair)
        #expect(listener.error == .pairingFailed)
        guard case .failed(let error)? = caller.machine.end, let error = error as? ErrorOfPeer else {
            Issue.record("the caller has not heard of it")
            return
        }
        #expect(error.error.code == .pairingFailed && error.error.message.contains("2 attempts"))
    }

    /// Whoever is on the way can change or shorten a frame, and is told nothing: it is no wrong code.
    @Test(arguments: [SecureChannelError.Code.authenticationFailed, .malformedMessage])
    func aFrameThatDoesNotOpenIsNoWrongCode(code: SecureChannelError.Code) throws {
        let (caller, answering) = try pair("123-456", "123-456", rounds: 1)
        var listener = answering
        guard case .pairingTag? = caller.said.last else {
            Issue.record("the caller has not come to its tag")
            return
        }
        listener.hand { $0.failed(SecureChannelError(code, "changed"), toldToPeer: nil) }
        #expect(!listener.machine.didPair)
        #expect(!listener.hasAsked { if case .endPairingAttempt = $0 { true } else { false } })
        #expect(!listener.said.contains { if case .error = $0 { true } else { false } })
        guard case .failed(let error)? = listener.machine.end else {
            Issue.record("the listener has not ended")
            return
        }
        #expect((error as? SecureChannelError)?.code == code)
    }

    // MARK: Ends

    @Test func aGoodbyeIsAnswered() {
        var side = exchanging()
        side.receive(.goodbye)
        #expect(side.said.last == .goodbye && side.machine.isOver)
        guard case .asked? = side.machine.end else {
            Issue.record("no end of its own")
            return
        }
    }

    /// What has come before the other side closes is dealt with, and begins nothing.
    @Test func whoHasSaidGoodbyeStillListens() {
        var side = exchanging()
        side.receive(Self.begin)
        side.hand { $0.stop() }
        #expect(side.said.last == .goodbye && !side.machine.isOver)
        let theirs = ZoneSummary(
            current: .start, received: nil,
            digest: ZoneDigest(count: 1, sumBytes: [UInt8](repeating: 1, count: 32))!)
        side.receive(.digest(zone: 0, theirs))
        #expect(side.said.last == .goodbye)
        side.receive(.goodbye)
        #expect(side.machine.isOver && side.said.count { $0 == .goodbye } == 1)
    }

    @Test func whatTheOtherSideFoundEndsTheSession() {
        var side = exchanging()
        side.receive(.error(ProtocolError(.storeBusy, "later")))
        guard case .failed(let error)? = side.machine.end else {
            Issue.record("it goes on")
            return
        }
        #expect((error as? ErrorOfPeer)?.error.code == .storeBusy && side.machine.isOver)
        if case .error? = side.said.last { Issue.record("an error answers an error") }
    }

    @Test func theFirstEndCounts() {
        var side = exchanging()
        side.hand { $0.failed(EarlyGoodbye(), toldToPeer: ProtocolError(.storeFailure, "")) }
        side.hand { $0.failed(ProtocolError(.timeout, ""), toldToPeer: nil) }
        side.hand { $0.stop() }
        guard case .failed(let error)? = side.machine.end else {
            Issue.record("no error")
            return
        }
        #expect(error is EarlyGoodbye && !side.said.contains(.goodbye))
    }

    /// A store that failed while the zones began has nobody who would apply what the other side sends meanwhile.
    @Test func whatComesBeforeAllZonesHaveBegunIsNotTakenIn() {
        var side = secured(.answer) { $0.begins = false }
        side.receive(Self.hello())
        side.receive(Self.open)
        side.hand { $0.failed(EarlyGoodbye(), toldToPeer: ProtocolError(.storeFailure, "")) }
        let batch = Message.batch(zone: 0, ChangeBatch(records: [], token: .start, isLast: true))
        for message in [Self.begin, batch, .ping([])] {
            #expect(side.machine.readiness(for: message) == .ready)
            side.receive(message)
        }
        #expect(!side.hasAsked { if case .zone = $0 { true } else { false } })
        side.receive(.goodbye)
        #expect(side.machine.isOver)
    }

    @Test func whatTheSessionGoesByMustNotChange() {
        var side = exchanging()
        #expect(side.hasAsked { if case .exchange = $0 { true } else { false } })
        side.hand { $0.grantsRead(SessionGrants(zones: [Self.zone], rights: [.read], erasures: 0)) }
        #expect(side.error == .zonesChanged)
    }

    /// Nobody has told of what was decided while the two began.
    @Test func whatWasDecidedMeanwhileIsLookedAt() {
        var machine = secured(.answer).machine
        _ = machine.received(Self.hello())
        _ = machine.offersRead([Self.offer(Self.zone)], held: [Self.zone], clock: 0)
        var reads = 0
        var actions = machine.peerFound("study")
        actions += machine.offersRead([Self.offer(Self.zone)], held: [Self.zone], clock: 0)
        actions += machine.received(Self.open) + machine.tokensRead([:]) + machine.shared()
        reads += actions.count { if case .readGrants = $0 { true } else { false } }
        _ = machine.grantsRead(Self.grants)
        reads += machine.settingsChanged().count
        actions = machine.began(zone: 0, at: .start, isHeldTokenVoid: false, recordCount: 0)
        reads += actions.count { if case .readGrants = $0 { true } else { false } }
        #expect(reads == 3 && machine.isExchanging)
    }

    // MARK: Comparing everything

    /// The other side must not be able to make the list of differences grow by sending one record again and again.
    @Test func aRecordThatComesTwiceIsOneDifference() throws {
        var side = exchanging(.call(SessionCall(comparesEverything: true)))
        side.receive(Self.begin)
        side.receive(.resync(zone: 0, round: 1))
        side.hand { $0.recordsChecked(zone: 0) }
        let nothing = try NegentropyVector([])
        side.hand { $0.inventoryTaken(nothing, at: .start, zone: 0) }
        let answer = try NegentropyResponder(storage: nothing).reconcile(
            NegentropyInitiator(storage: nothing).initiate())
        side.receive(.reconcile(Message.Reconcile(zone: 0, payload: answer)))
        side.hand { $0.resolved([], zone: 0) }
        let name = try RecordName("Game|~|1")
        let batch = ChangeBatch(
            records: [RecordState(name: name)], token: .start, isLast: false, isLoose: true)
        for _ in 1...3 { side.receive(.batch(zone: 0, batch)) }
        #expect(side.machine.end == nil)
        #expect(side.machine.differences?.received == [name])
    }

    // MARK: Once

    /// A caller that came to sync once goes when all is equal, noted, and the files are there.
    @Test func whoCameToSyncOnceGoesWhenAllIsDone() {
        var side = secured(.call(SessionCall(isOnce: true))) { $0.notes = false }
        side.receive(Self.hello())
        side.receive(Self.open)
        side.receive(Self.begin)
        side.pump()
        #expect(!side.machine.awaitsFiles)
        side.receive(.digest(zone: 0, side.summary))
        side.pump()
        #expect(!side.machine.isInSync)
        side.hand { $0.filesSettled() }
        #expect(side.machine.end == nil)
        side.hand { $0.inSyncNoted(zone: 0) }
        #expect(side.machine.awaitsFiles)
        side.hand { $0.filesSettled() }
        #expect(side.said.last == .goodbye)
        #expect(side.machine.agreedDigest(zone: 0) == ZoneDigest())
    }
}

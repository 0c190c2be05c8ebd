import PeerSyncModel
import Testing

@testable import PeerSyncProtocol

/// The exchange of a zone as a table of events and what they bring about.
struct ZoneExchangeTests {
    private let generation: [UInt8] = Array(1...8)

    private func token(_ sequence: Int64) -> ChangeToken {
        ChangeToken(generation: generation, sequence: sequence)
    }

    private func batch(_ sequence: Int64, isLast: Bool, records: Int = 1) -> ChangeBatch {
        let record = RecordState(
            name: try! RecordName("A|~|1"),
            fields: [
                RecordField(
                    name: "x", value: .null,
                    stamp: Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 1)))
            ])
        return ChangeBatch(
            records: Array(repeating: record, count: records), token: token(sequence), isLast: isLast)
    }

    private func summary(_ current: Int64, _ received: Int64, count: UInt64 = 0) -> ZoneSummary {
        ZoneSummary(
            current: token(current), received: token(received),
            digest: ZoneDigest(count: count, sumBytes: [UInt8](repeating: 0, count: 32))!)
    }

    /// An exchange that has begun at change 10, and has nothing to send.
    private func idle() throws -> ZoneExchange {
        var exchange = ZoneExchange(zone: 0, isCaller: true)
        _ = exchange.begin(at: token(10), isHeldTokenVoid: false, recordCount: 0)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0))
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: false))
        #expect(exchange.batchRead(batch(10, isLast: true, records: 0)) == nil)
        return exchange
    }

    @Test func nothingIsSentBeforeThePeerHasBegun() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: true)
        #expect(exchange.nextRequest() == nil)
        _ = exchange.begin(at: token(10), isHeldTokenVoid: false, recordCount: 0)
        #expect(exchange.nextRequest() == nil)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0))
        #expect(exchange.nextRequest() != nil)
    }

    @Test func aPeerThatDoesNotKnowOurTokenGetsItsOwnRecordsBack() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: true)
        _ = exchange.begin(at: token(10), isHeldTokenVoid: false, recordCount: 0)
        #expect(
            try exchange.received(
                Message.Begin(zone: 0, isHeldTokenVoid: true, isWholeCopy: false, recordCount: 0)) == [
                    .voidReceived, .wake,
                ])
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: true))
    }

    @Test func beginningTwiceIsAnError() throws {
        var exchange = try idle()
        #expect(throws: ProtocolError.self) {
            try exchange.received(
                Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0))
        }
    }

    @Test func noMoreBatchesAreOnTheirWayThanTheWindowAllows() throws {
        var exchange = try idle()
        exchange.storeChanged()
        for number in 1...ProtocolLimits.window {
            #expect(exchange.nextRequest() != nil)
            #expect(exchange.batchRead(batch(10 + Int64(number), isLast: false)) != nil)
        }
        #expect(exchange.nextRequest() == nil)
        let actions = try exchange.receivedAcknowledgement(token(11))
        #expect(actions == [.acknowledged(token(11)), .wake])
        #expect(
            exchange.nextRequest()
                == .read(after: token(10 + Int64(ProtocolLimits.window)), includingEcho: false))
    }

    @Test func onlyWhatWasSentCanBeAcknowledged() throws {
        var exchange = try idle()
        #expect(throws: ProtocolError.self) { try exchange.receivedAcknowledgement(token(99)) }
    }

    @Test func onlyOneReadIsUnderWay() throws {
        var exchange = try idle()
        exchange.storeChanged()
        #expect(exchange.nextRequest() != nil)
        #expect(exchange.nextRequest() == nil)
    }

    @Test func aChangeWhileABatchIsReadIsNotForgotten() throws {
        var exchange = try idle()
        exchange.storeChanged()
        #expect(exchange.nextRequest() != nil)
        exchange.storeChanged()
        _ = exchange.batchRead(batch(11, isLast: true))
        #expect(exchange.nextRequest() == .read(after: token(11), includingEcho: false))
    }

    @Test func acknowledgementFollowsTheCommit() throws {
        var exchange = try idle()
        let incoming = batch(5, isLast: true)
        #expect(try exchange.received(incoming) == [.apply(incoming)])
        #expect(!exchange.isAtRest)
        #expect(exchange.applied(incoming) == [.send(.acknowledge(zone: 0, token(5))), .wake])
    }

    @Test func theDigestIsToldOnceWhenEverythingIsAtRest() throws {
        var exchange = try idle()
        #expect(exchange.nextRequest() == .summarize)
        #expect(exchange.summarized(summary(10, 5)) == [.send(.digest(zone: 0, summary(10, 5)))])
        #expect(exchange.nextRequest() == nil)
        #expect(exchange.summarized(summary(10, 5)) == [])
    }

    @Test func whatThePeerToldIsComparedAgainOnceThisSideIsAtRest() throws {
        var exchange = try idle()
        #expect(try exchange.received(summary(5, 10)) == [.compare(summary(5, 10))])
        #expect(exchange.compare(summary(10, 4), with: summary(5, 10)) == .notYet)
        #expect(
            exchange.summarized(summary(10, 5))
                == [.send(.digest(zone: 0, summary(10, 5))), .compare(summary(5, 10))])
    }

    @Test func digestsOfDifferentMomentsAreNotCompared() throws {
        var exchange = try idle()
        #expect(exchange.compare(summary(10, 5), with: summary(5, 9)) == .notYet)
        #expect(exchange.compare(summary(10, 5), with: summary(6, 10)) == .notYet)
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10)) == .equal)
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10, count: 1)) == .different)
    }

    @Test func confirmedMeansToldAndFoundEqualOfTheSameMoment() throws {
        var exchange = try idle()
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10)) == .equal)
        #expect(!exchange.isConfirmed)
        #expect(exchange.nextRequest() == .summarize)
        _ = exchange.summarized(summary(10, 5))
        #expect(exchange.isConfirmed)
        exchange.storeChanged()
        #expect(!exchange.isConfirmed)
    }

    /// The other side finds the two equal by this digest, which it was not told before.
    @Test func theDigestThatWasFoundEqualIsTold() throws {
        var exchange = try idle()
        #expect(exchange.nextRequest() == .summarize)
        _ = exchange.summarized(summary(10, 5))
        #expect(exchange.nextRequest() == nil)
        #expect(exchange.compare(summary(10, 6), with: summary(6, 10)) == .equal)
        #expect(!exchange.isConfirmed)
        #expect(exchange.nextRequest() == .summarize)
    }

    @Test func aWholeCopyIsFollowedByTheChangesMadeMeanwhile() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: true)
        _ = exchange.begin(at: .start, isHeldTokenVoid: false, recordCount: 0)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0))
        #expect(exchange.nextRequest() == .read(after: .start, includingEcho: false))
        #expect(exchange.batchRead(batch(20, isLast: false)) != nil)
        #expect(exchange.nextRequest() == .read(after: token(20), includingEcho: false))
        // Even with nothing more to say, the other side is told that this was all.
        let end = batch(20, isLast: true, records: 0)
        #expect(exchange.batchRead(end) == .batch(zone: 0, end))
    }

    private var nothing: NegentropyVector { get throws { try NegentropyVector([]) } }

    @Test func unequalDigestsMakeBothSidesLookAtEverythingOnce() throws {
        var exchange = try idle()
        #expect(try exchange.resync() == [.send(.resync(zone: 0, round: 1)), .checkRecords])
        #expect(exchange.recordsChecked() == [.takeInventory])
        // The other side has found the same.
        #expect(try exchange.receivedResync(round: 1) == [])
        #expect(exchange.nextRequest() == nil)
        // What the other side told before it knew is not held against what there is now.
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10, count: 1)) == .notYet)
        #expect(throws: ProtocolError.self) { try exchange.resync() }
    }

    @Test func theOtherSidesWishToCompareEverythingIsMet() throws {
        var exchange = try idle()
        #expect(try exchange.receivedResync(round: 1) == [.checkRecords])
        // Another one has to wait until this one is through.
        #expect(throws: ProtocolError.self) { try exchange.receivedResync(round: 2) }
    }

    @Test func nothingIsComparedBeforeTheTwoHaveBegun() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: true)
        #expect(throws: ProtocolError.self) { try exchange.receivedResync(round: 1) }
    }

    @Test func comparingEverythingInTheMiddleSkipsNoChange() throws {
        var exchange = try idle()
        exchange.storeChanged()
        _ = exchange.compareEverything()
        _ = exchange.recordsChecked()
        let first = try exchange.inventoryTaken(nothing, at: token(99))
        guard case .send(.reconcile(let question)) = first.first else {
            Issue.record("no question")
            return
        }
        let responder = NegentropyResponder(storage: try nothing)
        let answer = try responder.reconcile(question.payload)
        #expect(
            try exchange.received(Message.Reconcile(zone: 0, payload: answer)) == [
                .send(.reconcile(Message.Reconcile(zone: 0, isEnd: true, payload: []))), .resolve([]),
            ])
        #expect(exchange.resolved([]) == [.wake])
        #expect(exchange.nextRequest() == .readNamed([]))
        let loose = ChangeBatch(records: [], token: token(10), isLast: true, isLoose: true)
        #expect(exchange.namedRead(NamedRecords()) == .batch(zone: 0, loose))
        // The changes go on only behind the other side's last loose batch, and from where they were.
        #expect(exchange.nextRequest() == nil)
        let theirs = ChangeBatch(records: [], token: token(5), isLast: true, isLoose: true)
        _ = try exchange.received(theirs)
        _ = exchange.applied(theirs)
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: false))
    }

    /// The side that is asked, after a reconciliation at the beginning that found nothing to be wanted of it.
    private func answering(inventoryAt token: ChangeToken) throws -> ZoneExchange {
        var exchange = ZoneExchange(zone: 0, isCaller: false)
        _ = exchange.begin(at: .start, isHeldTokenVoid: false, recordCount: 1)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 1))
        _ = try exchange.received(
            Message.Reconcile(zone: 0, payload: NegentropyInitiator(storage: NegentropyVector([])).initiate())
        )
        _ = try exchange.inventoryTaken(NegentropyVector([]), at: token)
        #expect(
            try exchange.received(Message.Reconcile(zone: 0, isEnd: true, wanted: [], payload: []))
                == [.resolve([])])
        _ = exchange.resolved([])
        #expect(exchange.nextRequest() == .readNamed([]))
        _ = exchange.namedRead(NamedRecords())
        return exchange
    }

    private var lastLooseBatch: ChangeBatch {
        ChangeBatch(records: [], token: token(7), isLast: true, isLoose: true)
    }

    /// What the two held alike was never sent, so that no other acknowledgement tells that the peer has it.
    @Test func whoHasBegunByReconcilingHoldsWhatTheInventoryHad() throws {
        var exchange = try answering(inventoryAt: token(10))
        _ = try exchange.received(lastLooseBatch)
        #expect(exchange.applied(lastLooseBatch) == [.send(.acknowledge(zone: 0, token(7))), .wake])
        #expect(try exchange.receivedAcknowledgement(token(10)) == [.acknowledged(token(10)), .wake])
    }

    @Test func whatThePeerLackedHasToBeHereFirst() throws {
        var exchange = try answering(inventoryAt: token(10))
        #expect(try exchange.receivedAcknowledgement(token(10)) == [.wake])
        _ = try exchange.received(lastLooseBatch)
        #expect(
            exchange.applied(lastLooseBatch)
                == [.acknowledged(token(10)), .send(.acknowledge(zone: 0, token(7))), .wake])
    }

    @Test func whatIsAskedBeforeTheRecordsAreCheckedWaits() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: false)
        _ = exchange.begin(at: token(10), isHeldTokenVoid: false, recordCount: 0)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: 0))
        #expect(try exchange.receivedResync(round: 1) == [.checkRecords])
        let opening = try NegentropyInitiator(storage: nothing).initiate()
        #expect(try exchange.received(Message.Reconcile(zone: 0, payload: opening)) == [])
        var hasty = exchange
        #expect(throws: ProtocolError.self) {
            try hasty.received(Message.Reconcile(zone: 0, payload: opening))
        }
        #expect(exchange.recordsChecked() == [.takeInventory])
        #expect(try exchange.inventoryTaken(nothing, at: token(11)).count == 1)
    }

    /// A side may end the reconciliation with its first step, which waits for the inventory here.
    @Test func theFirstStepMayBeTheLast() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: false)
        _ = exchange.begin(at: .start, isHeldTokenVoid: false, recordCount: 1)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 1))
        let end = Message.Reconcile(zone: 0, isEnd: true, payload: [])
        #expect(try exchange.received(end) == [.takeInventory])
        #expect(try exchange.inventoryTaken(nothing, at: token(10)) == [.resolve([])])
        #expect(throws: ProtocolError.self) { try exchange.received(end) }
        #expect(exchange.resolved([]) == [.wake])
        #expect(exchange.nextRequest() == .readNamed([]))
        let loose = ChangeBatch(records: [], token: token(10), isLast: true, isLoose: true)
        #expect(exchange.namedRead(NamedRecords()) == .batch(zone: 0, loose))
    }

    @Test func recordsOutOfTurnAreRefused() throws {
        var unbegun = ZoneExchange(zone: 0, isCaller: true)
        #expect(throws: ProtocolError.self) { try unbegun.received(batch(5, isLast: true)) }
        #expect(throws: ProtocolError.self) { try unbegun.received(summary(5, 10)) }
        #expect(throws: ProtocolError.self) { try unbegun.checkHasBegun() }
        var exchange = try idle()
        let loose = ChangeBatch(records: [], token: token(5), isLast: true, isLoose: true)
        #expect(throws: ProtocolError.self) { try exchange.received(loose) }
    }

    /// An exchange whose side asks the other, which has answered nothing yet.
    private func asking() throws -> ZoneExchange {
        var exchange = try idle()
        _ = exchange.compareEverything()
        _ = exchange.recordsChecked()
        let question = try exchange.inventoryTaken(NegentropyVector([]), at: token(10))
        guard case .send(.reconcile)? = question.first else { throw NotAsking() }
        return exchange
    }

    private struct NotAsking: Error {}

    @Test func looseRecordsComeWhenTheReconciliationHasEnded() throws {
        var exchange = try asking()
        let loose = ChangeBatch(records: [], token: token(5), isLast: true, isLoose: true)
        let error = #expect(throws: ProtocolError.self) { try exchange.received(loose) }
        #expect(error?.code == .unexpectedMessage)
        _ = try exchange.received(Message.Reconcile(zone: 0, payload: [0x61]))
        #expect(try exchange.received(loose) == [.apply(loose)])
    }

    @Test(arguments: [
        (Message.Reconcile(zone: 0, isEnd: true, payload: []), ProtocolError.Code.unexpectedMessage),
        (
            Message.Reconcile(
                zone: 0, wanted: [NegentropyID([UInt8](repeating: 1, count: 32))!], payload: [0x61]),
            .unexpectedMessage
        ),
        (Message.Reconcile(zone: 0, payload: [0x62]), .malformed),
        (Message.Reconcile(zone: 0, payload: []), .malformed),
    ])
    func anAnswerOnlyAnswers(answer: Message.Reconcile, code: ProtocolError.Code) throws {
        var exchange = try asking()
        let error = #expect(throws: ProtocolError.self) { try exchange.received(answer) }
        #expect(error?.code == code)
    }

    @Test func aDigestThatChangedWithoutARecordIsTold() throws {
        var exchange = try idle()
        #expect(exchange.nextRequest() == .summarize)
        _ = exchange.summarized(summary(10, 5))
        exchange.storeChanged()
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: false))
        #expect(exchange.batchRead(batch(10, isLast: true, records: 0)) == nil)
        #expect(exchange.nextRequest() == .summarize)
        #expect(
            exchange.summarized(summary(10, 5, count: 1))
                == [.send(.digest(zone: 0, summary(10, 5, count: 1)))])
    }

    @Test func aStoreThatWasMendedBehindTheSessionIsCompared() throws {
        var exchange = try idle()
        _ = exchange.summarized(summary(10, 5))
        var voided = summary(10, 5)
        voided.received = nil
        #expect(exchange.summarized(voided) == [.send(.resync(zone: 0, round: 1)), .checkRecords])
    }

    @Test func nobodyWantsMoreThanThereIs() throws {
        let id = NegentropyID([UInt8](repeating: 1, count: 32))!
        var exchange = ZoneExchange(zone: 0, isCaller: false)
        _ = exchange.begin(at: .start, isHeldTokenVoid: false, recordCount: 1)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 1))
        let opening = try NegentropyInitiator(storage: nothing).initiate()
        #expect(try exchange.received(Message.Reconcile(zone: 0, payload: opening)) == [.takeInventory])
        _ = try exchange.inventoryTaken(
            NegentropyVector([NegentropyItem(timestamp: 1, id: id)]), at: token(10))
        #expect(throws: ProtocolError.self) {
            try exchange.received(Message.Reconcile(zone: 0, isEnd: true, wanted: [id, id], payload: []))
        }
    }

    @Test func whoIsAskedGivesUpAfterTooManyRounds() throws {
        var reconciliation = Reconciliation(
            zone: 0, isCaller: false, isAtBeginning: true, maximumRounds: 3)
        _ = reconciliation.begin()
        let question = Message.Reconcile(
            zone: 0, payload: try NegentropyInitiator(storage: nothing).initiate())
        _ = try reconciliation.received(question)
        _ = try reconciliation.inventoryTaken(nothing, at: token(10))
        for _ in 2...3 { _ = try reconciliation.received(question) }
        #expect(throws: ProtocolError.self) { try reconciliation.received(question) }
    }

    /// A side that knows no limit of its own may list more than one message can want.
    @Test func anAnswerListsNoMoreThanCanBeWanted() throws {
        let items = (0...ProtocolLimits.maximumTableEntries).map { index in
            let id =
                (0..<4).map { UInt8(truncatingIfNeeded: index >> (8 * $0)) }
                + [UInt8](repeating: 0, count: 28)
            return NegentropyItem(timestamp: 1, id: NegentropyID(id)!)
        }
        for (count, isTooLong) in [(items.count - 1, false), (items.count, true)] {
            var reconciliation = Reconciliation(zone: 0, isCaller: true, isAtBeginning: true)
            _ = reconciliation.begin()
            let first = try reconciliation.inventoryTaken(nothing, at: token(10)).first
            guard case .send(.reconcile(let question)) = first else { throw NotAsking() }
            let answer = try NegentropyResponder(storage: NegentropyVector(Array(items.prefix(count))))
                .reconcile(question.payload)
            let step = Message.Reconcile(zone: 0, payload: answer)
            if isTooLong {
                #expect(throws: ProtocolError.self) { try reconciliation.received(step) }
            } else {
                let actions = try reconciliation.received(step)
                guard case .send(.reconcile(let end)) = actions.first else { throw NotAsking() }
                #expect(end.wanted.count == count && end.isEnd)
            }
        }
    }

    @Test func digestsThatWereFoundEqualAllowAnotherAttempt() throws {
        var exchange = try idle()
        _ = try exchange.resync()
        _ = exchange.recordsChecked()
        _ = try exchange.inventoryTaken(nothing, at: token(10))
        let answer = try NegentropyResponder(storage: nothing).reconcile(
            NegentropyInitiator(storage: nothing).initiate())
        _ = try exchange.received(Message.Reconcile(zone: 0, payload: answer))
        _ = exchange.resolved([])
        let theirs = ChangeBatch(records: [], token: token(5), isLast: true, isLoose: true)
        _ = try exchange.received(theirs)
        _ = exchange.applied(theirs)
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10, count: 1)) == .different)
        #expect(throws: ProtocolError.self) { try exchange.resync() }
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10)) == .equal)
        #expect(try exchange.resync().first == .send(.resync(zone: 0, round: 2)))
    }
}

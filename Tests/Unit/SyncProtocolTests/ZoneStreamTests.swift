import PeerSyncModel
import Testing

@testable import PeerSyncProtocol

/// What an exchange sends and expects, one batch after the other: what is acknowledged by what, how much is on its way, and
/// when the two may say that they are equal.
struct ZoneStreamTests {
    private static let generation: [UInt8] = Array(1...8)

    private func token(_ sequence: Int64) -> ChangeToken {
        ChangeToken(generation: Self.generation, sequence: sequence)
    }

    private func summary(_ current: Int64, _ received: Int64, count: UInt64 = 0, refused: Int = 0)
        -> ZoneSummary
    {
        ZoneSummary(
            current: token(current), received: token(received),
            digest: ZoneDigest(count: count, sumBytes: [UInt8](repeating: 0, count: 32))!, refused: refused)
    }

    private func batch(_ sequence: Int64, isLast: Bool, isLoose: Bool = false) throws -> ChangeBatch {
        let stamp = Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 1))
        let record = RecordState(name: try RecordName("A|~|1"), deletion: stamp)
        return ChangeBatch(records: [record], token: token(sequence), isLast: isLast, isLoose: isLoose)
    }

    /// An exchange that has begun at change 10 in a store of so many records.
    private func begun(isCaller: Bool = true, records: UInt64 = 0, whole: Bool = false, theirs: UInt64 = 0)
        throws -> ZoneExchange
    {
        var exchange = ZoneExchange(zone: 0, isCaller: isCaller)
        _ = exchange.begin(at: whole ? .start : token(10), isHeldTokenVoid: false, recordCount: records)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: false, recordCount: theirs))
        return exchange
    }

    /// One that has sent all there is.
    private func idle() throws -> ZoneExchange {
        var exchange = try begun()
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: false))
        #expect(
            exchange.batchRead(ChangeBatch(records: [], token: token(10), isLast: true)) == nil)
        return exchange
    }

    private func send(_ batches: [ChangeBatch], _ exchange: inout ZoneExchange) {
        for batch in batches {
            exchange.storeChanged()
            #expect(exchange.nextRequest() != nil)
            #expect(exchange.batchRead(batch) == .batch(zone: 0, batch))
        }
    }

    // MARK: What is still to come

    /// Only a store that begins with nothing hears how many records follow.
    @Test func whatIsStillToComeIsKnownForACopy() throws {
        for (own, isCopy, theirs, expected) in [
            (0, true, 3, 3), (0, true, 0, 0), (0, false, 3, nil), (2, true, 3, nil),
            (0, true, UInt64.max, 1 << 48),
        ] as [(UInt64, Bool, UInt64, Int?)] {
            var exchange = ZoneExchange(zone: 0, isCaller: true)
            _ = exchange.begin(at: token(10), isHeldTokenVoid: false, recordCount: own)
            _ = try exchange.received(
                Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: isCopy, recordCount: theirs))
            #expect(exchange.recordsLeftToReceive == expected)
        }
        var exchange = try begun()
        _ = try exchange.received(batch(11, isLast: false))
        #expect(exchange.recordsLeftToReceive == nil)
        _ = try exchange.received(batch(12, isLast: true))
        #expect(exchange.recordsLeftToReceive == 0)
    }

    @Test func eachBatchOfACopyIsOneStepToItsEnd() throws {
        var exchange = ZoneExchange(zone: 0, isCaller: true)
        _ = exchange.begin(at: token(10), isHeldTokenVoid: false, recordCount: 0)
        _ = try exchange.received(
            Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 2))
        let left = try [(11, false), (12, false), (13, false), (14, true)].map { sequence, isLast in
            _ = try exchange.received(batch(Int64(sequence), isLast: isLast))
            return exchange.recordsLeftToReceive
        }
        // The deletions come on top of what was told.
        #expect(left == [1, 0, nil, 0])
    }

    // MARK: Acknowledging

    /// The last of several batches that were applied together answers for all of them.
    @Test func anAcknowledgementCoversWhatWasSentBefore() throws {
        var exchange = try idle()
        try send([batch(11, isLast: false), batch(12, isLast: false), batch(13, isLast: true)], &exchange)
        #expect(!exchange.isAtRest)
        #expect(try exchange.receivedAcknowledgement(token(13)) == [.acknowledged(token(13)), .wake])
        #expect(exchange.isAtRest)
        for sequence: Int64 in [11, 12, 13] {
            let error = #expect(throws: ProtocolError.self) {
                try exchange.receivedAcknowledgement(token(sequence))
            }
            #expect(error?.code == .unexpectedMessage)
        }
    }

    /// Of two batches with one token the first is meant.
    @Test func twoBatchesWithOneTokenAreAcknowledgedOneByOne() throws {
        var exchange = try idle()
        try send([batch(11, isLast: false), batch(11, isLast: true)], &exchange)
        _ = try exchange.receivedAcknowledgement(token(11))
        #expect(!exchange.isAtRest)
        _ = try exchange.receivedAcknowledgement(token(11))
        #expect(exchange.isAtRest)
    }

    /// The token of a loose batch is where the stream stands, which the other side may not hold yet.
    @Test func aLooseBatchThatIsAcknowledgedMakesNothingDurable() throws {
        var exchange = try reconciled(lacking: 1)
        _ = exchange.nextRequest()
        _ = exchange.namedRead(NamedRecords())
        #expect(try exchange.receivedAcknowledgement(token(10)) == [.wake])
    }

    /// What was applied got numbers here, which the other side has to know.
    @Test func theTokenMovesOnWhenTheOtherSidesStreamHasEnded() throws {
        var exchange = try idle()
        for isLast in [false, true] {
            let theirs = try batch(5, isLast: isLast)
            _ = try exchange.received(theirs)
            _ = exchange.applied(theirs)
            #expect(exchange.isAtRest == !isLast)
        }
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: false))
    }

    // MARK: Beginning

    /// A whole copy to a side that holds nothing needs no comparison.
    @Test(arguments: [(0, 5), (5, 0), (0, 0)] as [(UInt64, UInt64)])
    func whereOneSideHoldsNothingAllIsSent(own: UInt64, theirs: UInt64) throws {
        var exchange = try begun(records: own, whole: true, theirs: theirs)
        #expect(exchange.nextRequest() == .read(after: .start, includingEcho: false))
    }

    @Test func twoThatHoldSomethingCompareFirst() throws {
        var exchange = try begun(records: 5, whole: true, theirs: 5)
        #expect(exchange.nextRequest() == nil)
        #expect(try exchange.inventoryTaken(NegentropyVector([]), at: token(10)).count == 1)
    }

    // MARK: Reconciling

    /// An exchange in which the two have compared everything, and found that the other side lacks so many records.
    private func reconciled(lacking count: Int) throws -> ZoneExchange {
        var exchange = try idle()
        _ = exchange.compareEverything()
        _ = exchange.recordsChecked()
        _ = try exchange.inventoryTaken(NegentropyVector([]), at: token(10))
        let answer = try NegentropyResponder(storage: NegentropyVector([])).reconcile(
            NegentropyInitiator(storage: NegentropyVector([])).initiate())
        _ = try exchange.received(Message.Reconcile(zone: 0, payload: answer))
        _ = exchange.resolved(try (0..<count).map { try RecordName("A|~|\($0)") })
        return exchange
    }

    private func looseEnd() -> ChangeBatch {
        ChangeBatch(records: [], token: token(5), isLast: true, isLoose: true)
    }

    @Test func looseBatchesKeepToTheWindowToo() throws {
        var exchange = try reconciled(lacking: 1000 * (ProtocolLimits.window + 1))
        for _ in 0..<ProtocolLimits.window {
            guard case .readNamed(let names) = exchange.nextRequest() else {
                Issue.record("nothing is sent although there is room")
                return
            }
            #expect(names.count == 1000)
            #expect(exchange.namedRead(NamedRecords(namesRead: names.count)) != nil)
        }
        #expect(exchange.nextRequest() == nil)
        _ = try exchange.receivedAcknowledgement(token(10))
        guard case .readNamed = exchange.nextRequest() else {
            Issue.record("the rest is not sent")
            return
        }
    }

    /// The store reads as many records as fit into a batch; the rest goes into the next one.
    @Test func whatDoesNotFitIntoALooseBatchComesInTheNext() throws {
        var exchange = try reconciled(lacking: 3)
        let names = try (0..<3).map { try RecordName("A|~|\($0)") }
        #expect(exchange.nextRequest() == .readNamed(names))
        guard case .batch(_, let first)? = exchange.namedRead(NamedRecords(namesRead: 2)) else {
            Issue.record("nothing is sent")
            return
        }
        #expect(first.isLoose && !first.isLast)
        #expect(exchange.nextRequest() == .readNamed([names[2]]))
        guard case .batch(_, let last)? = exchange.namedRead(NamedRecords(namesRead: 1)) else {
            Issue.record("the rest is not sent")
            return
        }
        #expect(last.isLoose && last.isLast)
    }

    /// The other side's token is that of the batch that ends the stream, so one is sent also if nothing has changed.
    @Test func afterAReconciliationTheStreamEndsAnew() throws {
        var exchange = try reconciled(lacking: 0)
        #expect(exchange.nextRequest() == .readNamed([]))
        _ = exchange.namedRead(NamedRecords())
        _ = try exchange.received(looseEnd())
        _ = exchange.applied(looseEnd())
        #expect(exchange.nextRequest() == .read(after: token(10), includingEcho: false))
        let end = ChangeBatch(records: [], token: token(10), isLast: true)
        #expect(exchange.batchRead(end) == .batch(zone: 0, end))
    }

    @Test func whatIsComparedWaitsForTheLastLooseBatch() throws {
        var exchange = try reconciled(lacking: 0)
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10, count: 1)) == .notYet)
        _ = try exchange.received(looseEnd())
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10, count: 1)) == .notYet)
        _ = exchange.applied(looseEnd())
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10, count: 1)) == .different)
    }

    @Test func nothingLooseComesBehindTheLastLooseBatch() throws {
        var exchange = try reconciled(lacking: 0)
        _ = try exchange.received(looseEnd())
        let error = #expect(throws: ProtocolError.self) { try exchange.received(looseEnd()) }
        #expect(error?.code == .unexpectedMessage)
    }

    /// The next round begins when the loose batches of the last one are acknowledged.
    @Test func aRoundIsNotBegunWhileLooseBatchesAreOnTheirWay() throws {
        var exchange = try reconciled(lacking: 1)
        _ = exchange.nextRequest()
        _ = exchange.namedRead(NamedRecords(namesRead: 1))
        _ = try exchange.received(looseEnd())
        _ = exchange.applied(looseEnd())
        var hasty = exchange
        let error = #expect(throws: ProtocolError.self) { try hasty.receivedResync(round: 2) }
        #expect(error?.code == .unexpectedMessage)
        _ = try exchange.receivedAcknowledgement(token(10))
        #expect(try exchange.receivedResync(round: 2) == [.checkRecords])
    }

    /// What the other side wants is counted over all of its steps.
    @Test func nobodyWantsMoreThanThereIsInSmallPortions() throws {
        let ids = [1, 2].map { NegentropyID([UInt8](repeating: $0, count: 32))! }
        var exchange = try begun(isCaller: false, records: 1, whole: true, theirs: 1)
        let opening = try NegentropyInitiator(storage: NegentropyVector([])).initiate()
        _ = try exchange.received(Message.Reconcile(zone: 0, payload: opening))
        _ = try exchange.inventoryTaken(
            NegentropyVector([NegentropyItem(timestamp: 1, id: ids[0])]), at: token(10))
        _ = try exchange.received(Message.Reconcile(zone: 0, wanted: [ids[0]], payload: opening))
        let error = #expect(throws: ProtocolError.self) {
            try exchange.received(Message.Reconcile(zone: 0, wanted: [ids[1]], payload: opening))
        }
        #expect(error?.code == .malformed)
    }

    // MARK: Comparing

    /// What one side keeps and the other refuses cannot be equal, whichever of the two it is.
    @Test(arguments: [(1, 0), (0, 1), (2, 3)]) func refusedRecordsMakeNoDifference(own: Int, theirs: Int)
        throws
    {
        var exchange = try idle()
        let verdict = exchange.compare(
            summary(10, 5, count: 7, refused: own), with: summary(5, 10, count: 6, refused: theirs))
        #expect(verdict == .equal)
        #expect(exchange.nextRequest() == .summarize)
        _ = exchange.summarized(summary(10, 5, count: 7, refused: own))
        #expect(exchange.isConfirmed)
    }

    /// Whoever waits until the two are equal gets the digest of now, not the one before the last change.
    @Test func whatHasGoneSinceIsNotConfirmedByAnOlderDigest() throws {
        var exchange = try idle()
        #expect(exchange.compare(summary(10, 5), with: summary(5, 10)) == .equal)
        #expect(exchange.nextRequest() == .summarize)
        _ = exchange.summarized(summary(10, 5))
        #expect(exchange.isConfirmed)
        try send([batch(11, isLast: true)], &exchange)
        _ = try exchange.receivedAcknowledgement(token(11))
        #expect(exchange.isAtRest && !exchange.isConfirmed)
        #expect(exchange.nextRequest() == .summarize)
        #expect(!exchange.isConfirmed)
        _ = exchange.summarized(summary(11, 5, count: 1))
        #expect(!exchange.isConfirmed)
        #expect(exchange.compare(summary(11, 5, count: 1), with: summary(5, 11, count: 1)) == .equal)
        #expect(exchange.isConfirmed)
    }

    @Test func withoutRefusalsUnequalDigestsDiffer() throws {
        var exchange = try idle()
        #expect(exchange.compare(summary(10, 5, count: 7), with: summary(5, 10, count: 6)) == .different)
    }
}

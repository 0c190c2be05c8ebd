import SyncModel

/// The exchange of one zone with one peer: a state machine without I/O.
///
/// Sending goes by pull: whoever drives the machine asks for its ``nextRequest()``, does the reading, and hands
/// the result in. Receiving goes by push: each message gives the actions to take. The two halves share nothing
/// but this struct, so a reader and a writer may drive it in turn.
///
/// When both halves have come to rest, each side tells the other its digest together with the two tokens under
/// which it holds; the digests are compared only where the tokens say that both speak of the same moment.
package struct ZoneExchange: Sendable {
    /// Something that has to be asked of the store before there is anything to send.
    package enum Request: Sendable, Equatable {
        /// The next batch after a token; answer with ``batchRead(_:)``.
        case read(after: ChangeToken, includingEcho: Bool)
        /// The records of these names; answer with ``namedRead(_:)``.
        case readNamed([RecordName])
        /// A summary to be told to the peer; answer with ``summarized(_:)``.
        case summarize
    }

    /// Something to do because of a message.
    package enum Action: Sendable, Equatable {
        case send(Message)
        /// Make a batch durable, then call ``applied(_:)``.
        case apply(ChangeBatch)
        /// The peer has made durable what the token covers.
        case acknowledged(ChangeToken)
        /// Forget what is held of the peer's changes.
        case voidReceived
        /// Hold all that is known of the records against the tables, and mend what is wrong, then call
        /// ``recordsChecked()``.
        case checkRecords
        /// Take the inventory of all live records, with the token of that moment: ``inventoryTaken(_:at:)``.
        case takeInventory
        /// Find the names of the records with these ids: ``resolved(_:)``.
        case resolve([NegentropyID])
        /// Take a summary and hand it in with the peer's: ``compare(_:with:)``.
        case compare(ZoneSummary)
        /// There may be a new ``nextRequest()``.
        case wake
    }

    /// What a comparison of digests came to.
    package enum Verdict: Sendable, Equatable {
        /// The two sides speak of different moments: something is still on its way.
        case notYet
        case equal
        case different
    }

    private let zone: Int
    /// Whether this side asks when the two reconcile.
    private let isCaller: Bool
    private var outgoing = Outgoing()
    private var isApplying = 0
    /// What the peer was told last.
    private var told: ZoneSummary?
    /// What the peer told last.
    private var heard: ZoneSummary?
    /// The two sides were equal when they spoke of this.
    private var confirmed: ZoneSummary?
    /// How many times one of the two has asked for everything to be compared in this session.
    private var round = 0
    /// Everything was compared because of unequal digests, and they have not been found equal since.
    private var isResyncVain = false
    /// Something came or went since the peer was told a digest.
    private var isDigestDue = true

    private struct Outgoing {
        /// Where the next batch begins; nil until the peer has said how it sends, which tells whether it may have
        /// lost what it had sent before.
        var position: ChangeToken?
        var includesEcho = false
        var isReading = false
        /// Batches that were sent and not acknowledged.
        var unacknowledged: [(token: ChangeToken, isLoose: Bool)] = []
        /// Records that a reconciliation found the other side to lack, still to be sent.
        var named: [RecordName] = []
        /// The last batch of these is still to be sent, be it empty.
        var owesNamed = false
        var isReadingLastNamed = false
        /// There may be more to read.
        var mayHaveMore = true
        /// The store changed while a batch was being read, which may not have seen the change.
        var hasChangedWhileReading = false
        /// Batches were sent, and the last of the stream was not.
        var isStreamOpen = false

        mutating func noteChange() {
            mayHaveMore = true
            hasChangedWhileReading = isReading
        }
    }

    private enum Reconciliation {
        /// Waits for the records to be checked; the other side may have asked already.
        case checking(Message.Reconcile?)
        /// Waits for the inventory; the other side may have asked already.
        case takingInventory(Message.Reconcile?)
        /// Waits for the other side to ask.
        case toBeAsked
        case asking(Asking)
        case answering(Answering)
        /// Waits for the names of what the other side lacks.
        case resolving
    }

    private struct Asking {
        var initiator: NegentropyInitiator<NegentropyVector>
        var have: [NegentropyID] = []
    }

    private struct Answering {
        let responder: NegentropyResponder<NegentropyVector>
        /// Nobody can want more than there is.
        let wantedLimit: Int
        var wanted: [NegentropyID] = []
    }

    /// How many records are asked for by name at once.
    private static let namedRecords = 1000

    private var reconciliation: Reconciliation?
    /// What the peer was told about how this side begins, and where it does.
    private var begun: (message: Message.Begin, start: ChangeToken)?
    /// What a reconciliation found this side to lack has not all been applied yet. Until then the stream does not go on:
    /// the answers to it belong before the token that ends the stream.
    private var awaitsLooseEnd = false
    /// The last of these has come, whether it was applied or not.
    private var hasLooseEndCome = false
    /// The token of the inventory by which the two have begun, until each has what it lacked.
    private var inventory: ChangeToken?

    /// - Parameters:
    ///   - zone: the zone's number in this session.
    ///   - isCaller: whether this side has made the connection.
    package init(zone: Int, isCaller: Bool) {
        self.zone = zone
        self.isCaller = isCaller
    }

    /// Whether everything read so far was sent and acknowledged, and nothing is being applied.
    package var isAtRest: Bool {
        outgoing.position != nil && reconciliation == nil && !outgoing.owesNamed && !awaitsLooseEnd
            && !outgoing.isReading
            && outgoing.unacknowledged.isEmpty
            && !outgoing.mayHaveMore && isApplying == 0
    }

    /// Both sides know that they were equal, and nothing has moved since.
    package var isConfirmed: Bool {
        guard let told, let confirmed else { return false }
        return isAtRest && told == confirmed
    }

    // MARK: Beginning

    /// The local side has found out where to begin: with what the peer's hello asked for, if this store gave that
    /// token out, otherwise with a whole copy.
    ///
    /// - Returns: what to tell the peer.
    package mutating func begin(at token: ChangeToken, isHeldTokenVoid: Bool, recordCount: UInt64) -> Message
    {
        let begin = Message.Begin(
            zone: zone, isHeldTokenVoid: isHeldTokenVoid, isWholeCopy: token.sequence == 0,
            recordCount: recordCount)
        begun = (begin, start: token)
        return .begin(begin)
    }

    /// Where this side begins to send; nil before it has said so.
    package var start: ChangeToken? { begun?.start }

    /// The peer has said how it begins.
    package mutating func received(_ begin: Message.Begin) throws(ProtocolError) -> [Action] {
        guard outgoing.position == nil, reconciliation == nil, let (own, start) = begun else {
            throw ProtocolError(.unexpectedMessage, "the other side began twice")
        }
        let void: [Action] = begin.isHeldTokenVoid ? [.voidReceived] : []
        // A whole copy to a side that holds records itself would mostly tell what it has.
        if own.isWholeCopy || begin.isWholeCopy, own.recordCount > 0, begin.recordCount > 0 {
            return void + reconcile()
        }
        outgoing.position = start
        // A peer that does not know the token we hold of it may also have lost what we had from it.
        outgoing.includesEcho = begin.isHeldTokenVoid
        return void + [.wake]
    }

    // MARK: Reconciling

    /// The records were checked, and what was wrong is mended.
    package mutating func recordsChecked() -> [Action] {
        guard case .checking(let question) = reconciliation else { return [] }
        let actions = reconcile()
        guard let question else { return actions }
        reconciliation = .takingInventory(question)
        return [.takeInventory]
    }

    private mutating func reconcile() -> [Action] {
        reconciliation = isCaller ? .takingInventory(nil) : .toBeAsked
        awaitsLooseEnd = true
        hasLooseEndCome = false
        return isCaller ? [.takeInventory] : []
    }

    /// The inventory was taken. What changes from now on comes after `token`.
    package mutating func inventoryTaken(_ items: NegentropyVector, at token: ChangeToken)
        throws(ProtocolError)
        -> [Action]
    {
        guard case .takingInventory(let question) = reconciliation else { return [] }
        // In the middle of a session the changes go on where they were: deletions are in no inventory.
        if outgoing.position == nil {
            outgoing.position = token
            inventory = token
        }
        let limit = ProtocolLimits.reconciliationFrame
        guard !isCaller else {
            let asking = Asking(initiator: NegentropyInitiator(storage: items, frameSizeLimit: limit))
            reconciliation = .asking(asking)
            return [.send(.reconcile(Message.Reconcile(zone: zone, payload: asking.initiator.initiate())))]
        }
        reconciliation = .answering(
            Answering(
                responder: NegentropyResponder(storage: items, frameSizeLimit: limit),
                wantedLimit: items.count))
        guard let question else { return [] }
        return try received(question)
    }

    /// The other side has taken a step.
    package mutating func received(_ step: Message.Reconcile) throws(ProtocolError) -> [Action] {
        // What a step changes is taken out of the state first: a second owner would make it a copy of everything.
        let current = reconciliation
        reconciliation = nil
        switch current {
        case .checking(nil) where !isCaller:
            reconciliation = .checking(step)
            return []
        case .toBeAsked:
            reconciliation = .takingInventory(step)
            return [.takeInventory]
        case .asking(var asking):
            return try ask(&asking, step)
        case .answering(var answering):
            return try answer(&answering, step)
        case .checking, .takingInventory, .resolving, nil:
            throw ProtocolError(.unexpectedMessage, "the other side reconciled out of turn")
        }
    }

    private mutating func ask(_ asking: inout Asking, _ step: Message.Reconcile) throws(ProtocolError)
        -> [Action]
    {
        guard !step.isEnd, step.wanted.isEmpty else {
            throw ProtocolError(.unexpectedMessage, "the side that is asked does not end the reconciliation")
        }
        let result = try Self.understanding(step.payload) { payload throws(NegentropyError) in
            try asking.initiator.reconcile(payload)
        }
        asking.have += result.have
        guard let next = result.message else {
            reconciliation = .resolving
            let end = Message.Reconcile(zone: zone, isEnd: true, wanted: result.need, payload: [])
            return [.send(.reconcile(end)), .resolve(asking.have)]
        }
        reconciliation = .asking(asking)
        return [.send(.reconcile(Message.Reconcile(zone: zone, wanted: result.need, payload: next)))]
    }

    private mutating func answer(_ answering: inout Answering, _ step: Message.Reconcile)
        throws(ProtocolError) -> [Action]
    {
        guard step.wanted.count <= answering.wantedLimit - answering.wanted.count else {
            throw ProtocolError(.malformed, "the other side wants more records than there are")
        }
        answering.wanted += step.wanted
        guard !step.isEnd else {
            reconciliation = .resolving
            return [.resolve(answering.wanted)]
        }
        let payload = try Self.understanding(step.payload) { payload throws(NegentropyError) in
            try answering.responder.reconcile(payload)
        }
        reconciliation = .answering(answering)
        return [.send(.reconcile(Message.Reconcile(zone: zone, payload: payload)))]
    }

    /// Negentropy knows how to agree on a version; here the version of this protocol says which one it is.
    private static func understanding<Value>(
        _ payload: [UInt8], _ body: ([UInt8]) throws(NegentropyError) -> Value
    ) throws(ProtocolError) -> Value {
        guard payload.first == NegentropyV1.versionByte else {
            throw .malformed("a reconciliation of another version")
        }
        do {
            return try body(payload)
        } catch {
            throw ProtocolError(.malformed, "the reconciliation went wrong: \(error)")
        }
    }

    /// The names of what the other side lacks are known; those that have changed since are not among them, and come
    /// with the changes.
    package mutating func resolved(_ names: [RecordName]) -> [Action] {
        reconciliation = nil
        outgoing.named = names
        outgoing.owesNamed = true
        // The other side's token is that of the batch that ends the stream, so one has to.
        outgoing.isStreamOpen = true
        return [.wake]
    }

    /// The store has given the records that were asked for by name.
    package mutating func namedRead(_ records: [RecordState]) -> Message? {
        outgoing.isReading = false
        guard let position = outgoing.position else { return nil }
        outgoing.unacknowledged.append((position, true))
        isDigestDue = true
        let isLast = outgoing.isReadingLastNamed
        outgoing.isReadingLastNamed = false
        return .batch(
            zone: zone, ChangeBatch(records: records, token: position, isLast: isLast, isLoose: true))
    }

    /// Both sides have what they lacked, so the peer has all that the inventory had. No other acknowledgement says so of what
    /// the two held alike, which is never sent.
    private mutating func noteReconciled() -> [Action] {
        guard let token = inventory, !awaitsLooseEnd, reconciliation == nil, !outgoing.owesNamed,
            !outgoing.isReadingLastNamed, outgoing.unacknowledged.allSatisfy({ !$0.isLoose })
        else { return [] }
        inventory = nil
        return [.acknowledged(token)]
    }

    // MARK: Sending

    /// What to ask of the store next; nil when there is nothing to do, or too much is on its way already.
    package mutating func nextRequest() -> Request? {
        guard let position = outgoing.position, reconciliation == nil, !outgoing.isReading else { return nil }
        if outgoing.owesNamed {
            guard outgoing.unacknowledged.count < ProtocolLimits.window else { return nil }
            outgoing.isReading = true
            let names = Array(outgoing.named.suffix(Self.namedRecords))
            outgoing.named.removeLast(names.count)
            outgoing.isReadingLastNamed = outgoing.named.isEmpty
            outgoing.owesNamed = !outgoing.isReadingLastNamed
            return .readNamed(names)
        }
        guard !awaitsLooseEnd else { return nil }
        if outgoing.mayHaveMore {
            guard outgoing.unacknowledged.count < ProtocolLimits.window else { return nil }
            outgoing.isReading = true
            outgoing.hasChangedWhileReading = false
            return .read(after: position, includingEcho: outgoing.includesEcho)
        }
        guard isAtRest, isDigestDue else { return nil }
        isDigestDue = false
        return .summarize
    }

    /// The store has given the batch that was asked for.
    ///
    /// - Returns: what to send, if the batch says anything new.
    package mutating func batchRead(_ batch: ChangeBatch) -> Message? {
        outgoing.isReading = false
        outgoing.mayHaveMore = !batch.isLast || outgoing.hasChangedWhileReading
        let isNews = !batch.records.isEmpty || batch.token != outgoing.position
        outgoing.position = batch.token
        // The other side waits for the end of what it has got a part of.
        guard isNews || outgoing.isStreamOpen else {
            // What has changed is no record, so it may be the digest, or the token that is held of the other side.
            isDigestDue = true
            return nil
        }
        outgoing.isStreamOpen = !batch.isLast
        outgoing.unacknowledged.append((batch.token, false))
        isDigestDue = true
        return .batch(zone: zone, batch)
    }

    /// The store has given a summary.
    package mutating func summarized(_ summary: ZoneSummary) -> [Action] {
        // Another program has mended the store, and lost what it knew of the other side.
        if told?.received != nil, summary.received == nil { return compareEverything() }
        var actions: [Action] = []
        if summary != told {
            told = summary
            actions.append(.send(.digest(zone: zone, summary)))
        }
        // What the peer told last may have been ahead of us then, and it will not tell it twice.
        if let heard, confirmed != summary { actions.append(.compare(heard)) }
        return actions
    }

    /// The store has changed.
    package mutating func storeChanged() {
        outgoing.noteChange()
    }

    // MARK: Receiving

    package mutating func received(_ batch: ChangeBatch) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        guard !batch.isLoose || mayGetLoose else {
            throw ProtocolError(.unexpectedMessage, "the other side sent records out of turn")
        }
        if batch.isLoose, batch.isLast { hasLooseEndCome = true }
        isApplying += 1
        return [.apply(batch)]
    }

    /// Nothing is said of a zone before its begin.
    package func checkHasBegun() throws(ProtocolError) {
        guard outgoing.position != nil || reconciliation != nil else {
            throw ProtocolError(
                .unexpectedMessage, "the other side spoke of a zone before it said how it begins")
        }
    }

    /// The two have found out what this side lacks, and it has not all come.
    private var mayGetLoose: Bool {
        guard awaitsLooseEnd, !hasLooseEndCome else { return false }
        return switch reconciliation {
        case .resolving, nil: true
        case .checking, .takingInventory, .toBeAsked, .asking, .answering: false
        }
    }

    /// A batch is durable.
    package mutating func applied(_ batch: ChangeBatch) -> [Action] {
        isApplying -= 1
        isDigestDue = true
        if batch.isLoose, batch.isLast { awaitsLooseEnd = false }
        // Applying numbered changes here, so the peer's token has to move past them; once, when it has sent all.
        if batch.isLast { outgoing.noteChange() }
        return noteReconciled() + [.send(.acknowledge(zone: zone, batch.token)), .wake]
    }

    package mutating func receivedAcknowledgement(_ token: ChangeToken) throws(ProtocolError) -> [Action] {
        guard let index = outgoing.unacknowledged.firstIndex(where: { $0.token == token }) else {
            throw ProtocolError(.unexpectedMessage, "the other side acknowledged what was not sent")
        }
        let durable = outgoing.unacknowledged[...index].last { !$0.isLoose }
        outgoing.unacknowledged.removeSubrange(...index)
        let reconciled = noteReconciled()
        guard let durable else { return reconciled + [.wake] }
        return reconciled + [.acknowledged(durable.token), .wake]
    }

    package mutating func received(_ summary: ZoneSummary) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        heard = summary
        return [.compare(summary)]
    }

    /// Compares the peer's summary with ours.
    ///
    /// - Returns: the verdict; `different` when nothing is on its way and the digests differ all the same.
    package mutating func compare(_ own: ZoneSummary, with peer: ZoneSummary) -> Verdict {
        // What was told before a reconciliation began may come when it has.
        guard reconciliation == nil, !awaitsLooseEnd, (peer.received ?? .start) == own.current,
            (own.received ?? .start) == peer.current
        else { return .notYet }
        // What one side keeps and the other refuses cannot be equal.
        guard own.digest == peer.digest || own.refused > 0 || peer.refused > 0 else { return .different }
        confirmed = own
        isResyncVain = false
        if told != own { isDigestDue = true }
        return .equal
    }

    // MARK: Comparing everything

    /// The digests differ although nothing is on its way: both sides look at all they hold, and reconcile.
    ///
    /// - Throws: `digestMismatch` when that has not helped.
    package mutating func resync() throws(ProtocolError) -> [Action] {
        guard !isResyncVain else {
            throw ProtocolError(
                .digestMismatch,
                "the two scorebooks still differ after everything was compared; please report this")
        }
        isResyncVain = true
        return compareEverything()
    }

    /// Both sides look at all they hold, and reconcile, whatever the digests say. For a side that has just found the
    /// two equal.
    package mutating func compareEverything() -> [Action] {
        round += 1
        return [.send(.resync(zone: zone, round: round))] + beginRound()
    }

    /// The peer wants everything to be compared.
    package mutating func receivedResync(round: Int) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        // Both sides may find it at the same time; the round says that they mean the same.
        guard round > self.round else { return [] }
        guard outgoing.position != nil, reconciliation == nil, !awaitsLooseEnd, !outgoing.owesNamed,
            !outgoing.isReadingLastNamed, outgoing.unacknowledged.allSatisfy({ !$0.isLoose })
        else {
            throw ProtocolError(.unexpectedMessage, "the other side compares everything out of turn")
        }
        self.round = round
        return beginRound()
    }

    private mutating func beginRound() -> [Action] {
        confirmed = nil
        told = nil
        heard = nil
        isDigestDue = true
        reconciliation = .checking(nil)
        awaitsLooseEnd = true
        hasLooseEndCome = false
        return [.checkRecords]
    }
}

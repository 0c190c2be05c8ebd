import SyncModel

/// The exchange of one zone with one peer: a state machine without I/O.
///
/// Sending goes by pull: the owner of the machine asks for its ``nextRequest()``, reads from the store, and hands the
/// result in. Receiving goes by push: each message returns the actions to take. The two may take turns at any point.
///
/// When a side is at rest, it tells the peer its digest together with the two tokens under which it holds. Digests are
/// compared only where the tokens say that both speak of the same moment.
package struct ZoneExchange: Sendable {
    /// Something to ask of the store before there is anything to send.
    package enum Request: Sendable, Equatable {
        /// The next batch after a token; answer with ``batchRead(_:)``.
        case read(after: ChangeToken, includingEcho: Bool)
        /// The records of these names; answer with ``namedRead(_:)``.
        case readNamed([RecordName])
        /// A summary to tell the peer; answer with ``summarized(_:)``.
        case summarize
    }

    /// Something to do because of a message.
    package enum Action: Sendable, Equatable {
        case send(Message)
        /// Make a batch durable, then call ``applied(_:)``.
        case apply(ChangeBatch)
        /// The peer has made durable what the token covers.
        case acknowledged(ChangeToken)
        /// Forget which of the peer's changes this side holds.
        case voidReceived
        /// Compare all that is known of the records with the tables, and mend what is wrong, then call
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

    /// The result of a comparison of digests.
    package enum Verdict: Sendable, Equatable {
        /// The two sides speak of different moments: something is still on its way.
        case notYet
        case equal
        case different
    }

    private enum Phase {
        /// This side has not said how it begins.
        case new
        /// The peer has not said how it begins.
        case begun(Message.Begin)
        /// The two find out what each of them lacks.
        case reconciling(Reconciliation)
        /// Each side sends the records that the other lacks.
        case exchangingLoose(LooseExchange)
        /// Each side sends its changes.
        case streaming
        /// The peer has broken the rules of a reconciliation; the session ends.
        case failed
    }

    private let zone: Int
    /// Whether this side asks when the two reconcile.
    private let isCaller: Bool
    private var phase = Phase.new
    private var outgoing = OutgoingStream()
    private var digests = DigestComparison()
    /// How many batches of the peer are being applied.
    private var applying = 0
    /// Where this side begins to send; nil before it has said so.
    package private(set) var start: ChangeToken?

    /// - Parameters:
    ///   - zone: the zone's number in this session.
    ///   - isCaller: whether this side has made the connection.
    package init(zone: Int, isCaller: Bool) {
        self.zone = zone
        self.isCaller = isCaller
    }

    /// Whether this side has sent all it has, the peer has acknowledged it, and nothing is being applied.
    package var isAtRest: Bool {
        guard case .streaming = phase else { return false }
        return outgoing.isAtRest && applying == 0
    }

    /// Both sides know that they were equal, and nothing has moved since.
    package var isConfirmed: Bool { isAtRest && digests.isConfirmed }

    // MARK: Beginning

    /// The local side has found out where to begin: at the token that the peer asked for, if this store gave that token
    /// out, otherwise with a whole copy.
    ///
    /// - Returns: what to tell the peer.
    package mutating func begin(at token: ChangeToken, isHeldTokenVoid: Bool, recordCount: UInt64) -> Message
    {
        let begin = Message.Begin(
            zone: zone, isHeldTokenVoid: isHeldTokenVoid, isWholeCopy: token.sequence == 0,
            recordCount: recordCount)
        start = token
        phase = .begun(begin)
        return .begin(begin)
    }

    /// The peer has said how it begins.
    package mutating func received(_ begin: Message.Begin) throws(ProtocolError) -> [Action] {
        guard case .begun(let own) = phase, let start else { throw .unexpected("began twice") }
        let void: [Action] = begin.isHeldTokenVoid ? [.voidReceived] : []
        // Most of a whole copy would tell a side that has records itself what it has.
        if own.isWholeCopy || begin.isWholeCopy, own.recordCount > 0, begin.recordCount > 0 {
            return void + reconcile(isAtBeginning: true)
        }
        phase = .streaming
        // A peer that does not know the token that this side has of it may also have lost what this side sent.
        outgoing.begin(at: start, includingEcho: begin.isHeldTokenVoid)
        return void + [.wake]
    }

    /// The peer may say nothing of a zone before its begin.
    package func checkHasBegun() throws(ProtocolError) {
        switch phase {
        case .reconciling, .exchangingLoose, .streaming, .failed: return
        case .new, .begun:
            throw .unexpected("spoke of a zone before it said how it begins")
        }
    }

    // MARK: Reconciling

    private mutating func reconcile(isAtBeginning: Bool) -> [Action] {
        var reconciliation = Reconciliation(zone: zone, isCaller: isCaller, isAtBeginning: isAtBeginning)
        let actions = reconciliation.begin()
        goOn(with: reconciliation)
        return actions
    }

    private mutating func goOn(with reconciliation: Reconciliation) {
        if reconciliation.hasEnded {
            if let snapshot = reconciliation.snapshot { outgoing.begin(at: snapshot) }
            phase = .exchangingLoose(LooseExchange(snapshot: reconciliation.snapshot))
        } else {
            phase = .reconciling(reconciliation)
        }
    }

    /// The records were checked, and what was wrong is mended.
    package mutating func recordsChecked() -> [Action] {
        guard case .reconciling(var reconciliation) = phase else { return [] }
        let actions = reconciliation.recordsChecked()
        goOn(with: reconciliation)
        return actions
    }

    /// The inventory was taken. What changes from now on comes after `token`.
    package mutating func inventoryTaken(_ items: NegentropyVector, at token: ChangeToken)
        throws(ProtocolError) -> [Action]
    {
        guard case .reconciling(var reconciliation) = phase else { return [] }
        let actions = try reconciliation.inventoryTaken(items, at: token)
        goOn(with: reconciliation)
        return actions
    }

    /// The peer has taken a step of the reconciliation.
    package mutating func received(_ step: Message.Reconcile) throws(ProtocolError) -> [Action] {
        guard case .reconciling(var reconciliation) = phase else {
            throw .unexpected("reconciled out of turn")
        }
        // The phase gives the reconciliation up: a second owner would make each step a copy of all that was found.
        phase = .failed
        let actions = try reconciliation.received(step)
        goOn(with: reconciliation)
        return actions
    }

    /// The exchange of loose batches, while there is one.
    private var loose: LooseExchange? {
        get { if case .exchangingLoose(let loose) = phase { loose } else { nil } }
        set {
            guard let newValue else { return }
            phase = newValue.isComplete ? .streaming : .exchangingLoose(newValue)
        }
    }

    /// The names of the records that the peer lacks are known. Records that have changed since are not among them, and
    /// come with the changes.
    package mutating func resolved(_ names: [RecordName]) -> [Action] {
        loose?.resolved(names)
        outgoing.owesEnd = true
        return [.wake]
    }

    // MARK: Sending

    /// What to ask of the store next; nil when there is nothing to do, or too much is on its way already.
    package mutating func nextRequest() -> Request? {
        guard !outgoing.isReading else { return nil }
        if outgoing.hasRoom, let names = loose?.nextNames() { return .readNamed(names) }
        switch phase {
        case .streaming: break
        case .exchangingLoose(let loose) where loose.letsStreamGoOn: break
        case .new, .begun, .reconciling, .exchangingLoose, .failed: return nil
        }
        if let read = outgoing.nextRead() { return read }
        guard isAtRest, digests.isDue else { return nil }
        digests.isDue = false
        return .summarize
    }

    /// The store has given the batch that was asked for.
    ///
    /// - Returns: what to send, if the batch says anything new.
    package mutating func batchRead(_ batch: ChangeBatch) -> Message? {
        // If no record has changed, the digest may have, or the token that this side has of the peer.
        digests.isDue = true
        return outgoing.batchRead(batch) ? .batch(zone: zone, batch) : nil
    }

    /// The store has given the records that were asked for by name.
    package mutating func namedRead(_ records: [RecordState]) -> Message? {
        guard let isLast = loose?.recordsRead() else { return nil }
        digests.isDue = true
        return .batch(zone: zone, outgoing.looseBatch(records, isLast: isLast))
    }

    /// The store has given a summary.
    package mutating func summarized(_ summary: ZoneSummary) -> [Action] {
        if digests.isMended(summary) { return compareEverything() }
        let (isNews, heard) = digests.tell(summary)
        let digest: [Action] = isNews ? [.send(.digest(zone: zone, summary))] : []
        return digest + (heard.map { [.compare($0)] } ?? [])
    }

    /// The store has changed.
    package mutating func storeChanged() { outgoing.storeChanged() }

    package mutating func receivedAcknowledgement(_ token: ChangeToken) throws(ProtocolError) -> [Action] {
        let durable = try outgoing.acknowledged(token)
        let isLooseDurable = !outgoing.hasLooseUnacknowledged
        let covered = [isLooseDurable ? loose?.acknowledged() : nil, durable].compactMap(\.self)
        return covered.map { .acknowledged($0) } + [.wake]
    }

    // MARK: Receiving

    package mutating func received(_ batch: ChangeBatch) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        if batch.isLoose, loose?.received(batch) != true { throw .unexpected("sent records out of turn") }
        applying += 1
        return [.apply(batch)]
    }

    /// A batch is durable.
    package mutating func applied(_ batch: ChangeBatch) -> [Action] {
        applying -= 1
        digests.isDue = true
        // Applying numbered changes here, so the peer's token has to move past them; once, when it has sent all.
        if batch.isLast { outgoing.storeChanged() }
        let covered = batch.isLoose ? loose?.applied(batch) : nil
        return (covered.map { [.acknowledged($0)] } ?? [])
            + [.send(.acknowledge(zone: zone, batch.token)), .wake]
    }

    package mutating func received(_ summary: ZoneSummary) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        digests.hear(summary)
        return [.compare(summary)]
    }

    /// Compares the peer's summary with this side's.
    ///
    /// - Returns: the verdict; `different` when nothing is on its way and the digests differ all the same.
    package mutating func compare(_ own: ZoneSummary, with peer: ZoneSummary) -> Verdict {
        switch phase {
        // The peer told its digest before it began to reconcile.
        case .new, .begun, .reconciling, .failed: .notYet
        case .exchangingLoose(let loose) where !loose.hasReceivedAll: .notYet
        case .exchangingLoose, .streaming: digests.compare(own, with: peer)
        }
    }

    // MARK: Comparing everything

    /// The digests differ although nothing is on its way: both sides look at all they have, and reconcile.
    ///
    /// - Throws: `digestMismatch` when that has not helped.
    package mutating func resync() throws(ProtocolError) -> [Action] {
        try digests.noteResync()
        return compareEverything()
    }

    /// Both sides look at all they have, and reconcile, whatever the digests say. For a side that has just found the two
    /// equal.
    package mutating func compareEverything() -> [Action] {
        [.send(.resync(zone: zone, round: digests.round + 1))] + begin(round: digests.round + 1)
    }

    /// The peer wants everything to be compared.
    package mutating func receivedResync(round: Int) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        // Both sides may find it at the same time; the round says that they mean the same.
        guard round > digests.round else { return [] }
        guard case .streaming = phase else { throw .unexpected("compares everything out of turn") }
        return begin(round: round)
    }

    private mutating func begin(round: Int) -> [Action] {
        digests.begin(round: round)
        return reconcile(isAtBeginning: false)
    }
}

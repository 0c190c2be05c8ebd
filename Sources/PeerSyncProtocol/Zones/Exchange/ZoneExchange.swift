import PeerSyncModel

/// The exchange of one zone with one peer: a state machine without I/O.
///
/// Sending works by pull: the driver asks for the ``nextRequest()``, reads from the store, and hands the result in.
/// Receiving works by push: each message returns the actions to take. The two may alternate at any point.
///
/// A side at rest tells the peer its digest, together with the two tokens to which the digest belongs. The sides
/// compare digests only if the tokens say that both describe the same moment.
package struct ZoneExchange: Sendable {
    /// A request to the store, before there is anything to send.
    package enum Request: Sendable, Equatable {
        /// The next batch after a token; answer with ``batchRead(_:)``.
        case read(after: ChangeToken, includingEcho: Bool)
        /// The records of these names, as many as fit into a batch; answer with ``namedRead(_:)``.
        case readNamed([RecordName])
        /// A summary to tell the peer; answer with ``summarized(_:)``.
        case summarize
    }

    /// A task because of a message.
    package enum Action: Sendable, Equatable {
        case send(Message)
        /// Make a batch durable, then call ``applied(_:)``.
        case apply(ChangeBatch)
        /// The peer has made durable the changes that the token covers.
        case acknowledged(ChangeToken)
        /// Forget which of the peer's changes this side holds.
        case voidReceived
        /// Compare the stored states of all records with the tables, mend errors, then call ``recordsChecked()``.
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
    /// The number of the peer's batches that this side is applying.
    private var applying = 0
    /// The token after which this side begins to send; nil before it has said so.
    package private(set) var start: ChangeToken?
    /// The number of records that the peer is still going to send; nil if this side does not know. Only a whole copy begins
    /// with their number, and that without the deleted ones.
    private(set) var recordsLeftToReceive: Int?

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

    /// The token of the oldest batch of which the peer may still refuse records. What has changed after it is on its way.
    package var oldestRefusable: ChangeToken { outgoing.oldestRefusable }

    /// Whether the peer has batches that it has not acknowledged.
    package var awaitsAcknowledgement: Bool { outgoing.awaitsAcknowledgement }

    /// Whether both sides know that they were equal, and nothing has changed since.
    package var isConfirmed: Bool { isAtRest && digests.isConfirmed }

    // MARK: Beginning

    /// Begins to send: after the token that the peer asked for, if this store gave that token out, otherwise with a
    /// whole copy.
    ///
    /// - Returns: the message for the peer.
    package mutating func begin(at token: ChangeToken, isHeldTokenVoid: Bool, recordCount: UInt64) -> Message
    {
        let begin = Message.Begin(
            zone: zone, isHeldTokenVoid: isHeldTokenVoid, isWholeCopy: token.sequence == 0,
            recordCount: recordCount)
        start = token
        phase = .begun(begin)
        return .begin(begin)
    }

    /// Handles the peer's begin.
    package mutating func received(_ begin: Message.Begin) throws(ProtocolError) -> [Action] {
        guard case .begun(let own) = phase, let start else { throw .unexpected("began twice") }
        let void: [Action] = begin.isHeldTokenVoid ? [.voidReceived] : []
        // A side with records of its own has most of a whole copy already, so the two reconcile.
        if own.isWholeCopy || begin.isWholeCopy, own.recordCount > 0, begin.recordCount > 0 {
            return void + reconcile(isAtBeginning: true)
        }
        phase = .streaming
        // The peer may send any number. Nobody adds it to more than 63 others.
        if begin.isWholeCopy { recordsLeftToReceive = Int(min(begin.recordCount, 1 << 48)) }
        // A peer that does not know its own token at this side may also have lost the records that this side sent.
        outgoing.begin(at: start, includingEcho: begin.isHeldTokenVoid)
        return void + [.wake]
    }

    /// Checks that the peer has begun: it may send nothing about a zone before its begin.
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

    /// Goes on after the store has checked its records and mended errors.
    package mutating func recordsChecked() -> [Action] {
        guard case .reconciling(var reconciliation) = phase else { return [] }
        let actions = reconciliation.recordsChecked()
        goOn(with: reconciliation)
        return actions
    }

    /// Goes on with the inventory. Later changes come after `token`.
    package mutating func inventoryTaken(_ items: any NegentropyStorage, at token: ChangeToken)
        throws(ProtocolError) -> [Action]
    {
        guard case .reconciling(var reconciliation) = phase else { return [] }
        let actions = try reconciliation.inventoryTaken(items, at: token)
        goOn(with: reconciliation)
        return actions
    }

    /// Handles a step of the peer's reconciliation.
    package mutating func received(_ step: Message.Reconcile) throws(ProtocolError) -> [Action] {
        guard case .reconciling(var reconciliation) = phase else {
            throw .unexpected("reconciled out of turn")
        }
        // The phase gives the reconciliation up: with a second owner, each step would copy all ids found so far.
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

    /// Takes the names of the records that the peer lacks. Records that have changed since are not among them, and
    /// come with the changes.
    package mutating func resolved(_ names: [RecordName]) -> [Action] {
        loose?.resolved(names)
        outgoing.owesEnd = true
        return [.wake]
    }

    // MARK: Sending

    /// Returns the next request to the store; nil if there is nothing to do, or too much is on its way already.
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
        digests.take()
        return .summarize
    }

    /// Handles the requested batch from the store.
    ///
    /// - Returns: the message to send, if the batch tells the peer anything new.
    package mutating func batchRead(_ batch: ChangeBatch) -> Message? {
        // Even if no record has changed, the digest may have, or the peer's token that this side holds.
        digests.becomeDue()
        return outgoing.batchRead(batch) ? .batch(zone: zone, batch) : nil
    }

    /// Handles the records that this side asked for by name.
    package mutating func namedRead(_ read: NamedRecords) -> Message? {
        guard let isLast = loose?.recordsRead(read.namesRead) else { return nil }
        digests.becomeDue()
        return .batch(zone: zone, outgoing.looseBatch(read.records, isLast: isLast))
    }

    /// Handles a summary from the store.
    package mutating func summarized(_ summary: ZoneSummary) -> [Action] {
        if digests.isMended(summary) { return compareEverything() }
        let (isNews, heard) = digests.tell(summary)
        let digest: [Action] = isNews ? [.send(.digest(zone: zone, summary))] : []
        return digest + (heard.map { [.compare($0)] } ?? [])
    }

    /// Notes that the store has changed.
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
        let count = batch.records.count
        recordsLeftToReceive =
            batch.isLast && !batch.isLoose
            ? 0 : recordsLeftToReceive.flatMap { $0 >= count ? $0 - count : nil }
        return [.apply(batch)]
    }

    /// Notes that a batch is durable.
    package mutating func applied(_ batch: ChangeBatch) -> [Action] {
        applying -= 1
        digests.becomeDue()
        // The batch has numbered changes here, so the peer's token has to move past them. Once is enough, after the
        // peer's last batch.
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
    /// - Returns: the verdict; `different` if the digests differ although nothing is on its way.
    package mutating func compare(_ own: ZoneSummary, with peer: ZoneSummary) -> Verdict {
        switch phase {
        // The peer told its digest before it began to reconcile.
        case .new, .begun, .reconciling, .failed: .notYet
        case .exchangingLoose(let loose) where !loose.hasReceivedAll: .notYet
        case .exchangingLoose, .streaming: digests.compare(own, with: peer)
        }
    }

    // MARK: Comparing everything

    /// Makes both sides check all their records and reconcile, because the digests differ although nothing is on its
    /// way.
    ///
    /// - Throws: `digestMismatch` if that has not helped before.
    package mutating func resync() throws(ProtocolError) -> [Action] {
        try digests.noteResync()
        return compareEverything()
    }

    /// Makes both sides check all their records and reconcile, whatever the digests say. For a side that has just
    /// found the two equal, or whose store was mended.
    package mutating func compareEverything() -> [Action] {
        [.send(.resync(zone: zone, round: digests.round + 1))] + begin(round: digests.round + 1)
    }

    /// Handles the peer's request to compare everything.
    package mutating func receivedResync(round: Int) throws(ProtocolError) -> [Action] {
        try checkHasBegun()
        // Both sides may ask at the same time. The round says that they mean the same comparison.
        guard round > digests.round else { return [] }
        guard case .streaming = phase else { throw .unexpected("compares everything out of turn") }
        return begin(round: round)
    }

    private mutating func begin(round: Int) -> [Action] {
        digests.begin(round: round)
        return reconcile(isAtBeginning: false)
    }
}

import GRDB
import Logging
import RecordStore
import SyncModel
import SyncProtocol
import Synchronization

/// When a transaction that takes in what came is committed although more waits: others who write to the store wait for that
/// long, and the write-ahead log grows by so much.
private enum CommitLimit {
    /// Half of those that may be on their way, so that the other half comes while these are committed.
    static let batches = ProtocolLimits.window / 2
    static let records = 32_768
    static let duration: Duration = .milliseconds(500)
}

extension ChangeBatch {
    /// What is left to say of a batch that is applied.
    fileprivate var withoutRecords: ChangeBatch {
        ChangeBatch(records: [], token: token, isLast: isLast, isLoose: isLoose)
    }
}

/// Drives the exchange of one zone with one peer: does for ``ZoneExchange`` what it asks for.
///
/// Messages come in through ``received``, called by the session's reader, which waits until they are dealt with:
/// that is the back-pressure on the peer. Batches wait until they are applied by a task of its own,
/// ``applyArrived(onStep:)``; the reader waits when there are some, and with any other message until there are none.
/// Batches go out through ``pump(onStep:)``, one more task.
actor ZoneSession {
    private let ledger: PeerLedger
    private let number: Int
    private let outbox: Outbox
    private let statistics: StatisticsCounter
    private let metrics: SyncMetrics
    private let onEvent: @Sendable (SyncEvent) -> Void
    private let assets: AssetSession
    private var exchange: ZoneExchange
    /// Filled by the session's reader, emptied by ``applyArrived(onStep:)``.
    private let arrived: ArrivedBatches
    /// The session ends, so nothing is begun any more.
    private let isEnding = Atomic(false)
    /// The store has changed, and the exchange does not know yet.
    private let hasStoreChanged = Atomic(false)
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    /// Where reading goes on.
    private var place = ReadingPlace(.start)
    private var lastReported: (ZoneDigest, Int)?
    private var reportsUnderWay = 0
    /// Whether everything is to be compared once the two are found equal.
    private var comparesEverything: Bool
    /// What reconciliations found, if that is asked for.
    private(set) var differences: SyncDifferences?
    /// What a look at every record here found wrong, and mended.
    private(set) var mended: StoreCheck?
    /// The digest that both sides last found equal.
    private(set) var agreedDigest: ZoneDigest?

    init(
        _ engine: SyncEngine, _ ledger: PeerLedger, number: Int, isCaller: Bool, comparesEverything: Bool,
        assets: AssetSession, outbox: Outbox, room: Turns, statistics: StatisticsCounter
    ) {
        self.assets = assets
        self.ledger = ledger
        self.number = number
        self.comparesEverything = comparesEverything
        differences = comparesEverything ? SyncDifferences() : nil
        self.outbox = outbox
        self.statistics = statistics
        metrics = engine.metrics
        onEvent = engine.onEvent
        arrived = ArrivedBatches(room: room)
        exchange = ZoneExchange(zone: number, isCaller: isCaller)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var database: any DatabaseWriter { ledger.store.database }

    /// Both sides know that they hold the same records, and that was noted here.
    var isConfirmed: Bool { exchange.isConfirmed && reportsUnderWay == 0 }

    /// Reads from the store, with everything folded that was written to it.
    private func read<Value: Sendable>(_ body: @escaping @Sendable (PeerLedger, Database) throws -> Value)
        async throws -> Value
    {
        try await ledger.store.readFolded { [ledger] db in try body(ledger, db) }
    }

    private func write(_ body: @escaping @Sendable (PeerLedger, Database) throws -> Void) async throws {
        try await database.write { [ledger] db in try body(ledger, db) }
    }

    /// Begins to send, from the token that the peer holds if that is one of ours.
    ///
    /// - Parameter mayWrite: whether the peer takes what is written here.
    func begin(heldByPeer held: ChangeToken?, mayWrite: Bool) async throws {
        if mayWrite, try await summary().refused > 0 {
            try await write { ledger, db in try ledger.retryRefused(db) }
        }
        let begin = try await read { ledger, db in try ledger.begin(db, heldByPeer: held) }
        try outbox.send(
            exchange.begin(
                at: begin.start, isHeldTokenVoid: begin.isHeldTokenVoid, recordCount: begin.recordCount))
    }

    // MARK: Sending

    /// The store has changed.
    nonisolated func storeChanged() {
        hasStoreChanged.store(true, ordering: .releasing)
        wake.yield()
    }

    /// Sends what there is to send, whenever there is something, until cancelled.
    ///
    /// - Parameter onStep: called after each thing that was sent.
    func pump(onStep: @Sendable () async -> Void) async throws {
        for await _ in wakes {
            while let request = nextRequest() {
                try await answer(request)
                await onStep()
            }
        }
    }

    private func nextRequest() -> ZoneExchange.Request? {
        if hasStoreChanged.exchange(false, ordering: .acquiring) { exchange.storeChanged() }
        return exchange.nextRequest()
    }

    private func answer(_ request: ZoneExchange.Request) async throws {
        switch request {
        case .read(let token, let includingEcho):
            try await inTurn {
                let place = place.at(token)
                let (batch, next) = try await read { ledger, db in
                    try ledger.nextBatch(db, after: place, includingEcho: includingEcho)
                }
                self.place = next
                return try send(exchange.batchRead(batch), of: batch.records.count)
            }
        case .readNamed(let names):
            try await inTurn {
                let records = try await read { ledger, db in try ledger.states(db, named: names) }
                return try send(exchange.namedRead(records), of: records.count)
            }
        case .summarize:
            // The other side may say goodbye as soon as it hears the digest. This side finds them equal all the same.
            try await withTaskCancellationHandler {
                try await Task { try await summarize() }.value
            } onCancel: {
                isEnding.store(true, ordering: .relaxed)
            }
        }
    }

    private func summarize() async throws {
        // Whoever hears that all records are here knows then whether their files are.
        try await assets.refresh()
        try await perform(exchange.summarized(try await summary()))
    }

    /// Reads a batch when it is this zone's turn, so that the zones of a session together keep few of them in memory,
    /// however slowly the peer reads.
    ///
    /// - Parameter body: says whether it has sent the batch; the turn then ends when that is written.
    private func inTurn(_ body: () async throws -> Bool) async throws {
        try await outbox.batches.take()
        var isSent = false
        defer { if !isSent { outbox.batches.giveBack() } }
        isSent = try await body()
    }

    private func send(_ batch: Message?, of count: Int) throws -> Bool {
        guard let batch else { return false }
        statistics.update { $0.recordsSent += count }
        try outbox.send(batch)
        reportProgress(count)
        return true
    }

    // MARK: Receiving

    func received(_ begin: Message.Begin) async throws {
        let actions = try exchange.received(begin)
        // Not before: a caller that finds that it cannot keep to what was agreed does not begin.
        try await write { [start = exchange.start] ledger, db in try ledger.noteBegun(db, at: start) }
        try await perform(actions)
    }

    /// Waits until all batches that have come are dealt with; every other message comes after them.
    nonisolated func settled() async { await arrived.drained() }

    func received(_ batch: ChangeBatch) async throws {
        if batch.isLoose { differences?.received += batch.records.map(\.name) }
        statistics.update { $0.recordsReceived += batch.records.count }
        try await perform(try exchange.received(batch))
        reportProgress(batch.records.count)
    }

    /// Applies what comes, until cancelled. Then ``close()``.
    ///
    /// What has come while a transaction is open becomes part of it, within limits: of the pages of an index that several
    /// batches change, each is then written once. A batch that cannot be applied takes its transaction along, so the first
    /// of a session has one batch, and those after it twice as many as the one before: what was sent with a bad batch is
    /// applied in a later session, if not in this one.
    ///
    /// - Parameter onStep: called after each transaction.
    func applyArrived(onStep: @Sendable () async -> Void) async throws {
        var limit = 1
        var next = await arrived.first()
        while let first = next {
            let applied = try await apply(first, limit: limit)
            for (batch, refusals) in applied.batches {
                for refusal in refusals { try tell(refusal) }
                try await perform(exchange.applied(batch))
            }
            arrived.settle(applied.batches.count)
            limit = min(limit * 2, CommitLimit.batches)
            await onStep()
            next = if let left = applied.left { left } else { await arrived.first() }
        }
    }

    /// Nothing is applied any more.
    nonisolated func close() { arrived.close() }

    private struct Applied {
        /// Those that are durable, without their records.
        var batches: [(ChangeBatch, [Refusal])] = []
        /// A batch that was taken out, and is better applied alone.
        var left: ArrivedBatch?
    }

    /// Applies a batch and those that wait behind it, in one transaction.
    private func apply(_ first: ArrivedBatch, limit: Int) async throws -> Applied {
        let begin = ContinuousClock.now
        let applied = try await database.write { [ledger, arrived] db in
            try ApplyingTransaction.run(db) { transaction in
                var applied = Applied()
                var records = 0
                var next: ArrivedBatch? = first
                while let current = next {
                    // Of the reasons to refuse a batch this is the one that honest machines give.
                    if !applied.batches.isEmpty, (try? ledger.checkClock(current.batch)) == nil {
                        applied.left = current
                        break
                    }
                    let refusals = try ledger.apply(current.batch, hashes: current.hashes, in: transaction)
                    applied.batches.append((current.batch.withoutRecords, refusals))
                    records += current.batch.records.count
                    arrived.letGo(current)
                    let mayGoOn =
                        applied.batches.count < limit && records < CommitLimit.records
                        && ContinuousClock.now - begin < CommitLimit.duration
                    next = mayGoOn ? arrived.next() : nil
                }
                return applied
            }
        }
        metrics.applied(in: ContinuousClock.now - begin)
        return applied
    }

    func received(_ step: Message.Reconcile) async throws {
        statistics.update { $0.reconciliationRounds += 1 }
        try await perform(exchange.received(step))
    }

    /// The peer does not take some records.
    func received(_ refuse: Message.Refuse) async throws {
        try exchange.checkHasBegun()
        guard let reason = Refusal.Reason(rawValue: Int64(refuse.reason)), !refuse.names.isEmpty else {
            return
        }
        let refusal = Refusal(names: refuse.names, reason: reason)
        try await write { ledger, db in try ledger.noteRefused(db, refusal) }
        onEvent(
            .recordsRefused(name: ledger.peer.name, refuse.names, reason.reason))
    }

    func receivedAcknowledgement(_ token: ChangeToken) async throws {
        try await perform(try exchange.receivedAcknowledgement(token))
    }

    func received(_ summary: ZoneSummary) async throws {
        try await perform(exchange.received(summary))
    }

    func receivedResync(round: Int) async throws {
        try await perform(exchange.receivedResync(round: round))
    }

    private func perform(_ actions: [ZoneExchange.Action]) async throws {
        for action in actions {
            switch action {
            case .send(let message):
                try outbox.send(message)
            case .apply(let batch):
                try await arrived.put(ArrivedBatch(batch))
            case .acknowledged(let token):
                try await write { ledger, db in try ledger.acknowledge(db, token) }
            case .voidReceived:
                try await write { ledger, db in try ledger.voidReceived(db) }
            case .checkRecords:
                try await checkRecords()
                try await perform(exchange.recordsChecked())
            case .takeInventory:
                let (items, token) = try await read { ledger, db in try ledger.inventory(db) }
                try await perform(exchange.inventoryTaken(items, at: token))
            case .resolve(let ids):
                let names = try await read { ledger, db in try ledger.names(db, of: ids) }
                differences?.sent += names.sorted()
                try await perform(exchange.resolved(names))
            case .compare(let summary):
                try await compare(with: summary)
            case .wake:
                wake.yield()
            }
        }
    }

    /// Tells the peer, before the acknowledgement, which of its records were not taken.
    private func tell(_ refusal: Refusal) throws {
        try outbox.send(
            .refuse(
                Message.Refuse(
                    zone: number, reason: Int(refusal.reason.rawValue), names: refusal.names)))
        onEvent(
            .refusedRecords(
                name: ledger.peer.name, refusal.names, refusal.reason.reason))
    }

    private func compare(with theirs: ZoneSummary) async throws {
        let ours = try await summary()
        switch exchange.compare(ours, with: theirs) {
        case .notYet:
            break
        case .equal where comparesEverything:
            try await perform(exchange.compareEverything())
        case .equal:
            agreedDigest = ours.digest
            try await reportInSync(ours.digest)
            wake.yield()
        case .different:
            guard !isEnding.load(ordering: .relaxed) else { return }
            try await perform(try exchange.resync())
        }
    }

    private func checkRecords() async throws {
        comparesEverything = false
        let store = ledger.store
        // Others go on writing during the look, and mostly it finds nothing.
        guard try await !read({ _, db in try store.check(db) }).isSound else { return }
        let check = try await database.write { db in try store.repair(db) }
        mended = check
        onEvent(.mended(check))
    }

    /// What the store says of this zone and peer.
    private func summary() async throws -> ZoneSummary {
        try await read { ledger, db in try ledger.summary(db) }
    }

    private func reportInSync(_ digest: ZoneDigest) async throws {
        let current = statistics.current
        let moved = current.recordsSent + current.recordsReceived
        if let last = lastReported, last == (digest, moved) { return }
        lastReported = (digest, moved)
        reportsUnderWay += 1
        defer { reportsUnderWay -= 1 }
        try await ledger.store.noteInSync(with: ledger.peer)
        let zone = ledger.zone
        onEvent(
            .inSync(
                name: ledger.peer.name, zone: zone?.isDefault == false ? zone?.name : nil, digest, current))
    }

    private func reportProgress(_ records: Int) {
        guard records > 0 else { return }
        onEvent(.progress(name: ledger.peer.name, statistics.current))
    }
}

import GRDB
import Logging
import RecordStore
import SyncModel
import SyncProtocol

/// Drives the exchange of one zone with one peer: does for ``ZoneExchange`` what it asks for.
///
/// Messages come in through ``received``, called by the session's reader, which waits until they are dealt with:
/// that is the back-pressure on the peer. Batches go out through ``pump``, a task of its own.
actor ZoneSession {
    private let ledger: PeerLedger
    private let outbox: Outbox
    private let statistics: StatisticsCounter
    private let onEvent: @Sendable (SyncEvent) -> Void
    private var exchange: ZoneExchange
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private var lastReported: (ZoneDigest, Int)?
    /// What a reconciliation found.
    private(set) var differences: SyncDifferences?
    /// The digest that both sides last found equal.
    private(set) var agreedDigest: ZoneDigest?

    init(
        _ ledger: PeerLedger, number: Int, isCaller: Bool, outbox: Outbox,
        statistics: StatisticsCounter,
        onEvent: @escaping @Sendable (SyncEvent) -> Void
    ) {
        self.ledger = ledger
        self.outbox = outbox
        self.statistics = statistics
        self.onEvent = onEvent
        exchange = ZoneExchange(zone: number, isCaller: isCaller)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    private var database: any DatabaseWriter { ledger.store.database }

    /// Both sides know that they hold the same records.
    var isConfirmed: Bool { exchange.isConfirmed }

    /// Begins to send, from the token that the peer holds if that is one of ours.
    ///
    /// - Parameter comparesAll: as if the peer held no token, so that the two reconcile.
    func begin(heldByPeer held: ChangeToken?, comparesAll: Bool) async throws {
        try await ledger.store.foldPendingChanges()
        let (start, isVoid, count) = try await database.read { [ledger] db in
            try ledger.checkToken(db, held)
            return (
                try ledger.startingToken(db, for: comparesAll ? nil : held),
                try held.map { try !ledger.gaveOut(db, $0) } ?? false,
                try ledger.summary(db).digest.count
            )
        }
        try outbox.send(exchange.begin(at: start, isHeldTokenVoid: isVoid, recordCount: count))
    }

    // MARK: Sending

    /// The store has changed.
    func storeChanged() {
        exchange.storeChanged()
        wake.yield()
    }

    /// Sends what there is to send, whenever there is something, until cancelled.
    ///
    /// - Parameter onStep: called after each thing that was sent.
    func pump(onStep: @Sendable () async -> Void) async throws {
        for await _ in wakes {
            while let request = exchange.nextRequest() {
                try await answer(request)
                await onStep()
            }
        }
    }

    private func answer(_ request: ZoneExchange.Request) async throws {
        switch request {
        case .read(let token, let includingEcho):
            try await ledger.store.foldPendingChanges()
            let batch = try await database.read { [ledger] db in
                try ledger.nextBatch(db, after: token, includingEcho: includingEcho)
            }
            guard let message = exchange.batchRead(batch) else { return }
            statistics.update { $0.recordsSent += batch.records.count }
            try outbox.send(message)
            reportProgress(batch.records.count)
        case .readNamed(let names):
            let records = try await database.read { [ledger] db in try ledger.states(db, named: names) }
            guard let message = exchange.namedRead(records) else { return }
            statistics.update { $0.recordsSent += records.count }
            try outbox.send(message)
            reportProgress(records.count)
        case .summarize:
            let summary = try await summary()
            try await perform(exchange.summarized(summary))
        }
    }

    // MARK: Receiving

    func received(_ begin: Message.Begin) async throws {
        try await perform(try exchange.received(begin))
    }

    func received(_ batch: ChangeBatch) async throws {
        if batch.isLoose {
            differences = differences ?? SyncDifferences()
            differences?.received += batch.records.map(\.name)
        }
        statistics.update { $0.recordsReceived += batch.records.count }
        try await perform(exchange.received(batch))
        reportProgress(batch.records.count)
    }

    func received(_ step: Message.Reconcile) async throws {
        try await perform(exchange.received(step))
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
                _ = try await database.write { [ledger] db in try ledger.apply(db, batch) }
                try await perform(exchange.applied(batch))
            case .acknowledged(let token):
                try await database.write { [ledger] db in try ledger.acknowledge(db, token) }
            case .voidReceived:
                try await database.write { [ledger] db in try ledger.voidReceived(db) }
            case .takeInventory:
                try await ledger.store.foldPendingChanges()
                let (items, token) = try await database.read { [ledger] db in try ledger.inventory(db) }
                try await perform(exchange.inventoryTaken(items, at: token))
            case .resolve(let ids):
                let names = try await database.read { [ledger] db in try ledger.names(db, of: ids) }
                differences = differences ?? SyncDifferences()
                differences?.sent = names.sorted()
                try await perform(exchange.resolved(names))
            case .compare(let summary):
                try await compare(with: summary)
            case .wake:
                wake.yield()
            }
        }
    }

    private func compare(with theirs: ZoneSummary) async throws {
        let ours = try await summary()
        switch exchange.compare(ours, with: theirs) {
        case .notYet:
            break
        case .equal:
            agreedDigest = ours.digest
            try await reportInSync(ours.digest)
            wake.yield()
        case .different:
            try await perform(try exchange.resync())
        }
    }

    /// What the store says of this zone and peer, with everything that was written folded.
    private func summary() async throws -> ZoneSummary {
        try await ledger.store.foldPendingChanges()
        return try await database.read { [ledger] db in try ledger.summary(db) }
    }

    private func reportInSync(_ digest: ZoneDigest) async throws {
        let current = statistics.current
        let moved = current.recordsSent + current.recordsReceived
        if let last = lastReported, last == (digest, moved) { return }
        lastReported = (digest, moved)
        try await ledger.store.noteInSync(with: ledger.peer)
        onEvent(.inSync(name: ledger.peer.name, digest, current))
    }

    private func reportProgress(_ records: Int) {
        guard records > 0 else { return }
        onEvent(.progress(name: ledger.peer.name, statistics.current))
    }
}

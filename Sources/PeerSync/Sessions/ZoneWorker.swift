import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import Synchronization

/// When to commit a transaction although more batches wait. It keeps other writers waiting this long, and the
/// write-ahead log grows by this much.
private enum CommitLimit {
    /// Half of the window, so that the other half comes during the commit.
    static let batches = ProtocolLimits.window / 2
    static let records = 32_768
    static let duration: Duration = .milliseconds(500)
}

extension ChangeBatch {
    /// The rest of a batch that is applied.
    fileprivate var withoutRecords: ChangeBatch {
        ChangeBatch(records: [], token: token, isLast: isLast, isLoose: isLoose)
    }
}

/// The worker for one zone of a session: reads and writes the store as ``Session`` asks.
///
/// ``pump()`` sends and ``applyArrived()`` applies batches, each in a task of its own. The session's reader performs
/// the rest and waits for it: that is the back-pressure on the peer.
final class ZoneWorker: Sendable {
    let zone: Zone
    private let number: Int
    private let peerZone: PeerZone
    /// Unowned: the session keeps this worker, and lives as long as the tasks.
    private unowned let session: PeerSession
    /// The batches that have come, from the session's reader to ``applyArrived()``.
    let arrived: ArrivedBatches
    private let wake = Signal()
    /// Whether the store has changed and the session's machine does not know it yet.
    private let hasStoreChanged = Atomic(false)
    /// The digest and the count of records that the last event about sync told the user.
    private let lastReport = Mutex<(ZoneDigest, Int)?>(nil)
    private let repair = Mutex<StoreCheck?>(nil)
    /// What a reconciliation goes through, until it is known what differs.
    private let inventory = Mutex<Inventory?>(nil)
    /// The number of records that are still to be sent; nil before anybody has counted them, and when all are sent.
    private let unsent = Mutex<Int?>(nil)

    init(_ session: PeerSession, _ zone: Zone, with peer: Peer, number: Int, room: AsyncSemaphore) {
        self.session = session
        self.zone = zone
        self.number = number
        peerZone = session.engine.peerZone(zone, peer)
        arrived = ArrivedBatches(room: room)
    }

    private var engine: SyncEngine { session.engine }
    private var outbox: Outbox { session.outbox }

    private var peerName: String { engine.names.of(peerZone.peer) }
    private var nameIfNotDefault: String? { zone.isDefault ? nil : engine.names.of(zone) }

    /// What a check of every record of the store found wrong, and mended.
    var mended: StoreCheck? { repair.withLock { $0 } }

    // MARK: Sending

    /// Wakes ``pump()``, because there may be something to send.
    func raise() { wake.raise() }

    func storeChanged() {
        hasStoreChanged.store(true, ordering: .releasing)
        wake.raise()
    }

    /// Sends whenever there is something to send, until cancelled.
    func pump() async throws {
        var place = ReadingPlace(.start)
        for await _ in wake {
            while let request = nextRequest() {
                try await answer(request, &place)
                await session.stopIfDone()
            }
        }
    }

    private func nextRequest() -> ZoneExchange.Request? {
        let hasChanged = hasStoreChanged.exchange(false, ordering: .acquiring)
        return session.update { machine in
            if hasChanged { machine.storeChanged(zone: number) }
            return machine.nextRequest(zone: number)
        }
    }

    private func answer(_ request: ZoneExchange.Request, _ place: inout ReadingPlace) async throws {
        switch request {
        case .read(let token, let includingEcho):
            try await outbox.batches.wait()
            let from = place.at(token)
            let (batch, next) = try await givingBackIfFailed {
                let (batch, next) = try await peerZone.read {
                    try $0.nextBatch($1, after: from, includingEcho: includingEcho)
                }
                try await noteUnsent(after: batch, at: next, includingEcho: includingEcho)
                return (batch, next)
            }
            place = next
            try send(batch.records.count) { $0.batchRead(batch, zone: number) }
        case .readNamed(let names):
            try await outbox.batches.wait()
            let read = try await givingBackIfFailed {
                try await peerZone.read { try $0.states($1, named: names) }
            }
            setUnsent { ($0 ?? 0) - read.namesRead }
            try send(read.records.count) { $0.namedRead(read, zone: number) }
        case .summarize:
            // The other side may say goodbye as soon as it hears the digest. The task of its own goes on even then, so
            // that this side also finds the two equal.
            try await Task { try await summarize() }.value
        }
    }

    /// Runs `body` and gives the turn for a batch back when it fails. Turns keep the batches of all zones in memory
    /// few, however slowly the peer reads. Otherwise a turn ends when the batch is written, or when there is none.
    private func givingBackIfFailed<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch {
            outbox.batches.signal()
            throw error
        }
    }

    /// Counts once what follows the first of several batches, and then goes by the batches.
    private func noteUnsent(
        after batch: ChangeBatch, at place: ReadingPlace, includingEcho isEcho: Bool
    ) async throws {
        guard !batch.isLast else { return setUnsent { _ in nil } }
        // Others may have been written since the count. What a whole copy leaves out or has beyond the count stays so to its end.
        if let left = unsent.withLock({ $0 }), left > batch.records.count || place.isInOrderOfName {
            return setUnsent { _ in left - batch.records.count }
        }
        let count = try await peerZone.read {
            try $0.changesLeft($1, after: batch, at: place, includingEcho: isEcho)
        }
        setUnsent { _ in count }
    }

    private func setUnsent(_ change: (Int?) -> Int?) {
        let difference = unsent.withLock { unsent in
            let before = unsent ?? 0
            unsent = change(unsent).map { max(0, $0) }
            return (unsent ?? 0) - before
        }
        session.statistics.update { $0.recordsLeftToSend += difference }
    }

    private func send(_ count: Int, _ batch: (inout Session) -> Message?) throws {
        guard try session.send(batch) else { return outbox.batches.signal() }
        session.statistics.update { $0.recordsSent += count }
        reportProgress(count)
    }

    private func summarize() async throws {
        let summary = try await peerZone.read { try $0.summary($1) }
        // A peer that hears of the digest must already know whether this side wants files of the records that it covers. Records may
        // come at any moment, so this looks for files after the digest was read.
        try await session.files?.refresh()
        await session.handle { $0.summarized(summary, zone: self.number) }
    }

    // MARK: Receiving

    /// Applies batches until cancelled or ``ArrivedBatches/close()``.
    ///
    /// Batches that come while a transaction is open join it, within limits. A page of an index that several of them
    /// change is then written only once. A batch that cannot be applied undoes its whole transaction, so the first
    /// transaction has one batch, and each further one twice as many as the one before. So batches that came with a
    /// bad one are applied in a later session, if not in this one.
    func applyArrived() async throws {
        var limit = 1
        var next = await arrived.first()
        while let first = next {
            let applied = try await apply(first, limit: limit)
            if applied.arrived.count > 0 {
                engine.onEvent(.changed(name: peerName, zone: nameIfNotDefault, applied.arrived))
            }
            if applied.withheldCount > 0 {
                engine.onEvent(
                    .withheld(name: peerName, zone: nameIfNotDefault, count: applied.withheldCount))
            }
            // The peer knows by the acknowledgements of which batch a refusal is.
            for (batch, refusals) in zip(applied.batches, applied.refusals) {
                for refusal in refusals { try tell(refusal) }
                await session.handle { $0.applied(batch, zone: self.number) }
            }
            arrived.settle(applied.batches.count)
            limit = min(limit * 2, CommitLimit.batches)
            await session.stopIfDone()
            next = if let left = applied.left { left } else { await arrived.first() }
        }
    }

    private struct Applied {
        /// The batches that are durable, without their records.
        var batches: [ChangeBatch] = []
        /// What was refused of each batch.
        var refusals: [[Refusal]] = []
        var arrived = ArrivedChanges()
        var withheldCount = 0
        /// A batch that was taken out, and should be applied alone.
        var left: ArrivedBatch?
    }

    /// Applies a batch, and those that wait behind it, in one transaction.
    private func apply(_ first: ArrivedBatch, limit: Int) async throws -> Applied {
        let begin = ContinuousClock.now
        let applied = try await peerZone.applying { [peerZone, arrived] transaction in
            var applied = Applied()
            var records = 0
            var next: ArrivedBatch? = first
            while let current = next {
                // A wrong clock is the one reason for a refused batch that comes from honest machines.
                if !applied.batches.isEmpty, (try? peerZone.checkClock(current.batch)) == nil {
                    applied.left = current
                    break
                }
                let refusals = try peerZone.apply(current.batch, hashes: current.hashes, in: transaction)
                applied.refusals.append(refusals)
                applied.batches.append(current.batch.withoutRecords)
                records += current.batch.records.count
                arrived.letGo(current)
                let mayGoOn =
                    applied.batches.count < limit && records < CommitLimit.records
                    && ContinuousClock.now - begin < CommitLimit.duration
                next = mayGoOn ? arrived.next() : nil
            }
            applied.arrived = transaction.arrived
            applied.withheldCount = transaction.withheldCount
            return applied
        }
        engine.metrics.applied(in: ContinuousClock.now - begin)
        return applied
    }

    /// Tells the peer, before the acknowledgement, which of its records this side refused.
    private func tell(_ refusal: Refusal) throws {
        try outbox.send(
            .refuse(
                Message.Refuse(
                    zone: number, reason: Int(refusal.reason.rawValue), names: refusal.names)))
        engine.onEvent(
            .refusedPeersRecords(name: peerName, refusal.names, refusal.reason.reason))
    }

    // MARK: What the session asks for

    /// Begins to send, from the token that the peer holds if this store issued it.
    ///
    /// - Parameter rights: what the peer lets this side do.
    func begin(heldByPeer held: ChangeToken?, _ rights: ZoneRights) async throws -> PeerSession.Actions {
        try await peerZone.noteOwnRights(rights)
        let begin = try await peerZone.read { try $0.begin($1, heldByPeer: held) }
        return session.take {
            $0.began(
                zone: self.number, at: begin.start, isHeldTokenVoid: begin.isHeldTokenVoid,
                recordCount: begin.recordCount)
        }
    }

    func noteBegun(at token: ChangeToken?) async throws {
        try await peerZone.write { try $0.noteBegun($1, at: token) }
    }

    /// Notes that the peer refused some records of the batch with a token.
    func noteRefused(_ names: [RecordName], reason number: Int, in batch: ChangeToken) async throws {
        guard let reason = Refusal.Reason(rawValue: Int64(number)) else { return }
        try await peerZone.write {
            try $0.noteRefused($1, Refusal(names: names, reason: reason), in: batch)
        }
        engine.onEvent(.peerRefusedRecords(name: peerName, names, reason.reason))
    }

    func perform(_ action: ZoneExchange.Action) async throws -> PeerSession.Actions {
        switch action {
        // The session sends.
        case .send: break
        case .apply(let batch):
            let left = session.update { $0.recordsLeftToReceive }
            session.statistics.update {
                $0.recordsReceived += batch.records.count
                $0.recordsLeftToReceive = left
            }
            try await arrived.put(ArrivedBatch(batch))
            reportProgress(batch.records.count)
        case .acknowledged(let token): try await peerZone.write { try $0.acknowledge($1, token) }
        case .voidReceived: try await peerZone.write { try $0.voidReceived($1) }
        case .checkRecords: return try await checkRecords()
        case .takeInventory:
            let (items, token) = try await peerZone.read { try $0.inventory($1) }
            inventory.withLock { $0 = items }
            return session.take { $0.inventoryTaken(items, at: token, zone: self.number) }
        case .resolve(let ids):
            guard let inventory = inventory.withLock({ $0.take() }) else {
                preconditionFailure("a comparison ends that never began")
            }
            let names = try await peerZone.read { try $0.names($1, of: ids, in: inventory) }
            setUnsent { _ in names.count }
            return session.take { $0.resolved(names, zone: self.number) }
        case .compare(let theirs):
            let ours = try await peerZone.read { try $0.summary($1) }
            return session.take { $0.compared(ours, with: theirs, zone: self.number) }
        case .wake: raise()
        }
        return []
    }

    private func checkRecords() async throws -> PeerSession.Actions {
        if let found = try await engine.store.upkeep.repairIfNeeded() {
            repair.withLock { $0 = found }
            engine.onEvent(.mended(found))
        }
        return session.take { $0.recordsChecked(zone: self.number) }
    }

    /// Notes that both sides are in sync, and tells the user if that is news.
    func noteInSync(_ digest: ZoneDigest) async throws -> PeerSession.Actions {
        let statistics = session.statistics.current
        let moved = statistics.recordsSent + statistics.recordsReceived
        let isNews = lastReport.withLock { last in
            guard last.map({ $0 == (digest, moved) }) != true else { return false }
            last = (digest, moved)
            return true
        }
        if isNews {
            try await engine.store.peers.noteInSync(with: peerZone.peer, in: .one(zone))
            engine.onEvent(
                .inSync(
                    name: peerName, zone: nameIfNotDefault, digest, statistics))
        }
        return session.take { $0.inSyncNoted(zone: self.number) }
    }

    private func reportProgress(_ records: Int) {
        guard records > 0 else { return }
        engine.onEvent(.progress(name: peerName, session.statistics.current))
    }
}

import SyncModel
import SyncProtocol

/// Drives the exchange of one zone as a session does, with a store in memory, and with every point at which a session
/// waits for its store as a step of its own: what else goes on meanwhile is up to the fuzzer.
///
/// As in a session, two things go on: one deals with what has come, one message after the other; the other sends what
/// there is to send. Each calls the same exchange.
struct ModelZone {
    /// One of the two things that go on.
    enum Strand: Int {
        case receiving = 0
        case sending = 1
    }

    private enum Work {
        case act(ZoneExchange.Action)
        // What was waited for is there.
        case applied(ChangeBatch)
        case checked
        case inventory(NegentropyVector, ChangeToken)
        case resolved([RecordName])
        case compared(ZoneSummary, with: ZoneSummary)
        case read(ChangeBatch)
        case readNamed([RecordState])
        case summarized(ZoneSummary)
    }

    var store: ModelStore
    private var exchange: ZoneExchange
    /// Where this side begins to send.
    private var start = ChangeToken.start
    private var work: [[Work]] = [[], []]
    private var isAwake = false
    private var hasStoreChanged = false
    /// Whether everything is to be compared once the two are found equal.
    var comparesEverything = false
    /// What has come and was not dealt with, in order.
    var inbox: [Message] = []
    /// What is to be sent, in order.
    private(set) var outbox: [Message] = []
    /// Batches that were sent, in order, and not acknowledged.
    private(set) var unacknowledged: [ChangeToken] = []
    private(set) var messagesSent = 0

    private var lastDigest: ZoneSummary?

    init(_ store: ModelStore, isCaller: Bool) {
        self.store = store
        exchange = ZoneExchange(zone: 0, isCaller: isCaller)
    }

    var isConfirmed: Bool { exchange.isConfirmed }
    var isAtRest: Bool { exchange.isAtRest }

    /// Begins to send, to a peer that holds this token.
    mutating func begin(heldByPeer held: ChangeToken?) throws {
        let (start, isVoid, count) = store.begin(heldByPeer: held)
        self.start = start
        try send(exchange.begin(at: start, isHeldTokenVoid: isVoid, recordCount: count))
    }

    /// The store was written to by somebody.
    mutating func storeChanged() {
        hasStoreChanged = true
        isAwake = true
    }

    mutating func takeOutbox() -> [Message] {
        defer { outbox = [] }
        return outbox
    }

    // MARK: Steps

    /// Whether a step of a strand would do anything.
    func hasWork(_ strand: Strand) -> Bool {
        if !work[strand.rawValue].isEmpty { return true }
        return strand == .receiving ? !inbox.isEmpty : isAwake
    }

    /// Goes on with a strand up to where it has to wait the next time.
    mutating func step(_ strand: Strand) throws {
        var next = work[strand.rawValue]
        work[strand.rawValue] = []
        if next.isEmpty {
            next = strand == .receiving ? try receive() : request()
        }
        while !next.isEmpty {
            let first = next.removeFirst()
            let (more, waits) = try perform(first)
            next = more + next
            if waits { break }
        }
        work[strand.rawValue] = next
    }

    private mutating func receive() throws -> [Work] {
        guard !inbox.isEmpty else { return [] }
        let actions: [ZoneExchange.Action] =
            switch inbox.removeFirst() {
            case .begin(let begin): try begun(begin)
            case .batch(_, let batch): try exchange.received(batch)
            case .acknowledge(_, let token): try acknowledged(token)
            case .digest(_, let summary): try exchange.received(summary)
            case .reconcile(let step): try exchange.received(step)
            case .resync(_, let round): try resynced(round)
            default: []
            }
        try expect(actions.count <= 3, "\(actions.count) things to do because of one message")
        return actions.map { .act($0) }
    }

    private mutating func begun(_ begin: Message.Begin) throws -> [ZoneExchange.Action] {
        // The peer asked for what comes after this, so it holds what is before.
        if start.sequence > 0 { store.acknowledge(start) }
        return try exchange.received(begin)
    }

    private mutating func resynced(_ round: Int) throws -> [ZoneExchange.Action] {
        lastDigest = nil
        return try exchange.receivedResync(round: round)
    }

    private mutating func acknowledged(_ token: ChangeToken) throws -> [ZoneExchange.Action] {
        let actions = try exchange.receivedAcknowledgement(token)
        guard let index = unacknowledged.firstIndex(of: token) else {
            throw BrokenInvariant(description: "what was not sent is acknowledged")
        }
        unacknowledged.removeSubrange(...index)
        return actions
    }

    /// Asks the exchange what to send, and the store for it.
    private mutating func request() -> [Work] {
        if hasStoreChanged {
            hasStoreChanged = false
            exchange.storeChanged()
        }
        switch exchange.nextRequest() {
        case nil:
            isAwake = false
            return []
        case .read(let token, let includingEcho):
            return [.read(store.batch(after: token, includingEcho: includingEcho))]
        case .readNamed(let names): return [.readNamed(store.states(named: names))]
        case .summarize: return [.summarized(store.summary)]
        }
    }

    /// - Returns: what follows, and whether it waits for the store first.
    private mutating func perform(_ work: Work) throws -> (more: [Work], waits: Bool) {
        switch work {
        case .act(let action): return try perform(action)
        case .applied(let batch): return (exchange.applied(batch).map { .act($0) }, false)
        case .checked: return (exchange.recordsChecked().map { .act($0) }, false)
        case .inventory(let items, let token):
            return (try exchange.inventoryTaken(items, at: token).map { .act($0) }, false)
        case .resolved(let names): return (exchange.resolved(names).map { .act($0) }, false)
        case .read(let batch):
            if let message = exchange.batchRead(batch) { try send(message) }
        case .readNamed(let records):
            if let message = exchange.namedRead(records) { try send(message) }
        case .summarized(let summary): return (exchange.summarized(summary).map { .act($0) }, false)
        case .compared(let own, let theirs): return try compared(own, theirs)
        }
        return ([], false)
    }

    private mutating func perform(_ action: ZoneExchange.Action) throws -> (more: [Work], waits: Bool) {
        switch action {
        case .send(let message):
            try send(message)
            return ([], false)
        case .apply(let batch):
            store.apply(batch)
            return ([.applied(batch)], true)
        case .acknowledged(let token): store.acknowledge(token)
        case .voidReceived: store.voidReceived()
        case .checkRecords: return ([.checked], true)
        case .takeInventory: return ([.inventory(store.inventory, store.current)], true)
        case .resolve(let ids): return ([.resolved(store.names(of: ids))], true)
        case .compare(let theirs): return ([.compared(store.summary, with: theirs)], true)
        case .wake:
            isAwake = true
            return ([], false)
        }
        return ([], true)
    }

    private mutating func compared(_ own: ZoneSummary, _ theirs: ZoneSummary) throws -> (
        more: [Work], waits: Bool
    ) {
        switch exchange.compare(own, with: theirs) {
        case .notYet: return ([], false)
        case .equal where comparesEverything:
            comparesEverything = false
            return (exchange.compareEverything().map { .act($0) }, false)
        case .equal:
            isAwake = true
            return ([], false)
        case .different: return (try exchange.resync().map { .act($0) }, false)
        }
    }

    // MARK: Sending

    private mutating func send(_ message: Message) throws {
        messagesSent += 1
        outbox.append(message)
        switch message {
        case .batch(_, let batch):
            unacknowledged.append(batch.token)
            try expect(
                unacknowledged.count <= ProtocolLimits.window,
                "\(unacknowledged.count) batches without an acknowledgement")
            try expect(batch.records.count <= 1000, "\(batch.records.count) records in a batch")
        case .digest(_, let summary):
            try expect(summary != lastDigest, "a digest was told twice")
            lastDigest = summary
        case .resync: lastDigest = nil
        case .reconcile(let step):
            try expect(
                step.payload.count <= ProtocolLimits.reconciliationFrame,
                "\(step.payload.count) bytes of Negentropy")
        default: break
        }
    }
}

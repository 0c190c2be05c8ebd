import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

/// One side of a connection in a search: the program's own session, and what the engine around it has in its hands.
///
/// The engine reads from the store, hands over what it read, commits batches and tells the session of that. Between any two
/// of these anything else may happen.
struct ModelSide {
    /// What was read from the store, and not handed to the session yet.
    enum Read {
        case batch(ChangeBatch)
        case named(NamedRecords)
        case summary(ZoneSummary)
    }

    /// Who is at the other end.
    let peer: Int
    private(set) var session: Session
    /// Batches that have come and are not committed.
    private(set) var arrived: [ChangeBatch] = []
    /// Batches that are committed, which the session does not know yet.
    private(set) var committed: [ChangeBatch] = []
    private(set) var read: Read?

    init(_ session: Session, peer: Int) {
        self.session = session
        self.peer = peer
    }

    /// The hash of all that decides what happens next, as of the last ``settle()``.
    private(set) var hash = 0
    /// Whether the session wants something of the store, likewise.
    private(set) var canRead = false

    /// Finds out what others ask often.
    mutating func settle() {
        var copy = session
        canRead = read == nil && copy.nextRequest(zone: 0) != nil
        hash = StructuralHash.of((session, arrived, committed, read))
    }

    // MARK: What the side can do

    func isReady(for message: Message) -> Bool {
        switch session.readiness(for: message) {
        case .ready, .afterAnswers: true
        case .afterBatches, .afterAllBatches: arrived.isEmpty && committed.isEmpty
        }
    }

    var canCommit: Bool { !arrived.isEmpty }
    var hasCommitted: Bool { !committed.isEmpty }
    var hasRead: Bool { read != nil }

    // MARK: Steps

    mutating func begin(_ channel: SecuredChannel, _ store: inout ModelStore) throws -> [Message] {
        try perform(session.secured(channel), &store)
    }

    mutating func receive(_ message: Message, _ store: inout ModelStore) throws -> [Message] {
        let actions = session.received(message)
        if let failure { throw failure }
        return try perform(actions, &store)
    }

    mutating func read(_ store: ModelStore) {
        switch session.nextRequest(zone: 0) {
        case .read(let after, let includingEcho):
            read = .batch(store.nextBatch(after: after, for: peer, includingEcho: includingEcho))
        case .readNamed(let names): read = .named(store.named(names))
        case .summarize: read = .summary(store.summary(for: peer))
        case nil: break
        }
    }

    mutating func handOver(_ store: inout ModelStore) throws -> [Message] {
        defer { read = nil }
        switch read {
        case .batch(let batch): return session.batchRead(batch, zone: 0).map { [$0] } ?? []
        case .named(let read): return session.namedRead(read, zone: 0).map { [$0] } ?? []
        case .summary(let summary): return try perform(session.summarized(summary, zone: 0), &store)
        case nil: return []
        }
    }

    mutating func commit(_ store: inout ModelStore) {
        let batch = arrived.removeFirst()
        store.apply(batch, from: peer)
        committed.append(batch)
    }

    mutating func tellCommitted(_ store: inout ModelStore) throws -> [Message] {
        defer { committed = [] }
        return try committed.flatMap { try perform(session.applied($0, zone: 0), &store) }
    }

    mutating func storeChanged() { session.storeChanged(zone: 0) }

    /// The error that has ended the session; none may.
    private var failure: (any Error)? {
        if case .failed(let error)? = session.end { error } else { nil }
    }

    // MARK: Actions

    /// - Returns: the messages to send.
    private mutating func perform(_ actions: [Session.Action], _ store: inout ModelStore) throws -> [Message]
    {
        var sent: [Message] = []
        for action in actions { sent += try perform(action, &store) }
        if let failure { throw failure }
        return sent
    }

    private mutating func perform(_ action: Session.Action, _ store: inout ModelStore) throws -> [Message] {
        switch action {
        case .send(let message): return [message]
        case .findPeer: return try perform(session.peerFound("machine \(peer)"), &store)
        case .readOffers:
            let digest = store.digest
            let offer = ZoneOffer(
                id: ModelZone.id, name: "Main", isDefault: true, isShared: true, rights: .write,
                recordCount: digest.count, fingerprint: digest.fingerprint)
            return try perform(session.offersRead([offer], held: [ModelZone.id], clock: 0), &store)
        case .readTokens:
            let tokens = store.peers[peer].received.map { [ModelZone.id: $0] } ?? [:]
            return try perform(session.tokensRead(tokens), &store)
        case .share: return try perform(session.shared(), &store)
        case .readGrants: return try perform(session.grantsRead(ModelZone.grants), &store)
        case .begin(_, let held, _):
            let (start, isVoid) = store.beginning(held)
            return try perform(
                session.began(
                    zone: 0, at: start, isHeldTokenVoid: isVoid, recordCount: store.digest.count), &store)
        case .noteBegun(_, let token):
            store.noteBegun(token, by: peer)
            return []
        case .noteInSync: return try perform(session.inSyncNoted(zone: 0), &store)
        case .zone(_, let action): return try perform(action, &store)
        case .readHousehold, .authenticated, .enter, .checkPairing, .open, .exchange: return []
        case .beginPairingAttempt, .endPairingAttempt, .keepPeer, .ask, .startOver, .noteRefused, .file,
            .tellHousehold, .takeHousehold, .leave:
            throw SimulationFailure("nobody has given a reason for \(action)")
        }
    }

    private mutating func perform(_ action: ZoneExchange.Action, _ store: inout ModelStore) throws
        -> [Message]
    {
        switch action {
        case .send, .wake: return []
        case .apply(let batch):
            arrived.append(batch)
            return []
        case .acknowledged(let token):
            store.acknowledge(token, by: peer)
            return []
        case .voidReceived:
            store.voidReceived(from: peer)
            return []
        case .checkRecords: return try perform(session.recordsChecked(zone: 0), &store)
        case .takeInventory:
            return try perform(
                session.inventoryTaken(try store.inventory(), at: store.current, zone: 0), &store)
        case .resolve(let ids): return try perform(session.resolved(store.names(of: ids), zone: 0), &store)
        case .compare(let theirs):
            return try perform(
                session.compared(store.summary(for: peer), with: theirs, zone: 0), &store)
        }
    }
}

/// The one zone of a search, which all machines have, and in which all may write.
enum ModelZone {
    static let id = ZoneID(name: .standard, owner: ReplicaID(rawValue: 1))
    static let grants = SessionGrants(zones: [id], rights: [.write], erasures: 0)
}

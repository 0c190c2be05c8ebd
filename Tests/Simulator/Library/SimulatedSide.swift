import GRDB
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport

/// One machine of a simulated session: performs the actions that ``Session`` asks for, one at a time.
final class SimulatedSide {
    private static let batchLimit = BatchLimit(
        records: 3, bytes: 4096, groupRecords: 6, groupBytes: 8192, recordsCopiedInGroups: 8)
    /// The number of items of an inventory in memory.
    private static let inventoryLimit = 2

    /// The result of applying a batch.
    enum Applied {
        case done
        /// The machine crashed just before the commit.
        case crashed
    }

    let replica: SimulatedReplica
    private(set) var machine: Session
    private let code: PairingCode
    private let send: (Message) -> Void
    private var peer: Peer?
    private var openZones: [Zone] = []
    private var zones: [(peerZone: PeerZone, place: ReadingPlace, inventory: Inventory?)] = []
    /// From the beginning of the exchange until this side sends nothing more.
    private(set) var files: SimulatedFiles?
    /// Batches that have come and are not applied yet.
    private var arrived: [(zone: Int, batch: ChangeBatch)] = []

    // MARK: Results

    /// How many times the sides compared everything, because their digests differed.
    private(set) var resyncs = 0
    /// How many batches this side has applied (`applications`), and how many plans its store has carried out
    /// (`sharings`).
    private(set) var applications = 0
    private(set) var sharings = 0
    /// Whether this side has made the other one a peer.
    private(set) var didKeepPeer = false
    /// How many machines became peers of this one, because others have introduced them.
    private(set) var introductions = 0
    /// Whether this side has ended the session, because both sides have the records and the files.
    private(set) var hasSettled = false
    /// Whether the other side has missed deletions that this one has forgotten.
    private(set) var hasFoundPeerExpired = false

    /// Whether the other side has said that it does not know the pairing.
    var isToldToPair: Bool {
        if case .failed(let error as ErrorOfPeer)? = machine.end {
            [.notPaired, .removed].contains(error.error.code)
        } else {
            false
        }
    }

    /// The error that has ended the session and should not have.
    ///
    /// - Parameter codes: the errors that may end it.
    func fault(tolerating codes: Set<ProtocolError.Code>) -> (any Error)? {
        guard case .failed(let error)? = machine.end else { return nil }
        return switch error {
        case let error as ErrorOfPeer:
            error.error.code == .changeTokenExpired || codes.contains(error.error.code) ? nil : error
        case let error as ProtocolError: codes.contains(error.code) ? nil : error
        default: hasFoundPeerExpired ? nil : error
        }
    }

    // MARK: Effects of another session

    /// Tells the machine that another program has changed the store.
    func storeChanged() { for number in zones.indices { machine.storeChanged(zone: number) } }

    /// Tells the machine that the zones that the sides share may have changed.
    func settingsChanged() throws { try perform(machine.settingsChanged()) }

    init(
        _ replica: SimulatedReplica, _ purpose: SessionPurpose, code: PairingCode,
        send: @escaping (Message) -> Void
    ) throws {
        self.replica = replica
        self.code = code
        self.send = send
        machine = Session(
            Session.Identity(
                key: try PublicKey(replica.key), replica: replica.store.replica,
                instance: UInt64(replica.number + 1), displayName: "machine \(replica.number)"), purpose)
    }

    /// Begins the session after the handshake.
    func begin(with other: SimulatedReplica) throws {
        let channel = SecuredChannel(
            remoteKey: try PublicKey(other.key), handshakeHash: [UInt8](repeating: 7, count: 32))
        try perform(machine.secured(channel))
    }

    private func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        // An empty journal needs no transaction, as in the program.
        let found: Value? = try replica.database.unsafeRead { db in
            try RecordStore.hasPendingChanges(db) ? nil : body(db)
        }
        return try found
            ?? replica.write { db in
                _ = try replica.store.fold(db)
                return try body(db)
            }
    }

    private func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try replica.write(body)
    }

    // MARK: Steps

    /// Whether the machine can take a message now.
    func isReady(for message: Message) -> Bool {
        switch machine.readiness(for: message) {
        case .ready: true
        case .afterBatches(let number): !arrived.contains { $0.zone == number }
        case .afterAllBatches: arrived.isEmpty
        // This side answers every question at once.
        case .afterAnswers: false
        }
    }

    func receive(_ message: Message) throws { try perform(machine.received(message)) }

    /// Performs one request of a zone's sending half.
    ///
    /// - Returns: whether there was a request.
    func pump() throws -> Bool {
        for number in zones.indices {
            guard let request = machine.nextRequest(zone: number) else { continue }
            let peerZone = zones[number].peerZone
            switch request {
            case .read(let token, let includingEcho):
                // Batches are small, so that cuts and interleavings fall between them.
                let place = zones[number].place.at(token)
                let (batch, next) = try read {
                    try peerZone.nextBatch(
                        $0, after: place, includingEcho: includingEcho, limit: Self.batchLimit)
                }
                zones[number].place = next
                if let message = machine.batchRead(batch, zone: number) { send(message) }
            case .readNamed(let names):
                let found = try read { try peerZone.states($0, named: names) }
                if let message = machine.namedRead(found, zone: number) { send(message) }
            case .summarize:
                // A peer that hears of the digest must already know whether this side wants files.
                try files?.refresh()
                let summary = try read { try peerZone.summary($0) }
                try perform(machine.summarized(summary, zone: number))
            }
            return true
        }
        return false
    }

    /// Applies the oldest batch that has come.
    ///
    /// - Returns: nil when there is none.
    func apply(crashing: Bool) throws -> Applied? {
        struct Crash: Error {}
        guard !arrived.isEmpty else { return nil }
        let (number, batch) = arrived.removeFirst()
        do {
            try write { db in
                _ = try zones[number].peerZone.apply(db, batch, manyRecords: replica.manyRecords)
                if crashing { throw Crash() }
            }
        } catch is Crash {
            try replica.restart()
            return .crashed
        }
        applications += 1
        try perform(machine.applied(batch, zone: number))
        return .done
    }

    // MARK: Files

    /// Goes on with the files up to where the session waits for its disk.
    ///
    /// - Returns: whether there was anything to do.
    func stepFiles(_ random: inout SeededGenerator) throws -> Bool {
        if files?.isDone == true, machine.awaitsFiles {
            hasSettled = true
            try perform(machine.filesSettled())
            return true
        }
        return try files?.step(&random) == true
    }

    /// Whether nothing is left to do with files, or this side has ended the session.
    var areFilesSettled: Bool { files?.isAtRest ?? (machine.end != nil) }

    /// Gives up the files that are under way, as a program does at the end of a connection.
    func closeFiles() { files = nil }

    // MARK: Actions

    private func perform(_ actions: [Session.Action]) throws {
        for action in actions {
            do {
                try perform(action)
            } catch let error as RecordStoreError where error.code == .changeTokenExpired {
                hasFoundPeerExpired = true
                return try perform(
                    machine.failed(
                        error, toldToPeer: ProtocolError(.changeTokenExpired, error.message)))
            } catch let error as RecordStoreError where error.code == .zonesChanged {
                return try perform(machine.failed(Self.zonesChanged, toldToPeer: Self.zonesChanged))
            } catch let error as RecordStoreError where [.noSuchPeer, .removed].contains(error.code) {
                let told = SimulatedHousehold.told(error)
                return try perform(machine.failed(told, toldToPeer: told))
            }
        }
    }

    private static let zonesChanged = ProtocolError(
        .zonesChanged, "what the two machines share has changed")

    private func knownPeer() throws -> Peer {
        guard let peer else { throw SimulationFailure("a session goes on without a peer") }
        return peer
    }

    private func perform(_ action: Session.Action) throws {
        let store = replica.store
        switch action {
        case .send(let message): send(message)
        case .findPeer(let key):
            peer = try write { db in try store.peers.find(db, key: key.bytes) }
            let refusal = try SimulatedHousehold(replica).refusal(of: key.bytes)
            try perform(machine.peerFound(peer?.name, orElse: refusal))
        case .beginPairingAttempt: try perform(machine.pairingAttemptBegan(code))
        case .endPairingAttempt(let succeeded):
            guard succeeded else { throw SimulationFailure("the right code was refused") }
        case .keepPeer(let key, let displayName):
            let kept = try SimulatedHousehold(replica).keep(key.bytes, displayName)
            didKeepPeer = true
            peer = kept
            try perform(machine.peerKept(kept.name))
        case .readOffers: try readOffers()
        // All machines must hold the same records in the end, so the user always agrees.
        case .ask(let question): try perform(machine.decided(.union(question.proposal ?? .merge)))
        case .readTokens(let ids):
            let peer = try knownPeer()
            try perform(machine.tokensRead(read { try StoreExchange.receivedTokens($0, of: peer, in: ids) }))
        case .share(let plan):
            let peer = try knownPeer()
            _ = try write { try store.exchange.share($0, plan, with: peer) }
            sharings += 1
            try perform(machine.shared())
        case .open(let entries): try open(entries)
        case .readGrants: try perform(machine.grantsRead(grants()))
        case .begin(let number, let held, _):
            let begin = try read { try zones[number].peerZone.begin($0, heldByPeer: held) }
            try perform(
                machine.began(
                    zone: number, at: begin.start, isHeldTokenVoid: begin.isHeldTokenVoid,
                    recordCount: begin.recordCount))
        case .noteBegun(let number, let token):
            try write { try zones[number].peerZone.noteBegun($0, at: token) }
        case .zone(let number, let action): try perform(action, number)
        case .noteInSync(let number, _): try perform(machine.inSyncNoted(zone: number))
        case .exchange: files = SimulatedFiles(replica, in: openZones, send: send)
        case .file(let message): try takeForFiles(message)
        case .leave: closeFiles()
        case .readHousehold, .tellHousehold, .takeHousehold:
            let (event, count) = try SimulatedHousehold(replica).answer(action, with: try knownPeer())
            introductions += count
            try perform(event(&machine))
        case .authenticated, .enter, .checkPairing: break
        case .startOver, .noteRefused:
            throw SimulationFailure("nobody has given a reason for \(action)")
        }
    }

    private func readOffers() throws {
        let (store, peer) = (replica.store, try knownPeer())
        let (offers, held) = try read { db in
            let offers = try store.zones.granted(db, to: peer).map { zone, rights in
                ZoneOffer(
                    id: zone.id, name: zone.name, isDefault: zone.isDefault, isShared: zone.isShared,
                    rights: rights, recordCount: zone.digest.count, fingerprint: zone.digest.fingerprint)
            }
            return (offers, Set(try store.zones.all(db).map(\.id)))
        }
        try perform(machine.offersRead(offers, held: held, clock: store.now()))
    }

    private func open(_ entries: [ZoneAgreement.Entry]) throws {
        let (store, peer) = (replica.store, try knownPeer())
        openZones = try write { db in try entries.compactMap { try store.zones.find(db, $0.id) } }
        let peerZones = openZones.map { PeerZone(store: store, zone: .one($0), peer: peer) }
        zones = peerZones.map { ($0, ReadingPlace(.start), nil) }
        guard zones.count < entries.count else { return }
        try perform(machine.failed(Self.zonesChanged, toldToPeer: Self.zonesChanged))
    }

    private func takeForFiles(_ message: Message) throws {
        do {
            try files?.receive(message)
        } catch let error as ProtocolError {
            try perform(machine.failed(error, toldToPeer: error))
        }
    }

    private func grants() throws -> SessionGrants {
        let (store, peer) = (replica.store, try knownPeer())
        let granted = try read { db in
            guard try store.peers.find(db, key: peer.publicKey)?.id == peer.id else {
                throw try store.household.refusal(db, of: peer.publicKey)
            }
            return try store.zones.granted(db, to: peer)
        }
        // No machine gives up its records because of another session.
        return SessionGrants(zones: granted.map(\.zone.id), rights: granted.map(\.rights), erasures: 0)
    }

    private func perform(_ action: ZoneExchange.Action, _ number: Int) throws {
        let peerZone = zones[number].peerZone
        switch action {
        case .send, .wake: break
        case .apply(let batch): arrived.append((number, batch))
        case .acknowledged(let token): try write { try peerZone.acknowledge($0, token) }
        case .voidReceived: try write { try peerZone.voidReceived($0) }
        case .checkRecords:
            let check = try read { try replica.store.upkeep.check($0) }
            guard check.isSound else {
                throw SimulationFailure("machine \(replica.number) is not sound: \(check)")
            }
            try perform(machine.recordsChecked(zone: number))
        case .takeInventory:
            let (items, token) = try read { try peerZone.inventory($0, limit: Self.inventoryLimit) }
            zones[number].inventory = items
            try perform(machine.inventoryTaken(items, at: token, zone: number))
        case .resolve(let ids):
            let names = try read { try peerZone.names($0, of: ids, in: zones[number].inventory!) }
            try perform(machine.resolved(names, zone: number))
        case .compare(let theirs):
            let ours = try read { try peerZone.summary($0) }
            let actions = machine.compared(ours, with: theirs, zone: number)
            let isAsking = actions.contains { if case .send(.resync) = $0 { true } else { false } }
            // A side that wants to compare everything asks for it even when the digests are equal.
            if isAsking, ours.digest != theirs.digest, ours.refused == 0, theirs.refused == 0 { resyncs += 1 }
            try perform(actions)
        }
    }
}

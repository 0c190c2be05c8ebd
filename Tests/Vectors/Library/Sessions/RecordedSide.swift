import PeerSync
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// One machine of a recorded session: performs the actions that ``Session`` asks for, one after the other.
///
/// In a running program several tasks do this, so the order of their messages may differ between runs.
final class RecordedSide {
    private let machine: SessionMachine
    private let answer: ZoneAnswer
    private let send: (Message) throws -> Void
    private var session: Session
    private var peer: Peer?
    private var zones: [(peerZone: PeerZone, place: ReadingPlace, inventory: Inventory?)] = []

    /// - Parameter answer: the answer of the machine's user to a question about a union.
    init(
        _ machine: SessionMachine, _ purpose: SessionPurpose, answer: ZoneAnswer,
        send: @escaping (Message) throws -> Void
    ) throws {
        self.machine = machine
        self.answer = answer
        self.send = send
        session = Session(
            Session.Identity(
                key: machine.keyPair.publicKey, replica: machine.store.replica, instance: machine.instance,
                displayName: machine.name), purpose)
    }

    /// Whether both sides know that they hold the same records, apart from those that one of them has refused.
    var isInSync: Bool { session.isInSync }

    // MARK: Events

    /// Begins the session after the handshake with another machine.
    func begin(with other: SessionMachine) async throws {
        let channel = SecuredChannel(
            remoteKey: other.keyPair.publicKey, handshakeHash: [UInt8](repeating: 0, count: 32))
        try await perform(session.secured(channel))
    }

    func receive(_ message: Message) async throws {
        // This side applies batches as they come, and answers every question at once.
        precondition(session.readiness(for: message) != .afterAnswers, "an answer is missing")
        try await perform(session.received(message))
        try await pump()
    }

    /// Writes to the store, as another program would.
    func write(_ states: [RecordState]) async throws {
        try machine.write(states)
        for number in zones.indices { session.storeChanged(zone: number) }
        try await pump()
    }

    func stop() async throws { try await perform(session.stop()) }

    /// Sends everything that there is to send.
    private func pump() async throws {
        for number in zones.indices {
            while let request = session.nextRequest(zone: number) { try await answer(request, number) }
        }
    }

    private func answer(_ request: ZoneExchange.Request, _ number: Int) async throws {
        let peerZone = zones[number].peerZone
        switch request {
        case .read(let token, let includingEcho):
            let from = zones[number].place.at(token)
            let (batch, next) = try machine.read {
                try peerZone.nextBatch($0, after: from, includingEcho: includingEcho)
            }
            zones[number].place = next
            if let message = session.batchRead(batch, zone: number) { try send(message) }
        case .readNamed(let names):
            let found = try machine.read { try peerZone.states($0, named: names) }
            if let message = session.namedRead(found, zone: number) { try send(message) }
        case .summarize: try await perform(session.summarized(summary(number), zone: number))
        }
    }

    private func summary(_ number: Int) throws -> ZoneSummary {
        try machine.read { try zones[number].peerZone.summary($0) }
    }

    // MARK: Actions

    private func perform(_ actions: [Session.Action]) async throws {
        for action in actions {
            do {
                try await perform(action)
            } catch let error as RecordStoreError where error.code == .changeTokenExpired {
                let told = ProtocolError(
                    .changeTokenExpired, "Deletions that you have not seen are forgotten.")
                return try await perform(session.failed(error, toldToPeer: told))
            }
        }
    }

    private func perform(_ action: Session.Action) async throws {
        let store = machine.store
        switch action {
        case .send(let message): try send(message)
        case .findPeer(let key):
            peer = try await store.peers.find(key: key.bytes)
            try await perform(session.peerFound(peer?.name))
        case .readOffers:
            let (offers, held, declined) = try await machine.engine.offers(to: knownPeer)
            try await perform(session.offersRead(offers, held: held, declined: declined, clock: store.now()))
        case .ask(let question):
            // The caller's user has decided in advance.
            try await perform(session.decided(question.proposal == nil ? .nobody : answer))
        case .readTokens(let ids):
            try await perform(session.tokensRead(store.exchange.receivedTokens(of: knownPeer, in: ids)))
        case .share(let plan):
            let backup = plan.replaces ? try await machine.engine.backUp() : nil
            _ = try await store.exchange.share(plan, with: knownPeer, since: backup?.moment)
            try await perform(session.shared())
        case .open(let entries):
            zones = try await store.zones.find(entries.map(\.id)).map {
                (PeerZone(store: store, zone: .one($0), peer: knownPeer), ReadingPlace(.start), nil)
            }
        case .startOver(let entries): try await startOver(entries)
        // Nobody changes the zones that the two share during the session.
        case .readGrants:
            try await perform(session.grantsRead(SessionGrants(zones: [], rights: [], erasures: 0)))
        case .begin(let number, let held, let rights):
            try await begin(number, heldByPeer: held, rights)
        // No record here has a file.
        case .exchange: try send(.assetsWanted(Message.AssetsWanted(files: 0, bytes: 0)))
        case .noteBegun(let number, let token):
            try machine.write { try zones[number].peerZone.noteBegun($0, at: token) }
        case .zone(let number, let action): try await perform(action, number)
        case .noteRefused(let number, let reason, let names, let batch):
            guard let reason = Refusal.Reason(rawValue: Int64(reason)) else { return }
            let refusal = Refusal(names: names, reason: reason)
            try machine.write { try zones[number].peerZone.noteRefused($0, refusal, in: batch) }
        case .noteInSync(let number, _): try await perform(session.inSyncNoted(zone: number))
        // The two form no household.
        case .readHousehold, .tellHousehold, .takeHousehold: break
        case .authenticated, .enter, .checkPairing, .file, .leave: break
        case .beginPairingAttempt, .endPairingAttempt, .keepPeer:
            preconditionFailure("the two are paired, and \(machine.name) is to do this: \(action)")
        }
    }

    private var knownPeer: Peer {
        guard let peer else { preconditionFailure("\(machine.name) goes on without a peer") }
        return peer
    }

    private func startOver(_ entries: [ZoneAgreement.Entry]) async throws {
        let zones = try await machine.store.zones.find(entries.map(\.id))
        try machine.write { db in
            _ = try machine.store.exchange.startOver(
                db, with: knownPeer, in: zip(zones, entries).map { ($0, heldByPeer: $1.heldByPeer) })
        }
    }

    private func begin(_ number: Int, heldByPeer held: ChangeToken?, _ rights: ZoneRights) async throws {
        let peerZone = zones[number].peerZone
        try machine.write { try peerZone.noteOwnRights($0, rights) }
        let begin = try machine.read { try peerZone.begin($0, heldByPeer: held) }
        try await perform(
            session.began(
                zone: number, at: begin.start, isHeldTokenVoid: begin.isHeldTokenVoid,
                recordCount: begin.recordCount))
    }

    private func perform(_ action: ZoneExchange.Action, _ number: Int) async throws {
        let peerZone = zones[number].peerZone
        switch action {
        // The session sends the message; each message that comes, and each write, ends with a pump.
        case .send, .wake: break
        case .apply(let batch):
            for refusal in try machine.write({ try peerZone.apply($0, batch) }) {
                let reason = Int(refusal.reason.rawValue)
                try send(.refuse(Message.Refuse(zone: number, reason: reason, names: refusal.names)))
            }
            try await perform(session.applied(batch, zone: number))
        case .acknowledged(let token): try machine.write { try peerZone.acknowledge($0, token) }
        case .voidReceived: try machine.write { try peerZone.voidReceived($0) }
        case .checkRecords:
            let check = try machine.read { try machine.store.upkeep.check($0) }
            precondition(check.isSound, "the store of \(machine.name) is to be sound: \(check)")
            try await perform(session.recordsChecked(zone: number))
        case .takeInventory:
            let (items, token) = try machine.read { try peerZone.inventory($0) }
            zones[number].inventory = items
            try await perform(session.inventoryTaken(items, at: token, zone: number))
        case .resolve(let ids):
            let names = try machine.read { try peerZone.names($0, of: ids, in: zones[number].inventory!) }
            try await perform(session.resolved(names.sorted(), zone: number))
        case .compare(let theirs):
            try await perform(session.compared(summary(number), with: theirs, zone: number))
        }
    }
}

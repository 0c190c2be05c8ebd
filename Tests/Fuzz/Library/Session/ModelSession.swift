import AssetModel
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// Drives a whole session as the program does, from the end of the handshake on, with a machine in memory, and with every
/// point at which a session waits for its store, its disk or a person as a step of its own: what else goes on meanwhile
/// is up to the fuzzer.
struct ModelSession {
    /// What goes on at the same time in a session.
    enum Strand: Int, CaseIterable {
        /// Deals with what has come, one message after the other.
        case reading
        /// Sends what there is to send.
        case sending
        /// Applies the batches that have come.
        case applying
        /// People answer, and change their minds.
        case deciding
        case files
    }

    /// What nobody at the other side has brought about.
    struct Fault: Error {}

    private enum Work {
        case act(Session.Action)
        /// What was waited for is there.
        case hand((inout Session) -> [Session.Action])
        /// So are records to be sent.
        case read((inout Session) -> Message?)
        /// Nothing has to be handed in then.
        case wait
    }

    private(set) var session: Session
    var machine: ModelMachine
    private(set) var rules: SessionRules
    private var work: [[Work]] = Strand.allCases.map { _ in [] }
    /// The zones of the session, by number.
    private(set) var zones: [ZoneID] = []
    private var arrived: [(zone: Int, batch: ChangeBatch)] = []
    /// The zone of which a batch is being applied.
    private var applying: Int?
    private var questions: [ZoneQuestion] = []
    private var isExchanging = false
    private var hasLeft = false
    private var hasStoreChanged = false
    /// The store fails the next time that it is asked for something.
    var isStoreFailing = false
    /// What has come and was not dealt with, in order.
    var inbox: [Message] = []
    /// What is to be sent, in order.
    private(set) var outbox: [Message] = []
    private(set) var messagesSent = 0

    /// - Parameter isPeerHonest: whether the other side keeps to the protocol, and knows the code.
    init(_ machine: ModelMachine, _ purpose: SessionPurpose, isPeerHonest: Bool) {
        self.machine = machine
        self.machine.files = ModelAssets(machine.files, wanting: machine.wantedFiles)
        let identity = Session.Identity(
            key: ModelMachine.key(machine.number), replica: ReplicaID(rawValue: UInt64(machine.number)),
            instance: UInt64(machine.number), displayName: "machine \(machine.number)")
        session = Session(identity, purpose)
        rules = SessionRules(purpose, isPeerHonest: isPeerHonest)
    }

    /// Both sides know that they hold the same.
    var isInSync: Bool { session.isExchanging && session.isInSync }

    mutating func takeOutbox() -> [Message] {
        defer { outbox = [] }
        return outbox
    }

    // MARK: What happens

    /// The handshake is done, with the holder of a key.
    mutating func begin(with number: UInt8) {
        let channel = SecuredChannel(
            remoteKey: ModelMachine.key(number), handshakeHash: [UInt8](repeating: 9, count: 32))
        work[Strand.reading.rawValue].append(.hand { $0.secured(channel) })
    }

    /// The store was written to by somebody.
    mutating func storeChanged() { hasStoreChanged = true }

    /// A record refers to a file that is wanted here.
    mutating func want(_ hash: AssetHash, size: Int64) {
        machine.wantedFiles[hash] = size
        machine.files.receiver.want(hash, size: size)
    }

    mutating func settingsChanged() { work[Strand.deciding.rawValue].append(.hand { $0.settingsChanged() }) }

    mutating func stop() { work[Strand.deciding.rawValue].append(.hand { $0.stop() }) }

    /// The connection is closed while a person thinks.
    mutating func left() { work[Strand.deciding.rawValue].append(.hand { $0.left(Fault()) }) }

    /// The connection breaks, or the timeout of this side ends.
    mutating func cut() throws {
        for action in try hand({ $0.failed(Fault(), toldToPeer: nil) }) { _ = try perform(action) }
        _ = try hand { session in
            session.closed()
            return []
        }
    }

    // MARK: Steps

    /// Goes on with a strand up to where it has to wait the next time.
    ///
    /// - Returns: whether there was anything to do.
    @discardableResult
    mutating func step(_ strand: Strand) throws -> Bool {
        let before = messagesSent
        var next = work[strand.rawValue]
        work[strand.rawValue] = []
        if next.isEmpty {
            guard let first = try begin(strand) else { return false }
            next = first
        }
        loop: while !next.isEmpty {
            switch next.removeFirst() {
            case .hand(let event): next = try hand(event).map { .act($0) } + next
            case .read(let message): if let message = message(&session) { try send(message) }
            case .act(let action) where isStoreFailing && Self.needsStore(action):
                // What else was to be done is not done any more.
                next = [failure()]
            case .act(let action):
                guard let answer = try perform(action) else { continue }
                next.insert(answer, at: 0)
                break loop
            case .wait: break loop
            }
        }
        work[strand.rawValue] = next
        if strand == .applying, next.isEmpty { applying = nil }
        let most = 8 + 2 * zones.count
        try expect(messagesSent - before <= most, "\(messagesSent - before) messages because of one step")
        return true
    }

    private mutating func failure() -> Work {
        isStoreFailing = false
        return .hand { $0.failed(Fault(), toldToPeer: ProtocolError(.storeFailure, "the store fails")) }
    }

    private static func needsStore(_ action: Session.Action) -> Bool {
        switch action {
        case .findPeer, .keepPeer, .readOffers, .readTokens, .share, .startOver, .readGrants, .checkPairing,
            .begin, .noteBegun, .noteRefused, .noteInSync:
            true
        case .zone(_, let action): action != .wake
        default: false
        }
    }

    /// - Returns: nil if there is nothing to do.
    private mutating func begin(_ strand: Strand) throws -> [Work]? {
        switch strand {
        case .reading: return try read()
        case .sending: return isExchanging ? request() : nil
        case .applying:
            guard !arrived.isEmpty else { return nil }
            let (number, batch) = arrived.removeFirst()
            applying = number
            machine.change(zones[number]) { $0.apply(batch) }
            return [.wait, .hand { $0.applied(batch, zone: number) }]
        case .deciding:
            guard !questions.isEmpty else { return nil }
            let answer = machine.answer(to: questions.removeFirst())
            return [.hand { $0.decided(answer) }]
        case .files: return try goOnWithFiles()
        }
    }

    private mutating func hand(_ event: (inout Session) -> [Session.Action]) throws -> [Session.Action] {
        let actions = event(&session)
        try rules.check(session, after: actions)
        return actions
    }

    private mutating func read() throws -> [Work]? {
        guard let message = inbox.first, !session.isOver else { return nil }
        let isReady =
            switch session.readiness(for: message) {
            case .ready: true
            case .afterBatches(let zone): applying != zone && !arrived.contains { $0.zone == zone }
            case .afterAllBatches: applying == nil && arrived.isEmpty
            case .afterAnswers: false
            }
        guard isReady else { return nil }
        inbox.removeFirst()
        let actions = try hand { $0.received(message) }
        try rules.check(session, heard: message)
        return actions.map { .act($0) }
    }

    /// Asks the session what to send, and the store for it.
    private mutating func request() -> [Work]? {
        if hasStoreChanged {
            hasStoreChanged = false
            for number in zones.indices { session.storeChanged(zone: number) }
        }
        for number in zones.indices {
            guard let request = session.nextRequest(zone: number) else { continue }
            let store = machine.store(zones[number])!
            switch request {
            case .read(let token, let includingEcho):
                let batch = store.batch(after: token, includingEcho: includingEcho)
                return [.wait, .read { $0.batchRead(batch, zone: number) }]
            case .readNamed(let names):
                let records = store.states(named: names)
                let read = NamedRecords(records: records, namesRead: names.count)
                return [.wait, .read { $0.namedRead(read, zone: number) }]
            case .summarize: return [.wait, .hand { $0.summarized(store.summary, zone: number) }]
            }
        }
        return nil
    }

    private mutating func goOnWithFiles() throws -> [Work]? {
        guard isExchanging, !hasLeft else { return nil }
        var didWork = false
        do {
            for strand in ModelAssets.Strand.allCases {
                didWork = try machine.files.step(strand) || didWork
            }
        } catch let error as ProtocolError {
            return [.hand { $0.failed(error, toldToPeer: error) }]
        }
        machine.files.tell()
        for message in machine.files.takeOutbox() { try send(message) }
        if session.awaitsFiles, machine.files.isDone { return [.hand { $0.filesSettled() }] }
        return didWork ? [] : nil
    }

    // MARK: What the session asks for

    private mutating func send(_ message: Message) throws {
        guard !hasLeft else { return }
        try rules.check(sending: message)
        messagesSent += 1
        outbox.append(message)
    }

    /// - Returns: what is handed in when the answer is there, for something that takes a while.
    private mutating func perform(_ action: Session.Action) throws -> Work? {
        try rules.check(action)
        switch action {
        case .send(let message): try send(message)
        case .leave: hasLeft = true
        case .file(let message): machine.files.inbox.append(message)
        case .ask(let question): questions.append(question)
        case .open(let entries): zones = entries.map(\.id)
        case .exchange: isExchanging = true
        case .authenticated, .enter, .checkPairing: break
        case .findPeer, .beginPairingAttempt, .endPairingAttempt, .keepPeer: return pair(action)
        case .readOffers:
            let (offers, held) = (machine.offers, Set(machine.zones.map(\.id)))
            return .hand { $0.offersRead(offers, held: held, clock: 0) }
        case .readTokens(let ids):
            let tokens = machine.tokens(ids)
            return .hand { $0.tokensRead(tokens) }
        case .share(let plan):
            try machine.share(plan)
            return .hand { $0.shared() }
        case .startOver(let entries):
            for entry in entries { machine.change(entry.id) { $0.startOver(heldByPeer: entry.heldByPeer) } }
            return .wait
        case .readGrants:
            let grants = machine.grants
            return .hand { $0.grantsRead(grants) }
        case .begin(let number, let held, _):
            let (start, isVoid, count) = machine.store(zones[number])!.begin(heldByPeer: held)
            return .hand { $0.began(zone: number, at: start, isHeldTokenVoid: isVoid, recordCount: count) }
        case .noteBegun(let number, let token):
            machine.noteBegun(zones[number], at: token)
            return .wait
        case .zone(let number, let action): return perform(action, number)
        case .noteRefused: return .wait
        case .noteInSync(let number, _): return .hand { $0.inSyncNoted(zone: number) }
        case .readHousehold, .tellHousehold, .takeHousehold: return share(action)
        }
        return nil
    }

    private mutating func share(_ action: Session.Action) -> Work? {
        guard let household = machine.household else { return nil }
        switch action {
        case .readHousehold: return .hand { $0.householdRead(household.digest) }
        case .tellHousehold(let digest) where digest != household.digest:
            let told = Message.HouseholdSet(set: household, port: 7431, addresses: [])
            return .hand { $0.householdTold(told) }
        case .takeHousehold(let told):
            machine.household?.merge(told.set)
            return machine.household == household ? nil : .hand { $0.settingsChanged() }
        default: return nil
        }
    }

    private mutating func pair(_ action: Session.Action) -> Work? {
        switch action {
        case .findPeer:
            let name = machine.isPaired ? "the other" : nil
            return .hand { $0.peerFound(name) }
        case .beginPairingAttempt where machine.showsCode:
            return .hand { $0.pairingAttemptBegan(ModelMachine.code) }
        case .beginPairingAttempt:
            let error = ProtocolError(.pairingUnavailable, "no code is shown")
            return .hand { $0.failed(error, toldToPeer: error) }
        case .endPairingAttempt(let succeeded):
            return succeeded ? nil : .hand { $0.pairingAttemptFailed(attemptsLeft: 1) }
        case .keepPeer:
            machine.isPaired = true
            return .hand { $0.peerKept("the other") }
        default: return nil
        }
    }

    private mutating func perform(_ action: ZoneExchange.Action, _ number: Int) -> Work? {
        let id = zones[number]
        switch action {
        case .send, .wake: return nil
        case .apply(let batch):
            arrived.append((number, batch))
            return nil
        case .acknowledged(let token): machine.change(id) { $0.acknowledge(token) }
        case .voidReceived: machine.change(id) { $0.voidReceived() }
        case .checkRecords: return .hand { $0.recordsChecked(zone: number) }
        case .takeInventory:
            let store = machine.store(id)!
            return .hand { $0.inventoryTaken(store.inventory, at: store.current, zone: number) }
        case .resolve(let ids):
            let names = machine.store(id)!.names(of: ids)
            return .hand { $0.resolved(names, zone: number) }
        case .compare(let theirs):
            let own = machine.store(id)!.summary
            return .hand { $0.compared(own, with: theirs, zone: number) }
        }
        return .wait
    }
}

import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import TestSupport

/// What must hold of a session, whoever is at the other end: it asks for each thing once and in its turn, tells nothing to
/// somebody who is not paired, and ends once.
struct SessionRules {
    /// What a session asks for one after the other, each once.
    private enum Stage: Int {
        case secured, readOffers, enter, readTokens, share, open, exchange
    }

    private let purpose: SessionPurpose
    /// Whether the other side keeps to the protocol, and knows the code.
    private let isPeerHonest: Bool
    private var stage = Stage.secured
    private var isAuthenticated = false
    private var asked = 0
    private var attempts = 0
    private var endedAttempts = 0
    private var zoneCount = 0
    /// The zones that the store was asked for, and those of which the begin is sent.
    private var begun: Set<Int> = []
    private var sentBegins: Set<Int> = []
    private var sentOnce: Set<String> = []
    private var isLastWordSaid = false
    /// Whether the session ended because it was asked to; nil before its end.
    private var wasAsked: Bool?
    private var mayExchange = false
    private var wasOver = false
    /// Batches that were sent, in order, and not acknowledged, by zone.
    private(set) var unacknowledged: [Int: [ChangeToken]] = [:]
    private var lastDigests: [Int: ZoneSummary] = [:]
    private var lastHousehold: [UInt8]?

    init(_ purpose: SessionPurpose, isPeerHonest: Bool) {
        self.purpose = purpose
        self.isPeerHonest = isPeerHonest
    }

    // MARK: The session

    /// After something was handed in.
    mutating func check(_ session: Session, after actions: [Session.Action]) throws {
        let most = 8 + zoneCount
        try expect(actions.count <= most, "\(actions.count) things to do because of one")
        let authenticates = actions.contains { if case .authenticated = $0 { true } else { false } }
        switch session.end {
        case nil:
            try expect(wasAsked == nil, "the session goes on after its end")
            try expect(
                isAuthenticated || authenticates
                    || session.maximumMessage == ProtocolLimits.maximumUnpairedMessage,
                "a stranger may send \(session.maximumMessage) bytes")
        case .asked?:
            try expect(wasAsked ?? true, "the session ends in another way than before")
            wasAsked = true
        case .failed(let error)?:
            try expect(!(wasAsked ?? false), "the session ends in another way than before")
            wasAsked = false
            try expect(mayEnd(with: error), "\(error) ends the session")
        }
        try expect(session.isOver || !wasOver, "the session reads again")
        wasOver = session.isOver
        try expect(
            (session.end != nil) == (session.timeout == .farewell), "waits for \(session.timeout)")
        // What is to be done before it, such as to tell the household, may already lead to more.
        if actions.contains(where: { if case .exchange = $0 { true } else { false } }) { mayExchange = true }
        try expect(!session.isExchanging || mayExchange, "exchanges too early")
    }

    private func mayEnd(with error: any Error) -> Bool {
        switch error {
        case let error as ProtocolError: mayEnd(with: error)
        case let error as ErrorOfPeer: mayEnd(with: error.error)
        case is SecureChannelError, is EarlyGoodbye, is ModelSession.Fault: true
        default: false
        }
    }

    /// Two sides that keep to the protocol never find that the other one does not.
    private func mayEnd(with error: ProtocolError) -> Bool {
        let faults: [ProtocolError.Code] = [.malformed, .unexpectedMessage, .digestMismatch, .timeout]
        return !isPeerHonest || !faults.contains(error.code)
    }

    /// After a message was handed in.
    mutating func check(_ session: Session, heard message: Message) throws {
        guard session.end == nil else { return }
        switch message {
        case .acknowledge(let zone, let token):
            guard let index = unacknowledged[zone]?.firstIndex(of: token) else {
                throw BrokenInvariant(description: "what was not sent is acknowledged")
            }
            unacknowledged[zone]?.removeSubrange(...index)
        case .resync(let zone, _): lastDigests[zone] = nil
        default: break
        }
    }

    // MARK: Actions

    mutating func check(_ action: Session.Action) throws {
        switch action {
        case .authenticated(let didPair):
            try expect(!isAuthenticated && (isPeerHonest || !didPair), "somebody is let in")
            isAuthenticated = true
        case .keepPeer: try expect(isPeerHonest && !isAuthenticated, "a stranger is kept as a peer")
        case .beginPairingAttempt:
            attempts += 1
            try expect(attempts == 1 && purpose.call == nil, "\(attempts) attempts to pair")
        case .endPairingAttempt:
            endedAttempts += 1
            try expect(endedAttempts <= attempts, "an attempt to pair ends that has not begun")
        case .readOffers:
            try expect(isAuthenticated, "offers something to a stranger")
            try move(to: .readOffers)
        case .enter: try move(to: .enter)
        case .ask:
            asked += 1
            try expect(asked == 1 && stage == .enter, "asks people \(asked) times, at \(stage)")
        case .readTokens: try move(to: .readTokens)
        case .share: try move(to: .share)
        case .open(let entries):
            try move(to: .open)
            zoneCount = entries.count
            try expect((1...ProtocolLimits.maximumZones).contains(zoneCount), "\(zoneCount) zones")
        case .startOver:
            try expect(stage == .open && purpose.call?.startsOver == true, "starts over without a reason")
        case .begin(let number, _, _):
            try expect(stage == .open && begun.insert(number).inserted, "zone \(number) begins at \(stage)")
            try checkZone(number)
        case .exchange:
            try move(to: .exchange)
            try expect(begun.count == zoneCount, "\(zoneCount - begun.count) zones have not begun")
        case .noteBegun(let number, _), .noteRefused(let number, _, _, _), .noteInSync(let number, _):
            try checkExchange(number)
        case .zone(let number, let action):
            try checkExchange(number)
            if case .send = action { throw BrokenInvariant(description: "a zone sends on its own") }
        case .file: try expect(stage == .exchange, "deals with files at \(stage)")
        case .readGrants: try expect(stage.rawValue >= Stage.open.rawValue, "reads grants at \(stage)")
        case .readHousehold: try expect(begun.count == zoneCount, "reads the household at \(stage)")
        case .tellHousehold, .takeHousehold:
            try expect(stage == .exchange, "deals with the household at \(stage)")
        case .send, .findPeer, .checkPairing, .leave: break
        }
    }

    private mutating func move(to next: Stage) throws {
        try expect(next.rawValue == stage.rawValue + 1, "\(next) after \(stage)")
        stage = next
    }

    private func checkZone(_ number: Int) throws {
        try expect((0..<zoneCount).contains(number), "zone \(number) of \(zoneCount)")
    }

    private func checkExchange(_ number: Int) throws {
        try checkZone(number)
        try expect(stage == .exchange, "zone \(number) does something at \(stage)")
    }

    // MARK: Messages

    mutating func check(sending message: Message) throws {
        try expect(!isLastWordSaid, "speaks after its last word: \(message)")
        switch message {
        case .error, .goodbye: isLastWordSaid = true
        case .pairingShare, .pairingTag: try expect(!isAuthenticated, "pairs with a peer")
        case .hello: try checkOnce("hello", isAuthenticated)
        case .open: try checkOnce("open", stage.rawValue >= Stage.readTokens.rawValue)
        case .begin(let begin):
            try checkZone(begin.zone)
            try expect(sentBegins.insert(begin.zone).inserted, "zone \(begin.zone) begins twice")
        case .assetRequest, .assetChunk, .assetMissing, .assetsAvailable, .assetsWanted, .pong:
            try expect(stage == .exchange, "\(message) at \(stage)")
        case .household(let digest):
            try expect(sentBegins.count == zoneCount, "tells of the household at \(stage)")
            try expect(digest != lastHousehold, "the household was told twice")
            lastHousehold = digest
        case .householdSet: try expect(stage == .exchange, "tells the household at \(stage)")
        case .ping, .unknown: throw BrokenInvariant(description: "sends \(message)")
        case .batch, .acknowledge, .refuse, .digest, .resync, .reconcile: try checkExchange(sending: message)
        }
    }

    private mutating func checkOnce(_ name: String, _ isTurn: Bool) throws {
        try expect(isTurn && sentOnce.insert(name).inserted, "says \(name) at \(stage)")
    }

    private mutating func checkExchange(sending message: Message) throws {
        guard let zone = message.zone else { return }
        try checkExchange(zone)
        switch message {
        case .batch(_, let batch):
            unacknowledged[zone, default: []].append(batch.token)
            let count = unacknowledged[zone]?.count ?? 0
            try expect(count <= ProtocolLimits.window, "\(count) batches without an acknowledgement")
            try expect(batch.records.count <= 1000, "\(batch.records.count) records in a batch")
        case .digest(_, let summary):
            try expect(summary != lastDigests[zone], "a digest was told twice")
            lastDigests[zone] = summary
        case .resync: lastDigests[zone] = nil
        case .reconcile(let step):
            try expect(
                step.payload.count <= ProtocolLimits.reconciliationFrame,
                "\(step.payload.count) bytes of Negentropy")
        default: break
        }
    }
}

import PeerSync
import RecordStore
import SyncModel
import SyncProtocol

/// What the caller's user wants of a session.
package struct SessionWish: Sendable {
    var union: ZoneUnion?
    var startsOver = false
    var comparesEverything = false
    /// What the listener's user says to a union that they are asked about.
    var answer = ZoneAnswer.nobody

    package init(
        union: ZoneUnion? = nil, startsOver: Bool = false, comparesEverything: Bool = false,
        answer: ZoneAnswer = .nobody
    ) {
        self.union = union
        self.startsOver = startsOver
        self.comparesEverything = comparesEverything
        self.answer = answer
    }
}

/// Something that happens to a machine while a session runs, when nothing is on its way.
package struct SessionStep {
    let isAtCaller: Bool
    let writes: [RecordState]
}

/// A session of two machines, over a line that brings each message at once, in the order in which they were sent: so it
/// is the same whenever it is made.
///
/// The stores, the exchange of a zone and what the two agree on are those of the program. This type does what tasks and
/// sockets do there.
package final class RecordedSession {
    package enum Entry {
        case message(isFromCaller: Bool, Message)
        case writes(isAtCaller: Bool, [RecordState])
    }

    private final class Side {
        let machine: SessionMachine
        let peer: Peer
        let isCaller: Bool
        let outbox = Outbox()
        var zones: [SessionZone] = []
        /// This side has sent or received the last message.
        var isOver = false

        init(_ machine: SessionMachine, with other: SessionMachine, isCaller: Bool) throws {
            self.machine = machine
            self.isCaller = isCaller
            peer = try machine.peer(other)
        }
    }

    package private(set) var entries: [Entry] = []
    private let caller: Side
    private let listener: Side
    private let tokens: SessionTokens?
    private var underWay: [(to: Side, Message)] = []

    /// - Parameter tokens: what the generations are called in the entries; as they were drawn if nothing is given.
    package init(_ caller: SessionMachine, _ listener: SessionMachine, _ tokens: SessionTokens? = nil) throws
    {
        self.tokens = tokens
        self.caller = try Side(caller, with: listener, isCaller: true)
        self.listener = try Side(listener, with: caller, isCaller: false)
    }

    /// Runs to the goodbye, or to an error.
    package func run(_ wish: SessionWish = SessionWish(), _ steps: [SessionStep] = []) async throws {
        try await greet(wish)
        try deliverAll()
        for step in steps {
            let side = step.isAtCaller ? caller : listener
            try side.machine.write(step.writes)
            entries.append(.writes(isAtCaller: step.isAtCaller, step.writes))
            for zone in side.zones { zone.storeChanged() }
            try working(side) { for zone in side.zones { try zone.pump() } }
            try deliverAll()
        }
        guard !caller.isOver else { return }
        precondition((caller.zones + listener.zones).allSatisfy(\.isConfirmed), "the two are not in sync")
        try post(.goodbye, from: caller)
        try post(.goodbye, from: listener)
    }

    // MARK: Greeting

    private func greet(_ wish: SessionWish) async throws {
        var offers: [[ZoneOffer]] = []
        for side in [caller, listener] {
            offers.append(try await side.machine.engine.offers(to: side.peer))
            try post(hello(of: side, offers.last ?? []), from: side)
        }
        let agreements = (
            try agreement(of: caller, offers[0], offers[1], wish),
            try agreement(of: listener, offers[1], offers[0], wish)
        )
        let zones = try await agreements.0.call(
            wish.union, startsOver: wish.startsOver, outbox: caller.outbox
        ) {
            let open = try postOpen(of: caller)
            let zones = try await agreements.1.answer(open, outbox: listener.outbox)
            let answer = Message.open(try postOpen(of: listener))
            try begin(listener, zones, SessionWish())
            return answer
        }
        if wish.startsOver {
            try caller.machine.write { db in
                _ = try caller.machine.store.startOver(
                    db, with: caller.peer, in: zones.map { ($0.zone, heldByPeer: $0.heldByPeer) })
            }
        }
        try begin(caller, zones, wish)
    }

    private func hello(of side: Side, _ offers: [ZoneOffer]) -> Message {
        .hello(
            Message.Hello(
                minorVersion: ProtocolLimits.minorVersion, replica: side.machine.store.replica,
                instance: side.machine.instance, displayName: side.machine.name,
                clock: VectorFile.sessionClock, zones: offers))
    }

    private func agreement(
        of side: Side, _ own: [ZoneOffer], _ theirs: [ZoneOffer], _ wish: SessionWish
    ) throws -> ZoneAgreement {
        ZoneAgreement(
            engine: side.machine.engine, peer: side.peer, isCaller: side.isCaller, own: own, theirs: theirs,
            held: Set(try side.machine.zones().map(\.id))
        ) { question in question.proposal == nil ? .nobody : wish.answer }
    }

    /// The open that the agreement has put into the outbox, with the tokens as the store knows them.
    private func postOpen(of side: Side) throws -> Message.Open {
        guard case .message(.open(let open)) = side.outbox.next() else {
            preconditionFailure("\(side.machine.name) did not say which zones it takes part in")
        }
        try record(.open(open), from: side)
        return open
    }

    private func begin(_ side: Side, _ zones: [ZoneAgreement.Entry], _ wish: SessionWish) throws {
        side.zones = zones.enumerated().map { number, entry in
            SessionZone(
                number, entry.zone, of: side.machine, with: side.peer, isCaller: side.isCaller,
                comparesEverything: wish.comparesEverything
            ) { [unowned self, unowned side] message in
                do { try post(message, from: side) } catch { preconditionFailure("\(error)") }
            }
        }
        try working(side) {
            for (zone, entry) in zip(side.zones, zones) {
                try zone.begin(heldByPeer: entry.heldByPeer, mayWrite: entry.rights == .write)
            }
            // No record here has a file.
            try post(.assetsWanted(Message.AssetsWanted(files: 0, bytes: 0)), from: side)
        }
    }

    // MARK: Messages

    private func record(_ message: Message, from side: Side) throws {
        for machine in [caller.machine, listener.machine] { try tokens?.look(at: machine) }
        entries.append(.message(isFromCaller: side.isCaller, tokens?.renamed(message) ?? message))
    }

    private func post(_ message: Message, from side: Side) throws {
        try record(message, from: side)
        underWay.append((side.isCaller ? listener : caller, message))
    }

    private func deliverAll() throws {
        // The hellos were dealt with when the opens were made.
        underWay.removeAll { if case .hello = $0.1 { true } else { false } }
        while !underWay.isEmpty {
            let (side, message) = underWay.removeFirst()
            guard !side.isOver else { continue }
            try working(side) { try receive(message, side) }
        }
    }

    private func receive(_ message: Message, _ side: Side) throws {
        if let number = message.zone {
            try side.zones[number].receive(message)
            for zone in side.zones { try zone.pump() }
        } else if case .error = message {
            side.isOver = true
        }
    }

    /// Ends the session of a side that finds that it cannot go on.
    private func working(_ side: Side, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as RecordStoreError where error.code == .changeTokenExpired {
            side.isOver = true
            try post(
                .error(ProtocolError(.changeTokenExpired, "Deletions that you have not seen are forgotten.")),
                from: side)
        }
    }
}

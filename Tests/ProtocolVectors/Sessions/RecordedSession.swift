import PeerSync
import RecordStore
import SyncModel
import SyncProtocol

/// What the caller's user wants of a session.
package struct RecordedWish: Sendable {
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
        /// - Parameter on: the entry that made the side say this; nil if none did.
        case message(isFromCaller: Bool, on: Int?, Message)
        case writes(isAtCaller: Bool, [RecordState])
    }

    private final class Side {
        let machine: SessionMachine
        let peer: Peer
        let isCaller: Bool
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
    private var underWay: [(to: Side, entry: Int, Message)] = []
    /// The entry that a side deals with now.
    private var cause: Int?

    /// - Parameter tokens: what the generations are called in the entries; as they were drawn if nothing is given.
    package init(_ caller: SessionMachine, _ listener: SessionMachine, _ tokens: SessionTokens? = nil) throws
    {
        self.tokens = tokens
        self.caller = try Side(caller, with: listener, isCaller: true)
        self.listener = try Side(listener, with: caller, isCaller: false)
    }

    /// Runs to the goodbye, or to an error.
    package func run(_ wish: RecordedWish = RecordedWish(), _ steps: [SessionStep] = []) async throws {
        try await greet(wish)
        try deliverAll()
        for step in steps {
            let side = step.isAtCaller ? caller : listener
            try side.machine.write(step.writes)
            cause = entries.count
            entries.append(.writes(isAtCaller: step.isAtCaller, step.writes))
            for zone in side.zones { zone.storeChanged() }
            try working(side) { for zone in side.zones { try zone.pump() } }
            try deliverAll()
        }
        guard !caller.isOver else { return }
        precondition((caller.zones + listener.zones).allSatisfy(\.isConfirmed), "the two are not in sync")
        cause = nil
        try post(.goodbye, from: caller)
        cause = entries.count - 1
        try post(.goodbye, from: listener)
    }

    // MARK: Greeting

    private func greet(_ wish: RecordedWish) async throws {
        var offers: [[ZoneOffer]] = []
        for side in [caller, listener] {
            offers.append(try await side.machine.engine.offers(to: side.peer).offers)
            try post(hello(of: side, offers.last ?? []), from: side)
            cause = entries.count - 1
        }
        var agreements = (
            try agreement(of: caller, offers[0], offers[1], startsOver: wish.startsOver),
            try agreement(of: listener, offers[1], offers[0])
        )
        let called = try await telling(caller) {
            try await follow(try agreements.0.call(wish.union), of: caller, &agreements.0, wish)
        }
        guard let open = called.open else { preconditionFailure("the caller did not choose") }
        cause = entries.count - 1
        let answered = try await telling(listener) {
            try await follow(try agreements.1.received(open), of: listener, &agreements.1, wish)
        }
        guard let answer = answered.open else { preconditionFailure("the listener did not answer") }
        let end = entries.count - 1
        try await begin(listener, answered.zones, RecordedWish())
        cause = end
        let agreed = try await telling(caller) {
            try await follow(try agreements.0.received(answer), of: caller, &agreements.0, wish)
        }
        if wish.startsOver {
            let zones = try await caller.machine.store.zones.find(agreed.zones.map(\.id))
            try caller.machine.write { db in
                _ = try caller.machine.store.exchange.startOver(
                    db, with: caller.peer,
                    in: zip(zones, agreed.zones).map { ($0, heldByPeer: $1.heldByPeer) })
            }
        }
        try await begin(caller, agreed.zones, wish)
    }

    /// Does for an agreement what it asks for, until it waits for the other side.
    ///
    /// - Returns: what was said, and the zones once the two have agreed.
    private func follow(
        _ first: [ZoneAgreement.Step], of side: Side, _ agreement: inout ZoneAgreement, _ wish: RecordedWish
    ) async throws -> (open: Message.Open?, zones: [ZoneAgreement.Entry]) {
        let store = side.machine.store
        var (open, zones): (Message.Open?, [ZoneAgreement.Entry]) = (nil, [])
        var steps = first[...]
        while let step = steps.popFirst() {
            switch step {
            case .ask(let question):
                steps += try agreement.decided(question.proposal == nil ? .nobody : wish.answer)
            case .readTokens(let ids):
                steps += agreement.tokensRead(try await store.exchange.receivedTokens(of: side.peer, in: ids))
            case .share(let plan):
                let backup = plan.replaces ? try await side.machine.engine.backUp() : nil
                _ = try await store.exchange.share(plan, with: side.peer, since: backup?.moment)
                steps += agreement.shared()
            case .send(let message):
                try record(message, from: side)
                if case .open(let said) = message { open = said }
            case .agreed(let entries): zones = entries
            }
        }
        return (open, zones)
    }

    /// Ends the session with an error when a side does not agree to the union.
    private func telling<Value>(_ side: Side, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as ProtocolError where !side.isOver {
            (caller.isOver, listener.isOver) = (true, true)
            try record(.error(error), from: side)
            throw error
        }
    }

    private func hello(of side: Side, _ offers: [ZoneOffer]) -> Message {
        .hello(
            Message.Hello(
                minorVersion: ProtocolLimits.minorVersion, replica: side.machine.store.replica,
                instance: side.machine.instance, displayName: side.machine.name,
                clock: VectorFile.sessionClock, zones: offers))
    }

    private func agreement(
        of side: Side, _ own: [ZoneOffer], _ theirs: [ZoneOffer], startsOver: Bool = false
    ) throws -> ZoneAgreement {
        ZoneAgreement(
            ZoneAgreement.Situation(
                peer: side.peer.name, isCaller: side.isCaller, own: own, theirs: theirs,
                held: Set(try side.machine.zones().map(\.id))), startsOver: startsOver)
    }

    private func begin(_ side: Side, _ zones: [ZoneAgreement.Entry], _ wish: RecordedWish) async throws {
        let known = try await side.machine.store.zones.find(zones.map(\.id))
        side.zones = known.enumerated().map { number, zone in
            SessionZone(
                number, zone, of: side.machine, with: side.peer, isCaller: side.isCaller,
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
        let message = tokens?.renamed(message) ?? message
        entries.append(.message(isFromCaller: side.isCaller, on: cause, message))
    }

    private func post(_ message: Message, from side: Side) throws {
        try record(message, from: side)
        underWay.append((side.isCaller ? listener : caller, entries.count - 1, message))
    }

    private func deliverAll() throws {
        // The hellos were dealt with when the opens were made.
        underWay.removeAll { if case .hello = $0.2 { true } else { false } }
        while !underWay.isEmpty {
            let (side, entry, message) = underWay.removeFirst()
            guard !side.isOver else { continue }
            cause = entry
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

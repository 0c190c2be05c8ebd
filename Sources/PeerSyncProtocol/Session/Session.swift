import PeerSyncChannel
import PeerSyncModel

/// One connection with one machine, from the handshake to the goodbye: a state machine without I/O. Protocol/ "The
/// course of a session" is normative.
///
/// The driver hands in events (a message, an answer of the store or of a person) and performs the actions that the
/// session returns, in their order. An action that asks for something names the event that answers it. An event after
/// the end of the session, or for a part that is over, changes nothing.
///
/// The phase says which messages are legal and, with ``timeout``, how long to wait for the next one. An illegal
/// message ends the session, as ``failed(_:toldToPeer:)`` does.
package struct Session: Sendable {
    enum Phase: Sendable {
        case handshake
        /// The listener waits for the caller's first message.
        case awaitingCaller(SecuredChannel)
        /// The session waits for the store. The listener has the caller's hello.
        case identifying(SecuredChannel, Message.Hello?)
        case pairing(SessionPairing)
        /// The caller used a wrong code here; the session waits for the number of attempts that are left.
        case pairingFailed
        case greeting(Greeting)
        case agreeing(ZoneAgreement)
        /// The session waits for its grants from the store.
        case granting([ZoneAgreement.Entry])
        /// The session waits for the store to say where each zone begins; `left` zones have not begun.
        case beginning(SessionExchange, left: Int)
        case exchanging(SessionExchange)
        /// This side has sent its last message. It still handles messages that the other side sent before.
        case leaving(End, SessionExchange?)
        /// The session reads nothing more.
        case over(End, SessionExchange?)
        /// The session is handling an event, and has taken the phase out: with two owners, each change would make a
        /// copy.
        case changing
    }

    struct Greeting: Sendable {
        enum Step: Sendable {
            /// The listener has paired, and waits for the caller's hello.
            case awaitingHello
            /// The session waits for the store. The listener has the caller's hello.
            case readingOffers(theirs: Message.Hello?)
            /// The caller has sent its hello.
            case awaitingAnswer(ZoneAgreement.Situation)
        }

        let peer: String
        var step: Step

        /// Whether the caller's hello is still to come, behind a pairing.
        var isAwaitingHello: Bool { if case .awaitingHello = step { true } else { false } }
    }

    let identity: Identity
    let purpose: SessionPurpose
    var phase = Phase.handshake
    /// Whether the two were paired in this session.
    package internal(set) var didPair = false
    /// Whether this side has begun to prove the code that somebody typed. Whoever answers can then try one code of its own.
    package internal(set) var hasShownCode = false

    package init(_ identity: Identity, _ purpose: SessionPurpose) {
        self.identity = identity
        self.purpose = purpose
    }

    var isCaller: Bool { purpose.call != nil }

    // MARK: Facts that follow from the phase

    package var timeout: Timeout {
        switch phase {
        case .handshake: .handshake
        case .awaitingCaller, .identifying, .pairing, .pairingFailed, .greeting, .changing: .greeting
        case .agreeing(let agreement) where agreement.isCallerSharing: .work
        case .agreeing: .decision
        case .granting, .beginning: .work
        case .exchanging: .silence
        case .leaving, .over: .farewell
        }
    }

    /// The longest message that the session reads now, in bytes.
    package var maximumMessage: Int {
        switch phase {
        case .handshake, .awaitingCaller, .identifying, .pairing, .pairingFailed, .changing:
            ProtocolLimits.maximumUnpairedMessage
        case .greeting(let greeting) where greeting.isAwaitingHello: ProtocolLimits.maximumUnpairedMessage
        case .greeting, .agreeing, .granting, .beginning, .exchanging, .leaving, .over:
            ProtocolLimits.maximumMessage
        }
    }

    /// Returns the work that the driver must do before it hands a message in.
    package func readiness(for message: Message) -> Readiness {
        switch phase {
        case .granting, .beginning: return .afterAnswers
        case .agreeing(let agreement) where agreement.isAsking:
            // The other side may leave although a person has not answered yet.
            return switch message {
            case .error, .goodbye: .ready
            default: .afterAnswers
            }
        case .exchanging, .leaving(_, .some):
            if case .batch = message { return .ready }
            if let zone = message.zone { return .afterBatches(ofZone: zone) }
            // A pong tells the peer that all went well before its ping. A goodbye or an error must not overtake the
            // batches before it.
            return switch message {
            case .ping, .error, .goodbye: .afterAllBatches
            case .hello, .pairingShare, .pairingTag, .open, .begin, .batch, .acknowledge, .refuse, .digest,
                .resync, .reconcile, .assetRequest, .assetChunk, .assetMissing, .assetsAvailable,
                .assetsWanted, .household, .householdSet, .pong, .unknown:
                .ready
            }
        case .handshake, .awaitingCaller, .identifying, .pairing, .pairingFailed, .greeting, .agreeing,
            .leaving(_, .none), .over, .changing:
            return .ready
        }
    }

    /// Whether the two sides exchange records.
    package var isExchanging: Bool {
        if case .exchanging = phase { true } else { false }
    }

    /// Returns a ping; nil unless both sides have sent their opens. Before that nothing may come between. After it the other side
    /// waits for a frame, however long this one has to change its store.
    package func ping() -> Message? {
        let haveBothOpened =
            switch phase {
            case .agreeing(let agreement): agreement.isCallerSharing
            case .granting, .beginning, .exchanging: true
            default: false
            }
        return haveBothOpened ? .ping([UInt8](repeating: 0, count: MessageCodec.pingLength)) : nil
    }

    /// Whether the other side has batches that it has not acknowledged. It may work on them, and answers nothing meanwhile.
    package var awaitsAcknowledgement: Bool { exchange?.awaitsAcknowledgement ?? false }

    /// Ends a session that reads nothing because it waits for a person: the other side has gone.
    ///
    /// - Parameter error: the error to end with.
    package mutating func left(_ error: any Error) -> [Action] {
        guard case .agreeing(let agreement) = phase, agreement.isAsking else { return [] }
        return failed(error, toldToPeer: nil)
    }

    /// The way the session ended; nil if it has not.
    package var end: End? {
        switch phase {
        case .leaving(let end, _), .over(let end, _): end
        default: nil
        }
    }

    /// Whether the session reads nothing more.
    package var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    /// The exchange of records; nil before it has begun in every zone, because until then nobody applies batches.
    var exchange: SessionExchange? {
        switch phase {
        case .exchanging(let exchange): exchange
        case .leaving(_, let exchange), .over(_, let exchange): exchange
        default: nil
        }
    }

    /// Returns the last digest in a zone that both sides found equal; nil before that.
    package func agreedDigest(zone number: Int) -> ZoneDigest? { exchange?.zones[number].agreedDigest }

    /// The number of records that the other side is still going to send, over all zones; nil if this side does not know.
    package var recordsLeftToReceive: Int? { exchange?.recordsLeftToReceive }

    /// The differences that a comparison of everything found; nil if nobody asked for one.
    package var differences: SyncDifferences? { exchange?.differences }

    // MARK: Ending

    /// Ends the session for the user of this side, or for the program.
    package mutating func stop() -> [Action] {
        guard end == nil else { return [] }
        phase = .leaving(.asked, takenExchange())
        return [.send(.goodbye), .leave]
    }

    /// Ends the session after an error outside of it: at the store, or on the connection.
    ///
    /// - Parameter told: the error that this side sends to the other; nil to send none.
    package mutating func failed(_ error: any Error, toldToPeer told: ProtocolError?) -> [Action] {
        guard end == nil else { return [] }
        // A frame that does not open is no wrong code: somebody on the way may have changed it, and hears nothing.
        if case .pairing(let pairing) = phase, pairing.isAttempt, let error = error as? SecureChannelError,
            error.code != .authenticationFailed, error.code != .malformedMessage
        {
            // The session ends, and tells the other side, when it knows how many attempts are left.
            phase = .pairingFailed
            return [.endPairingAttempt(succeeded: false)]
        }
        phase = .leaving(.failed(error), takenExchange())
        return (told.map { [.send(.error($0))] } ?? []) + [.leave]
    }

    /// Stops a session that has ended from waiting: the connection is closed. Before the end, call ``failed(_:toldToPeer:)``
    /// first.
    package mutating func closed() {
        guard let end else { return }
        phase = .over(end, takenExchange())
    }

    mutating func fail(_ error: ProtocolError) -> [Action] { failed(error, toldToPeer: error) }

    mutating func takenExchange() -> SessionExchange? {
        defer { phase = .changing }
        return exchange
    }

    // MARK: Messages

    /// Handles a message, for which the session must be ready: ``readiness(for:)``.
    package mutating func received(_ message: Message) -> [Action] {
        do {
            return try deal(with: message)
        } catch {
            let actions = failed(error, toldToPeer: error as? ProtocolError)
            // The session ignores everything after a message that it could not handle.
            closed()
            return actions
        }
    }

    private mutating func deal(with message: Message) throws -> [Action] {
        switch message {
        case .unknown, .pong: return []
        case .error(let error):
            phase = .over(end ?? .failed(ErrorOfPeer(error: error)), takenExchange())
            return [.leave]
        case .goodbye: return farewell()
        default: break
        }
        switch phase {
        case .awaitingCaller(let channel): return try begin(with: message, channel)
        case .pairing(var pairing):
            defer { phase = .pairing(pairing) }
            return try pairing.received(message)
        case .greeting(var greeting): return try greet(message, &greeting)
        case .agreeing(var agreement):
            guard case .open(let open) = message else { throw ZoneAgreement.unexpected }
            let steps = try agreement.received(open)
            phase = .agreeing(agreement)
            return actions(steps)
        case .exchanging, .leaving(_, .some): return try exchange(message)
        case .leaving, .over: return []
        case .handshake, .identifying, .pairingFailed, .granting, .beginning, .changing:
            throw ProtocolError.unexpected("spoke out of turn")
        }
    }

    private mutating func farewell() -> [Action] {
        switch phase {
        case .exchanging, .leaving:
            let actions = stop()
            closed()
            return actions
        default:
            phase = .over(end ?? .failed(EarlyGoodbye()), takenExchange())
            return [.leave]
        }
    }

    mutating func begin(with message: Message, _ channel: SecuredChannel) throws -> [Action] {
        switch message {
        case .pairingShare(let share):
            let (pairing, actions) = SessionPairing.answer(share, channel, as: identity)
            phase = .pairing(pairing)
            return actions
        case .hello(let hello):
            phase = .identifying(channel, hello)
            return [.findPeer(channel.remoteKey)]
        default: throw Self.noHello
        }
    }

    static let noHello = ProtocolError.unexpected("did not say hello")

    mutating func greet(_ message: Message, _ greeting: inout Greeting) throws(ProtocolError)
        -> [Action]
    {
        guard case .hello(let hello) = message else { throw Self.noHello }
        switch greeting.step {
        case .awaitingHello:
            greeting.step = .readingOffers(theirs: hello)
            phase = .greeting(greeting)
            return [.readOffers]
        case .awaitingAnswer(let situation): return try agree(situation, hello)
        case .readingOffers: throw Self.greetedTwice
        }
    }

    static let greetedTwice = ProtocolError.unexpected("greeted twice")

    mutating func exchange(_ message: Message) throws -> [Action] {
        switch message {
        case .begin, .batch, .acknowledge, .refuse, .digest, .resync, .reconcile:
            guard let number = message.zone else { return [] }
            return try changing { exchange throws(ProtocolError) in
                try exchange.received(message, zone: number)
            } ?? []
        case .assetRequest, .assetChunk, .assetMissing, .assetsAvailable, .assetsWanted:
            return [.file(message)]
        case .household(let digest):
            try self.exchange?.checkHasBegun()
            guard end == nil else { return [] }
            return changingExchange { exchange in
                defer { exchange.hasHeardHousehold = true }
                return [.tellHousehold(unless: exchange.hasHeardHousehold ? digest : nil)]
            }
        case .householdSet(let set):
            try self.exchange?.checkHasBegun()
            return [.takeHousehold(set)]
        case .ping(let bytes): return end == nil ? [.send(.pong(bytes))] : []
        case .hello, .open, .pairingShare, .pairingTag: throw Self.greetedTwice
        case .pong, .error, .goodbye, .unknown: return []
        }
    }
}

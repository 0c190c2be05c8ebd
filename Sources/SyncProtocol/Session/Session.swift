import SecureChannel
import SyncModel

/// One connection with one machine, from the handshake to the goodbye: a state machine without I/O. Protocol/ "The course
/// of a session" is normative.
///
/// Whoever drives it hands in what happens (a message, what the store or a person says) and takes the actions that come
/// back, in their order. An action that asks for something names the event that answers it. An event that comes when the
/// session has ended, or for a part of it that is over, changes nothing.
///
/// The phase says which messages are legal, and with ``timeout`` how long to wait for the next one. A message that is not
/// legal ends the session, as ``failed(_:toldToPeer:)`` does.
package struct Session: Sendable {
    enum Phase: Sendable {
        case handshake
        /// The listener waits for the caller to speak.
        case awaitingCaller(SecuredChannel)
        /// Waits for the store. The listener has got the caller's hello.
        case identifying(SecuredChannel, Message.Hello?)
        case pairing(SecuredChannel, SessionPairing)
        /// A wrong code was tried here; waits to hear how many attempts are left.
        case pairingFailed
        case greeting(Greeting)
        case agreeing(ZoneAgreement)
        /// Waits for the store to say what the session goes by.
        case granting([ZoneAgreement.Entry])
        /// Waits for the store to say where each zone begins; so many have not begun.
        case beginning(SessionExchange, left: Int)
        case exchanging(SessionExchange)
        /// The last word is said. What the other side has said before is still taken in.
        case leaving(End, SessionExchange?)
        /// Nothing more is read.
        case over(End, SessionExchange?)
        /// An event is being dealt with, which has taken the phase out: with two owners, each change would make a copy.
        case changing
    }

    struct Greeting: Sendable {
        enum Step: Sendable {
            /// The listener has paired, and waits for the caller's hello.
            case awaitingHello
            /// Waits for the store. The listener has the caller's hello.
            case readingOffers(theirs: Message.Hello?)
            /// The caller has said hello.
            case awaitingAnswer(ZoneAgreement.Situation)
        }

        let peer: String
        var step: Step
    }

    let identity: Identity
    let purpose: SessionPurpose
    var phase = Phase.handshake
    /// Whether the two were paired in this session.
    package internal(set) var didPair = false

    package init(_ identity: Identity, _ purpose: SessionPurpose) {
        self.identity = identity
        self.purpose = purpose
    }

    var isCaller: Bool { purpose.call != nil }

    // MARK: What the phase says

    package var timeout: Timeout {
        switch phase {
        case .handshake: .handshake
        case .awaitingCaller, .identifying, .pairing, .pairingFailed, .greeting, .changing: .greeting
        case .agreeing, .granting, .beginning: .decision
        case .exchanging: .silence
        case .leaving, .over: .farewell
        }
    }

    /// The longest message that is read, in bytes.
    package var maximumMessage: Int {
        switch phase {
        case .handshake, .awaitingCaller, .identifying, .pairing, .pairingFailed, .changing:
            ProtocolLimits.maximumUnpairedMessage
        case .greeting, .agreeing, .granting, .beginning, .exchanging, .leaving, .over:
            ProtocolLimits.maximumMessage
        }
    }

    /// When a message may be handed in.
    package func readiness(for message: Message) -> Readiness {
        switch phase {
        case .granting, .beginning: return .afterAnswers
        case .agreeing(let agreement) where agreement.isAsking:
            // What a person has not answered keeps nobody from leaving.
            return switch message {
            case .error, .goodbye: .ready
            default: .afterAnswers
            }
        case .exchanging, .leaving(_, .some):
            if case .batch = message { return .ready }
            if let zone = message.zone { return .afterBatches(ofZone: zone) }
            // An answer to a ping says that all went well that came before. An end comes after it.
            return switch message {
            case .ping, .error, .goodbye: .afterAllBatches
            default: .ready
            }
        default: return .ready
        }
    }

    /// Whether records are exchanged.
    package var isExchanging: Bool {
        if case .exchanging = phase { true } else { false }
    }

    /// The other side has gone while this session reads nothing, because it waits for a person.
    ///
    /// - Parameter error: what to end with.
    package mutating func left(_ error: any Error) -> [Action] {
        guard case .agreeing(let agreement) = phase, agreement.isAsking else { return [] }
        return failed(error, toldToPeer: nil)
    }

    /// How it ended, if it has.
    package var end: End? {
        switch phase {
        case .leaving(let end, _), .over(let end, _): end
        default: nil
        }
    }

    /// Nothing more is to be read.
    package var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    /// The exchange of records, if it has begun in every zone: before that, nobody applies what comes.
    var exchange: SessionExchange? {
        switch phase {
        case .exchanging(let exchange): exchange
        case .leaving(_, let exchange), .over(_, let exchange): exchange
        default: nil
        }
    }

    /// The digest that both sides found equal last in a zone; nil before that.
    package func agreedDigest(zone number: Int) -> ZoneDigest? { exchange?.agreedDigest(ofZone: number) }

    /// What was found to differ, if everything was to be compared.
    package var differences: SyncDifferences? { exchange?.differences }

    // MARK: Ending

    /// The user of this side, or the program, ends it.
    package mutating func stop() -> [Action] {
        guard end == nil else { return [] }
        phase = .leaving(.asked, takenExchange())
        return [.send(.goodbye), .leave]
    }

    /// Something went wrong outside of the session: at the store, or on the way.
    ///
    /// - Parameter told: what the other side hears of it; nothing if this is nil.
    package mutating func failed(_ error: any Error, toldToPeer told: ProtocolError?) -> [Action] {
        guard end == nil else { return [] }
        if case .pairing(_, let pairing) = phase, pairing.isAttempt, error is SecureChannelError {
            // The other side hears how many attempts are left.
            phase = .pairingFailed
            return [.endPairingAttempt(succeeded: false)]
        }
        phase = .leaving(.failed(error), takenExchange())
        return (told.map { [.send(.error($0))] } ?? []) + [.leave]
    }

    /// The other side has closed the connection, or it broke.
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

    /// A message has come, for which the session is ready: ``readiness(for:)``.
    package mutating func received(_ message: Message) -> [Action] {
        do {
            return try deal(with: message)
        } catch {
            let actions = failed(error, toldToPeer: error as? ProtocolError)
            // What comes behind it is of no interest.
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
        case .pairing(let channel, var pairing):
            let steps: [SessionPairing.Step]
            do {
                steps = try pairing.received(message)
            } catch {
                phase = .pairing(channel, pairing)
                throw error
            }
            phase = .pairing(channel, pairing)
            return steps.map { action($0, channel) }
        case .greeting(var greeting): return try greet(message, &greeting)
        case .agreeing(var agreement):
            guard case .open(let open) = message else {
                throw ProtocolError(
                    .unexpectedMessage, "the other side did not say which zones it takes part in")
            }
            let steps = try agreement.received(open)
            phase = .agreeing(agreement)
            return actions(steps)
        case .exchanging, .leaving(_, .some): return try exchange(message)
        case .leaving, .over: return []
        case .handshake, .identifying, .pairingFailed, .granting, .beginning, .changing:
            throw ProtocolError(.unexpectedMessage, "the other side spoke out of turn")
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
            let (pairing, steps) = SessionPairing.answer(
                share, channel, own: identity.key, displayName: identity.displayName)
            phase = .pairing(channel, pairing)
            return steps.map { action($0, channel) }
        case .hello(let hello):
            phase = .identifying(channel, hello)
            return [.findPeer(channel.remoteKey)]
        default: throw Self.noHello
        }
    }

    static let noHello = ProtocolError(.unexpectedMessage, "the other side did not say hello")

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

    static let greetedTwice = ProtocolError(
        .unexpectedMessage, "the other side greeted twice")

    mutating func exchange(_ message: Message) throws -> [Action] {
        switch message {
        case .begin, .batch, .acknowledge, .refuse, .digest, .resync, .reconcile:
            guard let number = message.zone else { return [] }
            return try tryChangingExchange { exchange throws(ProtocolError) in
                try exchange.received(message, zone: number)
            }
        case .assetRequest, .assetChunk, .assetMissing, .assetsAvailable, .assetsWanted:
            return [.file(message)]
        case .ping(let bytes): return end == nil ? [.send(.pong(bytes))] : []
        case .hello, .open, .pairingShare, .pairingTag: throw Self.greetedTwice
        case .pong, .error, .goodbye, .unknown: return []
        }
    }
}

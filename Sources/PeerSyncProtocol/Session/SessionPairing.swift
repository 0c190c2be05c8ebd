import PeerSyncChannel

/// The pairing of two machines inside an encrypted connection: the messages around the CPace machines, without I/O.
///
/// The side that typed the code proves first that it knows it. Each side keeps the other's static key only after the
/// other has proved the same. A failed attempt changes only the number of attempts that are left.
struct SessionPairing: Sendable {
    /// The session's next step.
    enum Step: Sendable {
        case send(Message)
        /// Keep the peer in the store. Then ``kept()``.
        case keep(displayName: String)
        /// Begin an attempt with the code that this side shows. Then ``began(_:)``.
        case beginAttempt
        /// The attempt with the code that this side shows has succeeded.
        case succeeded
    }

    private enum State: Sendable {
        case callerAwaitsShare(PairingInitiator)
        case callerAwaitsTag(PairingInitiator)
        case callerKeeps
        case listenerBegins(share: [UInt8])
        case listenerAwaitsTag(PairingResponder)
        case listenerKeeps(ownTag: [UInt8])
        case done
    }

    private let channel: SecuredChannel
    private let own: PublicKey
    private let displayName: String
    private var state = State.done

    private init(_ channel: SecuredChannel, own: PublicKey, displayName: String) {
        self.channel = channel
        self.own = own
        self.displayName = displayName
    }

    /// Whether an attempt has begun that the session has to end, even if the connection breaks.
    var isAttempt: Bool {
        switch state {
        case .listenerAwaitsTag, .listenerKeeps: true
        case .callerAwaitsShare, .callerAwaitsTag, .callerKeeps, .listenerBegins, .done: false
        }
    }

    /// Begins to pair from the side that typed the code.
    static func call(
        _ code: PairingCode, _ channel: SecuredChannel, own: PublicKey, displayName: String
    ) throws -> (SessionPairing, [Step]) {
        var pairing = SessionPairing(channel, own: own, displayName: displayName)
        var machine = PairingInitiator(
            code: code, handshakeHash: channel.handshakeHash, initiatorStatic: own,
            responderStatic: channel.remoteKey)
        let share = try machine.start()
        pairing.state = .callerAwaitsShare(machine)
        return (pairing, [.send(.pairingShare(share))])
    }

    /// Begins to pair from the side that shows the code.
    static func answer(
        _ share: [UInt8], _ channel: SecuredChannel, own: PublicKey, displayName: String
    ) -> (SessionPairing, [Step]) {
        var pairing = SessionPairing(channel, own: own, displayName: displayName)
        pairing.state = .listenerBegins(share: share)
        return (pairing, [.beginAttempt])
    }

    /// Starts the attempt, which counts from now on, with the code that this side shows.
    mutating func began(_ code: PairingCode) throws -> [Step] {
        guard case .listenerBegins(let share) = state else { return [] }
        var machine = PairingResponder(
            code: code, handshakeHash: channel.handshakeHash, initiatorStatic: channel.remoteKey,
            responderStatic: own)
        // The session has to end the attempt even if the share is wrong.
        state = .listenerAwaitsTag(machine)
        let answer = try machine.receive(share: share)
        state = .listenerAwaitsTag(machine)
        return [.send(.pairingShare(answer))]
    }

    /// - Throws: ``ProtocolError`` for a message out of turn, `SecureChannelError` for a wrong code or a wrong share.
    mutating func received(_ message: Message) throws -> [Step] {
        switch (state, message) {
        case (.callerAwaitsShare(var machine), .pairingShare(let share)):
            let tag = try machine.receive(share: share)
            state = .callerAwaitsTag(machine)
            return [.send(.pairingTag(Message.PairingTag(tag: tag, displayName: displayName)))]
        case (.callerAwaitsTag(var machine), .pairingTag(let theirs)):
            do {
                try machine.verify(tag: theirs.tag)
            } catch {
                throw ProtocolError(
                    .pairingFailed,
                    "the other side could not prove that it shows this code; something may be in between")
            }
            state = .callerKeeps
            return [.keep(displayName: theirs.displayName)]
        case (.listenerAwaitsTag(var machine), .pairingTag(let theirs)):
            let tag = try machine.verify(tag: theirs.tag)
            // The store keeps the peer before the other side learns that the code was right, because that side keeps
            // this one when it reads the tag.
            state = .listenerKeeps(ownTag: tag)
            return [.keep(displayName: theirs.displayName)]
        default:
            throw ProtocolError(.unexpectedMessage, "the other side spoke out of turn while pairing")
        }
    }

    /// Notes that the store has kept the peer: the two are paired.
    mutating func kept() -> [Step] {
        defer { state = .done }
        guard case .listenerKeeps(let tag) = state else { return [] }
        return [.send(.pairingTag(Message.PairingTag(tag: tag, displayName: displayName))), .succeeded]
    }

    /// Makes the error that tells the other side that its code was wrong.
    static func failed(attemptsLeft: Int) -> ProtocolError {
        let rest =
            switch attemptsLeft {
            case 0: "it is used up now, and that machine has to show a new one"
            case 1: "1 attempt is left"
            default: "\(attemptsLeft) attempts are left"
            }
        return ProtocolError(.pairingFailed, "the pairing code is wrong; \(rest)")
    }
}

/// The result of the handshake of a connection.
package struct SecuredChannel: Sendable {
    /// The static key of the other side, which has proved that it holds the secret key.
    package let remoteKey: PublicKey
    package let handshakeHash: [UInt8]

    package init(remoteKey: PublicKey, handshakeHash: [UInt8]) {
        self.remoteKey = remoteKey
        self.handshakeHash = handshakeHash
    }
}

import PeerSyncChannel

/// The pairing of two machines inside an encrypted connection: the messages around the CPace machines, without I/O.
///
/// The side that typed the code proves first that it knows it. Each side keeps the other's static key only after the
/// other has proved the same. A failed attempt changes only the number of attempts that are left.
struct SessionPairing: Sendable {
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
    private let identity: Session.Identity
    private var state: State

    /// Whether an attempt has begun that the session has to end, even if the connection breaks.
    var isAttempt: Bool {
        switch state {
        case .listenerAwaitsTag, .listenerKeeps: true
        case .callerAwaitsShare, .callerAwaitsTag, .callerKeeps, .listenerBegins, .done: false
        }
    }

    /// Begins to pair from the side that typed the code.
    static func call(
        _ code: PairingCode, _ channel: SecuredChannel, as identity: Session.Identity
    ) throws -> (SessionPairing, [Session.Action]) {
        var machine = PairingInitiator(
            code: code, handshakeHash: channel.handshakeHash, initiatorStatic: identity.key,
            responderStatic: channel.remoteKey)
        let share = try machine.start()
        let pairing = SessionPairing(
            channel: channel, identity: identity, state: .callerAwaitsShare(machine))
        return (pairing, [.send(.pairingShare(share))])
    }

    /// Begins to pair from the side that shows the code.
    static func answer(
        _ share: [UInt8], _ channel: SecuredChannel, as identity: Session.Identity
    ) -> (SessionPairing, [Session.Action]) {
        let pairing = SessionPairing(
            channel: channel, identity: identity, state: .listenerBegins(share: share))
        return (pairing, [.beginPairingAttempt])
    }

    /// Starts the attempt, which counts from now on, with the code that this side shows.
    mutating func began(_ code: PairingCode) throws -> [Session.Action] {
        guard case .listenerBegins(let share) = state else { return [] }
        var machine = PairingResponder(
            code: code, handshakeHash: channel.handshakeHash, initiatorStatic: channel.remoteKey,
            responderStatic: identity.key)
        // The session has to end the attempt even if the share is wrong.
        state = .listenerAwaitsTag(machine)
        let answer = try machine.receive(share: share)
        state = .listenerAwaitsTag(machine)
        return [.send(.pairingShare(answer))]
    }

    /// - Throws: ``ProtocolError`` for a message out of turn, `SecureChannelError` for a wrong code or a wrong share.
    mutating func received(_ message: Message) throws -> [Session.Action] {
        switch (state, message) {
        case (.callerAwaitsShare(var machine), .pairingShare(let share)):
            let tag = try machine.receive(share: share)
            state = .callerAwaitsTag(machine)
            return [ownTag(tag)]
        case (.callerAwaitsTag(var machine), .pairingTag(let theirs)):
            do {
                try machine.verify(tag: theirs.tag)
            } catch {
                throw ProtocolError(
                    .pairingFailed,
                    "the other side could not prove that it shows this code; something may be in between")
            }
            state = .callerKeeps
            return [.keepPeer(channel.remoteKey, displayName: theirs.displayName)]
        case (.listenerAwaitsTag(var machine), .pairingTag(let theirs)):
            let tag = try machine.verify(tag: theirs.tag)
            // The store keeps the peer before the other side learns that the code was right, because that side keeps
            // this one when it reads the tag.
            state = .listenerKeeps(ownTag: tag)
            return [.keepPeer(channel.remoteKey, displayName: theirs.displayName)]
        default:
            throw ProtocolError.unexpected("spoke out of turn while pairing")
        }
    }

    /// Notes that the store has kept the peer: the two are paired.
    mutating func kept() -> [Session.Action] {
        defer { state = .done }
        guard case .listenerKeeps(let tag) = state else { return [] }
        return [ownTag(tag), .endPairingAttempt(succeeded: true)]
    }

    private func ownTag(_ tag: [UInt8]) -> Session.Action {
        .send(.pairingTag(Message.PairingTag(tag: tag, displayName: identity.displayName)))
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

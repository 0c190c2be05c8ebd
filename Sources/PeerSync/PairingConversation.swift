import RecordStore
import SecureChannel
import SyncProtocol

/// The pairing of two machines inside an encrypted connection: the messages around the CPace machines.
///
/// The side that typed the code proves it first. Each side keeps the other's static key only after the other has
/// proved to know the code; a failed attempt changes nothing but the count.
struct PairingConversation {
    let engine: SyncEngine
    let address: String
    let ciphers: TransportCiphers

    /// Pairs from the side that typed the code.
    func call(_ code: PairingCode, _ outbox: Outbox, _ next: () async throws -> Message) async throws -> Peer
    {
        var machine = PairingInitiator(
            code: code, handshakeHash: ciphers.handshakeHash, initiatorStatic: engine.identity.publicKey,
            responderStatic: ciphers.remoteStatic)
        try outbox.send(.pairingShare(try machine.start()))
        guard case .pairingShare(let share) = try await next() else { throw Self.outOfTurn }
        let tag = try machine.receive(share: share)
        try outbox.send(.pairingTag(Message.PairingTag(tag: tag, displayName: engine.displayName)))
        guard case .pairingTag(let theirs) = try await next() else { throw Self.outOfTurn }
        do {
            try machine.verify(tag: theirs.tag)
        } catch {
            throw ProtocolError(
                .pairingFailed,
                "\(address) could not prove that it shows this code; something may be in between")
        }
        return try await engine.store.addPeer(key: ciphers.remoteStatic.bytes, name: theirs.displayName)
    }

    /// Pairs from the side that shows the code.
    func answer(_ share: [UInt8], _ outbox: Outbox, _ next: () async throws -> Message) async throws -> Peer {
        let network = NetworkAddress(address).description
        // One address must not use up code after code, nor keep others from trying by being refused again and again.
        try await engine.store.checkPairingAttempt(from: network)
        let attempt = try await engine.pairing.beginAttempt {
            try await engine.store.beginPairingAttempt(from: network)
        }
        do {
            let peer = try await answer(share, attempt.code, from: network, outbox, next)
            await engine.pairing.endAttempt(attempt, succeeded: true)
            return peer
        } catch {
            let left = await engine.pairing.endAttempt(attempt, succeeded: false)
            engine.onEvent(.pairingFailed(address: address, attemptsLeft: left))
            guard let error = error as? SecureChannelError else { throw error }
            throw Self.failed(error, attemptsLeft: left)
        }
    }

    private func answer(
        _ share: [UInt8], _ code: PairingCode, from network: String, _ outbox: Outbox,
        _ next: () async throws -> Message
    ) async throws -> Peer {
        var machine = PairingResponder(
            code: code, handshakeHash: ciphers.handshakeHash, initiatorStatic: ciphers.remoteStatic,
            responderStatic: engine.identity.publicKey)
        try outbox.send(.pairingShare(try machine.receive(share: share)))
        guard case .pairingTag(let theirs) = try await next() else { throw Self.outOfTurn }
        let tag = try machine.verify(tag: theirs.tag)
        // Kept before the other side learns that the code was right: it will keep us when it reads our tag.
        let peer = try await engine.store.addPeer(
            key: ciphers.remoteStatic.bytes, name: theirs.displayName, from: network)
        try outbox.send(.pairingTag(Message.PairingTag(tag: tag, displayName: engine.displayName)))
        return peer
    }

    private static let outOfTurn = ProtocolError(
        .unexpectedMessage, "the other side spoke out of turn while pairing")

    private static func failed(_ error: SecureChannelError, attemptsLeft: Int) -> ProtocolError {
        let rest =
            switch attemptsLeft {
            case 0: "it is used up now; show a new one with `scorebook-peer listen --pair`"
            case 1: "1 attempt is left"
            default: "\(attemptsLeft) attempts are left"
            }
        return ProtocolError(.pairingFailed, "the pairing code is wrong; \(rest)")
    }
}

/// One side of a Noise_XX_25519_ChaChaPoly_SHA256 handshake, without any I/O (Noise rev 34 §5.3, §7.5).
///
/// Three messages: `-> e`, `<- e, ee, s, es`, `-> s, se`. The initiator writes the first and the third, the
/// responder the second; then both call ``finish()``. At that point each side knows that the other holds the secret
/// key of ``remoteStatic``. The caller decides whether that key is a known one.
///
/// The payload of the first message travels in the clear. The side that opened the connection can read the second,
/// whoever it is. Only an authenticated peer can read the third.
///
/// Any error ends the handshake and erases the keys; each later call throws `wrongState`.
package struct NoiseHandshake: Sendable {
    /// The name that both sides hash first, so that another protocol's messages do not fit (Noise rev 34 §8).
    package static let protocolName = "Noise_XX_25519_ChaChaPoly_SHA256"

    /// A side of the connection.
    package enum Role: Hashable, Sendable {
        /// The side that opened the connection, and writes first.
        case initiator
        /// The side that accepted the connection.
        case responder
    }

    /// The next step, with exactly the values that it needs.
    private enum State {
        case writingFirst(SymmetricState)
        case readingFirst(SymmetricState)
        case writingSecond(SymmetricState, remoteEphemeral: PublicKey)
        case readingSecond(SymmetricState, ephemeral: KeyPair)
        case writingThird(SymmetricState, remoteEphemeral: PublicKey, remoteStatic: PublicKey)
        case readingThird(SymmetricState, ephemeral: KeyPair)
        case complete(SymmetricState, remoteStatic: PublicKey)
        /// Finished or failed.
        case ended
    }

    /// This machine's role.
    package let role: Role

    private let staticKey: KeyPair
    private let presetEphemeral: KeyPair?
    private var state: State

    /// Starts a handshake.
    ///
    /// - Parameters:
    ///   - role: The initiator calls ``writeMessage(payload:)`` first, the responder ``readMessage(_:)``.
    ///   - staticKey: This machine's identity.
    ///   - prologue: Bytes that both sides must agree on, such as the protocol's version; any difference
    ///     makes the handshake fail.
    ///   - ephemeral: For test vectors only. Without it, each handshake makes a new random key, as it must.
    package init(role: Role, staticKey: KeyPair, prologue: [UInt8], ephemeral: KeyPair? = nil) {
        self.role = role
        self.staticKey = staticKey
        self.presetEphemeral = ephemeral
        var symmetric = SymmetricState(protocolName: Self.protocolName)
        symmetric.mixHash(prologue)
        switch role {
        case .initiator: state = .writingFirst(symmetric)
        case .responder: state = .readingFirst(symmetric)
        }
    }

    /// Whether all three messages have gone through, so that only ``finish()`` is left.
    package var isComplete: Bool {
        if case .complete = state { true } else { false }
    }

    /// The other side's static key, as soon as it is known: for the initiator after the second message, for
    /// the responder after the third; nil before that, and after ``finish()`` or an error.
    ///
    /// Before ``isComplete`` the initiator may use it to give up on an unknown peer, and for nothing else.
    package var remoteStatic: PublicKey? {
        switch state {
        case .writingThird(_, _, let remoteStatic), .complete(_, let remoteStatic): remoteStatic
        default: nil
        }
    }

    /// The 32 bytes that name this one session, the same on both sides, or nil before ``isComplete``.
    ///
    /// A machine in the middle has two sessions with two hashes (channel binding, Noise rev 34 §11.2).
    package var handshakeHash: [UInt8]? {
        if case .complete(let symmetric, _) = state { symmetric.handshakeHash } else { nil }
    }

    /// Returns the next message to send.
    ///
    /// - Parameter payload: Bytes for the other side; see the type for who can read them.
    /// - Throws: ``SecureChannelError`` with `wrongState` if it is not this side's turn, `messageTooLong` if
    ///   the message would exceed 65,535 bytes, `lowOrderPoint` for a bad key of the other side.
    package mutating func writeMessage(payload: [UInt8] = []) throws -> [UInt8] {
        let current = state
        state = .ended
        guard payload.count <= NoiseLimits.maximumMessageLength else {
            throw SecureChannelError.messageTooLong
        }
        let message: [UInt8]
        switch current {
        case .writingFirst(let symmetric):
            (message, state) = try writeFirst(symmetric, payload)
        case .writingSecond(let symmetric, let remoteEphemeral):
            (message, state) = try writeSecond(symmetric, payload, remoteEphemeral)
        case .writingThird(let symmetric, let remoteEphemeral, let remoteStatic):
            (message, state) = try writeThird(symmetric, payload, remoteEphemeral, remoteStatic)
        case .readingFirst, .readingSecond, .readingThird, .complete, .ended:
            throw SecureChannelError.wrongState("Writing a handshake message")
        }
        guard message.count <= NoiseLimits.maximumMessageLength else {
            state = .ended
            throw SecureChannelError.messageTooLong
        }
        return message
    }

    /// Takes a message from the other side and returns its payload.
    ///
    /// - Throws: ``SecureChannelError`` with `wrongState` if it is not the other side's turn, `messageTooLong` or
    ///   `malformedMessage` for an impossible length, `lowOrderPoint` for a bad key, `authenticationFailed` for a
    ///   message that is not exactly what the other side wrote.
    package mutating func readMessage(_ message: [UInt8]) throws -> [UInt8] {
        let current = state
        state = .ended
        guard message.count <= NoiseLimits.maximumMessageLength else {
            throw SecureChannelError.messageTooLong
        }
        let payload: [UInt8]
        switch current {
        case .readingFirst(let symmetric):
            (payload, state) = try readFirst(symmetric, message)
        case .readingSecond(let symmetric, let ephemeral):
            (payload, state) = try readSecond(symmetric, message, ephemeral)
        case .readingThird(let symmetric, let ephemeral):
            (payload, state) = try readThird(symmetric, message, ephemeral)
        case .writingFirst, .writingSecond, .writingThird, .complete, .ended:
            throw SecureChannelError.wrongState("Reading a handshake message")
        }
        return payload
    }

    /// Returns the ciphers for everything that follows, and ends the handshake.
    ///
    /// It returns them only once: two sets of ciphers would use every nonce twice.
    ///
    /// - Throws: ``SecureChannelError`` with `wrongState` unless ``isComplete``.
    package mutating func finish() throws -> TransportCiphers {
        let current = state
        state = .ended
        guard case .complete(let symmetric, let remoteStatic) = current else {
            throw SecureChannelError.wrongState("Finishing the handshake")
        }
        let (initiatorKey, responderKey) = symmetric.split()
        let isInitiator = role == .initiator
        return TransportCiphers(
            send: SendingCipher(key: isInitiator ? initiatorKey : responderKey),
            receive: ReceivingCipher(key: isInitiator ? responderKey : initiatorKey),
            handshakeHash: symmetric.handshakeHash,
            remoteStatic: remoteStatic)
    }
}

// The six steps. Each takes the state before and returns the state after, so that an error leaves nothing
// half done.
extension NoiseHandshake {
    /// `-> e`
    private func writeFirst(_ before: SymmetricState, _ payload: [UInt8]) throws -> ([UInt8], State) {
        var symmetric = before
        let ephemeral = presetEphemeral ?? .generate()
        symmetric.mixHash(ephemeral.publicKey.bytes)
        let message = try ephemeral.publicKey.bytes + symmetric.encryptAndHash(payload)
        return (message, .readingSecond(symmetric, ephemeral: ephemeral))
    }

    private func readFirst(_ before: SymmetricState, _ message: [UInt8]) throws -> ([UInt8], State) {
        var symmetric = before
        var reader = MessageReader(message)
        let remoteEphemeral = try PublicKey(reader.read(PublicKey.byteCount))
        symmetric.mixHash(remoteEphemeral.bytes)
        let payload = try symmetric.decryptAndHash(reader.readRest())
        return (payload, .writingSecond(symmetric, remoteEphemeral: remoteEphemeral))
    }

    /// `<- e, ee, s, es`
    private func writeSecond(
        _ before: SymmetricState, _ payload: [UInt8], _ remoteEphemeral: PublicKey
    ) throws -> ([UInt8], State) {
        var symmetric = before
        let ephemeral = presetEphemeral ?? .generate()
        symmetric.mixHash(ephemeral.publicKey.bytes)
        symmetric.mixKey(try ephemeral.sharedSecret(with: remoteEphemeral))
        let encryptedStatic = try symmetric.encryptAndHash(staticKey.publicKey.bytes)
        symmetric.mixKey(try staticKey.sharedSecret(with: remoteEphemeral))
        let message = try ephemeral.publicKey.bytes + encryptedStatic + symmetric.encryptAndHash(payload)
        return (message, .readingThird(symmetric, ephemeral: ephemeral))
    }

    private func readSecond(
        _ before: SymmetricState, _ message: [UInt8], _ ephemeral: KeyPair
    ) throws -> ([UInt8], State) {
        var symmetric = before
        var reader = MessageReader(message)
        let remoteEphemeral = try PublicKey(reader.read(PublicKey.byteCount))
        symmetric.mixHash(remoteEphemeral.bytes)
        symmetric.mixKey(try ephemeral.sharedSecret(with: remoteEphemeral))
        let encryptedStatic = try reader.read(PublicKey.byteCount + NoiseLimits.tagLength)
        let remoteStatic = try PublicKey(symmetric.decryptAndHash(encryptedStatic))
        symmetric.mixKey(try ephemeral.sharedSecret(with: remoteStatic))
        let payload = try symmetric.decryptAndHash(reader.readRest())
        let after = State.writingThird(
            symmetric, remoteEphemeral: remoteEphemeral, remoteStatic: remoteStatic)
        return (payload, after)
    }

    /// `-> s, se`
    private func writeThird(
        _ before: SymmetricState, _ payload: [UInt8], _ remoteEphemeral: PublicKey, _ remoteStatic: PublicKey
    ) throws -> ([UInt8], State) {
        var symmetric = before
        let encryptedStatic = try symmetric.encryptAndHash(staticKey.publicKey.bytes)
        symmetric.mixKey(try staticKey.sharedSecret(with: remoteEphemeral))
        let message = try encryptedStatic + symmetric.encryptAndHash(payload)
        return (message, .complete(symmetric, remoteStatic: remoteStatic))
    }

    private func readThird(
        _ before: SymmetricState, _ message: [UInt8], _ ephemeral: KeyPair
    ) throws -> ([UInt8], State) {
        var symmetric = before
        var reader = MessageReader(message)
        let encryptedStatic = try reader.read(PublicKey.byteCount + NoiseLimits.tagLength)
        let remoteStatic = try PublicKey(symmetric.decryptAndHash(encryptedStatic))
        symmetric.mixKey(try ephemeral.sharedSecret(with: remoteStatic))
        let payload = try symmetric.decryptAndHash(reader.readRest())
        return (payload, .complete(symmetric, remoteStatic: remoteStatic))
    }
}

/// Takes a handshake message apart from front to back.
private struct MessageReader {
    private var rest: ArraySlice<UInt8>

    init(_ message: [UInt8]) {
        rest = message[...]
    }

    mutating func read(_ count: Int) throws -> [UInt8] {
        guard rest.count >= count else {
            throw SecureChannelError(.malformedMessage, "A handshake message is too short.")
        }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func readRest() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

import NIOCore
import PeerSyncChannel
import PeerSyncModel

/// The handshake of one connection, from the first byte to the ciphers: a state machine without I/O. Protocol/
/// "Handshake" is normative.
///
/// The driver sends the result of ``start()``, hands in the bytes that arrive, and does what ``next()`` says. An error
/// ends the handshake; the driver then closes the connection without a message.
package struct LinkHandshake: Sendable {
    /// A task for the driver.
    package enum Step: Sendable {
        case send(ByteBuffer)
        /// Tell a caller of another version this side's version, and close because of the error.
        case refuse(ByteBuffer, ProtocolError)
        /// The handshake is done. The frame decoder holds the bytes that came after it.
        case done(TransportCiphers, FrameDecoder)
    }

    private enum State {
        case caller
        case listener
        /// The listener waits for the caller's second message, the last of the handshake.
        case listenerAwaitingProof
        case complete
        case ended
    }

    private var noise: NoiseHandshake
    private let expected: ExpectedMachine
    private var frames = FrameDecoder(limit: ProtocolLimits.maximumHandshakeFrame)
    private var state: State

    /// - Parameters:
    ///   - role: the initiator is the side that made the connection.
    ///   - app: the handshake fails at the caller when the two sides have different ones.
    ///   - staticKey: this machine's identity.
    ///   - ephemeral: for tests only. Without it each handshake makes a new key, as it must.
    ///   - expected: the machine that the caller wants to speak with.
    package init(
        role: NoiseHandshake.Role, app: AppID, staticKey: KeyPair, ephemeral: KeyPair? = nil,
        expecting expected: ExpectedMachine = .anyone
    ) {
        self.expected = expected
        noise = NoiseHandshake(
            role: role, staticKey: staticKey, prologue: Preamble.prologue(app), ephemeral: ephemeral)
        state = role == .initiator ? .caller : .listener
    }

    /// Returns the caller's first message; nil for the listener, which waits.
    package mutating func start() throws -> ByteBuffer? {
        guard noise.role == .initiator else { return nil }
        return Self.frame(try noise.writeMessage(payload: Preamble.payload))
    }

    /// Adds bytes that have arrived.
    package mutating func append(_ bytes: ByteBuffer) { frames.append(bytes) }

    /// Returns the next step; nil if more bytes have to come first, and after the end.
    ///
    /// - Throws: ``ProtocolError`` for bytes that are no handshake of this protocol or of another version,
    ///   `SecureChannelError` for a handshake that fails a cryptographic check, ``ExpectedMachine/Mismatch``.
    package mutating func next() throws -> Step? {
        let current = state
        // Any error below ends the handshake.
        state = .ended
        if case .complete = current { return try finish() }
        if case .ended = current { return nil }
        guard let frame = try frames.next() else {
            state = current
            return nil
        }
        let message = Array(frame.readableBytesView)
        switch current {
        case .caller:
            if let version = Preamble.refusedVersion(message) { throw Preamble.unsupported(version) }
            _ = try noise.readMessage(message)
            if let key = noise.remoteStatic, !expected.admits(key) {
                throw ExpectedMachine.Mismatch()
            }
            let answer = Self.frame(try noise.writeMessage())
            state = .complete
            return .send(answer)
        case .listener: return try answer(message)
        case .listenerAwaitingProof:
            _ = try noise.readMessage(message)
            return try finish()
        case .complete, .ended: return nil
        }
    }

    private mutating func answer(_ message: [UInt8]) throws -> Step {
        let payload = try noise.readMessage(message)
        do {
            try Preamble.check(payload)
        } catch {
            guard error.code == .unsupportedVersion else { throw error }
            return .refuse(Self.frame(Preamble.refusal), error)
        }
        let answer = Self.frame(try noise.writeMessage())
        state = .listenerAwaitingProof
        return .send(answer)
    }

    private mutating func finish() throws -> Step {
        let ciphers = try noise.finish()
        frames.limit = ProtocolLimits.maximumFrame
        defer { frames = FrameDecoder(limit: ProtocolLimits.maximumHandshakeFrame) }
        return .done(ciphers, frames)
    }

    private static func frame(_ message: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt16(message.count))
        buffer.writeBytes(message)
        return buffer
    }
}

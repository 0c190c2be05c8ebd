import NIOCore
import PeerSyncChannel

/// Turns the bytes of a connection into messages, once the handshake is done: it cuts them into frames, decrypts
/// these, and cuts the decrypted stream into messages. A state machine without I/O.
///
/// It keeps at most one frame, one message of ``limit`` bytes, and the bytes of one ``append(_:)``. After an error,
/// ``next()`` throws that error at each call: nothing after an error in the stream can be trusted.
package struct MessageDecoder: Sendable {
    package enum Event: Sendable, Equatable {
        case message(Message)
        /// A whole frame has arrived. It may have held only a part of a message.
        case frame
    }

    private var frames: FrameDecoder
    private var cipher: ReceivingCipher
    private var plain = ByteBuffer()
    /// The largest buffer that the decoder keeps between messages, in bytes.
    private static let keptCapacity = 1 << 20
    /// The largest buffer that it keeps when nothing more has come: most connections are idle most of the time.
    private static let idleCapacity = 1 << 10
    private var failure: (any Error)?
    /// The longest message that the decoder takes, in bytes.
    package var limit = ProtocolLimits.maximumUnpairedMessage

    /// The size of the buffer for incomplete messages, in bytes.
    package var capacity: Int { plain.capacity }

    /// - Parameter frames: holds the bytes that came after the handshake.
    package init(_ frames: FrameDecoder, _ cipher: ReceivingCipher) {
        self.frames = frames
        self.cipher = cipher
    }

    /// Adds bytes that have arrived.
    package mutating func append(_ bytes: ByteBuffer) { frames.append(bytes) }

    /// Returns the next event in the bytes so far; nil if more bytes have to come.
    ///
    /// - Throws: ``ProtocolError`` `malformed`, or `SecureChannelError` for a frame that does not decrypt.
    package mutating func next() throws -> Event? {
        if let failure { throw failure }
        do {
            return try decode()
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func decode() throws -> Event? {
        if let message = try MessageCodec.decode(&plain, limit: limit) {
            if plain.capacity > Self.keptCapacity { plain.shrinkBufferCapacity(to: plain.readableBytes) }
            return .message(message)
        }
        guard let frame = try frames.next() else {
            if plain.readableBytes == 0, plain.capacity > Self.idleCapacity { plain = ByteBuffer() }
            return nil
        }
        plain.discardReadBytes()
        try plain.writeWithUnsafeMutableBytes(minimumWritableBytes: frame.readableBytes) { target in
            try frame.withUnsafeReadableBytes { try cipher.open($0, into: target) }
        }
        return .frame
    }
}

import NIOCore
import SecureChannel

/// Turns the bytes of a connection into messages, once the handshake is done: frames, their decryption, and the messages
/// in the stream of what they hold. A state machine without I/O.
///
/// What it keeps is bounded by one frame, one message of ``limit`` bytes, and what was appended at once. After an error it
/// throws that error whenever it is asked: a stream that was wrong once has no place at which it could be trusted again.
package struct MessageDecoder: Sendable {
    package enum Event: Sendable, Equatable {
        case message(Message)
        /// A frame has come whole, which may have held no more than a part of a message.
        case frame
    }

    private var frames: FrameDecoder
    private var cipher: ReceivingCipher
    private var plain = ByteBuffer()
    /// A buffer that a long message has made larger than this, in bytes, is not kept.
    private static let keptCapacity = 1 << 20
    private var failure: (any Error)?
    /// Messages longer than this, in bytes, are refused.
    package var limit = ProtocolLimits.maximumUnpairedMessage

    /// What is kept for messages that are not there whole, in bytes.
    package var capacity: Int { plain.capacity }

    /// - Parameter frames: with what has come behind the handshake already.
    package init(_ frames: FrameDecoder, _ cipher: ReceivingCipher) {
        self.frames = frames
        self.cipher = cipher
    }

    /// Takes in bytes that have arrived.
    package mutating func append(_ bytes: ByteBuffer) { frames.append(bytes) }

    /// What the bytes so far hold next; nil when more have to come.
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
        guard let frame = try frames.next() else { return nil }
        plain.discardReadBytes()
        try plain.writeWithUnsafeMutableBytes(minimumWritableBytes: frame.readableBytes) { target in
            try frame.withUnsafeReadableBytes { try cipher.open($0, into: target) }
        }
        return .frame
    }
}

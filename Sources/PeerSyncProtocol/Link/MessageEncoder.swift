import NIOCore
import PeerSyncChannel

/// Turns messages into encrypted frames, one at a time, so that memory holds at most one frame of a long message
/// twice.
package struct MessageEncoder: Sendable {
    private var cipher: SendingCipher
    /// The rest of the message that the encoder is writing.
    private var plain = ByteBuffer()

    package init(_ cipher: SendingCipher) {
        self.cipher = cipher
    }

    /// Begins the next message. The caller must have taken all frames of the previous message.
    package mutating func begin(_ message: Message) {
        plain = ByteBuffer()
        MessageCodec.encode(message, into: &plain)
    }

    /// Returns the next frame; nil at the end of the message.
    package mutating func nextFrame() throws -> ByteBuffer? {
        guard plain.readableBytes > 0 else {
            plain = ByteBuffer()
            return nil
        }
        let chunk = min(plain.readableBytes, NoiseLimits.maximumPlaintextLength)
        let length = chunk + NoiseLimits.tagLength
        var frame = ByteBufferAllocator().buffer(capacity: 2 + length)
        frame.writeInteger(UInt16(length))
        try plain.readWithUnsafeReadableBytes { source in
            let part = UnsafeRawBufferPointer(rebasing: source.prefix(chunk))
            try frame.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { target in
                try cipher.seal(part, into: target)
            }
            return chunk
        }
        return frame
    }
}

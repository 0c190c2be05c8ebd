import NIOCore
import SecureChannel

/// Turns messages into encrypted frames, one at a time, so that of a long message no more than a frame is there twice.
package struct MessageEncoder: Sendable {
    private var cipher: SendingCipher
    /// What is left of the message that is being written.
    private var plain = ByteBuffer()

    package init(_ cipher: SendingCipher) {
        self.cipher = cipher
    }

    /// Takes the next message up; all of the one before has to be written.
    package mutating func begin(_ message: Message) {
        plain = ByteBuffer()
        MessageCodec.encode(message, into: &plain)
    }

    /// The next frame; nil at the end of what was taken up.
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

import NIOCore
import SecureChannel

/// Turns messages into encrypted frames.
package struct MessageEncoder: Sendable {
    private var cipher: SendingCipher

    package init(_ cipher: SendingCipher) {
        self.cipher = cipher
    }

    /// The frames of some messages, one after the other; messages share frames where they fit.
    package mutating func frames(_ messages: [Message]) throws -> ByteBuffer {
        var plain = ByteBuffer()
        for message in messages { MessageCodec.encode(message, into: &plain) }
        return try frames(&plain)
    }

    /// The frames of a piece of the stream of messages.
    package mutating func frames(_ plain: inout ByteBuffer) throws -> ByteBuffer {
        var output = ByteBuffer()
        while plain.readableBytes > 0 {
            let chunk = min(plain.readableBytes, NoiseLimits.maximumPlaintextLength)
            let length = chunk + NoiseLimits.tagLength
            output.writeInteger(UInt16(length))
            try plain.readWithUnsafeReadableBytes { source in
                let part = UnsafeRawBufferPointer(rebasing: source.prefix(chunk))
                try output.writeWithUnsafeMutableBytes(minimumWritableBytes: length) { target in
                    try cipher.seal(part, into: target)
                }
                return chunk
            }
        }
        return output
    }
}

import NIOCore

/// Cuts a stream of bytes into frames: two bytes of length, most significant first, then that many bytes.
///
/// Before the handshake is done it takes only short frames, so that a stranger's length allocates nothing.
package struct FrameDecoder: Sendable {
    private var buffer = ByteBuffer()
    /// The longest frame that the decoder takes, in bytes.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    /// Bytes that have arrived and belong to a frame that is not complete.
    package var pendingBytes: Int { buffer.readableBytes }

    /// Adds bytes that have arrived.
    package mutating func append(_ bytes: ByteBuffer) {
        // Nothing of an idle connection stays in memory, and whole frames are not copied.
        guard buffer.readableBytes > 0 else {
            buffer = bytes
            return
        }
        buffer.discardReadBytes()
        buffer.writeImmutableBuffer(bytes)
    }

    /// Returns the next whole frame; nil if it is not complete.
    package mutating func next() throws(ProtocolError) -> ByteBuffer? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt16.self) else { return nil }
        guard length > 0, Int(length) <= limit else {
            throw .malformed("a frame of \(length) bytes where 1 to \(limit) are allowed")
        }
        guard buffer.readableBytes >= 2 + Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: 2)
        let frame = buffer.readSlice(length: Int(length))
        if buffer.readableBytes == 0 { buffer = ByteBuffer() }
        return frame
    }
}

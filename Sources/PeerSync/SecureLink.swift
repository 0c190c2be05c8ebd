import NIOCore
import SecureChannel
import SyncProtocol

typealias ByteChannel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// How the connections of both sides are set up.
enum SocketOptions {
    /// So many bytes may wait in the system's buffer that have not gone out. What is put in after them can only go out
    /// after them, so on a slow line a change would wait behind a megabyte of pictures.
    private static let unsentLimit = 128 << 10

    #if canImport(Darwin)
        private static let notSentLowWaterMark = NIOBSDSocket.Option(rawValue: 0x201)
    #else
        private static let notSentLowWaterMark = NIOBSDSocket.Option(rawValue: 25)
    #endif

    /// What is read at a time from whoever has not proved to be paired: so little that many of them together take little.
    static let strangersBuffer = FixedSizeRecvByteBufferAllocator(capacity: 4096)
    /// What is read at a time from a peer.
    static let peersBuffer = AdaptiveRecvByteBufferAllocator()

    /// Makes a connection one of byte buffers. Few of them wait to be taken in; after that the system's buffer fills, and
    /// the other side has to wait.
    static func wrap(_ channel: any Channel) throws -> ByteChannel {
        try apply(to: channel)
        return try ByteChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4)))
    }

    private static func apply(to channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.recvAllocator, value: strangersBuffer)
        try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
        // Not every system has it, and everything works without.
        try? options.setOption(.tcpOption(notSentLowWaterMark), value: unsentLimit)
    }
}

/// Reads frames from a connection.
struct FrameReader {
    private var bytes: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    var decoder = FrameDecoder(limit: ProtocolLimits.maximumHandshakeFrame)
    private(set) var byteCount = 0

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) {
        bytes = inbound.makeAsyncIterator()
    }

    /// The next frame; nil at the end of the stream.
    mutating func next() async throws -> ByteBuffer? {
        while true {
            if let frame = try decoder.next() { return frame }
            guard let more = try await bytes.next() else { return nil }
            byteCount += more.readableBytes
            decoder.append(more)
        }
    }
}

/// The other side closed the connection in the middle of the handshake, without a word.
struct HandshakeCut: Error {}

/// The Noise handshake over a connection.
enum Handshake {
    /// How long a stranger may take.
    static let deadline: Duration = .seconds(5)

    /// - Returns: the ciphers.
    static func run(
        _ role: NoiseHandshake.Role, identity: Identity, reader: inout FrameReader,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> TransportCiphers {
        var noise = NoiseHandshake(role: role, staticKey: identity.keyPair, prologue: Preamble.prologue)
        switch role {
        case .initiator:
            try await outbound.write(frame(try noise.writeMessage(payload: Preamble.payload)))
            let second = try await read(&reader)
            if let version = Preamble.refusedVersion(second) { throw Preamble.unsupported(version) }
            _ = try noise.readMessage(second)
            try await outbound.write(frame(try noise.writeMessage()))
        case .responder:
            let payload = try noise.readMessage(try await read(&reader))
            do {
                try Preamble.check(payload)
            } catch {
                if error.code == .unsupportedVersion { try await outbound.write(frame(Preamble.refusal)) }
                throw error
            }
            try await outbound.write(frame(try noise.writeMessage()))
            _ = try noise.readMessage(try await read(&reader))
        }
        reader.decoder.limit = ProtocolLimits.maximumFrame
        return try noise.finish()
    }

    private static func read(_ reader: inout FrameReader) async throws -> [UInt8] {
        guard let frame = try await reader.next() else {
            throw HandshakeCut()
        }
        return Array(frame.readableBytesView)
    }

    private static func frame(_ message: [UInt8]) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeInteger(UInt16(message.count))
        buffer.writeBytes(message)
        return buffer
    }
}

/// Turns messages into encrypted frames.
struct MessageWriter {
    private var cipher: SendingCipher
    /// What is left of the message that is being written.
    private var plain = ByteBuffer()

    init(_ cipher: SendingCipher) {
        self.cipher = cipher
    }

    /// Takes the next message up; all of the one before has to be written.
    mutating func begin(_ message: Message) {
        plain = ByteBuffer()
        MessageCodec.encode(message, into: &plain)
    }

    /// The next frame of the message; nil at its end.
    mutating func nextFrame() throws -> ByteBuffer? {
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

/// Turns encrypted frames into messages.
struct MessageReader {
    private var frames: FrameReader
    private var cipher: ReceivingCipher
    private var plain = ByteBuffer()
    /// A buffer that a long message has made larger than this is not kept.
    private static let keptCapacity = 1 << 20
    /// Messages longer than this are refused.
    var limit = ProtocolLimits.maximumUnpairedMessage

    var byteCount: Int { frames.byteCount }

    /// What is kept for messages that are not there whole, in bytes.
    var capacity: Int { plain.capacity }

    init(_ frames: FrameReader, _ cipher: ReceivingCipher) {
        self.frames = frames
        self.cipher = cipher
    }

    /// The next message; nil at the end of the stream, which is abnormal unless a goodbye came before.
    ///
    /// - Parameter onFrame: called for each frame that has come, of which a long message takes many.
    mutating func next(onFrame: @Sendable () -> Void = {}) async throws -> Message? {
        while true {
            if let message = try MessageCodec.decode(&plain, limit: limit) {
                if plain.capacity > Self.keptCapacity { plain.shrinkBufferCapacity(to: plain.readableBytes) }
                return message
            }
            guard let frame = try await frames.next() else { return nil }
            onFrame()
            plain.discardReadBytes()
            try plain.writeWithUnsafeMutableBytes(minimumWritableBytes: frame.readableBytes) { target in
                try frame.withUnsafeReadableBytes { try cipher.open($0, into: target) }
            }
        }
    }
}

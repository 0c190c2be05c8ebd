import NIOCore
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol

package typealias ByteChannel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// The socket options of both sides' connections.
package enum SocketOptions {
    /// How many unsent bytes the system's buffer may hold. A message that goes into the buffer waits for all bytes
    /// before it, so on a slow line a change would wait behind a megabyte of files.
    private static let unsentLimit = 128 << 10

    #if canImport(Darwin)
        private static let notSentLowWaterMark = NIOBSDSocket.Option(rawValue: 0x201)
    #else
        private static let notSentLowWaterMark = NIOBSDSocket.Option(rawValue: 25)
    #endif

    /// The buffer for reading from strangers: so small that many of them together take little memory.
    static let strangersBuffer = FixedSizeRecvByteBufferAllocator(capacity: 4096)
    /// The buffer for reading from a peer.
    static let peersBuffer = AdaptiveRecvByteBufferAllocator()

    /// Wraps a connection as one of byte buffers. Few buffers wait for the reader; then the system's buffer fills, and
    /// the other side has to wait.
    package static func wrap(_ channel: any Channel) throws -> ByteChannel {
        if let options = channel.syncOptions {
            try options.setOption(.recvAllocator, value: strangersBuffer)
            // NIO keeps a buffer for each read that it may do at once.
            try options.setOption(.maxMessagesPerRead, value: 1)
            try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
            // Some systems lack this option, and everything works without it.
            try? options.setOption(.tcpOption(notSentLowWaterMark), value: unsentLimit)
        }
        return try wrapPlainly(channel)
    }

    /// Wraps a connection that is no socket.
    static func wrapPlainly(_ channel: any Channel) throws -> ByteChannel {
        try ByteChannel(
            wrappingChannelSynchronously: channel,
            configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 4)))
    }
}

/// The other side closed the connection during the handshake, without an error.
struct HandshakeCut: Error {}

/// The bytes that a connection receives. ``LinkHandshake`` and ``MessageDecoder`` interpret them.
package struct InboundBytes {
    private var bytes: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private(set) var byteCount = 0

    package init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) {
        bytes = inbound.makeAsyncIterator()
    }

    /// Waits for the next bytes; nil at the end of the stream.
    mutating func next() async throws -> ByteBuffer? {
        guard let more = try await bytes.next() else { return nil }
        byteCount += more.readableBytes
        return more
    }
}

/// The Noise handshake over a connection.
package enum Handshake {
    /// - Returns: the ciphers, the bytes that have already come after the handshake, and how many bytes this side has sent.
    package static func run(
        _ role: NoiseHandshake.Role, app: AppID, identity: Identity,
        expecting expected: ExpectedMachine = .anyone,
        reader: inout InboundBytes, outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> (ciphers: TransportCiphers, frames: FrameDecoder, sent: Int) {
        var sent = 0
        var handshake = LinkHandshake(
            role: role, app: app, staticKey: identity.keyPair, expecting: expected)
        if let opening = try handshake.start() {
            try await outbound.write(opening)
            sent += opening.readableBytes
        }
        while true {
            while let step = try handshake.next() {
                switch step {
                case .send(let bytes):
                    try await outbound.write(bytes)
                    sent += bytes.readableBytes
                case .refuse(let bytes, let error):
                    try await outbound.write(bytes)
                    throw error
                case .done(let ciphers, let frames): return (ciphers, frames, sent)
                }
            }
            guard let more = try await reader.next() else { throw HandshakeCut() }
            handshake.append(more)
        }
    }
}

/// Reads messages from a connection.
package struct MessageReader {
    private var bytes: InboundBytes
    private var decoder: MessageDecoder

    /// The greatest length of a message in bytes. The decoder refuses longer ones.
    package var limit: Int {
        get { decoder.limit }
        set { decoder.limit = newValue }
    }

    /// The memory for incomplete messages, in bytes.
    var capacity: Int { decoder.capacity }

    var byteCount: Int { bytes.byteCount }

    package init(_ bytes: InboundBytes, _ decoder: MessageDecoder) {
        self.bytes = bytes
        self.decoder = decoder
    }

    /// Reads the next message; nil at the end of the stream, which is abnormal unless a goodbye came before.
    ///
    /// - Parameter onFrame: called for each frame. A long message has many.
    package mutating func next(onFrame: @Sendable () -> Void = {}) async throws -> Message? {
        while true {
            switch try decoder.next() {
            case .message(let message): return message
            case .frame: onFrame()
            case nil:
                guard let more = try await bytes.next() else { return nil }
                decoder.append(more)
            }
        }
    }
}

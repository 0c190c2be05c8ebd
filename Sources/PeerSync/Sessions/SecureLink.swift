import NIOCore
import SecureChannel
import SyncModel
import SyncProtocol

package typealias ByteChannel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// How the connections of both sides are set up.
package enum SocketOptions {
    /// So many bytes may wait in the system's buffer that have not gone out. What is put in after them can only go out
    /// after them, so on a slow line a change would wait behind a megabyte of files.
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
    package static func wrap(_ channel: any Channel) throws -> ByteChannel {
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

/// The other side closed the connection in the middle of the handshake, without a word.
struct HandshakeCut: Error {}

/// The bytes that a connection brings; ``LinkHandshake`` and ``MessageDecoder`` say what they mean.
package struct InboundBytes {
    private var bytes: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private(set) var byteCount = 0

    package init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>) {
        bytes = inbound.makeAsyncIterator()
    }

    /// What has come; nil at the end of the stream.
    mutating func next() async throws -> ByteBuffer? {
        guard let more = try await bytes.next() else { return nil }
        byteCount += more.readableBytes
        return more
    }
}

/// The Noise handshake over a connection.
package enum Handshake {
    /// - Returns: the ciphers, and what has come behind the handshake already.
    package static func run(
        _ role: NoiseHandshake.Role, app: AppID, identity: Identity, reader: inout InboundBytes,
        outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws -> (ciphers: TransportCiphers, frames: FrameDecoder) {
        var handshake = LinkHandshake(role: role, app: app, staticKey: identity.keyPair)
        if let opening = try handshake.start() { try await outbound.write(opening) }
        while true {
            while let step = try handshake.next() {
                switch step {
                case .send(let bytes): try await outbound.write(bytes)
                case .refuse(let bytes, let error):
                    try await outbound.write(bytes)
                    throw error
                case .done(let ciphers, let frames): return (ciphers, frames)
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

    /// Messages longer than this, in bytes, are refused.
    package var limit: Int {
        get { decoder.limit }
        set { decoder.limit = newValue }
    }

    /// What is kept for messages that are not there whole, in bytes.
    var capacity: Int { decoder.capacity }

    var byteCount: Int { bytes.byteCount }

    package init(_ bytes: InboundBytes, _ decoder: MessageDecoder) {
        self.bytes = bytes
        self.decoder = decoder
    }

    /// The next message; nil at the end of the stream, which is abnormal unless a goodbye came before.
    ///
    /// - Parameter onFrame: called for each frame that has come, of which a long message takes many.
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

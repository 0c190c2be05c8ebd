import NIOCore
import NIOPosix
import PeerSync
import PeerSyncChannel
import PeerSyncProtocol

/// One end of a connection of this process, after the handshake. A real session is at the other end.
package struct ScriptedLine {
    private var reader: MessageReader
    private var writer: MessageEncoder
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private let channel: any Channel

    package init(
        _ role: NoiseHandshake.Role, _ identity: Identity, _ channel: any Channel,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        var bytes = InboundBytes(inbound)
        let (ciphers, frames, _) = try await Handshake.run(
            role, app: "scorebook", identity: identity, reader: &bytes, outbound: outbound)
        reader = MessageReader(bytes, MessageDecoder(frames, ciphers.receive))
        reader.limit = ProtocolLimits.maximumMessage
        writer = MessageEncoder(ciphers.send)
        self.outbound = outbound
        self.channel = channel
    }

    package mutating func send(_ message: Message) async throws {
        writer.begin(message)
        while let frame = try writer.nextFrame() { try await outbound.write(frame) }
    }

    /// Closes the connection without a word.
    package func cut() async throws { try await channel.close() }

    /// Says nothing more, and still reads what the other end has sent.
    package func closeOutput() async throws { try await channel.close(mode: .output) }

    /// The next message; nil at the end of the stream.
    package mutating func receive() async throws -> Message? { try await reader.next() }

    /// Reads up to the error that the other end sends before it closes; an honest peer then closes at once, too.
    ///
    /// - Returns: its code; nil when the stream ends without one.
    package mutating func receiveError() async throws -> ProtocolError.Code? {
        while let message = try await receive() {
            if case .error(let error) = message { return error.code }
        }
        return nil
    }

    /// Makes a connection within this process.
    ///
    /// - Parameter body: gets both ends.
    package static func connection(_ body: (ByteChannel, ByteChannel) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
        }
        try await server.executeThenClose { connections in
            let one = try await ClientBootstrap(group: group)
                .connect(host: "127.0.0.1", port: server.channel.localAddress?.port ?? 0) { channel in
                    channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
                }
            for try await other in connections {
                return try await body(one, other)
            }
        }
    }
}

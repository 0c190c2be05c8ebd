import NIOCore
import NIOPosix
import Synchronization

/// Stands between a client and a server of this machine, and lets each connection break after some bytes of the client.
enum CuttingProxy {
    /// Runs a test with a proxy.
    ///
    /// - Parameters:
    ///   - port: that of the server.
    ///   - bytes: how many bytes of all connections together reach the server; then every connection breaks.
    ///   - body: gets the port of the proxy.
    static func with(port: Int, after bytes: Int, _ body: (Int) async throws -> Void) async throws {
        let rest = Mutex(bytes)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { near in
                // On one event loop, so that each may write to the other without ado.
                let far = ClientBootstrap(group: near.eventLoop).connect(host: "127.0.0.1", port: port)
                return far.flatMapThrowing { far in
                    try near.pipeline.syncOperations.addHandler(
                        Relay(far) { count in
                            rest.withLock { rest in
                                defer { rest -= min(rest, count) }
                                return min(rest, count)
                            }
                        })
                    try far.pipeline.syncOperations.addHandler(Relay(near) { $0 })
                }
            }.bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Void, any Error>
        do { result = .success(try await body(server.localAddress?.port ?? 0)) } catch { result = .failure(error) }
        try await server.close()
        try result.get()
    }

    /// Writes to the other side what comes, as much as it may; then it closes both.
    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let other: any Channel
        private let allowance: (Int) -> Int

        /// - Parameter allowance: says how many of some bytes may pass.
        init(_ other: any Channel, _ allowance: @escaping (Int) -> Int) {
            self.other = other
            self.allowance = allowance
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            let count = allowance(bytes.readableBytes)
            let isCut = count < bytes.readableBytes
            if let slice = bytes.readSlice(length: count), count > 0 { other.writeAndFlush(slice, promise: nil) }
            if isCut { context.close(promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            other.close(promise: nil)
            context.fireChannelInactive()
        }
    }
}

import NIOCore
import NIOPosix
import Testing

@testable import PeerSync

#if os(Linux)
    /// An address that never answers keeps nobody from ending.
    struct DialingTests {
        /// Runs `body` with a port whose queue is full: the system answers nobody who comes.
        private func withSilentPort(_ body: (Int) async throws -> Void) async throws {
            let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.backlog, value: 0)
                .serverChannelOption(.autoRead, value: false)
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(server.localAddress?.port)
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // The queue has a place for one, and the system lets some more wait without an answer.
            let first = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
            let others = (0..<3).map { _ in bootstrap.connect(host: "127.0.0.1", port: port) }
            try await body(port)
            try await server.close()
            first.close(promise: nil)
            for other in others { other.whenSuccess { $0.close(promise: nil) } }
        }

        @Test(.timeLimit(.minutes(5))) func whoIsToldToEndWhileItConnectsEnds() async throws {
            let kitchen = try LoopbackMachine("kitchen")
            try await withSilentPort { port in
                let connector = SyncConnector(kitchen.engine, to: PeerAddress(host: "127.0.0.1", port: port))
                kitchen.engine.deadlines.connecting = .seconds(3600)
                let run = Task { try await connector.run() }
                // So that it mostly has begun; either way it has to end.
                try await Task.sleep(for: .milliseconds(100))
                run.cancel()
                try? await run.value
            }
        }
    }
#endif

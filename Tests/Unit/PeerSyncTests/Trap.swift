import NIOCore
import NIOPosix
import Synchronization

@testable import PeerSync

/// Ports of this computer where somebody takes connections, and then says nothing or hangs up.
final class Trap: Sendable {
    private struct State {
        var open: [any Channel] = []
        var places: Set<Int> = []
        var most = 0
    }

    private let state = Mutex(State())

    /// How many connections are open.
    var open: Int { state.withLock { $0.open.count } }
    /// The most that were open at a time.
    var most: Int { state.withLock { $0.most } }
    /// At how many ports somebody has been.
    var seen: Int { state.withLock { $0.places.count } }

    /// Hangs up everywhere.
    func closeAll() {
        for channel in state.withLock({ $0.open }) { channel.close(promise: nil) }
    }

    private func enter(_ channel: any Channel) {
        state.withLock { state in
            state.open.append(channel)
            state.most = max(state.most, state.open.count)
            state.places.insert(channel.localAddress?.port ?? 0)
        }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { $0.open.removeAll { $0 === channel } }
        }
    }

    /// Takes connections at some ports while `body` runs.
    static func opening<Value>(
        count: Int, isSilent: Bool = true, _ body: ([PeerAddress], Trap) async throws -> Value
    ) async throws -> Value {
        let trap = Trap()
        var servers: [any Channel] = []
        for _ in 0..<count {
            servers.append(
                try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    // A machine may listen there afterwards.
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .childChannelInitializer { channel in
                        trap.enter(channel)
                        return isSilent ? channel.eventLoop.makeSucceededVoidFuture() : channel.close()
                    }
                    .bind(host: "127.0.0.1", port: 0).get())
        }
        let places = servers.map { PeerAddress(host: "127.0.0.1", port: $0.localAddress?.port ?? 0) }
        let result: Result<Value, any Error>
        do { result = .success(try await body(places, trap)) } catch { result = .failure(error) }
        for server in servers { try await server.close() }
        return try result.get()
    }

    /// Takes connections at one port while `body` runs.
    static func opening<Value>(
        isSilent: Bool, _ body: (PeerAddress, Trap) async throws -> Value
    ) async throws -> Value {
        try await opening(count: 1, isSilent: isSilent) { places, trap in try await body(places[0], trap) }
    }
}

import NIOCore
import NIOPosix
import PeerSyncModel
import PeerSyncStore
import ScriptedPeer

@testable import PeerSync
@testable import PeerSyncProtocol

/// A peer that says what the test wants, and reads when the test wants.
///
/// It is on the other end of a connection of this process: `body` begins when the handshake is done.
struct RawPeer {
    let identity = Identity.generate()

    typealias Line = ScriptedLine

    /// Dials a port of this computer.
    func dialing(_ port: Int, _ body: (inout Line) async throws -> Void) async throws {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
            }
        try await connection.executeThenClose { inbound, outbound in
            var line = try await Line(.initiator, identity, connection.channel, inbound, outbound)
            try await body(&line)
        }
    }

    /// Takes one connection at a port of this computer, while `caller` runs.
    func answering(
        _ body: @escaping @Sendable (inout Line) async throws -> Void,
        while caller: (Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // What the system holds must not hide that nobody reads.
            .childChannelOption(.socketOption(.so_rcvbuf), value: 16_384)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
            }
        try await server.executeThenClose { connections in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await connection in connections {
                        try? await connection.executeThenClose { inbound, outbound in
                            var line = try await Line(
                                .responder, identity, connection.channel, inbound, outbound)
                            try await body(&line)
                        }
                    }
                }
                try await caller(server.channel.localAddress?.port ?? 0)
                group.cancelAll()
            }
        }
    }

    func hello(_ zones: [ZoneOffer]) -> Message {
        .hello(
            Message.Hello(
                minorVersion: 0, replica: ReplicaID(rawValue: 9), instance: 9, displayName: "raw", clock: 0,
                zones: zones))
    }

    /// Greets whoever has dialled, agrees to its zones, and begins to send a whole copy of the first one.
    func begin(_ line: inout Line) async throws {
        guard case .hello(let hello)? = try await line.receive() else { return }
        try await line.send(self.hello(hello.zones))
        guard case .open(let open)? = try await line.receive() else { return }
        try await line.send(.open(Message.Open(union: .none, zones: open.zones)))
        try await line.send(
            .begin(Message.Begin(zone: 0, isHeldTokenVoid: false, isWholeCopy: true, recordCount: 0)))
    }
}

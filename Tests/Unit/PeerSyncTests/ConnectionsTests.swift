import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// Of two connections between two machines that dialled each other one stays; all others stand side by side, up to a number.
@Suite(.timeLimit(.minutes(5))) struct ConnectionsTests {
    private let connections = Connections()

    /// Hands over sessions, each with a connection of its own.
    private func withSessions(_ count: Int, _ body: ([PeerSession]) throws -> Void) async throws {
        let machine = try LoopbackMachine("kitchen")
        try await withListener { listener in
            let port = try #require(listener.localAddress?.port)
            var sessions: [PeerSession] = []
            for _ in 0..<count {
                let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connect(host: "127.0.0.1", port: port) { channel in
                        channel.eventLoop.makeCompletedFuture { try SocketOptions.wrap(channel) }
                    }
                sessions.append(
                    PeerSession(machine.engine, connection, purpose: .answer, address: "127.0.0.1"))
            }
            let result = Result { try body(sessions) }
            for session in sessions { try await session.connection.executeThenClose { _, _ in } }
            try result.get()
        }
    }

    private func enter(
        _ session: PeerSession, peer: Int64 = 1, instance: UInt64 = 1, isPreferred: Bool = true
    ) throws -> Connections.Entry {
        try connections.enter(session, peer: peer, instance: instance, isPreferred: isPreferred)
    }

    private func code(_ session: PeerSession, peer: Int64 = 1, instance: UInt64 = 1, isPreferred: Bool = true)
        -> ProtocolError.Code?
    {
        do {
            _ = try enter(session, peer: peer, instance: instance, isPreferred: isPreferred)
            return nil
        } catch {
            return (error as? ProtocolError)?.code
        }
    }

    /// Whether a session has said goodbye.
    private func isStopped(_ session: PeerSession) -> Bool {
        if case .message(.goodbye) = session.outbox.next() { true } else { false }
    }

    @Test func theOneThatStaysEndsTheOther() async throws {
        try await withSessions(2) { sessions in
            _ = try enter(sessions[0], isPreferred: false)
            let entry = try enter(sessions[1], isPreferred: true)
            #expect(isStopped(sessions[0]) && !isStopped(sessions[1]))
            connections.leave(entry)
        }
    }

    @Test func theOneThatDoesNotStayIsNotTakenIn() async throws {
        try await withSessions(2) { sessions in
            let first = try enter(sessions[0], isPreferred: true)
            #expect(code(sessions[1], isPreferred: false) == .duplicateConnection)
            #expect(!isStopped(sessions[0]))
            #expect(connections.hasAny(with: 1))
            connections.leave(first)
            #expect(!connections.hasAny(with: 1))
        }
    }

    /// Some programs of one machine may each have a connection, in either direction.
    @Test func othersStandSideBySide() async throws {
        try await withSessions(4) { sessions in
            _ = try enter(sessions[0], isPreferred: true)
            // In the same direction, with another run of the peer's program, with another peer.
            #expect(code(sessions[1], isPreferred: true) == nil)
            #expect(code(sessions[2], instance: 2, isPreferred: false) == nil)
            #expect(code(sessions[3], peer: 2, isPreferred: false) == nil)
            for session in sessions { #expect(!isStopped(session)) }
        }
    }

    @Test func onePeerHasSoMany() async throws {
        try await withSessions(Connections.limit + 1) { sessions in
            let entries = try sessions.dropLast().enumerated().map { number, session in
                try enter(session, instance: UInt64(number), isPreferred: false)
            }
            #expect(code(sessions[Connections.limit], instance: 99) == .tooBusy)
            // One that takes the place of another is none too many.
            #expect(code(sessions[Connections.limit], instance: 5) == nil)
            #expect(isStopped(sessions[5]))
            #expect(connections.hasAny(with: 1))
            for entry in entries { connections.leave(entry) }
            #expect(connections.hasAny(with: 1))
        }
    }
}

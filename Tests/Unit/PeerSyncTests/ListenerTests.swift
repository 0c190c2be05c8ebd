import Foundation
import GRDB
import NIOCore
import NIOPosix
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSync

/// The port of an app.
struct ListenerTests {
    private static func engine(_ name: String, port: Int) throws -> SyncEngine {
        let database = try DatabaseQueue()
        try database.write {
            try $0.execute(sql: "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT)")
        }
        return try SyncEngine(
            for: database, app: "org.example.todo", tables: ["Item"], displayName: name, port: port)
    }

    /// The next port on which an engine listens.
    private static func port(_ events: AsyncStream<SyncEvent>) async -> Int? {
        await events.compactMap { if case .listening(_, let port) = $0 { port } else { nil } }.first { _ in
            true
        }
    }

    @Test(.timeLimit(.minutes(5))) func theAppReadsThePortThatTheSystemChose() async throws {
        let engine = try Self.engine("kitchen", port: 0)
        #expect(engine.listeningPort == nil)
        let (events, running) = (engine.events, Task { try await engine.run() })
        let port = try #require(await Self.port(events))
        #expect(port > 0 && engine.listeningPort == port)
        running.cancel()
        _ = await running.result
        #expect(engine.listeningPort == nil)
    }

    /// Other machines and other programs have heard of the port, and would look for it in vain.
    @Test(.timeLimit(.minutes(5))) func thePortThatTheSystemChoseStaysAfterAnError() async throws {
        let engine = try Self.engine("kitchen", port: 0)
        let (events, running) = (engine.events, Task { try await engine.run() })
        let port = try #require(await Self.port(events))
        let channel = try #require(engine.sockets.elements.first?.channel)
        channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        #expect(await Self.port(events) == port)
        running.cancel()
        _ = await running.result
    }

    /// The system closes the socket of a listener, as NIO does after some errors, and says nothing.
    @Test(.timeLimit(.minutes(5))) func anEngineListensAgainWhenItsSocketIsClosed() async throws {
        let engine = try Self.engine("kitchen", port: 0)
        let (events, running) = (engine.events, Task { try await engine.run() })
        let port = try #require(await Self.port(events))
        try await #require(engine.sockets.elements.first?.channel).close()
        #expect(await Self.port(events) == port)
        running.cancel()
        _ = await running.result
    }

    @Test(.timeLimit(.minutes(5))) func aListenerTellsThatItsSocketIsClosed() async throws {
        let engine = try Self.engine("kitchen", port: 0)
        let events = engine.events
        let running = Task { try await SyncListener(engine, host: "127.0.0.1").run() }
        _ = try #require(await Self.port(events))
        try await #require(engine.sockets.elements.first?.channel).close()
        await #expect { try await running.value } throws: { ($0 as? PeerSyncError)?.code == .cannotListen }
    }

    /// A connection that its other side ended too early is an error of the system on macOS, and no reason to end.
    @Test(.timeLimit(.minutes(5))) func aConnectionThatIsLostBeforeItIsTakenEndsNothing() async throws {
        let engine = try Self.engine("kitchen", port: 0)
        let events = engine.events
        let running = Task { try await SyncListener(engine, host: "127.0.0.1").run() }
        let port = try #require(await Self.port(events))
        let channel = try #require(engine.sockets.elements.first?.channel)
        // Only NIO can make one. It has no parts.
        channel.pipeline.fireErrorCaught(unsafeBitCast((), to: NIOFcntlFailedError.self))
        // A stranger is taken, who hangs up at once, and is told of.
        let stranger = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port).get()
        try await stranger.close()
        let isTaken = await events.contains { if case .refused = $0 { true } else { false } }
        #expect(isTaken)
        running.cancel()
        _ = await running.result
    }
}

import Foundation
import GRDB
import NIOCore
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
}

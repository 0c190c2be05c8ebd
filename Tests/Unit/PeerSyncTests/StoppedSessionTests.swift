import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// A session that was told to end does so, whatever the other side does and whatever still goes on in it.
struct StoppedSessionTests {
    /// Nothing but the farewell can end these: everything else is waited for much longer than a test lasts.
    private static let deadlines = Deadlines(
        handshake: .seconds(3600), greeting: .seconds(3600), silence: .seconds(3600), writing: .seconds(3600),
        farewell: .milliseconds(50))

    /// Says nothing more, reads to the end, and does not close.
    @Sendable private static func linger(_ line: inout RawPeer.Line) async throws {
        while try await line.receive() != nil {}
        try await Task.sleep(for: .seconds(3600))
    }

    /// Makes a machine, and a peer at a port that takes connections and does not greet.
    private static func withSilentPeer(
        _ body: (_ kitchen: LoopbackMachine, _ port: Int) async throws -> Void
    ) async throws {
        let kitchen = try LoopbackMachine("kitchen")
        kitchen.engine.deadlines = deadlines
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await peer.answering {
            try await linger(&$0)
        } while: { port in
            try await body(kitchen, port)
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoIsToldToEndBeforeTheGreetingEnds() async throws {
        try await Self.withSilentPeer { kitchen, port in
            try await kitchen.call(port, SessionCall()) { $0.stop() }
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoIsToldToEndWhileThePeerDoesNotReadEnds() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        kitchen.engine.deadlines = Self.deadlines
        try await kitchen.addLongGames(2)
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await peer.answering { line in
            try await peer.begin(&line)
            try await Task.sleep(for: .seconds(3600))
        } while: { port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (sessions, found) = AsyncStream<PeerSession>.makeStream()
                group.addTask {
                    try await kitchen.call(port, SessionCall()) {
                        found.yield($0)
                    }
                }
                let session = try #require(await sessions.first { _ in true })
                _ = try await kitchen.event { if case .progress = $0 { true } else { nil } }
                session.stop()
                try await group.waitForAll()
            }
        }
    }

    /// Two tasks hand in events at once: the deadline is that of the event which the machine took last.
    @Test(.timeLimit(.minutes(5))) func anOlderDeadlineReplacesNoNewerOne() async throws {
        try await Self.withSilentPeer { kitchen, port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let (sessions, found) = AsyncStream<PeerSession>.makeStream()
                group.addTask { try await kitchen.call(port, SessionCall()) { found.yield($0) } }
                let session = try #require(await sessions.first { _ in true })
                try await eventually("the greeting", within: .seconds(300)) {
                    session.update { $0.timeout == .greeting }
                }
                let greeting = session.update { $0 }
                let handshake = Session(greeting.identity, .call(SessionCall()))
                #expect(handshake.timeout == .handshake)
                var stale = 0
                for _ in 0..<20_000 {
                    await withTaskGroup(of: Void.self) { events in
                        for machine in [greeting, handshake] {
                            events.addTask {
                                await session.handle {
                                    $0 = machine
                                    return []
                                }
                            }
                        }
                    }
                    if session.watchdog.awaited != session.update({ $0.timeout }) { stale += 1 }
                }
                #expect(stale == 0)
                session.update { $0 = greeting }
                session.stop()
                try await group.waitForAll()
            }
        }
    }

    @Test func nothingMovesTheLastDeadline() {
        let begin = ContinuousClock.now
        var vigil = Watchdog.Vigil(expectingBy: begin + .seconds(5))
        vigil.expect(by: begin + .seconds(20))
        vigil.leave(by: begin + .seconds(2))
        vigil.expect(by: begin + .seconds(3600))
        vigil.leave(by: begin + .seconds(30))
        vigil.beginWriting(by: begin + .seconds(300))
        #expect(vigil.next == begin + .seconds(2))
        #expect(vigil.cause(at: begin + .seconds(1)) == nil)
        #expect(vigil.cause(at: begin + .seconds(2)) == .silence)
    }

    @Test func whoDoesNotReadIsToldFromWhoIsSilent() {
        let begin = ContinuousClock.now
        var vigil = Watchdog.Vigil(expectingBy: begin + .seconds(45))
        vigil.beginWriting(by: begin + .seconds(10))
        #expect(vigil.cause(at: begin + .seconds(10)) == .blockage)
        vigil.endWriting()
        #expect(vigil.cause(at: begin + .seconds(10)) == nil)
        #expect(vigil.cause(at: begin + .seconds(45)) == .silence)
    }
}

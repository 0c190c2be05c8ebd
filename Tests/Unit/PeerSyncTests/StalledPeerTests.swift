import NIOCore
import PeerSyncModel
import PeerSyncStore
import Synchronization
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// A peer that does not read is let go, and costs no more than it may until then.
struct StalledPeerTests {
    /// Takes part in one zone, begins, and from then on only pings.
    @Sendable private static func stall(_ peer: RawPeer, _ line: inout RawPeer.Line) async throws {
        try await peer.begin(&line)
        while true {
            try await line.send(.ping([UInt8](repeating: 1, count: MessageCodec.pingLength)))
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoPingsAndDoesNotReadIsLetGo() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        kitchen.engine.deadlines.writing = .seconds(3)
        try await kitchen.addLongGames(4)
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await peer.answering { line in
            try await Self.stall(peer, &line)
        } while: { port in
            await #expect {
                try await kitchen.call(port, SessionCall())
            } throws: { error in
                (error as? PeerSyncError)?.code == .timeout && "\(error)".contains("has not read")
            }
        }
        // One is being written, one waits, and the system may have taken in another; the window would allow all.
        let sent = kitchen.events.compactMap { event -> Int? in
            if case .progress(_, let statistics) = event { statistics.recordsSent } else { nil }
        }
        #expect((2...3).contains(sent.max() ?? 0))
    }

    /// Somebody who works on a batch answers nothing meanwhile: whether the connection still works is no question then.
    @Test(.timeLimit(.minutes(5))) func whoWorksOnABatchIsNotProbed() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        // Any ping is one that asks.
        kitchen.engine.deadlines.ping = .seconds(3600)
        try await kitchen.addLongGames(1)
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        let ping = [UInt8](repeating: 1, count: MessageCodec.pingLength)
        let asked = Mutex<[Message]>([])
        try await peer.answering { line in
            try await peer.begin(&line)
            while let message = try await line.receive() {
                if case .batch = message { break }
            }
            kitchen.engine.connections.probeAll()
            try await line.send(.ping(ping))
            while let message = try await line.receive(), message != .pong(ping) {
                asked.withLock { $0.append(message) }
            }
            try await line.send(.goodbye)
        } while: { port in
            _ = try? await kitchen.call(port, SessionCall())
        }
        let pings = asked.withLock { $0.filter { if case .ping = $0 { true } else { false } } }
        #expect(pings.isEmpty)
    }

    /// The other side has the session begun, and waits for frames from then on, however long this one changes its store.
    @Test(.timeLimit(.minutes(5))) func whoChangesItsStoreForTheSessionShowsThatItIsThere() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        kitchen.engine.deadlines.ping = .milliseconds(20)
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        let said = Mutex<Message?>(nil)
        try await peer.answering { line in
            guard case .hello(let hello)? = try await line.receive() else { return }
            try await line.send(peer.hello(hello.zones))
            guard case .open(let open)? = try await line.receive() else { return }
            try await kitchen.whileStoreIsBusy {
                try await line.send(.open(Message.Open(union: .none, zones: open.zones)))
                let message = try await line.receive()
                said.withLock { $0 = message }
            }
            try await line.cut()
        } while: { port in
            _ = try? await kitchen.call(port, SessionCall())
        }
        guard case .ping? = said.withLock({ $0 }) else {
            Issue.record("it said \(String(describing: said.withLock { $0 }))")
            return
        }
    }

    @Test func whatWaitsForAPeerThatAsksAndDoesNotReadIsBounded() throws {
        let names = try (0..<20_000).map { try RecordName(recordType: "SBGame", suffix: "\($0)") }
        try Self.expectBound(on: .refuse(Message.Refuse(zone: 0, reason: 1, names: names)))
    }

    /// A peer gets the whole set of the household for each digest that it tells.
    @Test func theSetsOfTheHouseholdThatWaitAreBounded() throws {
        let member = [UInt8](repeating: 7, count: 32)
        let entries = try (0..<Household.maximumCount).map { number in
            let introduction = Introduction(
                of: [UInt8](repeating: 1, count: 28) + [UInt8](number.description.utf8.prefix(4))
                    + [UInt8](repeating: 0, count: 4 - number.description.utf8.count),
                name: "member \(number)", rights: .all, by: member, time: 1)
            return HouseholdEntry(try #require(introduction))
        }
        let address = Message.HouseholdSet.Address(
            key: member, address: String(repeating: "x", count: 250) + ":7431")
        let addresses = [Message.HouseholdSet.Address](
            repeating: address, count: 4 * Household.maximumCount)
        try Self.expectBound(
            on: .householdSet(
                Message.HouseholdSet(set: Household(entries), port: 7431, addresses: addresses)))
        try Self.expectBound(
            on: .householdSet(Message.HouseholdSet(set: Household(entries), port: 7431, addresses: [])),
            below: 128)
    }

    private static func expectBound(on message: Message, below limit: Int = 32) throws {
        let outbox = Outbox()
        var count = 0
        #expect {
            while count < Outbox.limit {
                try outbox.send(message)
                count += 1
            }
        } throws: { error in
            (error as? ProtocolError)?.code == .timeout
        }
        #expect(count < limit)
        // What was taken out makes room again.
        for _ in 0...count { _ = outbox.next() }
        try outbox.send(message)
    }

    @Test(.timeLimit(.minutes(5))) func onePeerHasSoManySessions() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await kitchen.listening { port in
            try await Self.open(Connections.limit, peer, port) { line in
                // One more: a hello comes first, whatever follows.
                try await line.send(peer.hello([]))
                _ = try await line.receive()
                let answer = try await line.receive()
                guard case .error(let error)? = answer else {
                    Issue.record("a session too many: \(String(describing: answer))")
                    return
                }
                #expect(error.code == .tooBusy)
            }
        }
    }

    /// Greets in some connections, one within the other, and then hands over another one.
    private static func open(
        _ count: Int, _ peer: RawPeer, _ port: Int, _ body: (inout RawPeer.Line) async throws -> Void
    ) async throws {
        try await peer.dialing(port) { line in
            guard count > 0 else { return try await body(&line) }
            try await line.send(peer.hello([]))
            _ = try await line.receive()
            try await open(count - 1, peer, port, body)
        }
    }
}

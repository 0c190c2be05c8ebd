import GRDB
import PeerSyncModel
import Synchronization
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// Batches wait until they are applied, while others come. Whatever comes after them finds them applied.
struct SettledBatchesTests {
    private let kitchen: LoopbackMachine
    private let peer = RawPeer()

    init() throws {
        kitchen = try LoopbackMachine("kitchen")
    }

    private func batch(_ number: Int64, hoursAhead: Int64 = 0) throws -> Message {
        let milliseconds = kitchen.engine.store.now() + hoursAhead * 3_600_000
        let stamp = Stamp(time: HybridTime(milliseconds: milliseconds), replica: ReplicaID(rawValue: 9))
        let game = RecordState(
            name: try RecordName("SBGame|~|\(number)"),
            fields: [RecordField(name: "name", value: .text("Game \(number)"), stamp: stamp)])
        let token = ChangeToken(generation: [UInt8](repeating: 9, count: 8), sequence: number)
        return .batch(zone: 0, ChangeBatch(records: [game], token: token, isLast: false))
    }

    /// Lets a peer send one batch, which is applied; and then batches, and something after them, while the store is busy,
    /// so that all of them wait.
    ///
    /// - Parameters:
    ///   - last: nil for a connection that is cut.
    ///   - rights: those of the peer.
    /// - Returns: what the peer was told from the moment on in which the store was free again.
    private func session(
        sending batches: [Message], then last: Message?, rights: ZoneRights = .write
    ) async throws -> [Message] {
        let store = kitchen.engine.store
        _ = try await store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        _ = try await store.zones.grant(rights, to: "raw", in: "ScorebookData")
        let told = Mutex<[Message]>([])
        let first = try batch(0)
        try await peer.answering { [kitchen, peer] line in
            try await peer.begin(&line)
            try await line.send(first)
            while let message = try await line.receive() {
                if case .acknowledge = message { break }
            }
            try await kitchen.whileStoreIsBusy {
                for batch in batches { try await line.send(batch) }
                try await kitchen.receives(batches.count + 1)
                if let last { try await line.send(last) } else { try await line.cut() }
                // Time to read that, for a side that does not wait until the batches are applied.
                try await Task.sleep(for: .milliseconds(100))
            }
            while let message = try await line.receive() {
                told.withLock { $0.append(message) }
                if case .pong = message { try await line.send(.goodbye) }
            }
        } while: { port in
            try await kitchen.call(port, SessionCall())
        }
        return told.withLock { $0 }
    }

    private func expectError(
        _ code: PeerSyncError.Code, sending batches: [Message], then last: Message?
    ) async throws {
        await #expect {
            try await session(sending: batches, then: last)
        } throws: { error in
            (error as? PeerSyncError)?.code == code
        }
    }

    private func games() async throws -> [String] {
        try await kitchen.engine.store.database.read { db in
            try String.fetchAll(db, sql: "SELECT recordName FROM SBGame ORDER BY 1")
        }
    }

    @Test(.timeLimit(.minutes(5))) func whatCameBeforeABatchFromTheFutureIsApplied() async throws {
        try await expectError(.clockSkew, sending: [batch(1), batch(2, hoursAhead: 1_000)], then: .goodbye)
        #expect(try await games() == ["SBGame|~|0", "SBGame|~|1"])
    }

    @Test(.timeLimit(.minutes(5))) func whatCameBeforeAnErrorIsApplied() async throws {
        let full = Message.error(ProtocolError(.storeFailure, "the disk of the other machine is full"))
        try await expectError(.peerStoreFailure, sending: [batch(1), batch(2), batch(3)], then: full)
        #expect(try await games() == ["SBGame|~|0", "SBGame|~|1", "SBGame|~|2", "SBGame|~|3"])
    }

    @Test(.timeLimit(.minutes(5))) func whatCameBeforeTheConnectionIsCutIsApplied() async throws {
        try await expectError(.interrupted, sending: [batch(1), batch(2), batch(3)], then: nil)
        #expect(try await games() == ["SBGame|~|0", "SBGame|~|1", "SBGame|~|2", "SBGame|~|3"])
    }

    @Test(.timeLimit(.minutes(5))) func whatCameBeforeAGoodbyeIsApplied() async throws {
        _ = try await session(sending: [batch(1), batch(2), batch(3)], then: .goodbye)
        #expect(try await games() == ["SBGame|~|0", "SBGame|~|1", "SBGame|~|2", "SBGame|~|3"])
    }

    /// The session ends before it exchanges anything. What has come already is applied, and nobody waits for ever.
    @Test(.timeLimit(.minutes(5))) func aHouseholdThatCannotBeReadEndsTheSession() async throws {
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await kitchen.engine.store.database.write {
            try $0.execute(sql: "ALTER TABLE grdb_sync_introduction RENAME TO gone")
        }
        let batches = try [batch(1), batch(2), batch(3), batch(4)]
        try await peer.answering { [peer] line in
            try await peer.begin(&line)
            for batch in batches { try await line.send(batch) }
            #expect(try await line.receiveError() == .storeFailure)
        } while: { port in
            await #expect {
                try await kitchen.call(port, SessionCall())
            } throws: { error in
                (error as? PeerSyncError)?.code == .storeUnusable
            }
        }
        #expect(try await games() == ["SBGame|~|1", "SBGame|~|2", "SBGame|~|3", "SBGame|~|4"])
    }

    /// A program that writes for long makes this side late, and not the other.
    @Test(.timeLimit(.minutes(5))) func theTimeInWhichTheStoreIsBusyDoesNotCountAgainstThePeer() async throws
    {
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        let (sessions, found) = AsyncStream<PeerSession>.makeStream()
        let batches = try [batch(1), batch(2)]
        // Far from the time for the next message, and from that for dealing with one.
        let between: Duration = .seconds(1000)
        try await peer.answering { [kitchen, peer] line in
            guard let session = await sessions.first(where: { _ in true }) else { return }
            try await peer.begin(&line)
            try await line.send(batches[0])
            while let message = try await line.receive() {
                if case .acknowledge = message { break }
            }
            try await kitchen.whileStoreIsBusy {
                try await line.send(batches[1])
                try await kitchen.receives(2)
                // The batch waits for the store, and the reader for the next message.
                try await eventually("the reader", within: .seconds(300)) {
                    session.watchdog.next < .now + between
                }
                try await line.send(.ping([UInt8](repeating: 1, count: MessageCodec.pingLength)))
                try await eventually("time for the own store", within: .seconds(300)) {
                    session.watchdog.next > .now + between
                }
            }
            try await line.send(.goodbye)
        } while: { port in
            try await kitchen.call(port, SessionCall()) { found.yield($0) }
        }
    }

    @Test(.timeLimit(.minutes(5))) func aPongComesAfterTheAcknowledgements() async throws {
        let ping = Message.ping([UInt8](repeating: 1, count: MessageCodec.pingLength))
        let told = try await session(sending: [batch(1), batch(2)], then: ping)
        let answers = told.compactMap { message -> String? in
            switch message {
            case .acknowledge(_, let token): "acknowledged \(token.sequence)"
            case .pong: "pong"
            default: nil
            }
        }
        #expect(answers == ["acknowledged 1", "acknowledged 2", "pong"])
    }

    /// Several batches are applied in one transaction, and the peer knows by the acknowledgements of which of them a refusal is.
    @Test(.timeLimit(.minutes(5))) func whatIsRefusedOfABatchIsSaidBeforeItsAcknowledgement() async throws {
        let ping = Message.ping([UInt8](repeating: 1, count: MessageCodec.pingLength))
        let batches = try (1...3).map { try batch($0) }
        let told = try await session(sending: batches, then: ping, rights: .read)
        let answers = told.compactMap { message -> String? in
            switch message {
            case .refuse(let refuse): "refused \(refuse.names.map(\.suffix).joined())"
            case .acknowledge(_, let token): "acknowledged \(token.sequence)"
            default: nil
            }
        }
        #expect(answers == (1...3).flatMap { ["refused \($0)", "acknowledged \($0)"] })
    }
}

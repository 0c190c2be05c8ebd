import GRDB
import PeerSyncModel
import PeerSyncProtocol
import Testing

@testable import PeerSync

/// While somebody is asked what becomes of two scorebooks, the other machine may go, and the store may fail.
struct QuestionTests {
    private static let theirs = ZoneOffer(
        id: ZoneID(name: .standard, owner: ReplicaID(rawValue: 9)), name: "ScorebookData",
        isDefault: true, isShared: true, rights: .write, recordCount: 9,
        fingerprint: [UInt8](repeating: 9, count: 16))

    /// Calls a peer with a scorebook that is another one.
    ///
    /// - Parameter body: what the peer does when the user was asked.
    private func call(
        _ kitchen: LoopbackMachine, asked: AsyncStream<Void>,
        _ body: @escaping @Sendable (inout RawPeer.Line) async throws -> Void
    ) async throws {
        try await kitchen.engine.store.write { db in
            try db.execute(sql: "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan')")
        }
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "raw")
        try await peer.answering { line in
            _ = try await line.receive()
            try await line.send(peer.hello([Self.theirs]))
            for await _ in asked.prefix(1) {}
            try await body(&line)
        } while: { port in
            try await kitchen.call(port, SessionCall())
        }
    }

    /// A cut line is no answer: the connection is made again, and the question asked again.
    @Test(.timeLimit(.minutes(5))) func aLineThatIsCutIsNoAnswer() async throws {
        let (asked, isAsked) = AsyncStream<Void>.makeStream()
        let kitchen = try LoopbackMachine(
            "kitchen",
            decide: { _ in
                isAsked.yield()
                try? await Task.sleep(for: .seconds(3600))
                return .cancel
            })
        await #expect {
            try await call(kitchen, asked: asked) { try await $0.cut() }
        } throws: {
            ($0 as? PeerSyncError)?.code == .interrupted
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoIsForgottenMeanwhileIsToldSo() async throws {
        let (asked, isAsked) = AsyncStream<Void>.makeStream()
        let (forgotten, isForgotten) = AsyncStream<Void>.makeStream()
        let kitchen = try LoopbackMachine(
            "kitchen",
            decide: { _ in
                isAsked.yield()
                for await _ in forgotten.prefix(1) {}
                return .union(.merge)
            })
        await #expect {
            try await call(kitchen, asked: asked) { line in
                _ = try await kitchen.engine.store.peers.forget("raw")
                isForgotten.yield()
                #expect(try await line.receiveError() == .notPaired)
            }
        } throws: {
            ($0 as? PeerSyncError)?.code == .notPaired
        }
    }

    /// An app tells its user who has to allow it.
    @Test(.timeLimit(.minutes(5))) func whoSaidNoIsToldApart() async throws {
        let (asked, isAsked) = AsyncStream<Void>.makeStream()
        let caller = try LoopbackMachine(
            "caller",
            decide: { _ in
                isAsked.yield()
                return .cancel
            })
        await #expect {
            try await call(caller, asked: asked) { line in _ = try await line.receiveError() }
        } throws: {
            ($0 as? PeerSyncError)?.code == .declined
        }

        let (kitchen, study) = (
            try LoopbackMachine("kitchen", decide: { _ in .cancel }), try LoopbackMachine("study")
        )
        try await kitchen.listening { port in
            let code = try await kitchen.engine.pairing.show()
            let replacement = SessionCall(
                pairing: .ifUnknown(code), isOnce: true, union: .replaceListener)
            await #expect {
                try await study.call(port, replacement)
            } throws: {
                ($0 as? PeerSyncError)?.code == .notAllowed
            }
            let end = try await kitchen.event {
                if case .disconnected("study", let error) = $0 { error } else { nil }
            }
            #expect(end.code == .notAllowed)
        }
    }
}

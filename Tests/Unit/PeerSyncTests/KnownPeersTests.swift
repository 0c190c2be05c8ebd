import RecordStore
import Testing

@testable import PeerSync

/// An app's machines find each other again without anybody, whenever they were paired and whoever was there first.
struct KnownPeersTests {
    private static func pair(_ machine: LoopbackMachine, with other: LoopbackMachine) async throws -> Peer {
        try await machine.engine.store.peers.add(
            key: other.engine.identity.publicKey.bytes, name: other.engine.displayName)
    }

    @Test(.timeLimit(.minutes(5))) func aMachineThatIsPairedMeanwhileIsDialled() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await kitchen.listening { port in
            try await study.listening(dialsKnownPeers: true) { _ in
                _ = try await Self.pair(kitchen, with: study)
                let peer = try await Self.pair(study, with: kitchen)
                try await study.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: peer)
                let name = try await study.event { event in
                    if case .connected(let name, _) = event { name } else { nil }
                }
                #expect(name == "kitchen")
                // The pairing ends on both sides, and begins again.
                let before = study.events.count
                try await kitchen.engine.store.peers.forget("study")
                try await study.engine.store.peers.forget("kitchen")
                _ = try await study.event(after: before) { event in
                    if case .disconnected = event { true } else { nil as Bool? }
                }
                _ = try await Self.pair(kitchen, with: study)
                let again = try await Self.pair(study, with: kitchen)
                try await study.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: again)
                _ = try await study.event(after: before) { event in
                    if case .connected = event { true } else { nil as Bool? }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoNeverGivesUpWaitsForAMachineThatIsNotThereYet() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        _ = try await Self.pair(kitchen, with: study)
        _ = try await Self.pair(study, with: kitchen)
        var free = 0
        try await kitchen.listening { free = $0 }
        let port = free
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var connector = SyncConnector(
                    study.engine, to: PeerAddress(host: "127.0.0.1", port: port))
                connector.deadlines = .unhurried
                connector.neverGivesUp = true
                try await connector.run()
            }
            let error = try await study.event { event in
                if case .retrying(_, _, let error) = event { error } else { nil }
            }
            #expect(error.code == .unreachable)
            try await kitchen.listening(on: port) { _ in
                _ = try await study.event { event in
                    if case .connected = event { true } else { nil as Bool? }
                }
            }
            group.cancelAll()
        }
    }
}

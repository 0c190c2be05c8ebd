import GRDB
import PeerSyncProtocol
import PeerSyncStore
import TestSupport
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
                // The pairing ends on one side or on both, and begins again.
                for endsOnBothSides in [false, true] {
                    let before = study.events.count
                    try await kitchen.engine.store.peers.forget("study")
                    if endsOnBothSides { try await study.engine.store.peers.forget("kitchen") }
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
    }

    /// Whoever has made the connection, another one would only carry everything twice.
    @Test(.timeLimit(.minutes(5))) func aMachineThatIsConnectedIsNotDialledAgain() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        _ = try await Self.pair(kitchen, with: study)
        let peer = try await Self.pair(study, with: kitchen)
        try await kitchen.listening { port in
            try await study.listening(dialsKnownPeers: true) { _ in
                let connection = Task {
                    try await study.call(port, SessionCall())
                }
                _ = try await study.event { event in
                    if case .inSync = event { true } else { nil as Bool? }
                }
                // The same machine under another name.
                try await study.engine.store.peers.noteAddress("localhost:\(port)", of: peer)
                try await study.engine.store.settings.setSyncOn(true)
                connection.cancel()
                _ = try? await connection.value
                // Only now is it dialled.
                let addresses = try await eventually("the second connection", within: .seconds(300)) {
                    let addresses = study.events.compactMap { event in
                        if case .connected(_, let address) = event { address } else { nil }
                    }
                    return addresses.count == 2 ? addresses : nil
                }
                #expect(addresses == ["127.0.0.1:\(port)", "localhost:\(port)"])
                let ends = study.events.firstIndex { if case .disconnected = $0 { true } else { false } }
                let again = study.events.lastIndex { if case .connected = $0 { true } else { false } }
                #expect(try #require(ends) < #require(again))
            }
        }
    }

    /// Two machines are noted at one address: the network may have given it to the other one, or somebody has said so.
    @Test(.timeLimit(.minutes(5))) func aConnectedMachineKeepsNoOtherFromBeingDialled() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        let attic = try LoopbackMachine("attic")
        var peers: [Peer] = []
        for other in [attic, kitchen] {
            _ = try await Self.pair(other, with: study)
            peers.append(try await Self.pair(study, with: other))
        }
        try await kitchen.listening { port in
            try await study.listening(dialsKnownPeers: true) { own in
                let connection = Task { try await attic.call(own, SessionCall()) }
                _ = try await study.event { if case .connected("attic", _) = $0 { true } else { nil } }
                for peer in peers {
                    try await study.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: peer)
                }
                _ = try await study.event { if case .connected("kitchen", _) = $0 { true } else { nil } }
                connection.cancel()
                _ = try? await connection.value
            }
        }
    }

    /// The network has given a machine's address to a stranger, and gives it back.
    @Test(.timeLimit(.minutes(5))) func aStrangerWhereAMachineWasIsNoReasonToGiveUp() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        let guest = try LoopbackMachine("guest")
        _ = try await Self.pair(kitchen, with: study)
        let peer = try await Self.pair(study, with: kitchen)
        try await study.listening(dialsKnownPeers: true) { _ in
            var place = 0
            try await guest.listening { port in
                place = port
                try await study.engine.store.peers.noteAddress("127.0.0.1:\(port)", of: peer)
                let refused = try await guest.event { event in
                    if case .refused(_, let error) = event { error } else { nil }
                }
                // The study hangs up before it says who it is.
                #expect(refused.code == .interrupted)
            }
            try await kitchen.listening(on: place) { _ in
                _ = try await study.event { if case .connected("kitchen", _) = $0 { true } else { nil } }
            }
        }
        // That is nothing to tell anybody.
        #expect(!study.events.contains { if case .retrying = $0 { true } else { false } })
    }

    /// Others can tell any number of addresses where nobody answers.
    @Test(.timeLimit(.minutes(5))) func whatOthersTellDoesNotHoldUpWhereAMachineWas() async throws {
        let study = try LoopbackMachine("study")
        let limit = KnownPeers.dialLimit
        try await Trap.opening(count: limit + 1) { places, trap in
            let peers = study.engine.store.peers
            for (number, place) in places.dropLast().enumerated() {
                let member = try await peers.add(
                    key: [UInt8](repeating: UInt8(number + 1), count: 32), name: "member \(number)")
                try await study.engine.store.database.write { db in
                    try db.execute(
                        sql: "INSERT INTO grdb_sync_peerHint (peer, address) VALUES (?, ?)",
                        arguments: [member.id, place.description])
                }
            }
            try await study.listening(dialsKnownPeers: true) { _ in
                try await eventually("what others tell", within: .seconds(300)) { trap.open == limit }
                let reached = try await peers.add(key: [UInt8](repeating: 200, count: 32), name: "reached")
                try await peers.noteAddress(places[limit].description, of: reached)
                try await eventually("where a machine was", within: .seconds(300)) {
                    trap.seen == limit + 1
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

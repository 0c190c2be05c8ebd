import PeerSync
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSync

/// An app changes settings in its own process, while the engine runs there.
struct OwnSettingsTests {
    @Test(.timeLimit(.minutes(5))) func whoSwitchesItsOwnSyncOffEndsItsListener() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        let looks = Mutex(0)
        let membership = kitchen.engine.settings.observers.add { looks.withLock { $0 += 1 } }
        let listener = Task { try await SyncListener(kitchen.engine, host: "127.0.0.1", port: 0).run() }
        // The listener has seen that sync is on.
        try await eventually("the settings", within: .seconds(300)) { looks.withLock { $0 > 0 } }
        try await kitchen.engine.store.settings.setSyncOn(false)
        let error = await #expect(throws: PeerSyncError.self) { try await listener.value }
        #expect(error?.code == .switchedOff)
        withExtendedLifetime(membership) {}
    }

    /// A connector is made once, and used for as long as the app runs.
    @Test(.timeLimit(.minutes(5))) func aConnectorSyncsAgainAfterAPause() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await kitchen.listening { port in
            let code = try await kitchen.engine.pairing.show()
            let connector = SyncConnector(
                study.engine, to: PeerAddress(host: "127.0.0.1", port: port), code: code)
            let live = Task { try await connector.run() }
            _ = try await study.event { if case .inSync = $0 { true } else { nil as Bool? } }
            try await study.engine.store.settings.setSyncOn(false)
            let error = await #expect(throws: PeerSyncError.self) { try await live.value }
            #expect(error?.code == .switchedOff)
            try await study.engine.store.settings.setSyncOn(true)
            try await connector.syncOnce()
        }
    }

    /// Whoever reads the events of a session that runs must find the machine under the name that the lists have.
    @Test(.timeLimit(.minutes(5))) func aRunningSessionTellsOfAMachineByItsNewName() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await kitchen.listening { port in
            let address = PeerAddress(host: "127.0.0.1", port: port)
            let code = try await kitchen.engine.pairing.show()
            let live = Task { try await SyncConnector(study.engine, to: address, code: code).run() }
            _ = try await kitchen.event { if case .inSync = $0 { true } else { nil as Bool? } }
            let peer = try #require(try await kitchen.engine.store.peers.all().first)
            try await kitchen.engine.store.peers.rename("study", to: "attic")
            try await eventually("the name", within: .seconds(300)) {
                kitchen.engine.names.of(peer) == "attic"
            }
            try await study.addLongGames(1)
            let name = try await kitchen.event {
                if case .changed(let name, _, _) = $0 { name } else { nil }
            }
            #expect(name == "attic")
            live.cancel()
            _ = await live.result
        }
    }

    /// Also of a session that ends before this machine has looked what the two share.
    @Test(.timeLimit(.minutes(5))) func theNextSessionTellsOfAMachineByItsNewName() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        let peer = RawPeer()
        _ = try await kitchen.engine.store.peers.add(key: peer.identity.publicKey.bytes, name: "study")
        func names(_ talk: @escaping @Sendable (inout RawPeer.Line) async throws -> Void) async throws
            -> [String]
        {
            let before = kitchen.events.count
            try await peer.answering(talk) { port in
                await #expect(throws: PeerSyncError.self) { try await kitchen.call(port, SessionCall()) }
            }
            return kitchen.events.dropFirst(before).compactMap { event in
                switch event {
                case .connected(let name, _), .disconnected(let name, _): name
                default: nil
                }
            }
        }
        #expect(try await names { try await peer.begin(&$0) } == ["study", "study"])
        try await kitchen.engine.store.peers.rename("study", to: "attic")
        let later = try await names { line in
            guard case .hello(let hello)? = try await line.receive() else { return }
            try await line.send(peer.hello(hello.zones))
            _ = try await line.receive()
        }
        #expect(later == ["attic", "attic"])
    }

    @Test(.timeLimit(.minutes(5))) func theReportCountsTheRoundsOfAReconciliation() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await kitchen.listening { port in
            let address = PeerAddress(host: "127.0.0.1", port: port)
            let code = try await kitchen.engine.pairing.show()
            let connector = SyncConnector(study.engine, to: address, code: code)
            let first = try await connector.syncOnce()
            #expect(first.statistics.reconciliationRounds == 0)
            // A row that sync does not know of, so that the two differ.
            try await study.engine.store.database.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan');
                        """)
            }
            let report = try await connector.verify()
            #expect(report.statistics.reconciliationRounds >= 1)
        }
    }
}

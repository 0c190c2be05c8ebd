import GRDB
import PeerSyncProtocol
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSync

/// An app tests its own sync with two engines in its process: no port, no network, and a clock that it sets.
struct MemoryTests {
    private let clock = SetClock(1_700_000_000_000)
    private let kitchen: LoopbackMachine
    private let study: LoopbackMachine

    init() throws {
        let now: @Sendable () -> Int64 = { [clock] in clock.milliseconds }
        kitchen = try LoopbackMachine("kitchen", now: now)
        study = try LoopbackMachine("study", now: now)
    }

    private func name(_ machine: LoopbackMachine, _ name: String) async throws {
        clock.milliseconds += 1000
        try await machine.engine.store.write { db in
            try db.execute(
                sql: """
                    INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', ?1)
                    ON CONFLICT (recordName) DO UPDATE SET name = ?1
                    """, arguments: [name])
        }
    }

    private func names(_ machine: LoopbackMachine) async throws -> [String] {
        try await machine.engine.store.database.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM SBGame")
        }
    }

    @Test(.timeLimit(.minutes(5))) func twoEnginesOfAProcessPairAndSync() async throws {
        try await name(kitchen, "Catan")
        let code = try await kitchen.engine.pairing.show()
        let connector = SyncConnector(study.engine, to: kitchen.engine, code: code)
        let report = try await connector.syncOnce()
        #expect(report.didPair && report.peer == "kitchen")
        #expect(try await names(study) == ["Catan"])
        // The later write wins, wherever it is made.
        try await name(study, "Catan, early")
        try await name(kitchen, "Catan, late")
        try await connector.syncOnce()
        #expect(try await names(study) == ["Catan, late"])
        #expect(try await names(kitchen) == ["Catan, late"])
        #expect(try await connector.verify().differences == SyncDifferences())
        // Nobody can dial a machine within this process.
        #expect(try await study.engine.store.peers.all().map(\.address) == [nil])
    }

    @Test(.timeLimit(.minutes(5))) func theOtherEngineMayRefuse() async throws {
        let connector = SyncConnector(study.engine, to: kitchen.engine)
        let stranger = await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
        #expect(stranger?.code == .notPaired)
        let refused = try await kitchen.event { if case .refused(_, let error) = $0 { error } else { nil } }
        #expect(refused.code == .notPaired)
        let code = try await kitchen.engine.pairing.show()
        try await SyncConnector(study.engine, to: kitchen.engine, code: code).syncOnce()
        try await kitchen.engine.store.settings.setSyncOn(false)
        let switchedOff = await #expect(throws: PeerSyncError.self) { try await connector.syncOnce() }
        #expect(switchedOff?.code == .peerSwitchedOff)
    }

    @Test(.timeLimit(.minutes(5))) func whatIsWrittenIsThereAtOnce() async throws {
        let code = try await kitchen.engine.pairing.show()
        let connector = SyncConnector(study.engine, to: kitchen.engine, code: code)
        let live = Task { try await connector.run() }
        _ = try await study.event { if case .inSync = $0 { true } else { nil as Bool? } }
        try await name(kitchen, "Catan")
        try await eventually("the game", within: .seconds(300)) { try await names(study) == ["Catan"] }
        try await name(study, "Azul")
        try await eventually("the game", within: .seconds(300)) { try await names(kitchen) == ["Azul"] }
        live.cancel()
        _ = try? await live.value
    }
}

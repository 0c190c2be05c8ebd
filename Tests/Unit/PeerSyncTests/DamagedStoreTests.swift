import GRDB
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol

/// A record that sync cannot read any more ends one session, and not the next.
struct DamagedStoreTests {
    /// A connector reads where a machine was last before it dials. It must end, or try again, as after any other failure.
    @Test(.timeLimit(.minutes(5))) func aStoreWithoutItsListOfMachinesEndsAConnectorWithOneError()
        async throws
    {
        let kitchen = try LoopbackMachine("kitchen")
        let store = kitchen.engine.store
        let peer = try await store.peers.add(key: [UInt8](repeating: 7, count: 32), name: "study")
        try await store.database.write { try $0.execute(sql: "ALTER TABLE grdb_sync_peer RENAME TO gone") }
        let error = await #expect(throws: PeerSyncError.self) {
            try await SyncConnector(kitchen.engine, to: peer).syncOnce()
        }
        #expect(error?.code == .storeUnusable)
    }

    @Test func damageThatASessionMeetsIsMendedForTheNextOne() async throws {
        let (kitchen, study) = (try LoopbackMachine("kitchen"), try LoopbackMachine("study"))
        try await write("INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan')", to: kitchen)
        try await kitchen.listening { port in
            let code = try await kitchen.engine.pairing.show()
            try await study.call(port, SessionCall(pairing: .ifUnknown(code), isOnce: true))
            try await write("UPDATE grdb_sync_remoteRecord SET remoteRecord = x'00'", to: kitchen)
            try await write("UPDATE SBGame SET name = 'Settlers'", to: study)

            // What comes is for the record that cannot be read.
            let error = await #expect(throws: PeerSyncError.self) {
                try await study.call(port, SessionCall(isOnce: true))
            }
            #expect(error?.code == .peerStoreFailure && error?.isTransient == true)
            let names = try await kitchen.event {
                if case .mended(let check) = $0 { check.findings.map(\.name) } else { nil }
            }
            #expect(names == ["SBGame|~|1"])

            try await study.call(port, SessionCall(isOnce: true))
            for machine in [kitchen, study] {
                let games = try await machine.engine.store.database.read {
                    try String.fetchAll($0, sql: "SELECT name FROM SBGame")
                }
                #expect(games == ["Settlers"])
            }
        }
    }

    private func write(_ sql: String, to machine: LoopbackMachine) async throws {
        try await machine.engine.store.write { try $0.execute(sql: sql) }
    }
}

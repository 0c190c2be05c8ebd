import GRDB
import PeerSyncStore
import Testing

@testable import PeerSync

/// Two machines meet that have records, and share them with others already.
struct PairingUnionTests {
    /// A machine with a game, which another one has, too.
    private static func machine(_ name: String, with game: String) async throws -> LoopbackMachine {
        let (machine, other) = (try LoopbackMachine(name), try LoopbackMachine("the other one of \(name)"))
        try await machine.engine.store.write { db in
            try db.execute(
                sql: "INSERT INTO SBGame (recordName, name) VALUES (?, ?)",
                arguments: ["SBGame|~|\(game)", game])
        }
        let code = try await machine.engine.pairing.show()
        try await SyncConnector(other.engine, to: machine.engine, code: code).syncOnce()
        return machine
    }

    private static func games(_ machine: LoopbackMachine) async throws -> [String] {
        try await machine.engine.store.database.read { db in
            try String.fetchAll(db, sql: "SELECT name FROM SBGame ORDER BY name")
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoPairsByAnAddressSaysWhatBecomesOfTheRecords() async throws {
        let kitchen = try await Self.machine("kitchen", with: "Chess")
        let study = try await Self.machine("study", with: "Go")
        try await kitchen.listening { port in
            let place = "127.0.0.1:\(port)"
            let error = await #expect(throws: PeerSyncError.self) {
                try await study.engine.pair(with: place, code: kitchen.engine.showPairingCode())
            }
            #expect(error?.code == .differentZones)
            #expect(try await Self.games(study) == ["Go"])
            try await study.engine.pair(
                with: place, code: kitchen.engine.showPairingCode(), union: .beside)
        }
        #expect(try await Self.games(study) == ["Chess", "Go"])
        #expect(try await Self.games(kitchen) == ["Chess"])
    }
}

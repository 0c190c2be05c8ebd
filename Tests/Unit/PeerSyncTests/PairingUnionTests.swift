import GRDB
import PeerSyncProtocol
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSync

/// Two machines meet that have records, and share them with others already.
struct PairingUnionTests {
    /// A machine with a game, which another one has, too.
    private static func machine(
        _ name: String, with game: String, now: (@Sendable () -> Int64)? = nil
    ) async throws -> LoopbackMachine {
        let machine = try LoopbackMachine(name, now: now)
        let other = try LoopbackMachine("the other one of \(name)", now: now)
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

    // MARK: What the two have in common already

    private static func add(_ game: String, to machine: LoopbackMachine) async throws {
        try await machine.engine.store.write { db in
            try db.execute(
                sql: "INSERT INTO SBGame (recordName, name) VALUES (?, ?)",
                arguments: ["SBGame|~|\(game)", game])
        }
    }

    /// A machine whose scorebook can be backed up, and whose user lets others replace it.
    private static func withStudy(
        now: (@Sendable () -> Int64)? = nil, _ body: (LoopbackMachine) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.sqlite").path
            try await body(
                try LoopbackMachine(
                    "study", DatabaseQueue(path: path), now: now, decide: { _ in .union(.replaceListener) }))
        }
    }

    private static func reset(_ machine: LoopbackMachine, at port: Int, _ union: ZoneUnion) async throws {
        var connector = SyncConnector(
            machine.engine, to: PeerAddress(host: "127.0.0.1", port: port), union: union)
        connector.isReset = true
        try await connector.syncOnce()
    }

    /// Whether the two are one, of each union that came to nothing.
    private static func passedOver(_ machine: LoopbackMachine) -> [Bool] {
        machine.events.compactMap { if case .unionPassedOver(_, _, let areOne) = $0 { areOne } else { nil } }
    }

    @Test(.timeLimit(.minutes(5))) func whatTheTwoShareIsGivenUpInAResetOnly() async throws {
        let kitchen = try LoopbackMachine("kitchen")
        try await Self.add("Chess", to: kitchen)
        try await Self.withStudy { study in
            try await kitchen.listening { port in
                let place = "127.0.0.1:\(port)"
                let address = PeerAddress(host: "127.0.0.1", port: port)
                try await study.engine.pair(with: place, code: kitchen.engine.showPairingCode())
                try await Self.add("Go", to: study)
                try await SyncConnector(study.engine, to: address, union: .replaceCaller).syncOnce()
                #expect(try await Self.games(study) == ["Chess", "Go"])
                try await Self.add("Ludo", to: study)
                try await study.engine.pair(
                    with: place, code: kitchen.engine.showPairingCode(), union: .replaceCaller)
                #expect(try await Self.games(study) == ["Chess", "Go", "Ludo"])
                #expect(Self.passedOver(study) == [true, true])

                try await Self.add("Scythe", to: study)
                try await Self.reset(study, at: port, .replaceCaller)
                #expect(try await Self.games(study) == ["Chess", "Go", "Ludo"])
                #expect(Self.passedOver(study).count == 2)
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func whoTakesLongToDecideHasNoWrongClock() async throws {
        let clock = SetClock(1_700_000_000_000)
        let kitchen = try await Self.machine("kitchen", with: "Chess", now: { clock.milliseconds })
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.sqlite").path
            let study = try LoopbackMachine(
                "study", DatabaseQueue(path: path), now: { clock.milliseconds },
                decide: { _ in
                    clock.milliseconds += 600_000
                    try? await Self.add("Written meanwhile", to: kitchen)
                    return .union(.replaceCaller)
                })
            try await Self.add("Go", to: study)
            try await kitchen.listening { port in
                try await study.engine.pair(
                    with: "127.0.0.1:\(port)", code: kitchen.engine.showPairingCode())
            }
            let games = try await Self.games(study)
            #expect(games == ["Chess", "Written meanwhile"])
        }
    }

    /// Otherwise it would have given up what it had, and nothing would have come.
    @Test(.timeLimit(.minutes(5))) func whoWouldRefuseWhatComesGivesNothingUp() async throws {
        let time: Int64 = 1_700_000_000_000
        let (now, twoHoursAhead): (@Sendable () -> Int64, @Sendable () -> Int64) = (
            { time }, { time + 7_200_000 }
        )
        let kitchen = try LoopbackMachine("kitchen", now: twoHoursAhead)
        try await Self.withStudy(now: now) { study in
            try await Self.add("Chess", to: study)
            try await kitchen.listening { port in
                try await study.engine.pair(
                    with: "127.0.0.1:\(port)", code: kitchen.engine.showPairingCode())
                try await Self.add("Go", to: study)
                try await Self.add("From the future", to: kitchen)
                let error = await #expect(throws: PeerSyncError.self) {
                    try await Self.reset(study, at: port, .replaceCaller)
                }
                #expect(error?.code == .clockSkew)
                #expect(try await Self.games(study) == ["Chess", "Go"])
            }
            try await study.listening { port in
                let error = await #expect(throws: PeerSyncError.self) {
                    try await Self.reset(kitchen, at: port, .replaceListener)
                }
                #expect(error?.code == .clockSkew)
                let games = try await Self.games(study)
                #expect(games == ["Chess", "Go"])
            }
        }
    }
}

import Foundation
import TestSupport
import Testing

/// A process that is killed in the middle of a first sync harms nothing, and the next sync completes what is missing.
@Suite(.takingTurns) struct CrashTests {
    enum Role: CaseIterable { case sender, receiver }

    /// How far a sync has come when the process is killed.
    struct Moment: CustomTestStringConvertible {
        /// So much of what the sender sends has come through, and nothing comes after it.
        let bytes: Int
        /// So many records are durable at the receiver, at least. None means: at once, whatever it is doing.
        let records: Int

        var testDescription: String { "\(bytes) bytes, \(records) records" }
    }

    /// The household is a batch of about 191,000 bytes, what is added to it one of 51,000.
    static let moments = [
        Moment(bytes: 500, records: 0), Moment(bytes: 100_000, records: 0),
        Moment(bytes: 215_000, records: 0), Moment(bytes: 215_000, records: 1000),
    ]
    private static let addedScores = 600

    /// The household, and one more round for some of its players.
    private func fill(_ machine: Machine) async throws {
        try await machine.importHousehold()
        try machine.write(
            """
            INSERT INTO SBScore (recordName, player, round, points)
                SELECT replace(recordName, 'SBPlayer', 'SBScore') || '-1', recordName, 1, rowid % 50
                FROM SBPlayer LIMIT \(Self.addedScores)
            """)
    }

    @Test(arguments: Role.allCases, moments)
    func theNextSyncCompletesWhatAKillLeft(victim: Role, moment: Moment) async throws {
        try await withPair { kitchen, study in
            try await fill(kitchen)
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .stall(.listener, afterBytes: moment.bytes))
            let caller = try study.start(["connect", proxy.address, "--json"])
            try await reach(moment, proxy, receiver: study)
            try await kill(victim == .sender ? listener.process : caller)
            #expect(try records(study) < records(kitchen))
            try await expectSound(kitchen, study)

            // What is left is sent, by whichever of the two is still running.
            caller.signal(SIGKILL)
            _ = try await caller.end()
            let again = victim == .sender ? try await kitchen.listen() : listener
            let figures = try await study.sync(again)
            #expect(figures.received > 0)
            try await expectComplete(kitchen, study)
        }
    }

    /// The same with the caller as the sender.
    @Test(arguments: Role.allCases, moments.suffix(1))
    func theNextSyncCompletesWhatAKillLeftOfACallersChanges(victim: Role, moment: Moment) async throws {
        try await withPair { kitchen, study in
            try await fill(study)
            let listener = try await kitchen.listen()
            let proxy = try Proxy(to: listener.port, .stall(.caller, afterBytes: moment.bytes))
            let caller = try study.start(["connect", proxy.address, "--once"])
            try await reach(moment, proxy, receiver: kitchen)
            try await kill(victim == .sender ? caller : listener.process)
            #expect(try records(kitchen) < records(study))
            try await expectSound(kitchen, study)

            caller.signal(SIGKILL)
            _ = try await caller.end()
            let again = victim == .receiver ? try await kitchen.listen() : listener
            let figures = try await study.sync(again)
            #expect(figures.sent > 0)
            try await expectComplete(kitchen, study)
        }
    }

    /// What has arrived before a kill is not sent again.
    @Test func aSyncThatIsKilledAgainAndAgainComesToItsEnd() async throws {
        try await withPair { kitchen, study in
            try await fill(kitchen)
            var counts: [Int] = []
            for (bytes, least) in [(215_000, 1000), (30_000, 0), (500, 0)] {
                let listener = try await kitchen.listen()
                let proxy = try Proxy(to: listener.port, .stall(.listener, afterBytes: bytes))
                let caller = try study.start(["connect", proxy.address, "--json"])
                try await reach(Moment(bytes: bytes, records: least), proxy, receiver: study)
                try await kill(caller)
                try await kill(listener.process)
                try await expectSound(kitchen, study)
                counts.append(try records(study))
            }
            #expect(counts == counts.sorted())
            let figures = try await study.sync(with: kitchen)
            #expect(figures.received <= Household.recordCount + Self.addedScores - counts[0])
            try await expectComplete(kitchen, study)
        }
    }

    private func reach(_ moment: Moment, _ proxy: Proxy, receiver: Machine) async throws {
        try await eventually("\(moment.bytes) bytes and \(moment.records) records") {
            try proxy.isFull && (moment.records == 0 || records(receiver) >= moment.records)
        }
    }

    /// How many records are durable there.
    private func records(_ machine: Machine) throws -> Int {
        try machine.rows("SELECT COUNT(*) FROM grdb_sync_remoteRecord").first.flatMap { Int($0) } ?? 0
    }

    private func kill(_ process: PeerProcess) async throws {
        process.signal(SIGKILL)
        #expect(try await process.end() == -SIGKILL)
    }

    private func expectSound(_ machines: Machine...) async throws {
        for machine in machines { #expect(try machine.isSound()) }
    }

    private func expectComplete(_ kitchen: Machine, _ study: Machine) async throws {
        #expect(try await haveEqualDigests(kitchen, study))
        #expect(try kitchen.contents() == study.contents())
        for machine in [kitchen, study] {
            #expect(try machine.isSound())
            #expect(try await machine.status().held == 0)
        }
    }
}

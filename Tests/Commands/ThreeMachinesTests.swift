import TestSupport
import Testing

/// Machines in a line: what the first writes reaches the last, although the two never connect.
@Suite(.takingTurns) struct ThreeMachinesTests {
    /// Runs a test on three machines, the first and the second of which are paired, and the second and the third.
    private func withLine(_ body: (Machine, Machine, Machine) async throws -> Void) async throws {
        try await withScene { scene in
            let (kitchen, study, attic) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("attic")
            )
            try await kitchen.pair(with: study)
            try await attic.pair(with: study)
            try await body(kitchen, study, attic)
        }
    }

    private func expectEqual(_ first: Machine, _ second: Machine, _ third: Machine) async throws {
        #expect(try await haveEqualDigests(first, second, third))
        #expect(try first.contents() == second.contents())
        #expect(try second.contents() == third.contents())
    }

    @Test func changesAndDeletionsPassThroughTheMiddle() async throws {
        try await withLine { kitchen, study, attic in
            try await kitchen.importHousehold()
            try await kitchen.sync(with: study)
            #expect(try await attic.sync(with: study).received == Household.recordCount)
            try await expectEqual(kitchen, study, attic)

            try await attic.peer("game", "edit", "Catan", "--year", "1900")
            try await attic.peer("game", "delete", "Scythe", "--yes")
            try await attic.sync(with: study)
            try await kitchen.sync(with: study)
            #expect(try kitchen.rows("SELECT year FROM SBGame WHERE name = 'Catan'") == ["1900"])
            #expect(try kitchen.rows("SELECT * FROM SBGame WHERE name = 'Scythe'").isEmpty)
            try await expectEqual(kitchen, study, attic)
            // The kitchen has never met the attic, so nothing waits for it.
            let status = try await kitchen.status()
            #expect(status.peers.map(\.name) == ["attic", "study"] && status.pending == 0)
        }
    }

    @Test func theMiddlePassesOnAtOnceWhileConnected() async throws {
        try await withLine { kitchen, study, attic in
            let listener = try await study.listen()
            _ = try await kitchen.connect(to: listener)
            _ = try await attic.connect(to: listener)
            let game = try await kitchen.addGame("Catan")
            try await eventually("the game in the attic") {
                try attic.rows("SELECT recordName FROM SBGame") == [game]
            }
            try await attic.peer("game", "delete", game, "--yes")
            try await eventually("the deletion in the kitchen") {
                try kitchen.rows("SELECT * FROM SBGame").isEmpty
            }
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study, attic) }
        }
    }

    /// The middle listens for one machine and calls the other: two processes share its store.
    @Test func theMiddleMayRunTwoProcesses() async throws {
        try await withLine { kitchen, study, attic in
            let kitchenListens = try await kitchen.listen()
            let studyListens = try await study.listen()
            _ = try await study.connect(to: kitchenListens)
            _ = try await attic.connect(to: studyListens)
            try await kitchen.importHousehold()
            try await attic.addGame("From the attic")
            try await eventually("the household in the attic") {
                try attic.rows("SELECT COUNT(*) FROM SBScore") == ["1013"]
            }
            try await eventually("the attic's game in the kitchen") {
                try kitchen.rows("SELECT COUNT(*) FROM SBGame WHERE name = 'From the attic'") == ["1"]
            }
            try await eventually("equal digests") { try await haveEqualDigests(kitchen, study, attic) }
            try await expectEqual(kitchen, study, attic)
        }
    }

    @Test func conflictingEditsAtTheEndsComeOutAlike() async throws {
        try await withLine { kitchen, study, attic in
            let game = try await kitchen.addGame("Catan")
            try await kitchen.sync(with: study)
            try await attic.sync(with: study)
            try await kitchen.peer("game", "edit", game, "--name", "First", "--year", "1995")
            try await study.peer("game", "edit", game, "--name", "Second", "--min-players", "3")
            try await attic.peer("game", "edit", game, "--name", "Third", "--max-players", "4")
            try await attic.sync(with: study)
            try await kitchen.sync(with: study)
            try await attic.sync(with: study)
            #expect(
                try kitchen.rows("SELECT name, year, minPlayers, maxPlayers FROM SBGame")
                    == ["Third|1995|3|4"])
            try await expectEqual(kitchen, study, attic)
        }
    }
}

import Foundation
import Testing

/// A machine whose clock is ahead is refused until its clock is set and its writes are repaired.
@Suite(.takingTurns) struct WrongClockTests {
    @Test func aClockThatIsAheadIsRefusedAndBothClocksAreNamed() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.shifted(by: "+2h").addGame("From the future")
            let before = try kitchen.contents()
            let listener = try await kitchen.listen()
            for machine in [study, study.shifted(by: "+2h")] {
                let outcome = try await machine.run("connect", listener.address, "--once", "--json")
                #expect(outcome.isSentence(77), "\(outcome)")
                #expect(outcome.errors.matches(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/).count == 2, "\(outcome)")
                #expect(outcome.errors.contains("From the future was written at"), "\(outcome)")
                #expect(outcome.errors.contains("scorebook-peer clock repair"))
            }
            // Also whoever looks later reads what helps.
            let told = try await study.status().peers.first
            #expect(told?.lastError?.contains("scorebook-peer clock repair") == true)
            #expect(told?.lastErrorCode == "clockSkew")
            #expect(told?.lastError?.contains(/\d\d-\d\dT\d\d:/) == true)
            let status = try await study.peer("status")
            #expect(
                status.contains(/\nkitchen: From the future was written at \d{4}-\d\d-\d\d \d\d:/),
                "\(status)")
            let finding = try await study.doctor("kitchen").finding("lastError")
            #expect(finding?.text.contains("an error: From the future was written at") == true)
            #expect(try kitchen.contents() == before)
            #expect(listener.process.isRunning)
        }
    }

    @Test func aRepairedStoreIsTaken() async throws {
        try await withPair { kitchen, study in
            let game = try await study.shifted(by: "+2h").addGame("From the future")
            try await study.shifted(by: "+2h").peer("game", "edit", game, "--year", "1995")
            #expect(try await study.peer("status").contains("in the future"))
            #expect(try await study.peer("clock").contains("1 record dated into the future"))
            #expect(try await study.peer("clock", "repair", "--dry-run").contains("1 record"))
            #expect(try await study.run("clock", "repair").isSentence(64))
            try await study.peer("clock", "repair", "--yes")
            #expect(try await study.peer("clock").contains("nothing lies in the future"))
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT name, year FROM SBGame") == ["From the future|1995"])
            // What is written from now on is the later write.
            try await kitchen.peer("game", "edit", game, "--year", "1996")
            try await study.sync(with: kitchen)
            #expect(try study.rows("SELECT year FROM SBGame") == ["1996"])
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func aSmallDifferenceIsAllowedAndTheLimitCanBeSet() async throws {
        try await withPair { kitchen, study in
            try await study.shifted(by: "+2m").addGame("Two minutes ahead")
            let listener = try await kitchen.listen(extra: ["--allowed-skew", "10"])
            #expect(try await study.run("connect", listener.address, "--once", "--json").isSentence(77))
            try await listener.stop()
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Two minutes ahead"])
        }
    }

    @Test func aClockThatIsBehindStillWritesTheLaterWrite() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try await study.shifted(by: "-3d").peer("game", "edit", game, "--name", "Edited in the past")
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Edited in the past"])
        }
    }
}

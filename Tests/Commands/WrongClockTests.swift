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
                #expect(outcome.errors.matches(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/).count == 2, "\(outcome)")
                #expect(outcome.errors.contains("scorebook-peer clock repair"))
            }
            // Also whoever looks later reads what helps.
            let told = try await study.status().peers.first
            #expect(told?.lastError?.contains("scorebook-peer clock repair") == true)
            #expect(told?.lastErrorCode == "clockSkew")
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

/// Deletions are forgotten after half a year; a machine that was away longer starts over and keeps what it wrote.
@Suite(.takingTurns) struct RetentionTests {
    @Test func aMachineThatWasAwayTooLongStartsOver() async throws {
        try await withPair { kitchen, study in
            let deleted = try await kitchen.addGame("Deleted in the kitchen")
            let kept = try await kitchen.addGame("Kept")
            try await study.sync(with: kitchen)
            let backup = study.scene.machine("backup")
            try FileManager.default.copyItem(at: study.store, to: backup.store)
            try await kitchen.peer("game", "delete", deleted, "--yes")
            try await study.sync(with: kitchen)
            #expect(try await kitchen.status().tombstones == 1)

            // For some hours a clock may be wrong.
            try await study.shifted(by: "+200d").sync(with: kitchen.shifted(by: "+200d"))
            #expect(try await kitchen.status().tombstones == 1)
            let later = "+202d"
            try await study.shifted(by: later).sync(with: kitchen.shifted(by: later))
            #expect(try await kitchen.status().tombstones == 0)
            #expect(try await study.status().tombstones == 0)

            // The study is set back to its backup, in which the game still lives.
            let old = backup.shifted(by: later)
            try await old.peer("game", "edit", kept, "--year", "1995")
            try await old.addGame("Written while away")
            let listener = try await kitchen.shifted(by: later).listen()
            let outcome = try await old.run("connect", listener.address, "--once", "--json")
            #expect(outcome.isSentence(77), "\(outcome)")
            #expect(outcome.errors.contains("`scorebook-peer connect kitchen --start-over` here"))
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Kept"])

            try await old.peer("connect", listener.address, "--once", "--start-over")
            for machine in [kitchen, backup] {
                let games = try machine.rows("SELECT name, year FROM SBGame ORDER BY name")
                #expect(games == ["Kept|1995", "Written while away|-"])
                #expect(try machine.isSound())
            }
            #expect(try kitchen.contents() == backup.contents())
            // From now on as ever.
            #expect(try await old.sync(listener).received == 0)
        }
    }

    @Test func aFirstCopyThatWasCutBringsNothingBack() async throws {
        try await withHousehold { kitchen, study in
            // As when the line was cut before the study's last batch, and what acknowledges it.
            try study.write("UPDATE grdb_sync_peerZone SET acknowledgedSequence = 0")
            try kitchen.write("UPDATE grdb_sync_peerZone SET receivedGeneration = NULL, receivedSequence = 0")
            try await kitchen.peer("peers", "forget", "study")
            try await study.peer("peers", "forget", "kitchen")
            try await study.addGame("Written in the study")
            try await kitchen.peer("game", "delete", "Scythe", "--yes")
            let before = try await kitchen.status()
            let deleted = before.tombstones + before.hidden
            try #require(before.tombstones == 1 && deleted > 7)

            // Half a year later a machine that is new makes the kitchen look what it can forget.
            let attic = study.scene.machine("attic")
            try await attic.shifted(by: "+200d").pair(with: kitchen.shifted(by: "+200d"))
            let later = "+202d"
            let (listening, calling) = (kitchen.shifted(by: later), study.shifted(by: later))
            try await attic.shifted(by: later).sync(with: listening)
            // What went with the game has a deletion of its own now, and none of it can be restored any more.
            let after = try await kitchen.status()
            #expect(after.hidden == 0 && after.tombstones == deleted - 1)
            #expect(try await kitchen.run("game", "restore", "Scythe").isSentence(65))

            let listener = try await listening.listen(pair: true)
            let code = try #require(listener.code)
            let outcome = try await calling.run(
                "connect", listener.address, "--code", code, "--once", "--json")
            #expect(outcome.isSentence(77), "\(outcome)")
            #expect(outcome.errors.contains("`scorebook-peer connect kitchen --start-over` here"))
            try await calling.peer("connect", listener.address, "--once", "--start-over")
            for machine in [listening, calling] {
                #expect(
                    try machine.rows(
                        "SELECT name FROM SBGame WHERE name IN ('Scythe', 'Written in the study')")
                        == ["Written in the study"])
                #expect(try await machine.status().live == Household.recordCount - deleted + 1)
            }
            #expect(try await haveEqualDigests(listening, calling))
        }
    }
}

import Foundation
import Testing

/// Deletions that all paired machines know are forgotten after half a year. A store from an older backup, or one whose pairing had ended, starts
/// over and keeps what was written there.
@Suite(.takingTurns) struct RetentionTests {
    @Test func aStoreFromAnOldBackupStartsOver() async throws {
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

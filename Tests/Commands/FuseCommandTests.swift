import Foundation
import Testing

/// Much that would go at once waits until somebody says what is to happen; what sync overwrote can be read and restored.
@Suite(.takingTurns) struct FuseCommandTests {
    private struct Alarm: Decodable {
        let number: String
        let machine: String?
        let deleted: Int
        let overwritten: Int
    }

    private func alarms(_ machine: Machine) async throws -> [Alarm] {
        try await machine.json([Alarm].self, "sync", "alarms")
    }

    private func matches(_ machine: Machine) throws -> [String] {
        try machine.rows("SELECT COUNT(*) FROM SBMatch")
    }

    @Test func aMachineThatDeletesAllMatchesIsAskedAboutAndRefused() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            try await study.sync(with: kitchen)
            // Nobody there is asked whether it is sent.
            #expect(try await study.peer("sync", "fuse").contains("off"))
            #expect(try await kitchen.peer("sync", "fuse", "--share", "0.1").contains("10 %"))
            try study.write("DELETE FROM SBMatch")
            try await kitchen.addGame("Added meanwhile")
            try await study.sync(with: kitchen)
            #expect(try matches(kitchen) == ["400"])
            #expect(try study.rows("SELECT name FROM SBGame WHERE name = 'Added meanwhile'").count == 1)
            let alarm = try #require(try await alarms(kitchen).first)
            #expect(alarm.machine == "study")
            #expect(alarm.deleted > 400)
            #expect(alarm.overwritten == 0)
            #expect(try await kitchen.peer("status").contains("study would delete"))

            #expect(try await kitchen.peer("sync", "alarms").contains("`sync refuse \(alarm.number)`"))
            #expect(try await kitchen.run("sync", "allow").exitCode == 64)
            // Somebody has seen the alarm, and more comes before they decide.
            try study.write("DELETE FROM SBGame WHERE name = 'Scythe'")
            try await study.sync(with: kitchen)
            #expect(try await kitchen.run("sync", "allow", alarm.number).isSentence(65))
            let number = try #require(try await alarms(kitchen).first).number
            #expect(
                try await kitchen.peer("sync", "refuse", number).hasPrefix("refused: study would delete"))
            #expect(try await kitchen.peer("sync", "alarms") == "nothing waits for a decision\n")
            try await study.sync(with: kitchen)
            #expect(try matches(study) == ["400"])
            #expect(try kitchen.contents() == study.contents())
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func whatAProgramDeletesHereIsSentOnlyWhenItIsAllowed() async throws {
        try await withPair { kitchen, study in
            try await kitchen.importHousehold()
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] { try await machine.peer("sync", "fuse", "--records", "50") }
            try study.write("DELETE FROM SBMatch")
            try await study.sync(with: kitchen)
            #expect(try matches(kitchen) == ["400"])
            #expect(try await alarms(study).map(\.machine) == [nil])
            #expect(try await study.peer("status").contains("a program here wants to delete"))
            try await study.peer("sync", "allow", try #require(try await alarms(study).first).number)
            // The kitchen asks too.
            try await study.sync(with: kitchen)
            #expect(try matches(kitchen) == ["400"])
            try await kitchen.peer("sync", "allow", try #require(try await alarms(kitchen).first).number)
            #expect(try matches(kitchen) == ["0"])
            try await study.sync(with: kitchen)
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func aPersonsOwnCommandsAreNoAlarmHere() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("sync", "fuse", "--share", "0.1")
            try await kitchen.importHousehold()
            try await kitchen.peer("undo", "--yes")
            #expect(try matches(kitchen) == ["0"])
            #expect(try await alarms(kitchen).isEmpty)
        }
    }

    /// Each says what it takes away, or has asked; a machine that is paired is there, so programs would be asked about.
    @Test func importsDeletionsUndoVerifyAndResetAreNoAlarmHere() async throws {
        try await withHousehold { kitchen, study in
            for machine in [kitchen, study] { try await machine.peer("sync", "fuse", "--records", "50") }
            func expectQuiet(_ what: String) async throws {
                #expect(try await alarms(kitchen).isEmpty, "\(what)")
            }
            let person = try #require(
                try kitchen.rows(
                    """
                    SELECT person FROM SBPlayer WHERE person IS NOT NULL GROUP BY 1 ORDER BY COUNT(*) DESC LIMIT 1
                    """
                ).first)
            let players = try kitchen.rows("SELECT COUNT(*) FROM SBPlayer")
            try await kitchen.peer("record", "delete", person, "--yes")
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBPlayer") != players)
            try await expectQuiet("a deletion that says how much it takes along")
            try await kitchen.peer("undo", "--yes")
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBPlayer") == players)
            try await expectQuiet("undo")
            try await kitchen.importHousehold()
            try await expectQuiet("an import")
            let listener = try await study.listen()
            try await kitchen.peer("verify", listener.address)
            try await expectQuiet("verify")
            try await kitchen.peer("reset", "--from", listener.address, "--yes")
            try await expectQuiet("reset")
            #expect(try matches(kitchen) == ["400"])
            #expect(try await alarms(study).isEmpty)
        }
    }

    @Test func whoListensReadsTheAlarmAsItIsShown() async throws {
        try await withHousehold { kitchen, study in
            try await kitchen.peer("sync", "fuse", "--records", "50")
            let process = try kitchen.start(
                ["listen", "--host", "127.0.0.1", "--port", "0", "--name", "kitchen"])
            let text = try await process.output(matching: /listening on .*\n/)
            let address = try #require(text.firstMatch(of: /listening on (127\.0\.0\.1:[0-9]+)/)).1
            try study.write("DELETE FROM SBMatch")
            try await study.peer("connect", String(address), "--once")
            let alarm = try #require(try await alarms(kitchen).first)
            _ = try await process.output(matching: Regex("\n\(alarm.number)  study would delete "))
            // More of the same is no news before it waits.
            try await study.peer("connect", String(address), "--once")
            #expect(process.output.matches(of: try Regex(alarm.number)).count == 1)
        }
    }

    @Test func whatWaitsOutlivesAKilledListener() async throws {
        try await withHousehold { kitchen, study in
            try await kitchen.peer("sync", "fuse", "--records", "50")
            let listener = try await kitchen.listen()
            try study.write("DELETE FROM SBMatch")
            try await study.peer("connect", listener.address, "--once")
            try await listener.process.event("withheld")
            let before = try #require(try await alarms(kitchen).first)
            listener.process.signal(SIGKILL)
            #expect(try await listener.process.end() == -SIGKILL)
            #expect(try await alarms(kitchen).map(\.number) == [before.number])
            // The two meet again, with nobody having decided.
            let again = try await kitchen.listen()
            try await study.peer("connect", again.address, "--once")
            #expect(try await alarms(kitchen).map(\.number) == [before.number])
            #expect(try matches(kitchen) == ["400"])
            // The one that decides is not the one that listens.
            try await kitchen.peer("sync", "refuse", before.number)
            try await study.peer("connect", again.address, "--once")
            #expect(try matches(study) == ["400"])
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func theValueThatLostIsShownAndComesBack() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try await kitchen.peer("game", "edit", game, "--year", "1995")
            try await study.peer("game", "edit", game, "--year", "1996")
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT year FROM SBGame") == ["1996"])
            let history = try await kitchen.peer("record", "history", game)
            #expect(history.contains("Catan, year: 1995 (this machine, "))
            #expect(history.contains("became 1996 (study, "))
            #expect(try await study.peer("record", "history").contains("1995 (kitchen, "))

            let times = try study.rows(
                "SELECT lostTime >> 16 FROM grdb_sync_history WHERE field = 'year' AND wasShown = 0")
            let seconds = try #require(times.first.flatMap { Double($0) }) / 1000
            let time = ISO8601DateFormatter().string(
                from: Date(timeIntervalSince1970: seconds.rounded(.down)))
            let restored = try await study.run("record", "restore", game, "--at", time)
            // Both may have written within one second; then the later value is the one of that time.
            if restored.exitCode == 0 {
                #expect(try study.rows("SELECT year FROM SBGame") == ["1995"])
                try await study.peer("undo", "--yes")
                #expect(try study.rows("SELECT year FROM SBGame") == ["1996"])
            }
            #expect(try await study.run("record", "restore", game, "--at", "1999-01-01").exitCode == 65)
        }
    }
}

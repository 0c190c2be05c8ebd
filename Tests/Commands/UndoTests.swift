import Foundation
import TestSupport
import Testing

/// Somebody has deleted what was still needed, and takes it back; or has to be rid of something for good.
@Suite(.takingTurns) struct UndoTests {
    /// Adds a match of Catan with two players, their scores, and its place.
    private func addEvening(_ machine: Machine) async throws -> String {
        try await machine.addGame("Catan")
        return try await machine.json(
            RecordLine.self, "match", "add", "Catan", "Ada Lovelace=10", "Alan Turing=8", "--new-persons",
            "--location", "at Ada's", "--date", "2026-11-20"
        ).recordName
    }

    private func deleted(_ machine: Machine) async throws -> [DeletedLine] {
        try await machine.json([DeletedLine].self, "record", "list", "--deleted")
    }

    /// Both machines hold the same rows, and say so.
    private func expectEqual(_ kitchen: Machine, _ study: Machine) async throws {
        #expect(try kitchen.contents() == study.contents())
        #expect(try await haveEqualDigests(kitchen, study))
        #expect(try kitchen.isSound() && study.isSound())
    }

    // MARK: Machines that do not know of each other's work

    @Test func whatSomebodyAddsToADeletedMatchBringsItBackWhole() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            try await study.sync(with: kitchen)
            let before = try kitchen.contents(without: "modificationDate")
            try await kitchen.peer("match", "delete", match, "--yes")
            try await study.peer("match", "edit", match, "--notes", "It snowed.")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                let sheet = try await machine.peer("match", "show", match)
                for part in ["It snowed.", "Ada Lovelace     10", "Alan Turing       8", "at Ada's"] {
                    #expect(sheet.contains(part), "\(machine.name): \(sheet)")
                }
                #expect(try await deleted(machine) == [])
                #expect(try await machine.status().hidden == 0)
            }
            try await expectEqual(kitchen, study)
            try await study.peer("match", "edit", match, "--notes", "")
            #expect(try study.contents(without: "modificationDate") == before)
        }
    }

    @Test func whatIsDeletedHereIsRestoredThereAsItWas() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            try await study.sync(with: kitchen)
            let (before, digest) = (try kitchen.contents(), try await kitchen.digest())
            try await kitchen.peer("match", "delete", match, "--yes")
            #expect(try await study.sync(with: kitchen).received == 1)
            try await expectEqual(kitchen, study)
            #expect(try study.rows("SELECT * FROM SBPlayer").isEmpty)
            #expect(
                try await study.peer("match", "restore", String(match.dropFirst(10)))
                    == "restored the match Catan, 2026-11-20 12:00, with 2 players, 2 scores, 1 place\n")
            // The match, and all that comes back with it: a machine that has forgotten the deletion could take that for gone.
            #expect(try await study.sync(with: kitchen).sent == 6)
            try await expectEqual(kitchen, study)
            #expect(try kitchen.contents() == before)
            #expect(try await kitchen.digest() == digest)
        }
    }

    /// A deletion travels without what the record held, so only machines that had the record can restore it.
    @Test func aMachineThatCameLaterGetsBackWhatAnotherRestores() async throws {
        try await withTwoMachines { kitchen, study in
            let match = try await addEvening(kitchen)
            let before = try kitchen.contents()
            try await kitchen.peer("match", "delete", match, "--yes")
            try await study.pair(with: kitchen)
            try await expectEqual(kitchen, study)
            #expect(try await deleted(study) == [])
            let outcome = try await study.run("match", "restore", match)
            #expect(outcome.isSentence(65), "\(outcome)")
            #expect(outcome.errors.contains("this machine has nothing of what \(match) held"))
            try await kitchen.peer("match", "restore", match)
            try await study.sync(with: kitchen)
            try await expectEqual(kitchen, study)
            #expect(try study.contents() == before)
        }
    }

    // MARK: One machine

    /// Each kind is restored in the way in which it was deleted.
    @Test func whateverCanBeDeletedCanBeRestored() async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture()
            let image = try #require(try await kitchen.pictures().first?.recordName)
            let score = try kitchen.rows("SELECT recordName FROM SBScore")[0]
            let player = try kitchen.rows("SELECT recordName FROM SBPlayer")[0]
            func uuid(_ name: String) -> String { String(name[name.range(of: "|~|")!.upperBound...]) }
            let before = try kitchen.contents()
            for command in [
                ["person", "Ada"], ["person", "ADA"], ["game", "Catan"], ["game", "catan"],
                ["match", match], ["match", uuid(match)], ["score", uuid(score)], ["score", score],
                ["image", image], ["image", uuid(image)], ["record", player], ["record", match],
            ] {
                let deletion = try await kitchen.peer(command[0], "delete", command[1], "--yes")
                #expect(try kitchen.contents() != before, "\(command)")
                let restoring = try await kitchen.peer(command[0], "restore", command[1])
                #expect(
                    restoring == deletion.replacing("deleted", with: "restored"))
                #expect(try kitchen.contents() == before, "\(command)")
            }
            let saved = kitchen.scene.path("saved.png")
            try await kitchen.peer("image", "save", image, "--to", saved)
            #expect(try Data(contentsOf: URL(fileURLWithPath: saved)) == SamplePicture.png(255))
        }
    }

    @Test func whatPlainSQLHasDeletedIsRestored() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            let before = try kitchen.contents()
            for foreignKeys in ["ON", "OFF"] {
                try kitchen.write("PRAGMA foreign_keys = \(foreignKeys); DELETE FROM SBGame")
                #expect(try await deleted(kitchen).map(\.title) == ["Catan"])
                #expect(try kitchen.rows("SELECT * FROM SBMatch").isEmpty)
                let steps = try await kitchen.json([StepLine].self, "game", "restore", "Catan")
                #expect(steps.count == 7 && steps.allSatisfy { $0.action == "restore" })
                #expect(steps.contains { $0.recordName == match })
                #expect(try kitchen.contents() == before)
            }
        }
    }

    /// A match that went with its game brings the game back.
    @Test func whatWentWithAnotherBringsThatBack() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            let before = try kitchen.contents()
            try await kitchen.peer("game", "delete", "Catan", "--yes")
            #expect(
                try await kitchen.peer("match", "restore", match)
                    == "restored the match Catan, 2026-11-20 12:00, with 1 game, 2 players, 2 scores, 1 place\n"
            )
            #expect(try kitchen.contents() == before)
        }
    }

    @Test func restoringLeavesWhatWasDeletedByItself() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            let score = try kitchen.rows("SELECT recordName FROM SBScore ORDER BY 1")[0]
            try await kitchen.peer("score", "delete", score, "--yes")
            let before = try kitchen.contents()
            try await kitchen.peer("match", "delete", match, "--yes")
            #expect(try await deleted(kitchen).map(\.recordName) == [match, score])
            try await kitchen.peer("match", "restore", match)
            #expect(try kitchen.contents() == before)
            #expect(try await deleted(kitchen).map(\.recordName) == [score])
        }
    }

    // MARK: What is deleted

    @Test func theListSaysWhoDeletedWhatAndUntilWhenItCanBeRestored() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            try await study.sync(with: kitchen)
            try await kitchen.peer("match", "delete", match, "--yes")
            try await study.peer("person", "delete", "Alan Turing", "--yes")
            try await study.sync(with: kitchen)
            for (machine, other) in [(kitchen, study), (study, kitchen)] {
                let list = try await deleted(machine)
                #expect(list.map(\.title) == ["Alan Turing", "Catan, 2026-11-20 12:00"])
                #expect(list.last?.players == ["Ada Lovelace", "Alan Turing"])
                #expect(list.map(\.here) == (machine.name == "kitchen" ? [false, true] : [true, false]))
                #expect(list.compactMap(\.machine) == [other.name])
                #expect(list.last?.recordName == match && list.last?.companions ?? 0 >= 3)
                for line in list {
                    let (from, until) = try (date(line.deletedAt), date(line.restorableUntil))
                    #expect(until.timeIntervalSince(from) == 180 * 86_400)
                    #expect(abs(from.timeIntervalSinceNow) < 3600)
                }
                let text = try await machine.peer("record", "list", "--deleted")
                let lines = text.split(separator: "\n")
                #expect(lines.count == 3)
                #expect(lines[2].contains("Catan, 2026-11-20 12:00 (Ada Lovelace, Alan Turing)"))
                #expect(lines[2].hasSuffix(String(match.suffix(6))))
                #expect(text.contains("this machine") && text.contains(" \(other.name) "))
                #expect(
                    try await machine.json(
                        [DeletedLine].self, "record", "list", "--deleted", "--type", "SBPerson"
                    ).map(\.title) == ["Alan Turing"])
            }
        }
    }

    private func date(_ text: String) throws -> Date {
        try #require(
            try? Date(
                text,
                strategy: .iso8601.year().month().day().time(includingFractionalSeconds: text.contains("."))))
    }

    @Test func theStatusSaysWhatIsHidden() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            #expect(try await !kitchen.peer("status").contains("hidden"))
            try await kitchen.peer("match", "delete", match, "--yes")
            let status = try await kitchen.status()
            #expect(status.tombstones == 1 && status.hidden == 5)
            #expect(
                try await kitchen.peer("status").contains(
                    "\ndeleted    1 can be restored; `record list --deleted` shows"))
            let text = try await kitchen.peer("status", "--verbose")
            #expect(text.contains("\nhidden           5 gone with a deleted record\n"))
            #expect(text.contains("\ndeleted          1 remembered; `record list --deleted` shows"))
            #expect(try await kitchen.peer("record", "list", "--held") == "no record waits for another\n")
            try await kitchen.peer("match", "restore", match)
            #expect(try await kitchen.status().hidden == 0)
        }
    }

    @Test func namesThatFitSeveralAreListed() async throws {
        try await withMachine { kitchen in
            let names = [try await kitchen.addGame("Catan"), try await kitchen.addGame("catan")]
            for name in names { try await kitchen.peer("game", "delete", name, "--yes") }
            let outcome = try await kitchen.run("game", "restore", "CATAN")
            #expect(outcome.isSentence(65), "\(outcome)")
            for name in names { #expect(outcome.errors.contains("(id \(name.suffix(6)))")) }
            #expect(try kitchen.rows("SELECT * FROM SBGame").isEmpty)
            // The spelling tells them apart, and one that is there does not stand in the way.
            try await kitchen.peer("game", "restore", "catan")
            #expect(try kitchen.rows("SELECT recordName FROM SBGame") == [names[1]])
            try await kitchen.peer("game", "restore", "CATAN")
            #expect(try kitchen.rows("SELECT recordName FROM SBGame ORDER BY 1") == names.sorted())
        }
    }

    @Test(arguments: [
        (["game", "restore", "Catan"], "“Catan” is not deleted"),
        (["game", "restore", "Hearts"], "there is no deleted game “Hearts”"),
        (["person", "restore", "Ada Lovelace"], "“Ada Lovelace” is not deleted"),
        (["match", "restore", "0000"], "there is no deleted match “0000”"),
        (["score", "restore", "x"], "there is no deleted score “x”"),
        (["match", "restore", "SBGame|~|1"], "is not a match"),
        (["match", "restore", "SBMatch|~|1"], "there is no record SBMatch|~|1, and no deleted one"),
        (["record", "restore", "SBGame|~|1"], "there is no record SBGame|~|1, and no deleted one"),
        (["record", "restore", "SBDice|~|1"], "no record type"), (["record", "restore", "Catan"], "Catan"),
        (["record", "delete", "SBGame|~|1", "--forever", "--yes"], "there is no record SBGame|~|1"),
        (["record", "list", "--deleted", "--zone", "club"], "club"),
    ])
    func whatCannotBeRestoredIsOneSentence(arguments: [String], sentence: String) async throws {
        try await withMachine { kitchen in
            _ = try await addEvening(kitchen)
            let before = try kitchen.contents()
            let outcome = try await kitchen.start(arguments).outcome()
            #expect(outcome.isSentence(65), "\(outcome)")
            #expect(outcome.errors.contains(sentence), "\(outcome)")
            #expect(try kitchen.contents() == before)
        }
    }

    @Test func aRecordThatIsThereIsNotRestored() async throws {
        try await withMachine { kitchen in
            let game = try await kitchen.addGame("Catan")
            for command in ["game", "record"] {
                let outcome = try await kitchen.run(command, "restore", game)
                #expect(outcome.isSentence(65), "\(outcome)")
                #expect(outcome.errors.contains("\(game) is not deleted"))
            }
        }
    }

    @Test func deletedRecordsAreFoundInTheirZone() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeClub()
            let before = try kitchen.contents()
            try await kitchen.peer("game", "delete", "Hearts", "--yes")
            #expect(try await deleted(kitchen).map(\.zone) == ["club"])
            let elsewhere = try await kitchen.run("game", "restore", "Hearts", "--zone", "ScorebookData")
            #expect(elsewhere.isSentence(65), "\(elsewhere)")
            #expect(
                try await kitchen.json(
                    [DeletedLine].self, "record", "list", "--deleted", "--zone", "ScorebookData") == [])
            try await kitchen.peer("game", "restore", "Hearts", "--zone", "club")
            #expect(try kitchen.contents() == before)
        }
    }

    // MARK: For ever

    @Test func whatIsDeletedForEverIsGoneEverywhere() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            try await kitchen.peer("match", "edit", match, "--notes", "secret-of-the-kitchen")
            try await study.sync(with: kitchen)
            #expect(try study.tables(with: "secret-of-the-kitchen") == ["SBMatch"])
            let dryRun = try await kitchen.peer("record", "delete", match, "--forever", "--dry-run")
            #expect(dryRun.split(separator: "\n").count == 6)
            #expect(try kitchen.rows("SELECT recordName FROM SBMatch") == [match])
            let gone = "the match Catan, 2026-11-20 12:00, with 2 players, 2 scores, 1 place"
            #expect(
                try await kitchen.peer("record", "delete", match, "--forever", "--yes")
                    == "deleted \(gone) for ever\n")
            // A score that is written down later elsewhere does not bring it back.
            try await study.peer("score", "add", match, "Ada Lovelace", "12", "--round", "2")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try machine.tables(with: "secret-of-the-kitchen") == [])
                #expect(try machine.rows("SELECT * FROM SBPlayer").isEmpty)
                #expect(try machine.rows("SELECT * FROM SBMatch").isEmpty)
                #expect(try await deleted(machine) == [])
                let outcome = try await machine.run("match", "restore", match)
                #expect(outcome.isSentence(65) && outcome.errors.contains("\(match) was deleted for ever"))
            }
            try await expectEqual(kitchen, study)
        }
    }

    @Test func aDeletedRecordCanBeDeletedForEver() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            try await kitchen.peer("match", "edit", match, "--notes", "secret-of-the-kitchen")
            try await study.sync(with: kitchen)
            try await kitchen.peer("match", "delete", match, "--yes")
            try await study.sync(with: kitchen)
            #expect(
                try Set(kitchen.tables(with: "secret-of-the-kitchen")) == [
                    "grdb_sync_remoteRecord", "scorebook_undo",
                ])
            #expect(try study.tables(with: "secret-of-the-kitchen") == ["grdb_sync_remoteRecord"])
            let steps = try await study.json(
                [StepLine].self, "record", "delete", match, "--forever", "--yes")
            #expect(steps.count == 6 && steps.allSatisfy { $0.action == "erase" })
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try machine.tables(with: "secret-of-the-kitchen") == [])
                #expect(try await deleted(machine) == [])
                let shown = try await machine.peer("record", "show", match)
                #expect(shown.hasPrefix("\(match) (deleted for ever)\n"))
            }
            try await expectEqual(kitchen, study)
        }
    }

    @Test func nothingIsDeletedForEverUnlessSomebodySaysSo() async throws {
        try await withMachine { kitchen in
            let game = try await kitchen.addGame("Catan")
            let outcome = try await kitchen.run("record", "delete", game, "--forever")
            #expect(outcome.isSentence(64) && outcome.errors.contains("for ever needs --yes"), "\(outcome)")
            for (answer, exitCode) in [("n", 75), ("", 75), ("y", 0)] as [(String, Int32)] {
                #expect(try kitchen.rows("SELECT recordName FROM SBGame") == [game])
                let terminal = try PseudoTerminal()
                let process = try kitchen.start(["record", "delete", game, "--forever"], at: terminal)
                try await eventually("the question") {
                    process.errors.contains(
                        "Delete Catan for ever, on every machine? This cannot be undone. [y/N]")
                }
                try terminal.type(answer)
                #expect(try await process.end() == exitCode, "\(process)")
            }
            #expect(try kitchen.rows("SELECT recordName FROM SBGame").isEmpty)
            #expect(try await deleted(kitchen) == [])
        }
    }

    @Test func whatWentWithAnotherIsNotDeletedForEverAlone() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            let before = try kitchen.contents()
            try await kitchen.peer("game", "delete", "Catan", "--yes")
            let outcome = try await kitchen.run("record", "delete", match, "--forever", "--yes")
            #expect(outcome.isSentence(65), "\(outcome)")
            try await kitchen.peer("game", "restore", "Catan")
            #expect(try kitchen.contents() == before)
        }
    }

    // MARK: Backups

    @Test func aBackupBringsBackWhatItHas() async throws {
        try await withPair { kitchen, study in
            _ = try await addEvening(kitchen)
            try await kitchen.addGame("Hearts")
            let file = kitchen.scene.path("backup.json")
            try await kitchen.peer("export", file)
            try await kitchen.peer("game", "edit", "Hearts", "--year", "1850")
            let before = try kitchen.contents(without: "modificationDate")
            try await kitchen.peer("game", "delete", "Catan", "--yes")
            try await study.sync(with: kitchen)
            let gone = try study.contents()
            #expect(try await study.json(ImportFigures.self, "import", file).restored == 0)
            #expect(try study.contents() == gone)
            // The game and the match; two players, two scores and the place come with them.
            let report = try await study.json(ImportFigures.self, "import", file, "--restore")
            #expect(report.restored == 7)
            #expect(report.types["SBPlayer"]?.new == 2 && report.types["SBGame"]?.new == 1)
            #expect(try study.contents(without: "modificationDate") == before)
            try await study.sync(with: kitchen)
            try await expectEqual(kitchen, study)
            #expect(try await study.json(ImportFigures.self, "import", file, "--restore").restored == 0)
        }
    }

    @Test func aBackupBringsBackEvenWhatWasDeletedForEver() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            let file = kitchen.scene.path("backup.json")
            try await kitchen.peer("export", file)
            let before = try kitchen.contents(without: "modificationDate")
            try await study.sync(with: kitchen)
            try await kitchen.peer("record", "delete", match, "--forever", "--yes")
            try await study.sync(with: kitchen)
            let report = try await study.peer("import", file)
            #expect(report.contains("nothing new\n"))
            #expect(report.contains("6 records of the file stayed deleted here; --restore brings them back"))
            #expect(try study.rows("SELECT * FROM SBMatch").isEmpty)
            #expect(
                try await study.peer("import", file, "--restore").contains(
                    "6 records changed, 6 came back\n"))
            try await study.sync(with: kitchen)
            #expect(try kitchen.contents(without: "modificationDate") == before)
            try await expectEqual(kitchen, study)
        }
    }

    /// Of such a record only what was written later is left, which no table accepts.
    @Test func aBackupCompletesWhatWasWrittenAfterADeletionForEver() async throws {
        try await withPair { kitchen, study in
            let match = try await addEvening(kitchen)
            try await study.sync(with: kitchen)
            let file = kitchen.scene.path("backup.json")
            try await kitchen.peer("export", file)
            let counts = try ["SBPlayer", "SBScore"].map { try study.rows("SELECT count(*) FROM \($0)") }
            try await kitchen.peer("record", "delete", match, "--forever", "--yes")
            try await study.peer("match", "edit", match, "--notes", "late")
            try await study.sync(with: kitchen)
            #expect(try study.rows("SELECT * FROM SBMatch").isEmpty)
            try await study.peer("import", file, "--restore")
            #expect(try study.rows("SELECT notes FROM SBMatch") == ["late"])
            #expect(
                try ["SBPlayer", "SBScore"].map { try study.rows("SELECT count(*) FROM \($0)") } == counts)
            try await study.sync(with: kitchen)
            try await expectEqual(kitchen, study)
        }
    }

    /// An export also has what was hidden when it was written. It is no reason to bring back what was deleted before.
    @Test func aBackupDoesNotBringBackWhatWasDeletedBeforeIt() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            try await kitchen.peer("match", "delete", match, "--yes")
            let file = kitchen.scene.path("backup.json")
            try await kitchen.peer("export", file)
            let before = try kitchen.contents()
            try await kitchen.peer("person", "delete", "Alan Turing", "--yes")
            let report = try await kitchen.json(ImportFigures.self, "import", file, "--restore")
            #expect(report.restored == 1)
            #expect(
                try kitchen.contents().mapValues { $0.count } == before.mapValues { $0.count })
            #expect(try await deleted(kitchen).map(\.recordName) == [match])
        }
    }

    @Test func aFileOfBGStatsBringsBackWhatItHas() async throws {
        try await withMachine { kitchen in
            try await kitchen.importHousehold()
            let before = try kitchen.contents(without: "modificationDate")
            try await kitchen.peer("game", "delete", "Scythe", "--yes")
            try await kitchen.peer("person", "delete", "Ida Brandt", "--yes")
            #expect(try await kitchen.peer("import", Household.path).contains("nothing new\n"))
            let hidden = try await kitchen.status().hidden
            let report = try await kitchen.json(ImportFigures.self, "import", Household.path, "--restore")
            #expect(report.restored == hidden + 2)
            #expect(try kitchen.contents(without: "modificationDate") == before)
        }
    }

    @Test func aPipeIsNotWaitedForAndAWrongFileRestoresNothing() async throws {
        try await withMachine { kitchen in
            let match = try await addEvening(kitchen)
            try await kitchen.peer("match", "delete", match, "--yes")
            let pipe = kitchen.scene.path("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            let outcome = try await kitchen.run("import", pipe, "--restore")
            #expect(outcome.isSentence(66) && outcome.errors.contains("it is a pipe"), "\(outcome)")
            let wrong = try kitchen.scene.file("wrong.json", Data(#"{"format": "scorebook export"}"#.utf8))
            #expect(try await kitchen.run("import", wrong, "--restore").isSentence(65))
            #expect(try kitchen.rows("SELECT * FROM SBMatch").isEmpty)
        }
    }
}

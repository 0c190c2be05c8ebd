import Foundation
import TestSupport
import Testing

/// Somebody keeps the score while a match goes on, and mends it afterwards.
@Suite(.takingTurns) struct PlayTests {
    private func type(_ lines: [String], _ process: PeerProcess, _ terminal: PseudoTerminal) async throws {
        for line in lines {
            let prompts = process.errors.split(separator: "> ", omittingEmptySubsequences: false).count
            try terminal.type(line)
            guard !["pause", "end"].contains(line) else { continue }
            try await eventually("the next prompt after \(line)") {
                process.errors.split(separator: "> ", omittingEmptySubsequences: false).count > prompts
            }
        }
    }

    @Test func aMatchIsPlayedPausedAndEnded() async throws {
        try await withMachine { kitchen in
            let terminal = try PseudoTerminal()
            let play = try kitchen.start(
                ["play", "Hearts", "Ada", "Alan", "--new-game", "--new-persons", "--location", "at Ada's"],
                at: terminal)
            try await eventually("the first prompt") { play.errors.contains("round 1> ") }
            try await type(["5 8", "5", "3 4", "undo", "1 2", "pause"], play, terminal)
            let first = try await play.outcome()
            #expect(
                first.exitCode == 0 && first.output.hasSuffix("`scorebook-peer play --resume` goes on\n"),
                "\(first)")
            #expect(first.errors.contains("error: there are 2 players and 1 score"), "\(first)")
            let again = try kitchen.start(["play", "--resume"], at: terminal)
            try await eventually("the prompt") { again.errors.contains("round 3> ") }
            try await type(["10 -", "end"], again, terminal)
            let end = try await again.outcome()
            #expect(end.exitCode == 0, "\(end)")
            #expect(
                end.output.contains(
                    """
                         Player  1  2   3  Total
                    * 1  Ada     5  1  10     16
                      2  Alan    8  2         10
                    """), "\(end)")
        }
    }

    @Test func unknownNamesAreAskedAbout() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("person", "add", "Ada Lovelace")
            try await kitchen.addGame("Skat")
            let unknown = try await kitchen.run("play", "Skatt", "Ada")
            #expect(
                unknown.isSentence(65) && unknown.errors.contains("hint: did you mean Skat?"), "\(unknown)")
            for (answer, exitCode) in [("n", 65), ("y", 0)] as [(String, Int32)] {
                let terminal = try PseudoTerminal()
                let play = try kitchen.start(["play", "Skat", "Lovel", "Bob"], at: terminal)
                try await eventually("the question") {
                    play.errors.contains("Add this person? [y/N]")
                }
                try terminal.type(answer)
                if answer == "y" {
                    try await eventually("the prompt") { play.errors.contains("round 1> ") }
                    try terminal.type("end")
                }
                #expect(try await play.end() == exitCode, "\(play)")
            }
            #expect(
                try kitchen.rows("SELECT firstName, lastName FROM SBPerson ORDER BY 1") == [
                    "Ada|Lovelace", "Bob|-",
                ])
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBMatch") == ["1"])
        }
    }

    @Test func scoresGoInOneLine() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Hearts")
            try await kitchen.peer(
                "match", "add", "Hearts", "Ada", "Alan", "--new-persons", "--first", "alan")
            let sheet = try await kitchen.peer("score", "add", "last", "--round", "1", "Ada=5", "al=-4")
            #expect(
                sheet.contains("Ada                   5") || sheet.contains("Ada               5"), "\(sheet)"
            )
            try await kitchen.peer("score", "add", "last", "--round", "next", "Ada=1", "Alan=2")
            #expect(
                try kitchen.rows("SELECT round, points FROM SBScore ORDER BY round, points") == [
                    "1|-4", "1|5", "2|1", "2|2",
                ])
            for arguments in [["Ada=1", "Alan=3,5"], ["--round", "99", "Ada=1"], ["Ada=1", "Bob=2"]] {
                let outcome = try await kitchen.start(["score", "add", "last"] + arguments).outcome()
                #expect(outcome.isSentence(65), "\(outcome)")
            }
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBScore") == ["4"])
            for arguments in [["Ada"], ["--round", "x", "Ada=1"]] {
                #expect(
                    try await kitchen.start(["score", "add", "last"] + arguments).outcome().isSentence(64))
            }
        }
    }

    @Test func aDeletionAsksInWords() async throws {
        try await withMachine { kitchen in
            _ = try await kitchen.addMatchWithPicture()
            let terminal = try PseudoTerminal()
            let process = try kitchen.start(["person", "delete", "ada"], at: terminal)
            try await eventually("the question") { process.errors.contains("[y/N]") }
            #expect(
                process.errors.contains(
                    #/^Delete Ada, with the part in 1 match, 1 score\? `person restore` brings all of it back until 20[0-9-]+\./#
                ),
                "\(process)")
            try terminal.type("n")
            #expect(try await process.end() == 75)
        }
    }

    @Test func theLastCommandIsTakenBack() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada=10")
            try await study.sync(with: kitchen)
            let before = try kitchen.contents(without: "modificationDate")
            try await kitchen.peer(
                "match", "edit", match, "--notes", "Snow.", "--add", "Bob=3", "--new-persons")
            try await kitchen.peer("game", "delete", "Catan", "--yes")
            try await study.sync(with: kitchen)
            #expect(try await kitchen.peer("undo").hasPrefix("took back `game delete`: "))
            #expect(try await kitchen.peer("undo").hasPrefix("took back `match edit`: "))
            #expect(try kitchen.contents(without: "modificationDate") == before)
            try await study.sync(with: kitchen)
            #expect(try study.contents(without: "modificationDate") == before)
            #expect(try await haveEqualDigests(kitchen, study))
            // The study has written nothing itself.
            #expect(try await study.run("undo").isSentence(65))
        }
    }

    @Test func anUndoThatDeletesAMatchAsks() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            _ = try await kitchen.addMatch("Catan", "Ada=10")
            let before = try kitchen.contents()
            let terminal = try PseudoTerminal()
            let process = try kitchen.start(["undo"], at: terminal)
            try await eventually("the question") {
                process.errors.contains(
                    #/^Take back `match add`\? This deletes the match Catan, .*; `match restore last` brings it back\. \[y/N\]/#
                )
            }
            try terminal.type("n")
            #expect(try await process.end() == 75)
            #expect(try kitchen.contents() == before)
            let text = try await kitchen.peer("undo")
            #expect(text.hasPrefix("took back `match add`: deleted the match Catan, "), "\(text)")
            #expect(try kitchen.rows("SELECT * FROM SBMatch").isEmpty)
            #expect(try await kitchen.peer("match", "list", "--deleted").contains("(Ada)"))
            try await kitchen.peer("match", "restore", "last")
            #expect(try kitchen.contents() == before)
        }
    }

    @Test func anUndoThatSomebodyPreventsCanBeLeftAside() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try await kitchen.addMatch("Catan", "Ada=10")
            try kitchen.write("UPDATE SBScore SET points = 11")
            let refusal = try await kitchen.run("undo")
            #expect(
                refusal.isSentence(65) && refusal.errors.contains("was changed since `match add` added it"))
            #expect(refusal.errors.contains("undo --skip"), "\(refusal)")
            let terminal = try PseudoTerminal()
            let process = try kitchen.start(["undo"], at: terminal)
            try await eventually("the question") {
                process.errors.contains("Leave it as it is, and take back the command before? [y/N]")
            }
            try terminal.type("y")
            // The game has a match now, so the command before it cannot be taken back either.
            try await eventually("the next question") {
                process.errors.contains(
                    "records that somebody added since would go with what `game add` added")
            }
            try terminal.type("n")
            #expect(try await process.end() == 75)
            #expect(try kitchen.rows("SELECT points FROM SBScore") == ["11"])
        }
    }

    @Test func aMergeAsksAndSaysWhatMoves() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try await kitchen.addMatch("Catan", "Ada=10")
            try await kitchen.peer("person", "add", "Ada Lovelace")
            for (answer, left) in [("n", 2), ("y", 1)] {
                let terminal = try PseudoTerminal()
                let process = try kitchen.start(
                    ["person", "merge", "Ada", "Ada Lovelace"], at: terminal)
                try await eventually("the question") {
                    process.errors.contains(
                        #/^Make one of them\? Ada \(1 match, .*\) goes into Ada Lovelace \(no matches, .*`undo` takes it back\. \[y/N\]/#
                    )
                }
                try terminal.type(answer)
                _ = try await process.end()
                #expect(try await kitchen.json([Named].self, "person", "list").count == left)
            }
        }
    }

    @Test func aDateInTheFutureIsAskedAbout() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada=10")
            let before = try kitchen.contents()
            for command in [["add", "Catan", "Ada=1"], ["edit", match]] {
                let outcome = try await kitchen.start(["match"] + command + ["--date", "2099-01-01"])
                    .outcome()
                #expect(outcome.isSentence(65) && outcome.errors.contains("is in the future"), "\(outcome)")
            }
            #expect(try kitchen.contents() == before)
            let terminal = try PseudoTerminal()
            let process = try kitchen.start(["match", "edit", match, "--date", "2099-01-01"], at: terminal)
            try await eventually("the question") {
                process.errors.contains("in the future. Is it right? [y/N]")
            }
            try terminal.type("y")
            #expect(try await process.end() == 0)
            #expect(try kitchen.rows("SELECT date FROM SBMatch")[0].hasPrefix("2099-01-01"))
        }
    }

    @Test func aScoreIsMendedByWords() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Hearts")
            try await kitchen.addMatch("Hearts", "Ada")
            try await kitchen.peer("score", "add", "last", "--round", "1", "Ada=5")
            let outcome = try await kitchen.run("score", "add", "last", "--round", "1", "Ada=7")
            #expect(outcome.isSentence(65) && outcome.errors.contains("`score set` changes it"), "\(outcome)")
            let sheet = try await kitchen.peer("score", "set", "last", "--round", "1", "Ada=7")
            #expect(sheet.contains(#/Ada +7\n/#), "\(sheet)")
            #expect(try kitchen.rows("SELECT points FROM SBScore") == ["7"])
            try await kitchen.peer("undo")
            #expect(try kitchen.rows("SELECT points FROM SBScore") == ["5"])
            let play = try await kitchen.run("play", "--resume", "Hearts")
            #expect(play.isSentence(65) && play.errors.contains("is finished\nhint: `match edit "), "\(play)")
        }
    }

    private struct Named: Decodable {
        let name: String
    }

    /// A mistyped directory is no new scorebook.
    @Test(arguments: [
        ["status"], ["match", "list"], ["person", "show", "Ada"], ["search", "snow"], ["undo"],
        ["export", "-"], ["stats"], ["stats", "year", "2025"],
    ])
    func whatOnlyReadsMakesNoScorebook(command: [String]) async throws {
        try await withMachine { kitchen in
            let outcome = try await kitchen.start(command).outcome()
            #expect(
                outcome.isSentence(66) && outcome.errors.contains("there is no scorebook in "), "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: kitchen.store.path))
        }
    }

    @Test func listsForSpreadsheetsAreWhole() async throws {
        try await withMachine { kitchen in
            let name = try await kitchen.addGame("=1+1, “\"two\"”")
            #expect(
                try await kitchen.peer("game", "list", "--csv")
                    == "name,year,matches,record name\r\n\"'=1+1, “\"\"two\"\"”\",-,0,\(name)\n")
            #expect(try await kitchen.run("game", "list", "--csv", "--json").isSentence(64))
        }
    }

    @Test func aSpreadsheetOfMatchesHasARowForEachPlayer() async throws {
        try await withMachine { kitchen in
            let match = try await kitchen.json(
                RecordLine.self, "match", "add", "Skat", "Ada=7", "Bob=DNF", "--new-game", "--new-persons",
                "--team", "Ada=red", "--role", "Bob=dealer", "--winner", "red", "--date", "2024-12-25 20:15",
                "--location", "at Ada's"
            ).recordName
            let lines = try await kitchen.peer("match", "list", "--csv").split(separator: "\r\n")
            #expect(
                lines == [
                    "date,game,place,minutes,player,team,role,score,rank,won,unfinished,zone,record name",
                    "2024-12-25 20:15,Skat,at Ada's,,Ada,red,,7,,yes,no,ScorebookData,\(match)",
                    "2024-12-25 20:15,Skat,at Ada's,,Bob,,dealer,DNF,,no,no,ScorebookData,\(match)\n",
                ], "\(lines)")
            // A whole number is one beside a word, too.
            try await kitchen.peer("score", "add", "last", "--round", "1", "Bob=5")
            #expect(try await kitchen.peer("match", "list", "--csv").contains(/,dealer,(DNF 5|5 DNF),/))
        }
    }

    /// A text that names a player of the new match is looked for as everywhere.
    @Test func theOptionsOfANewMatchFindItsPlayers() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            for name in ["Grace Hopper", "Bob Smith", "Ann Smith", "Ann Jones"] {
                try await kitchen.peer("person", "add", name)
            }
            func won(_ arguments: [String]) async throws -> [String] {
                let outcome = try await kitchen.scene.run(
                    ["match", "add", "Catan"] + arguments + ["--store", kitchen.store.path])
                #expect(outcome.exitCode == 0, "\(outcome)")
                return try kitchen.rows(
                    """
                    SELECT firstName || ' ' || lastName || ' ' || COALESCE(role, '-') || ' ' || COALESCE(startPlayer, 0)
                    FROM SBPlayer JOIN SBPerson ON person = SBPerson.recordName WHERE winner = 1
                        AND match = (SELECT recordName FROM SBMatch ORDER BY rowid DESC LIMIT 1)
                    """)
            }
            #expect(try await won(["grace", "bob", "--winner", "Bob Smith"]) == ["Bob Smith - 0"])
            let ann = ["Ann Smith", "Ann Jones"]
            #expect(
                try await won(ann + ["--winner", "Jones", "--first", "jones", "--role", "Jones=dealer"])
                    == ["Ann Jones dealer 1"])
            #expect(try await won(ann + ["--team", "Smith=red", "--winner", "red"]) == ["Ann Smith - 0"])
            let several = try await kitchen.run("match", "add", "Catan", ann[0], ann[1], "--winner", "Ann")
            #expect(several.isSentence(65) && several.errors.contains("“Ann” fits several: "))
            #expect(try kitchen.rows("SELECT count(*) FROM SBMatch") == ["3"])
        }
    }

    @Test func aListSaysWhichNamesAreThereTwice() async throws {
        try await withMachine { kitchen in
            var ids: [String] = []
            for email in ["a@example.org", "b@example.org"] {
                ids.append(
                    try await kitchen.json(RecordLine.self, "person", "add", "Ada", "--email", email)
                        .recordName)
            }
            let list = try await kitchen.run("person", "list")
            for (id, email) in zip(ids, ["a@example.org", "b@example.org"]) {
                #expect(list.errors.contains("\(id.suffix(6)) (no matches, \(email))"), "\(list)")
            }
            let command = try #require(list.errors.firstMatch(of: #/`person merge ([0-9a-f]+) ([0-9a-f]+)`/#))
            try await kitchen.peer("person", "merge", String(command.1), String(command.2))
            #expect(try await kitchen.run("person", "list").errors.isEmpty)
        }
    }
}

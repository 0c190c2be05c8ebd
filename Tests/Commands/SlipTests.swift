import Foundation
import TestSupport
import Testing

/// Slips at the command line get a question or a sentence that helps, and what was done is said in the words of people.
@Suite(.takingTurns) struct SlipTests {

    @Test func aNameThatSomebodyHasIsAskedAboutInAnEditToo() async throws {
        try await withMachine { kitchen in
            for name in ["Ada", "René"] { try await kitchen.peer("person", "add", name) }
            for (words, question) in [
                (["edit", "Ada", "--name", "rene"], "Call this one the same? [y/N]"),
                (["add", "RENE"], "Add another one? [y/N]"),
            ] {
                let terminal = try PseudoTerminal()
                let edit = try kitchen.start(["person"] + words, at: terminal)
                try await eventually("the question") { edit.errors.contains(question) }
                try terminal.type("n")
                #expect(try await edit.outcome().exitCode == 75)
            }
            #expect(try kitchen.rows("SELECT firstName FROM SBPerson ORDER BY 1") == ["Ada", "René"])
            // Another spelling of the own name is no second one.
            let own = try await kitchen.run("person", "edit", "René", "--name", "Rene")
            #expect(own.exitCode == 0 && own.errors.isEmpty, "\(own)")
        }
    }

    @Test(arguments: [
        (["person", "edit", "Ada"], "say what to change", "person edit --help"),
        (["game", "edit", "Skat"], "say what to change", "game edit --help"),
        (["match", "lst"], "unexpected argument 'lst'", "did you mean `scorebook-peer match list`?"),
        (
            ["serch", "snow"], "error: ",
            "did you mean `scorebook-peer search`?"
        ),
        (["match", "edit", "last", "--duration", "1h30"], "<minutes>", "match edit --help"),
        (["game", "edit", "Skat", "--highest-wins", "maybe"], "<true|false>", "game edit --help"),
    ])
    func aSlipInACommandIsNamed(command: [String], message: String, hint: String) async throws {
        try await withMachine { kitchen in
            let outcome = try await kitchen.start(command).outcome()
            #expect(outcome.isSentence(64), "\(outcome)")
            #expect(outcome.errors.contains(message) && outcome.errors.contains(hint), "\(outcome)")
        }
    }

    @Test func aNumberWithoutAListIsExplained() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("person", "add", "Ada")
            let outcome = try await kitchen.run("person", "show", "3")
            #expect(
                outcome.isSentence(65)
                    && outcome.errors.contains("shown last in this terminal, so run `person list` first"),
                "\(outcome)")
        }
    }

    @Test func anEmptyValueTakesANumberAway() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("match", "add", "Senet", "Ada", "--new-game", "--new-persons")
            try await kitchen.peer(
                "match", "edit", "last", "--duration", "90", "--rating", "8", "--ignored", "true")
            try await kitchen.peer("game", "edit", "Senet", "--year", "-3100", "--highest-wins", "false")
            #expect(try kitchen.rows("SELECT year FROM SBGame") == ["-3100"])
            try await kitchen.peer("match", "edit", "last", "--duration", "", "--rating", "", "--ignored", "")
            try await kitchen.peer("game", "edit", "Senet", "--year", "", "--highest-wins", "")
            let left =
                "SELECT count(*) FROM SBMatch JOIN SBGame WHERE durationMinutes IS NULL AND rating IS NULL AND ignored IS NULL AND year IS NULL AND highestWins IS NULL"
            #expect(try kitchen.rows(left) == ["1"])
        }
    }

    @Test func undoSaysWhatItDid() async throws {
        try await withMachine { kitchen in
            let match = ["match", "add", "Skat", "Ada=3", "Alan=4", "--new-game", "--new-persons"]
            #expect(try await kitchen.start(match + ["--date", "2026-01-02"]).outcome().exitCode == 0)
            try await kitchen.peer("match", "edit", "last", "--rating", "8")
            try await kitchen.peer("score", "set", "last", "Ada=5")
            try await kitchen.peer("person", "delete", "Ada", "--yes")
            try await kitchen.peer("person", "add", "Grace")
            for effect in [
                "`person add`: deleted Grace",
                "`person delete`: brought back Ada, with the part in 1 match, 1 score",
                "`score set`: gave back the former values of the score 3 of Ada in Skat, 2026-01-02 12:00",
                "`match edit`: gave back the former values of the match Skat, 2026-01-02 12:00",
                "`match add`: deleted the match Skat, 2026-01-02 12:00, with 2 persons, 1 game, 2 players, 2 scores; `match restore last` brings it back",
            ] {
                #expect(try await kitchen.peer("undo") == "took back \(effect)\n")
            }
        }
    }

    /// The question before a deletion names this command.
    @Test(arguments: ["score", "match", "game", "person"])
    func restoreAloneMeansTheLastDeletion(kind: String) async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("match", "add", "Skat", "Ada=3", "--new-game", "--new-persons")
            try await kitchen.peer("person", "add", "Bea")
            let record = ["score": "Score", "match": "Match", "game": "Game", "person": "Person"][kind] ?? ""
            let name = try kitchen.rows("SELECT recordName FROM SB\(record)")[0]
            let before = try kitchen.contents()
            try await kitchen.peer(kind, "delete", name, "--yes")
            #expect(try await kitchen.peer(kind, "restore").hasPrefix("restored "))
            #expect(try kitchen.contents() == before)
        }
    }

    /// Otherwise the next `undo` would take back another command.
    @Test func nothingIsSkippedIfNothingIsTakenBack() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("person", "add", "Ada")
            #expect(try await kitchen.run("undo", "--skip").isSentence(65))
            try await kitchen.addGame("Catan")
            try await kitchen.addMatch("Catan", "Ada=10")
            try await kitchen.peer("game", "edit", "Catan", "--year", "1995")
            let terminal = try PseudoTerminal()
            let process = try kitchen.start(["undo", "--skip"], at: terminal)
            try await eventually("the question") { process.errors.contains("Take back `match add`?") }
            try terminal.type("n")
            #expect(try await process.end() == 75)
            #expect(try await kitchen.peer("undo").hasPrefix("took back `game edit`"))
            try await kitchen.addGame("Azul")
            #expect(try await kitchen.peer("undo", "--skip", "--yes").hasPrefix("took back `match add`"))
            // What was skipped stays as it is.
            #expect(try await kitchen.peer("undo").hasPrefix("took back `game add`"))
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Azul"])
        }
    }

    @Test func listsTellWhatTellsRecordsApart() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer(
                "match", "add", "Hanabi", "Ada", "Grace", "--new-game", "--new-persons", "--lost", "--date",
                "2026-01-03")
            #expect(try await kitchen.peer("match", "list").contains(#/Ada, Grace +\(lost\) /#))
            try await kitchen.peer("match", "add", "Skat", "Ada=18", "Grace=20", "--new-game")
            #expect(try await kitchen.peer("score", "list").contains(#/Skat +Ada +- +18 /#))
            // Of two of one name the one with fewer matches goes.
            for _ in 1...2 { try await kitchen.peer("person", "add", "Bea") }
            #expect(try await kitchen.run("person", "merge", "Ada", "Ada").isSentence(65))
            #expect(
                try await kitchen.peer("person", "merge", "Bea", "bea").contains(
                    "Bea is the one that is left"))
        }
    }

    /// Every zone has persons of its own, so the same names in two are no slip, and cannot become one.
    @Test func namesOfTwoZonesAreNotCalledTwice() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Skat")
            try await kitchen.peer("zone", "create", "club")
            try await kitchen.peer("game", "add", "Skat", "--zone", "club")
            let list = try await kitchen.run("game", "list")
            #expect(list.exitCode == 0 && list.errors.isEmpty, "\(list)")
        }
    }
}

import Testing

/// What is written with a command can be read, changed and deleted with its neighbours.
@Suite(.takingTurns) struct CommandLineTests {
    @Test func aPerson() async throws {
        try await withMachine { kitchen in
            let added = try await kitchen.peer(
                "person", "add", "Ada Lovelace", "--email", "ada@example.org", "--bgg", "countess")
            #expect(added == "added Ada Lovelace\n")
            let name = try kitchen.rows("SELECT recordName FROM SBPerson")[0]
            #expect(
                try await kitchen.peer("person", "list").contains(
                    "1  Ada Lovelace  0        \(name.suffix(6))"))
            for text in ["Ada Lovelace", "ada lovelace", String(name), String(name.dropFirst(11).prefix(23))]
            {
                let shown = try await kitchen.peer("person", "show", text)
                for part in ["Ada Lovelace", "ada@example.org", "countess", name] {
                    #expect(shown.contains(part))
                }
            }
            try await kitchen.peer("person", "edit", "Ada Lovelace", "--name", "Ada King", "--email", "")
            #expect(
                try kitchen.rows("SELECT firstName, lastName, emailAddress, bggUsername FROM SBPerson")
                    == ["Ada|King|-|countess"])
            #expect(
                try await kitchen.peer("person", "delete", "Ada King", "--yes") == "deleted Ada King\n")
            #expect(try await kitchen.peer("person") == "there are no persons yet\n")
        }
    }

    @Test func aGame() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer(
                "game", "add", "Hanabi", "--year", "2010", "--bgg-id", "98778", "--min-players", "2",
                "--max-players", "5", "--highest-wins", "true", "--no-points", "false", "--cooperative",
                "true", "--uses-teams", "false")
            #expect(
                try kitchen.rows(
                    """
                    SELECT name, year, bggID, minPlayers, maxPlayers, highestWins, noPoints, cooperative, usesTeams
                    FROM SBGame
                    """) == ["Hanabi|2010|98778|2|5|1|0|1|0"])
            let shown = try await kitchen.peer("game", "show", "hanabi")
            for part in ["Hanabi", "2010", "2 to 5", "98778"] { #expect(shown.contains(part)) }
            try await kitchen.peer("game", "edit", "Hanabi", "--name", "Hanabi Deluxe", "--year", "2013")
            #expect(try await kitchen.peer("game").contains("Hanabi Deluxe  2013"))
            try await kitchen.peer("game", "delete", "Hanabi Deluxe", "--yes")
            #expect(try await kitchen.peer("game", "list") == "there are no games yet\n")
        }
    }

    @Test func aMatch() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try await kitchen.addGame("Hearts")
            let match = try await kitchen.json(
                RecordLine.self, "match", "add", "Catan", "Ada Lovelace=10", "Alan Turing=8",
                "Grace Hopper=8", "--new-persons", "--date", "2026-11-20T20:15:00Z", "--location", "at Ada's",
                "--duration", "130", "--board", "Seafarers", "--notes", "Snow."
            ).recordName
            let shown = """
                Catan · 2026-11-20 20:15 · at Ada's · Seafarers · 2 h 10 min

                     Player        Score
                * 1  Ada Lovelace     10
                  2  Alan Turing       8
                  2  Grace Hopper      8

                Snow.

                """
            #expect(try await kitchen.peer("match", "show", match).hasPrefix(shown))
            try await kitchen.peer(
                "match", "edit", match, "--game", "Hearts", "--location", "", "--board", "", "--notes", "",
                "--duration", "90", "--date", "2026-11-21")
            let edited = try await kitchen.peer("match", "show", String(match.dropFirst(10).prefix(23)))
            #expect(edited.hasPrefix("Hearts · 2026-11-21 12:00 · 90 min\n"))
            #expect(try await kitchen.peer("match", "list").contains("2026-11-21  Hearts"))
            try await kitchen.peer("match", "delete", match, "--yes")
            #expect(try await kitchen.peer("match") == "there are no matches yet\n")
            for table in ["SBPlayer", "SBScore", "SBMatchLocation"] {
                #expect(try kitchen.rows("SELECT COUNT(*) FROM \(table)") == ["0"])
            }
            #expect(try kitchen.rows("SELECT COUNT(*) FROM SBPerson") == ["3"])
        }
    }

    @Test func matchesAreListedByGameByPersonAndLatestFirst() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try await kitchen.addGame("Hearts")
            var names: [String] = []
            for (game, player, date) in [
                ("Catan", "Ada=1", "2026-01-01"), ("Hearts", "Ada=1", "2026-01-03"),
                ("Catan", "Alan=1", "2026-01-02"),
            ] {
                names.append(
                    try await kitchen.json(
                        RecordLine.self, "match", "add", game, player, "--date", date, "--new-persons"
                    ).recordName)
            }
            func list(_ arguments: String...) async throws -> [String] {
                let lines = try await kitchen.scene.run(
                    ["match", "list"] + arguments + ["--store", kitchen.store.path])
                return lines.output.split(separator: "\n").dropFirst()
                    .compactMap { $0.split(separator: " ").last.map(String.init) }
            }
            // The id is the end of the record name.
            func expect(_ ids: [String], _ matches: Int...) {
                #expect(ids.count == matches.count)
                #expect(zip(ids, matches).allSatisfy { names[$1].hasSuffix($0) })
            }
            expect(try await list(), 1, 2, 0)
            expect(try await list("--game", "Catan"), 2, 0)
            expect(try await list("--person", "Ada"), 1, 0)
            expect(try await list("--game", "Catan", "--person", "Ada"), 0)
            expect(try await list("--limit", "1"), 1)
        }
    }

    /// The example of docs/scorebook.md.
    @Test func scoresOfRounds() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("game", "add", "Hearts", "--highest-wins", "false")
            let match = try await kitchen.json(
                RecordLine.self, "match", "add", "Hearts", "Ada Lovelace", "Alan Turing", "Grace Hopper",
                "--new-persons", "--location", "at Ada's", "--date", "2026-11-21T08:17:00Z"
            ).recordName
            for (person, points) in [
                ("Ada Lovelace", [5, 0, 12]), ("Alan Turing", [13, 26, 4]), ("Grace Hopper", [8, 0, 10]),
            ] {
                for (index, points) in points.enumerated() {
                    try await kitchen.peer(
                        "score", "add", match, person, "\(points)", "--round", "\(index + 1)")
                }
            }
            let sheet = """
                Hearts · 2026-11-21 08:17 · at Ada's

                     Player         1   2   3  Total
                * 1  Ada Lovelace   5   0  12     17
                  2  Grace Hopper   8   0  10     18
                  3  Alan Turing   13  26   4     43

                """
            #expect(try await kitchen.peer("match", "show", match).hasPrefix(sheet))
        }
    }

    @Test func aScore() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada")
            let score = try await kitchen.json(
                RecordLine.self, "score", "add", match, "Ada", "12.5", "--round", "2"
            ).recordName
            #expect(try await kitchen.peer("score", "list", "--match", match).contains("Ada     2      12.5"))
            #expect(try await kitchen.peer("score", "show", score).contains("12.5"))
            #expect(
                try await !kitchen.run("score", "add", match, "Ada", "1", "--round", "2").output.contains(
                    "added"))
            try await kitchen.peer("score", "edit", score, "7 + 2", "--round", "1")
            #expect(try kitchen.rows("SELECT round, points, text FROM SBScore") == ["1|-|7 + 2"])
            try await kitchen.peer("score", "edit", score, "9")
            #expect(try kitchen.rows("SELECT round, points, text FROM SBScore") == ["1|9|-"])
            try await kitchen.peer("score", "delete", score, "--yes")
            #expect(try await kitchen.peer("score") == "there are no scores yet\n")
        }
    }

    @Test(arguments: [["-7"], ["--", "-7"]])
    func aScoreMayBeNegative(value: [String]) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Hearts")
            let match = try await kitchen.addMatch("Hearts", "Ada")
            let outcome = try await kitchen.scene.run(
                ["score", "add", "--store", kitchen.store.path, match, "Ada"] + value)
            #expect(outcome.exitCode == 0, "\(outcome)")
            #expect(try kitchen.rows("SELECT points FROM SBScore") == ["-7"])
        }
    }

    /// Only the argument parser takes them for something else.
    @Test func textsThatBeginLikeANegativeNumberStayAsTheyAre() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("game", "add", "-5 Game", "--year", "-3000")
            try await kitchen.peer("person", "add", "-1 Ada")
            try await kitchen.peer(
                "match", "add", "-5 Game", "-1 Ada", "--notes", "-5 points", "--location", "\u{2212}1 floor")
            #expect(try kitchen.rows("SELECT name, year FROM SBGame") == ["-5 Game|-3000"])
            #expect(try kitchen.rows("SELECT firstName, lastName FROM SBPerson") == ["-1|Ada"])
            #expect(try kitchen.rows("SELECT notes FROM SBMatch") == ["-5 points"])
            #expect(try kitchen.rows("SELECT name FROM SBMatchLocation") == ["\u{2212}1 floor"])
            let outcome = try await kitchen.run("game", "show", "-6")
            #expect(outcome.errors.contains("“-6”"), "\(outcome)")
            let refusal = try await kitchen.run("peers", "-7")
            #expect(refusal.isSentence(64) && refusal.errors.contains("'-7'"), "\(refusal)")
            #expect(try await kitchen.run("image", "add", "last", "-1.jpeg").errors.contains("-1.jpeg"))
        }
    }

    @Test func recordsOfEveryType() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            #expect(try await kitchen.peer("record", "list") == "there are no records yet\n")
            #expect(
                try await kitchen.peer("record", "list", "--type", "SBGame")
                    == "there are no records of the type SBGame yet\n")
            let game = try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada=1")
            let all = try await kitchen.peer("record", "list").split(separator: "\n")
            #expect(all.count == 5)
            #expect(try await kitchen.peer("record", "list", "--type", "SBGame") == game + "\n")
            let shown = try await kitchen.peer("record", "show", game)
            #expect(shown.hasPrefix(game + "\n") && shown.contains("Catan"))
            #expect(
                try await kitchen.peer("record", "delete", game, "--yes")
                    == "deleted Catan, with 1 match, 1 player, 1 score\n")
            #expect(try await kitchen.peer("record", "show", game).hasPrefix("\(game) (deleted)\n"))
            #expect(
                try await kitchen.peer("record", "show", match)
                    .hasPrefix("\(match) (gone with a deleted record)\n"))
            #expect(try await kitchen.peer("record", "list").hasPrefix("SBPerson|~|"))
            #expect(try await kitchen.run("record", "list", "--type", "SBDice").isSentence(65))
        }
    }

    @Test func nothingIsDeletedWhereNobodyCanBeAsked() async throws {
        try await withMachine { kitchen in
            let game = try await kitchen.addGame("Catan")
            for command in [["game", "Catan"], ["record", game]] {
                let outcome = try await kitchen.run(command[0], "delete", command[1])
                #expect(outcome.isSentence(64))
                #expect(outcome.errors.contains("--yes"))
            }
            #expect(try kitchen.rows("SELECT recordName FROM SBGame") == [game])
        }
    }

    @Test func statusIsForPeopleToo() async throws {
        try await withHousehold { kitchen, study in
            let words = try await kitchen.peer("status")
            #expect(
                words.contains("\nmatches    400\n") && words.contains("\npending    nothing\n"), "\(words)")
            #expect(!words.contains("SB") && !words.contains("digest"), "\(words)")
            let text = try await kitchen.peer("status", "--verbose")
            #expect(text.contains("digest           \(try await kitchen.digest()) over 3,007 records\n"))
            #expect(text.contains("SBScore          1,013\n"))
            #expect(text.contains("\nstudy "))
        }
    }

    @Test(arguments: [
        ["person", "show", "Nobody"], ["game", "edit", "Nothing", "--year", "1"], ["match", "show", "0000"],
        ["score", "delete", "0000", "--yes"], ["match", "add", "Nothing"],
        ["match", "list", "--game", "Nothing"],
        ["game", "add", ""], ["person", "add", "  "], ["game", "add", "Go", "--year", "99999"],
        ["game", "add", "Go", "--min-players", "4", "--max-players", "2"],
        ["match", "add", "Catan", "Nobody"], ["match", "add", "Catan", "--date", "soon"],
        ["match", "add", "Catan", "Ada", "--new-persons", "--winner", "Alan"],
        ["game", "show", "SBPerson|~|1"],
    ])
    func aWrongValueIsRefusedAndWritesNothing(arguments: [String]) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let before = try kitchen.contents()
            let outcome = try await kitchen.scene.run(arguments + ["--store", kitchen.store.path])
            #expect(outcome.isSentence(65), "\(outcome)")
            #expect(try kitchen.contents() == before)
        }
    }

    @Test func aNameThatFitsSeveralIsRefused() async throws {
        try await withMachine { kitchen in
            let names = [try await kitchen.addGame("Catan"), try await kitchen.addGame("Catan")]
            let outcome = try await kitchen.run("game", "show", "Catan")
            #expect(outcome.isSentence(65))
            for name in names { #expect(outcome.errors.contains("id \(name.suffix(6))")) }
        }
    }
}

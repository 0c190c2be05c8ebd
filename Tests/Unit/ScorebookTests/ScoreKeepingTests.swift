import PeerSyncModel
import Scorebook
import Testing

/// Scores that somebody types while a match goes on.
struct ScoreKeepingTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Hearts", highestWins: false))
        try await scorebook.addMatch(
            NewMatch(
                game: "Hearts", players: ["Ada", "Alan", "Grace"].map { NewPlayer($0) }, createsPersons: true)
        )
        return scorebook
    }

    private func rows(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.rows(
            """
            SELECT firstName, round, points, text FROM SBScore JOIN SBPlayer ON player = SBPlayer.recordName
            JOIN SBPerson ON person = SBPerson.recordName ORDER BY round, seatOrder
            """)
    }

    @Test func aLineIsARound() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        #expect(keeping.players == ["Ada", "Alan", "Grace"] && keeping.round == 1)
        for line in ["5 8 13", "", "  0\t-  -7 ", "alan=DNF", "7: gr=1 ada=2"] {
            _ = try await keeping.take(line)
        }
        #expect(
            try await rows(scorebook) == [
                "Ada|1|5|null", "Alan|1|8|null", "Grace|1|13|null", "Ada|2|0|null", "Grace|2|-7|null",
                "Alan|3|null|DNF", "Ada|7|2|null", "Grace|7|1|null",
            ])
    }

    @Test func twoNumbersWithAColonAreAScoreAndNoRound() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        for line in ["2:30 2:45 -", "set 1:05 - -", "3: 1:10 -  -", "4:\tada=2", "5:Ada=3"] {
            _ = try await keeping.take(line)
        }
        #expect(
            try await rows(scorebook) == [
                "Ada|1|null|1:05", "Alan|1|null|2:45", "Ada|3|null|1:10", "Ada|4|2|null", "Ada|5|3|null",
            ])
    }

    /// Also behind a name.
    @Test func aHyphenIsAPlayerWithoutAScore() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        _ = try await keeping.take("Ada=- Alan=2")
        #expect(try await rows(scorebook) == ["Alan|1|2|null"])
        for line in ["Ada=-", "set Ada=-"] {
            let error = await #expect(throws: ScorebookError.self) { _ = try await keeping.take(line) }
            #expect(error?.message == "the line has no score")
        }
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.addScores(NewScores(match: "last", values: [("Ada", " \u{2212} ")]))
        }
        #expect(error?.message == "“-” is no score")
        #expect(try await rows(scorebook) == ["Alan|1|2|null"])
    }

    /// Scores with names fill a round; then the next one begins.
    @Test func scoresWithNamesStayInARoundUntilItIsFull() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        for (line, round) in [("Ada=1", 1), ("Alan=2", 1), ("Grace=3", 2), ("Ada=4", 2), ("5 6 7", 4)] {
            _ = try await keeping.take(line)
            #expect(keeping.round == round, "\(line)")
        }
        #expect(try await scorebook.scores(match: "last").filter { $0.score.round == 3 }.count == 3)
    }

    @Test func undoTakesBackOneLineAfterTheOther() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        for line in ["1 2 3", "4 5 6", "Ada=7"] { _ = try await keeping.take(line) }
        for left in [6, 3] {
            _ = try await keeping.take("undo")
            #expect(try await rows(scorebook).count == left)
        }
        _ = try await keeping.take("4 5 7")
        #expect(try await rows(scorebook).suffix(1) == ["Grace|2|7|null"])
        // Somebody goes on later, and has typed nothing yet: the last round goes.
        var later = try await scorebook.keepScore(of: "Hearts")
        #expect(later.round == 3)
        for left in [3, 0] {
            _ = try await later.take("undo")
            #expect(try await rows(scorebook).count == left)
        }
        let answer = try await later.take("UNDO")
        guard case .nothingToUndo? = answer else {
            Issue.record("there was something left")
            return
        }
    }

    /// A line with `set` mends what is there; `undo` takes that back, too.
    @Test func aScoreIsSetAnew() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        for line in ["1 2 3", "4 5 6", "set 1: ada=7 grace=DNF", "set Alan=8"] {
            _ = try await keeping.take(line)
        }
        #expect(keeping.round == 3)
        let set = [
            "Ada|1|7|null", "Alan|1|2|null", "Grace|1|null|DNF", "Ada|2|4|null", "Alan|2|8|null",
            "Grace|2|6|null",
        ]
        #expect(try await rows(scorebook) == set)
        for _ in 1...2 { _ = try await keeping.take("undo") }
        #expect(
            try await rows(scorebook) == [
                "Ada|1|1|null", "Alan|1|2|null", "Grace|1|3|null", "Ada|2|4|null", "Alan|2|5|null",
                "Grace|2|6|null",
            ])
        // Without a line of its own, and for a player who has none yet.
        let values = [(player: "Ada", value: "9"), (player: "Alan", value: "1")]
        for round in [NewScores.Round.number(2), .number(3)] {
            try await scorebook.addScores(
                NewScores(match: "last", round: round, values: values, replaces: true))
        }
        #expect(
            try await rows(scorebook).suffix(5) == [
                "Ada|2|9|null", "Alan|2|1|null", "Grace|2|6|null", "Ada|3|9|null", "Alan|3|1|null",
            ])
    }

    /// Gives a player who has 7 another score in the round.
    private func addAnother(_ scorebook: ScorebookStore) async throws {
        try await scorebook.execute(
            """
            INSERT INTO SBScore (recordName, player, round, points)
            SELECT 'SBScore|~|0000000e-0000-4000-8000-000000000001', player, round, 8 FROM SBScore WHERE points = 7
            """)
    }

    /// Machines that were apart wrote two scores for one round. The new one takes the place of both.
    @Test func aScoreIsSetInPlaceOfTwo() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        _ = try await keeping.take("7 2 3")
        try await addAnother(scorebook)
        let both = try await rows(scorebook)
        #expect(both.count == 4)
        _ = try await keeping.take("set Ada=9")
        #expect(try await rows(scorebook) == ["Ada|1|9|null", "Alan|1|2|null", "Grace|1|3|null"])
        _ = try await keeping.take("undo")
        #expect(try await rows(scorebook).sorted() == both.sorted())
        // Without a line of its own.
        let added = try await scorebook.addScores(
            NewScores(match: "last", round: .number(1), values: [("Ada", "9")], replaces: true))
        #expect(added.sheet.bySeat.map { $0.scores.map(\.points) } == [[9], [2], [3]])
    }

    /// Takes a line back, and returns how many of its scores stay.
    private func undo(_ keeping: inout ScoreKeeping) async throws -> Int? {
        guard case .takenBack(_, let kept)? = try await keeping.take("undo") else { return nil }
        return kept
    }

    /// Otherwise it would take back what somebody else has written.
    @Test func whatSomebodyHasChangedSinceStays() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        for line in ["1 2 3", "set Ada=7 Alan=8"] { _ = try await keeping.take(line) }
        try await scorebook.execute("UPDATE SBScore SET points = 9 WHERE points = 7")
        for left in [["Ada|1|9|null", "Alan|1|2|null", "Grace|1|3|null"], ["Ada|1|9|null"]] {
            let kept = try await undo(&keeping)
            #expect(kept == 1)
            #expect(try await rows(scorebook) == left)
        }
    }

    /// Nor does what the line had deleted come back beside it.
    @Test func whatALineDeletedStaysAwayIfSomebodyHasChangedTheOtherOneSince() async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        _ = try await keeping.take("7 2 3")
        try await addAnother(scorebook)
        _ = try await keeping.take("set Ada=9")
        try await scorebook.execute("UPDATE SBScore SET points = 10 WHERE points = 9")
        let kept = try await undo(&keeping)
        #expect(kept == 1)
        #expect(try await rows(scorebook) == ["Ada|1|10|null", "Alan|1|2|null", "Grace|1|3|null"])
    }

    /// What somebody may have meant is said; what is no number is a score as well.
    @Test(arguments: [
        ("8O", "80"), ("1l", "11"), ("1e3", "1000"), ("1.5e1", "15"), ("3,5", "3.5"),
        ("1.000", "1000 or 1"), ("1,000", "1000 or 1"), ("12.500", "12500 or 12.5"),
        ("1.234", "1234 or 1.2340"), ("-1,234", "-1234 or -1.2340"), ("1.2345e1", "12.3450"),
        ("1'000'000", "1000000"), ("-3,5", "-3.5"), ("½", "0.5"), ("1/2", "0.5"), ("١٢", "12"),
    ])
    func aSlipIsAnsweredWithWhatWasMeant(text: String, meant: String) async throws {
        let scorebook = try await scorebook()
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.addScores(NewScores(match: "last", values: [("Ada", text)]))
        }
        #expect(error?.code == .invalidValue && error?.hint == "did you mean \(meant)?")
        #expect(try await rows(scorebook).isEmpty)
        for suggestion in meant.split(separator: " or ") {
            try await scorebook.addScores(
                NewScores(match: "last", values: [("Ada", String(suggestion))], replaces: true))
        }
        try await scorebook.execute("DELETE FROM SBScore")
        for (index, kept) in ["DNF", "3-5", "0.125", "2.50", "12 points", "2:30", "Ill"].enumerated() {
            try await scorebook.addScores(
                NewScores(match: "last", round: .number(index + 1), values: [("Ada", kept)]))
        }
        #expect(try await rows(scorebook).count == 7)
    }

    @Test(arguments: [
        ("5 8", "3 players and 2 scores"), ("5", "3 players and 1 score"), ("undoo", "“undoo” is neither"),
        ("5,8,13", "“5,8,13” is one word"), ("x30 1 2", "“x30” is no number"),
        ("Ada=3,5", "“3,5” is no number"),
        ("Ada=5 8", "“8” is no score of a player"),
        ("1 2 1.000.000", "no number"), ("Bob=5", "there is no person"), ("- - -", "no score"),
        ("99: 1 2 3", "round 99"),
        ("1: Ada=3", "already"), ("0: 1 2 3", "0 cannot be the round"), ("=5", "“=5” is no score"),
    ])
    func aWrongLineWritesNothing(line: String, message: String) async throws {
        let scorebook = try await scorebook()
        var keeping = try await scorebook.keepScore(of: "last")
        _ = try await keeping.take("1 2 3")
        let before = try await rows(scorebook)
        var error: ScorebookError?
        do {
            _ = try await keeping.take(line)
        } catch let thrown as ScorebookError {
            error = thrown
        }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(try await rows(scorebook) == before)
    }

    @Test func pointsOfNoRoundHaveAColumn() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addScores(
            NewScores(match: "last", round: .next, values: [("Ada", "5"), ("Alan", "8"), ("Grace", "13")]))
        let sheet = try await scorebook.addScores(NewScores(match: "last", values: [("Ada", "20")])).sheet
        #expect(
            sheet.text.contains(
                """
                     Player   1  other  Total
                * 1  Alan     8             8
                  2  Grace   13            13
                  3  Ada      5     20     25
                """), "\(sheet.text)")
    }

    /// Slips of people, not values of files.
    @Test func slipsAreRefused() async throws {
        let scorebook = try await scorebook()
        var edit = MatchEdit()
        edit.rating = .set(11)
        for (attempt, message) in [
            (
                { [edit] in try await scorebook.editMatch("last", edit) as Any },
                "11 cannot be the rating; it goes from 0 to 10"
            ),
            ({ try await scorebook.addMatch(NewMatch(game: "Hearts")) }, "a match needs players"),
            (
                { try await scorebook.addScore(NewScore(match: "last", player: "Ada", value: "3,5")) },
                "“3,5” is no number"
            ),
            (
                {
                    try await scorebook.addScore(NewScore(match: "last", player: "Ada", value: "3", round: 9))
                }, "round 9"
            ),
        ] as [(() async throws -> Any, String)] {
            var error: ScorebookError?
            do {
                _ = try await attempt()
            } catch let thrown as ScorebookError {
                error = thrown
            }
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }
}

import Foundation
import Scorebook
import Testing

/// What a person sees of a match.
struct MatchSheetTests {
    private func sheet(_ ending: String, later: Bool = false) async throws -> String {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(later ? Support.later() : Support.earlier())
        return try await scorebook.matchSheet("SBMatch|~|0000000d-0000-4000-8000-\(ending)").text
    }

    @Test func aPlainMatch() async throws {
        #expect(
            try await sheet("000000000001") == """
                Harbour Lights · 2021-04-01 19:30 · Ada's kitchen · Seafarers · 75 min

                     Player                Score
                * 1  Ada Lovelace (began)     10
                  2  Grace Hopper              8
                  3  林 美咲                   7

                Close to the end.
                A second line.

                """)
    }

    @Test func teamsAndRoles() async throws {
        #expect(
            try await sheet("000000000002") == """
                Two Teams · 2021-04-02 19:30 · The old mill

                     Player        Team  Role     Score
                * 1  Ada Lovelace  1                 21
                * 1  Grace Hopper  1                 21
                  2  林 美咲       2                 15
                  2  Jose\u{301} Nu\u{301}n\u{303}ez    2     Captain     15

                """)
    }

    @Test func decimalsAndOddScores() async throws {
        #expect(
            try await sheet("000000000003") == """
                Harbour Lights · 2021-04-03 19:30 · Ada's kitchen

                     Player        Score
                * 1  Ada Lovelace   13.5
                  2  Cher          10.25

                """)
        #expect(
            try await sheet("000000000008") == """
                Low Tide · 2021-04-08 19:30 · Ada's kitchen

                     Player            Score
                *    Grace Hopper         -4
                     林 美咲             DNF
                     Anonymous player      2

                """)
    }

    @Test func theLowestWinsWhereTheGameSaysSo() async throws {
        #expect(
            try await sheet("00000000000a") == """
                Low Tide · 2021-04-10 19:30 · The old mill · 3 rounds

                     Player        Score
                * 1  Grace Hopper     38
                  2  Ada Lovelace     40

                """)
    }

    @Test func noScoresNoColumn() async throws {
        #expect(
            try await sheet("000000000004") == """
                Lighthouse Keepers · 2021-04-04 19:30 · Ada's kitchen · 7.5/10 · won · ignored

                     Player
                *    Ada Lovelace
                *    Grace Hopper

                """)
    }

    /// A person alone has always the best total. Only a record says whether they won.
    @Test(arguments: [nil, true, false])
    func pointsMakeNoWinnerOfAPersonAlone(recorded: Bool?) async throws {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.addGame(NewGame(name: "Yacht"))
        try await scorebook.addMatch(
            NewMatch(
                game: "Yacht", players: [NewPlayer("Ada", score: "10", isWinner: recorded)],
                createsPersons: true))
        let sheet = try await scorebook.matchSheet("last")
        #expect(sheet.players.map(\.winner) == [recorded] && sheet.players.map(\.rank) == [nil])
        let won = try await scorebook.matches(MatchFilter(winner: "Ada"))
        #expect(won.count == (recorded == true ? 1 : 0))
    }

    @Test func roundsHaveColumns() async throws {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.addGame(NewGame(name: "Yacht"))
        let match = try await scorebook.addMatch(
            NewMatch(
                game: "Yacht", date: "2024-03-05 19:30",
                players: [NewPlayer("Ada"), NewPlayer("Bo 🎲"), NewPlayer("Eve")],
                durationMinutes: 150, createsPersons: true)
        ).recordName.description
        for (player, scores) in [
            ("Ada", ["10", "-2", "30"]), ("Bo 🎲", ["10", "12.5", "30"]), ("Eve", ["1", "2"]),
        ] {
            for (index, score) in scores.enumerated() {
                _ = try await scorebook.addScore(
                    NewScore(match: match, player: player, value: score, round: index + 1))
            }
        }
        #expect(
            try await scorebook.matchSheet(match).text == """
                Yacht · 2024-03-05 19:30 · 2 h 30 min

                     Player   1     2   3  Total
                * 1  Bo 🎲   10  12.5  30   52.5
                  2  Ada     10    -2  30     38
                  3  Eve      1     2          3

                """)
    }

    @Test func namesCannotCommandTheTerminal() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.execute(
            """
            INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Red' || char(27) || '[31m' || char(8238) || 'x');
            INSERT INTO SBMatch (recordName, game, notes) VALUES ('SBMatch|~|1', 'SBGame|~|1', 'a' || char(7) || char(10) || 'b');
            """)
        #expect(
            try await scorebook.matchSheet("SBMatch|~|1").text == "Red\u{FFFD}[31m\u{FFFD}x\n\na\u{FFFD}\nb\n"
        )
    }

    /// Otherwise machines with the same records would name different winners.
    @Test func fractionsAddUpTheSameInEveryOrder() async throws {
        let names = ["SBScore|~|1", "SBScore|~|2", "SBScore|~|3"]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let scorebook = try Support.scorebook()
            try await scorebook.addGame(NewGame(name: "Wizard"))
            try await scorebook.addMatch(
                NewMatch(
                    game: "Wizard", players: [NewPlayer("Ada"), NewPlayer("Bob", score: "0.6")],
                    createsPersons: true))
            let ada = "SELECT recordName FROM SBPlayer ORDER BY seatOrder LIMIT 1"
            for (index, place) in order.enumerated() {
                try await scorebook.execute(
                    """
                    INSERT INTO SBScore (recordName, player, round, points)
                    VALUES ('\(names[place])', (\(ada)), \(index + 1), \(["0.1", "0.2", "0.3"][index]))
                    """)
            }
            let sheet = try await scorebook.matchSheet("last")
            #expect(sheet.players.map(\.writtenTotal) == ["0.6", "0.6"])
            #expect(sheet.players.map(\.winner) == [true, true])
            let figures = try await scorebook.statistics()
            #expect(figures.persons.map(\.results.competitive.wins) == [1, 1])
        }
    }

    @Test(arguments: [
        (["0.1", "0.2"], "0.3"), (["0.1", "-0.1"], "0"), (["-0.1", "-0.2"], "-0.3"),
        (["1000000", "-1000000", "0.25"], "0.25"), (["1234567.25", "0.1"], "1234567.35"),
        (["999999999999999", "1"], "1000000000000000"), (["123456789.123456"], "123456789.123456"),
        (["1e308", "1e308"], "inf"),
    ])
    func totalsAreWrittenWithoutNoise(points: [String], total: String) async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Wizard"))
        try await scorebook.addMatch(
            NewMatch(game: "Wizard", players: [NewPlayer("Ada")], createsPersons: true))
        for (index, points) in points.enumerated() {
            try await scorebook.execute(
                """
                INSERT INTO SBScore (recordName, player, round, points)
                SELECT 'SBScore|~|\(index)', recordName, \(index + 1), \(points) FROM SBPlayer
                """)
        }
        #expect(try await scorebook.matchSheet("last").players.map(\.writtenTotal) == [total])
    }

    /// That nobody has won is a loss only of those who play together, and of one alone.
    @Test(
        arguments: [(false, 2, nil), (true, 2, .lost), (false, 1, .lost)] as [(Bool, Int, MatchSheet.Result?)]
    )
    func withoutAWinnerACompetitiveMatchIsNotLost(
        isTogether: Bool, players: Int, result: MatchSheet.Result?
    ) async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Go", cooperative: isTogether))
        try await scorebook.addMatch(
            NewMatch(
                game: "Go", players: ["Ada", "Bob"].prefix(players).map { NewPlayer($0, isWinner: false) },
                createsPersons: true))
        let sheet = try await scorebook.matchSheet("last")
        #expect(sheet.result == result && sheet.text.contains("lost") == (result == .lost))
        let decided = try await scorebook.statistics().results
        #expect([decided.solo, decided.cooperative].map(\.decided).reduce(0, +) == (result == .lost ? 1 : 0))
    }

    /// Other programs write empty teams, which are none.
    @Test func anEmptyTeamMakesNoPartners() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Go"))
        try await scorebook.addMatch(
            NewMatch(
                game: "Go",
                players: [
                    NewPlayer("Ada", score: "5"), NewPlayer("Bob", score: "5"), NewPlayer("Cid", score: "3"),
                ], createsPersons: true))
        try await scorebook.execute("UPDATE SBPlayer SET team = ' '")
        let sheet = try await scorebook.matchSheet("last")
        #expect(sheet.players.map(\.rank) == [1, 1, 3] && sheet.players.allSatisfy { $0.team == nil })
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.persons.first { $0.name == "Cid" }?.versus?.wins == 1)
    }

    @Test func theTitleTellsRatingRoundsAndThatStatisticsLeaveItOut() async throws {
        let sheet = try await sheet("000000000004")
        #expect(
            sheet.hasPrefix(
                "Lighthouse Keepers · 2021-04-04 19:30 · Ada's kitchen · 7.5/10 · won · ignored\n"))
        let rounds = try await self.sheet("00000000000a")
        #expect(rounds.hasPrefix("Low Tide · 2021-04-10 19:30 · The old mill · 3 rounds\n"))
    }

    @Test func theSheetAsJSON() async throws {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.earlier())
        let sheet = try await scorebook.matchSheet("SBMatch|~|0000000d-0000-4000-8000-000000000003")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let object = try #require(
            try JSONSerialization.jsonObject(with: encoder.encode(sheet)) as? [String: Any])
        #expect(
            object.keys.sorted() == [
                "board", "date", "durationMinutes", "game", "ignored", "location", "notes", "players",
                "rating",
                "recordName", "result", "rounds", "unfinished",
            ])
        let players = try #require(object["players"] as? [[String: Any]])
        #expect(players.map { $0["person"] as? String } == ["Ada Lovelace", "Cher"])
        #expect(players.map { $0["rank"] as? Int } == [1, 2])
        #expect(players.map { $0["winner"] as? Bool } == [true, false])
        #expect(players.map { $0["total"] as? Double } == [13.5, 10.25])
    }
}

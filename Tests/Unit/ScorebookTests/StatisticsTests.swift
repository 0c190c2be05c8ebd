import Foundation
import PeerSyncModel
import TestSupport
import Testing

@testable import Scorebook

/// What statistics count, by the rules of docs/statistics.md.
struct StatisticsTests {
    /// A scorebook with three games: Hearts, in which the lowest total wins; Pandemic, which all play together; Catan.
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Catan"))
        try await scorebook.addGame(NewGame(name: "Hearts", highestWins: false))
        try await scorebook.addGame(NewGame(name: "Pandemic", cooperative: true))
        return scorebook
    }

    private func play(
        _ scorebook: ScorebookStore, _ game: String, _ players: [NewPlayer], on date: String = "2021-03-05",
        at time: String = "12:00"
    ) async throws -> Match {
        try await scorebook.addMatch(
            NewMatch(game: game, date: "\(date)T\(time):00Z", players: players, createsPersons: true))
    }

    private func line(_ figures: Statistics, _ name: String) throws -> Statistics.PersonLine {
        try #require(figures.persons.first { $0.name == name })
    }

    @Test func theBestTotalWinsAndTheLowestWhereTheGameSaysSo() async throws {
        let scorebook = try await scorebook()
        _ = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8")])
        _ = try await play(
            scorebook, "Hearts", [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8")])
        _ = try await play(
            scorebook, "Hearts", [NewPlayer("Ada", score: "3"), NewPlayer("Alan", score: "9")])
        let figures = try await scorebook.statistics()
        #expect(figures.plays == 3)
        #expect(try line(figures, "Ada").results.competitive == Tally(plays: 3, decided: 3, wins: 2))
        #expect(try line(figures, "Alan").results.competitive == Tally(plays: 3, decided: 3, wins: 1))
        #expect(figures.games.map(\.name) == ["Hearts", "Catan"])
    }

    @Test func aTieIsAWinForAll() async throws {
        let scorebook = try await scorebook()
        _ = try await play(
            scorebook, "Catan",
            [NewPlayer("Ada", score: "9"), NewPlayer("Alan", score: "9"), NewPlayer("Eve", score: "1")])
        let figures = try await scorebook.statistics()
        #expect(
            try ["Ada", "Alan", "Eve"].map { try line(figures, $0).results.competitive.wins } == [1, 1, 0])
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(
            try line(ada, "Alan").versus == Statistics.Versus(plays: 1, wins: 0, losses: 0, ties: 1))
        #expect(try line(ada, "Eve").versus == Statistics.Versus(plays: 1, wins: 1, losses: 0, ties: 0))
    }

    @Test func kindsAreNeverMixed() async throws {
        let scorebook = try await scorebook()
        let together = [NewPlayer("Ada", isWinner: true), NewPlayer("Alan", isWinner: true)]
        _ = try await play(scorebook, "Pandemic", together)
        _ = try await play(
            scorebook, "Pandemic", [NewPlayer("Ada", isWinner: false), NewPlayer("Alan", isWinner: false)])
        _ = try await play(scorebook, "Pandemic", [NewPlayer("Ada"), NewPlayer("Alan")])
        _ = try await play(scorebook, "Pandemic", [NewPlayer("Ada", isWinner: true)])
        _ = try await play(scorebook, "Catan", [NewPlayer("Ada", score: "10")])
        _ = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "12")])
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.results.cooperative == Tally(plays: 3, decided: 2, wins: 1))
        // The best total of one person says nothing.
        #expect(ada.results.solo == Tally(plays: 2, decided: 1, wins: 1))
        #expect(ada.results.competitive == Tally(plays: 1, decided: 1, wins: 0))
        #expect(ada.plays == 6 && ada.results.plays == 6)
        #expect(ada.tables.map(\.persons) == [1, 2])
    }

    /// Points in a cooperative game do not make one of the players a winner.
    @Test func totalsDoNotDecideAmongThoseWhoPlayTogether() async throws {
        let scorebook = try await scorebook()
        _ = try await play(
            scorebook, "Pandemic", [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8")])
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.results.cooperative == Tally(plays: 1, decided: 0, wins: 0))
        #expect(ada.results.cooperative.rate == nil)
    }

    @Test func aPlayWithoutResultIsAPlayButChangesNoRate() async throws {
        let scorebook = try await scorebook()
        _ = try await play(scorebook, "Catan", [NewPlayer("Ada"), NewPlayer("Alan")])
        _ = try await play(scorebook, "Catan", [NewPlayer("Ada", score: "10"), NewPlayer("Alan")])
        _ = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "won")])
        _ = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8")])
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.results.competitive == Tally(plays: 4, decided: 1, wins: 1))
        #expect(ada.results.competitive.rate == 1)
    }

    @Test func whatSomebodyRecordedWinsOverTotals() async throws {
        let scorebook = try await scorebook()
        _ = try await play(
            scorebook, "Catan",
            [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8", isWinner: true)])
        let figures = try await scorebook.statistics()
        #expect(try line(figures, "Alan").results.competitive.wins == 1)
        #expect(try line(figures, "Ada").results.competitive.wins == 0)
    }

    @Test func placesDecideWhereNobodyRecordedAWinner() async throws {
        let scorebook = try await scorebook()
        let match = try await play(scorebook, "Catan", [NewPlayer("Ada"), NewPlayer("Alan")])
        try await scorebook.execute(
            "UPDATE SBPlayer SET rank = seatOrder WHERE match = '\(match.recordName)'")
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.results.competitive == Tally(plays: 1, decided: 1, wins: 1))
        #expect(try await scorebook.matchSheet("\(match.recordName)").players.map(\.winner) == [true, false])
    }

    @Test func ignoredMatchesCountNowhere() async throws {
        let scorebook = try await scorebook()
        let match = try await play(scorebook, "Catan", [NewPlayer("Ada", score: "1")])
        var edit = MatchEdit()
        edit.ignored = .set(true)
        try await scorebook.editMatch("\(match.recordName)", edit)
        #expect(try await scorebook.statistics() == Statistics())
    }

    @Test func thoseOfOneTeamWinTogetherAndNotAgainstEachOther() async throws {
        let scorebook = try await scorebook()
        _ = try await play(
            scorebook, "Catan",
            [
                NewPlayer("Ada", team: "red", isWinner: true), NewPlayer("Alan", team: "red", isWinner: true),
                NewPlayer("Eve", team: "blue", isWinner: false),
            ])
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(try line(ada, "Alan").versus == Statistics.Versus())
        #expect(try line(ada, "Alan").results.competitive.wins == 1)
        #expect(try line(ada, "Eve").versus?.wins == 1)
    }

    /// Nobody recorded a winner. A team without a name is none.
    @Test(arguments: [
        ("", [true, true, false, false]),
        ("UPDATE SBPlayer SET rank = 1 WHERE seatOrder = 3", [false, false, true, true]),
        ("UPDATE SBPlayer SET team = ''", [true, false, false, false]),
    ])
    func aTeamWinsTogetherAlsoByTotalsAndPlaces(change: String, won: [Bool]) async throws {
        let scorebook = try await scorebook()
        let match = try await play(
            scorebook, "Catan",
            [
                NewPlayer("Ada", score: "10", team: "red"), NewPlayer("Alan", score: "1", team: "red"),
                NewPlayer("Eve", score: "7", team: "blue"), NewPlayer("Grace", score: "7", team: "blue"),
            ])
        try await scorebook.execute(change)
        let figures = try await scorebook.statistics()
        let wins = try ["Ada", "Alan", "Eve", "Grace"].map { try line(figures, $0).results.competitive.wins }
        #expect(wins.map { $0 == 1 } == won)
        let sheet = try await scorebook.matchSheet("\(match.recordName)")
        #expect(sheet.bySeat.map { $0.winner == true } == won)
    }

    @Test func twoHandsAreOnePart() async throws {
        let scorebook = try await scorebook()
        let match = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "1"), NewPlayer("Alan", score: "9")])
        try await scorebook.execute(
            "UPDATE SBPlayer SET person = (SELECT recordName FROM SBPerson WHERE firstName = 'Ada') WHERE match = '\(match.recordName)'"
        )
        let figures = try await scorebook.statistics()
        #expect(figures.results.solo.plays == 1 && figures.tables.map(\.persons) == [1])
        #expect(figures.persons.map(\.name) == ["Ada"])
    }

    @Test func runsGoByDateAndNotByTheOrderOfEntry() async throws {
        let scorebook = try await scorebook()
        for (day, score) in [(4, "1"), (1, "9"), (3, "9"), (2, "9"), (6, "1"), (5, "1")] {
            _ = try await play(
                scorebook, "Catan", [NewPlayer("Ada", score: score), NewPlayer("Alan", score: "5")],
                on: "2021-03-0\(day)")
        }
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.streaks == Statistics.Streaks(current: -3, longestWins: 3, longestLosses: 3))
        #expect(try await scorebook.statistics().streaks == nil)
    }

    @Test func runsAndBestScoresGoByTheMinute() async throws {
        let scorebook = try await scorebook()
        for (time, ada, alan) in [("20:50", "9", "5"), ("20:05", "6", "9"), ("20:20", "5", "9")] {
            _ = try await play(
                scorebook, "Catan", [NewPlayer("Ada", score: ada), NewPlayer("Alan", score: alan)], at: time)
        }
        let ada = try await scorebook.statistics(StatisticsFilter(person: "Ada"))
        #expect(ada.streaks == Statistics.Streaks(current: 1, longestWins: 1, longestLosses: 2))
        let catan = try await scorebook.statistics(StatisticsFilter(game: "Catan"))
        #expect(catan.records.map(\.person) == ["Alan", "Ada"])
    }

    @Test func bestScoresOfAGameAndOfAPerson() async throws {
        let scorebook = try await scorebook()
        for (ada, alan, day) in [("9", "5", 1), ("3", "5", 2), ("9", "7", 3)] {
            for game in ["Catan", "Hearts"] {
                _ = try await play(
                    scorebook, game, [NewPlayer("Ada", score: ada), NewPlayer("Alan", score: alan)],
                    on: "2021-03-0\(day)")
            }
        }
        func bests(_ filter: StatisticsFilter) async throws -> [String] {
            try await scorebook.statistics(filter).records.map {
                "\($0.person) \($0.game) \($0.points) \($0.day ?? "")"
            }
        }
        #expect(
            try await bests(StatisticsFilter(game: "Catan")) == [
                "Ada Catan 9.0 2021-03-01", "Alan Catan 7.0 2021-03-03",
            ])
        #expect(
            try await bests(StatisticsFilter(game: "Hearts")) == [
                "Ada Hearts 3.0 2021-03-02", "Alan Hearts 5.0 2021-03-01",
            ])
        #expect(
            try await bests(StatisticsFilter(person: "Ada")) == [
                "Ada Catan 9.0 2021-03-01", "Ada Hearts 3.0 2021-03-02",
            ])
    }

    @Test func theHIndex() {
        let known: [([Int], Int)] = [
            ([], 0), ([1], 1), ([9], 1), ([2, 2], 2), ([5, 3, 3, 1], 3), ([1, 1, 1], 1),
        ]
        for (plays, h) in known { #expect(StatisticsCount.hIndex(plays) == h, "\(plays)") }
    }

    @Test func monthsHaveNoGapsAndAYearIsOne() async throws {
        let scorebook = try await scorebook()
        for day in ["2020-11-15", "2021-02-15", "2021-02-15"] {
            _ = try await play(scorebook, "Catan", [NewPlayer("Ada", score: "9")], on: day)
        }
        let figures = try await scorebook.statistics()
        #expect(figures.months.map(\.month) == ["2020-11", "2020-12", "2021-01", "2021-02"])
        #expect(figures.months.map(\.plays) == [1, 0, 0, 2])
        #expect(figures.days.map(\.plays) == [1, 2])
        // 15 February 2021 was a Monday, 15 November 2020 a Sunday.
        #expect(figures.weekdays == [2, 0, 0, 0, 0, 0, 1])
        #expect(figures.hours.reduce(0, +) == 3)
        #expect(try await scorebook.statistics(StatisticsFilter(year: 2021)).plays == 2)
        #expect(try await scorebook.statistics(StatisticsFilter(year: 2020)).plays == 1)
        await #expect(throws: ScorebookError.self) {
            try await scorebook.statistics(StatisticsFilter(year: 0))
        }
    }

    /// Other programs write what they like. One odd row must not take the figures away.
    @Test func oddRowsOfOtherPrograms() async throws {
        let scorebook = try await scorebook()
        let match = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "9"), NewPlayer("Alan", score: "1")])
        try await scorebook.execute(
            """
            UPDATE SBMatch SET date = 'some day', durationMinutes = 'long' WHERE recordName = '\(match.recordName)';
            UPDATE SBPlayer SET rank = 'first', winner = 'yes', team = X'';
            INSERT INTO SBPlayer (recordName, match, person, team) VALUES ('SBPlayer|~|odd', '\(match.recordName)', X'', X'00');
            UPDATE SBScore SET points = 'nine' WHERE points = 9;
            """)
        let figures = try await scorebook.statistics()
        #expect(figures.plays == 1 && figures.minutes == 0 && figures.days.isEmpty)
        #expect(figures.results.competitive == Tally(plays: 1, decided: 0, wins: 0))
    }

    /// Yes is 1 and no is 0; another number says neither, to the sheet and to the figures.
    @Test func anotherNumberIsNeitherYesNorNo() async throws {
        let scorebook = try await scorebook()
        _ = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "9"), NewPlayer("Alan", score: "1")])
        try await scorebook.execute(
            """
            UPDATE SBPlayer SET winner = 2 WHERE person IN (SELECT recordName FROM SBPerson WHERE firstName = 'Alan');
            UPDATE SBGame SET highestWins = 2, noPoints = 2, cooperative = -1;
            """)
        #expect(try await scorebook.matchSheet("last").players.map(\.winner) == [true, false])
        let figures = try await scorebook.statistics()
        #expect(try line(figures, "Ada").results.competitive == Tally(plays: 1, decided: 1, wins: 1))
        #expect(try line(figures, "Alan").results.competitive == Tally(plays: 1, decided: 1, wins: 0))
    }

    /// `match show` and the statistics name the same winners.
    @Test func theSheetAndTheStatisticsAgree() async throws {
        let scorebook = try await scorebook()
        _ = try await scorebook.importData(Support.later())
        let winners = try await scorebook.read { db in
            var winners: [String: Set<String>] = [:]
            let reader = PlayReader(choice: .init(), readsTotals: true)
            try reader.forEach(db) { play in
                winners[play.match] = Set(
                    play.parts.filter { $0.hasWon == true }.map { reader.numbers.names[$0.person] })
            }
            return winners
        }
        #expect(winners.values.contains { !$0.isEmpty })
        for (match, winners) in winners {
            let sheet = try await scorebook.matchSheet(match)
            let persons = try await scorebook.rows(
                "SELECT person FROM SBPlayer WHERE recordName IN (\(sheet.players.filter { $0.winner == true }.map { "'\($0.recordName)'" }.joined(separator: ", ")))"
            )
            #expect(winners == Set(persons), "\(match)")
        }
    }

    /// Players stand in the table in the order in which they were written, and a match may have none.
    @Test func playersComeInAnyOrder() async throws {
        let scorebook = try await scorebook()
        let first = try await play(
            scorebook, "Catan", [NewPlayer("Ada", score: "9"), NewPlayer("Alan", score: "1")])
        let empty = try await play(scorebook, "Catan", [NewPlayer("Eve", score: "1")])
        _ = try await play(scorebook, "Catan", [NewPlayer("Eve", score: "9"), NewPlayer("Ada", score: "1")])
        try await scorebook.execute(
            """
            DELETE FROM SBPlayer WHERE match = '\(empty.recordName)';
            INSERT INTO SBPlayer (recordName, match, person)
            SELECT 'SBPlayer|~|late', '\(first.recordName)', recordName FROM SBPerson WHERE firstName = 'Eve';
            """)
        let figures = try await scorebook.statistics()
        #expect(figures.plays == 3 && figures.tables.map(\.persons) == [0, 2, 3])
        #expect(try line(figures, "Eve").results.competitive == Tally(plays: 2, decided: 1, wins: 1))
        #expect(try line(figures, "Ada").results.competitive == Tally(plays: 2, decided: 1, wins: 0))
    }

    @Test func partsThatAreCountedAtTheSameTime() async throws {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let scorebook = try ScorebookStore(
            ScorebookDatabase.open(at: files.url.appendingPathComponent("scorebook.sqlite").path),
            replica: ReplicaID(rawValue: 1))
        _ = try await scorebook.importData(Support.later())
        let year = StatisticsFilter(year: 2021)
        for filter in [StatisticsFilter(), year] {
            let whole = try await scorebook.statistics(filter, maximumParts: 1, matchesOfAPart: 1)
            #expect(whole.plays > 3 && !whole.rivalries.isEmpty)
            for parts in 2...4 {
                let sum = try await scorebook.statistics(filter, maximumParts: parts, matchesOfAPart: 1)
                #expect(sum == whole)
            }
        }
        let whole = try await scorebook.statistics()
        try await scorebook.execute(
            "UPDATE SBMatch SET rowid = \(Int64.max) WHERE rowid = (SELECT MAX(rowid) FROM SBMatch)")
        #expect(try await scorebook.statistics(.init(), maximumParts: 2, matchesOfAPart: 1) == whole)
    }

    @Test func zonesApart() async throws {
        let scorebook = try await scorebook()
        _ = try await play(scorebook, "Catan", [NewPlayer("Ada", score: "9")])
        let club = try await scorebook.records.zones.create("club")
        let other = scorebook.limited(to: club)
        try await other.addGame(NewGame(name: "Chess"))
        _ = try await play(other, "Chess", [NewPlayer("Eve"), NewPlayer("Ada")])
        #expect(try await other.statistics().games.map(\.name) == ["Chess"])
        #expect(try await scorebook.statistics().plays == 2)
    }
}

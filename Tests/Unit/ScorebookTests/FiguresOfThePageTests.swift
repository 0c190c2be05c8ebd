import Foundation
import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import Scorebook

/// What the page asks beside the figures of `stats`: rivals, and what has changed.
struct FiguresOfThePageTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Catan"))
        try await scorebook.addGame(NewGame(name: "Pandemic", cooperative: true))
        return scorebook
    }

    private func play(
        _ scorebook: ScorebookStore, _ game: String, _ players: [NewPlayer], on date: String = "2021-03-05"
    ) async throws {
        try await scorebook.addMatch(
            NewMatch(game: game, date: date + "T12:00:00Z", players: players, createsPersons: true))
    }

    private func wins(_ figures: Statistics) -> [String] {
        let names = Dictionary(uniqueKeysWithValues: figures.persons.map { ($0.recordName, $0.name) })
        return figures.rivalries.map { "\(names[$0.winner] ?? "") \(names[$0.loser] ?? "") \($0.wins)" }
            .sorted()
    }

    @Test func rivalsAreThoseWhoPlayAgainstEachOther() async throws {
        let scorebook = try await scorebook()
        let red = NewPlayer("Ada", team: "red", isWinner: true)
        try await play(
            scorebook, "Catan",
            [
                red, NewPlayer("Alan", team: "red", isWinner: true),
                NewPlayer("Eve", team: "blue", isWinner: false),
            ])
        try await play(scorebook, "Catan", [NewPlayer("Ada", score: "5"), NewPlayer("Eve", score: "3")])
        try await play(scorebook, "Catan", [NewPlayer("Ada", score: "3"), NewPlayer("Eve", score: "3")])
        try await play(scorebook, "Catan", [NewPlayer("Ada", score: "1"), NewPlayer("Eve", score: "3")])
        try await play(
            scorebook, "Pandemic", [NewPlayer("Ada", isWinner: true), NewPlayer("Alan", isWinner: false)])
        let figures = try await scorebook.statistics()
        #expect(wins(figures) == ["Ada Eve 2", "Alan Eve 1", "Eve Ada 1"])
        #expect(try await scorebook.statistics(StatisticsFilter(person: "Ada")).rivalries.isEmpty)
    }

    @Test func onlyThoseWhoPlayMostAreRivals() async throws {
        let scorebook = try await scorebook()
        for number in 1...(Statistics.rivals + 2) {
            try await play(
                scorebook, "Catan", [NewPlayer("Ada", score: "5"), NewPlayer("Person \(number)", score: "3")])
        }
        #expect(try await scorebook.statistics().rivalries.count == Statistics.rivals - 1)
    }

    @Test func theNemesisWinsMoreThanTheyLose() async throws {
        let scorebook = try await scorebook()
        for (ada, name, other) in [
            ("1", "Alan", "2"), ("1", "Eve", "2"), ("1", "Eve", "2"), ("3", "Eve", "2"), ("3", "Bob", "2"),
        ] {
            try await play(scorebook, "Catan", [NewPlayer("Ada", score: ada), NewPlayer(name, score: other)])
        }
        func nemesis(_ name: String) async throws -> String? {
            try await scorebook.statistics(StatisticsFilter(person: name)).nemesis?.name
        }
        // Eve and Alan are one ahead each; Eve has played more.
        #expect(try await nemesis("Ada") == "Eve")
        #expect(try await nemesis("Bob") == "Ada")
        #expect(try await nemesis("Alan") == nil)
    }

    @Test func aGameKnowsItsFirstDay() async throws {
        let scorebook = try await scorebook()
        for day in ["2021-03-05", "2020-01-02", "2022-04-06"] {
            try await play(scorebook, "Catan", [NewPlayer("Ada", score: "1")], on: day)
        }
        let figures = try await scorebook.statistics()
        #expect(figures.games[0].firstDay == "2020-01-02" && figures.games[0].lastDay == "2022-04-06")
        #expect(figures.years.map(\.year) == [2020, 2021, 2022] && figures.years.map(\.plays) == [1, 1, 1])
    }

    @Test func namesComeByTheLastPlayThenByName() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addPerson("Zoe")
        try await scorebook.addPerson("Bob")
        try await play(scorebook, "Pandemic", [NewPlayer("Ada"), NewPlayer("Eve")], on: "2022-01-01")
        try await play(scorebook, "Catan", [NewPlayer("Eve"), NewPlayer("Alan")], on: "2021-01-01")
        #expect(try await scorebook.recentNames(.person).map(\.name) == ["Ada", "Eve", "Alan", "Bob", "Zoe"])
        #expect(try await scorebook.recentNames(.game).map(\.name) == ["Pandemic", "Catan"])
    }

    @Test func aListBeginsBehindTheLatestMatches() async throws {
        let scorebook = try await scorebook()
        for day in 1...5 { try await play(scorebook, "Catan", [NewPlayer("Ada")], on: "2021-01-0\(day)") }
        var filter = MatchFilter(limit: 2)
        filter.offset = 3
        let days = try await scorebook.matches(filter).compactMap { $0.date?.prefix(10) }
        #expect(days == ["2021-01-02", "2021-01-01"])
    }

    @Test func everyCommitIsCounted() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("scorebook.sqlite").path
            let scorebook = try ScorebookStore(
                ScorebookDatabase.open(at: path), replica: ReplicaID(rawValue: 1))
            let counter = try #require(try CommitCounter(scorebook))
            let first = try await counter.count()
            #expect(try await counter.count() == first)
            try await scorebook.addGame(NewGame(name: "Catan"))
            let second = try await counter.count()
            #expect(second != first)
            // Another program.
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "UPDATE SBGame SET name = 'Hearts'") }
            #expect(try await counter.count() != second)
        }
    }

    @Test func aScorebookInMemoryCountsNothing() throws {
        #expect(try CommitCounter(Support.scorebook()) == nil)
    }
}

import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// What people say for a match.
struct MatchPhraseTests {
    /// It is midnight of 2021-08-01 in UTC, and two in the morning in Vienna.
    private func scorebook() async throws -> ScorebookStore {
        let vienna = try #require(TimeZone(identifier: "Europe/Vienna"))
        let scorebook = try Support.scorebook().with(Habits(timeZone: vienna))
        for name in ["Hearts", "Skat", "Go"] { try await scorebook.addGame(NewGame(name: name)) }
        for (game, date, players) in [
            ("Hearts", "2021-07-20", ["Ada Lovelace", "Alan Turing"]),
            ("Skat", "yesterday 20:15", ["Ada Lovelace"]),
            ("Hearts", "2021-07-21 23:30", ["Alan Kay"]), ("Skat", "1.8.2021 00:30", ["Ada Lovelace"]),
            ("Go", "2021-07-20 12:00", ["Grace Hopper", "Alan Turing"]),
        ] {
            try await scorebook.addMatch(
                NewMatch(game: game, date: date, players: players.map { NewPlayer($0) }, createsPersons: true)
            )
        }
        return scorebook
    }

    @Test(arguments: [
        ("last", "2021-07-31T22:30:00Z"), ("yesterday", "2021-07-31T18:15:00Z"),
        ("today", "2021-07-31T22:30:00Z"),
        ("Hearts@2021-07-21", "2021-07-21T21:30:00Z"), ("hearts@last", "2021-07-21T21:30:00Z"),
        ("Skat@yesterday", "2021-07-31T18:15:00Z"), ("go", "2021-07-20T10:00:00Z"),
        ("sk@1.8.2021", "2021-07-31T22:30:00Z"), ("21.7.2021", "2021-07-21T21:30:00Z"),
        ("Hearts@2021-07-20", "2021-07-20T10:00:00Z"), ("Hearts@21.7.2021 23:30", "2021-07-21T21:30:00Z"),
        ("saturday", "2021-07-31T18:15:00Z"),
    ])
    func aMatchIsFound(text: String, date: String) async throws {
        #expect(try await scorebook().matchSheet(text).date == date)
    }

    @Test func severalMatchesAreToldApart() async throws {
        let scorebook = try await scorebook()
        for text in ["Hearts", "2021-07-20", "sk"] {
            let error = await #expect(throws: ScorebookError.self) { try await scorebook.find(.match, text) }
            #expect(error?.code == .ambiguous && error?.choice?.count == 2, "\(text)")
        }
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.find(.match, "Hearts") }
        #expect(
            error?.choice?.candidates.map(\.title) == [
                "Hearts, 2021-07-21 23:30", "Hearts, 2021-07-20 12:00",
            ])
        #expect(error?.choice?.candidates.map(\.detail) == ["Alan Kay", "Ada Lovelace, Alan Turing"])
    }

    @Test func whereThereAreNoMatchesAHintSaysHowToBegin() async throws {
        let scorebook = try Support.scorebook()
        for text in ["last", "Hearts", "1"] {
            let error = await #expect(throws: ScorebookError.self) { try await scorebook.find(.match, text) }
            #expect(error?.hint == "there are no matches yet; `match add` and `play` begin one")
        }
    }

    @Test func whatFitsNoMatchIsAnError() async throws {
        let scorebook = try await scorebook()
        for (text, part) in [
            ("Hearst@last", "did you mean Hearts?"), ("Hearts@2020-01-01", "last, yesterday"),
            ("Chess", "last, yesterday"),
        ] {
            let error = await #expect(throws: ScorebookError.self) { try await scorebook.find(.match, text) }
            #expect(
                error?.code == .notFound && error?.hint?.contains(part) == true,
                "\(text): \(error?.hint ?? "")")
        }
    }

    /// Alan is also somebody else, but not in this match.
    @Test func aPlayerIsFirstLookedForInTheMatch() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addScore(NewScore(match: "Go", player: "Alan", value: "5"))
        #expect(try await scorebook.matchSheet("Go").players.first { $0.person == "Alan Turing" }?.total == 5)
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.addScore(NewScore(match: "Go", player: "Lovelace", value: "5"))
        }
        #expect(error?.message == "“Lovelace” took no part in Go, 2021-07-20 12:00")
        #expect(error?.hint?.contains("Alan Turing") == true)
    }

    /// A first name stands for the person who has it, a beginning of a name for somebody new.
    @Test func newPersonsAreNotTakenForOthers() async throws {
        let scorebook = try await scorebook()
        let match = try await scorebook.addMatch(
            NewMatch(
                game: "Go", players: ["Grace", "Al", "lovelace"].map { NewPlayer($0) }, createsPersons: true))
        let players = try await scorebook.matchSheet("\(match.recordName)").players.map(\.person)
        #expect(players == ["Grace Hopper", "Al", "Ada Lovelace"])
    }
}

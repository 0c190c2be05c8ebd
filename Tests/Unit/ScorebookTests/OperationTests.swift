import Foundation
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// Adding, changing, listing and deleting.
struct OperationTests {
    private func catan() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.addGame(
            NewGame(name: "Catan", bggID: 13, year: 1995, minPlayers: 3, maxPlayers: 4))
        _ = try await scorebook.addPerson("Ada Lovelace")
        return scorebook
    }

    @Test func aMatchHasItsPlayersInTheOrderOfTheirSeats() async throws {
        let scorebook = try await catan()
        let match = try await scorebook.addMatch(
            NewMatch(
                game: "catan", date: "2024-03-05 19:30",
                players: [
                    NewPlayer("Zoë", score: "6", team: "Red"),
                    NewPlayer("ada lovelace", score: "10", isWinner: true),
                    NewPlayer("Bob", score: "DNF", role: "Banker"),
                ], location: "Kitchen", durationMinutes: 75, rounds: 2, notes: "Fun", board: "Seafarers",
                createsPersons: true))
        #expect(match.date == "2024-03-05T19:30:00Z")
        let sheet = try await scorebook.matchSheet(match.recordName.description)
        #expect(sheet.players.map(\.person).sorted() == ["Ada Lovelace", "Bob", "Zoë"])
        #expect(sheet.players.first { $0.person == "Zoë" }?.seatOrder == 1)
        #expect(sheet.location == "Kitchen")
        #expect(try await scorebook.persons().map(\.person.name) == ["Ada Lovelace", "Bob", "Zoë"])
        #expect(try await scorebook.status().digest.count == 12)
        let listed = try #require(try await scorebook.matches().first)
        #expect(listed.players == ["Zoë", "Ada Lovelace", "Bob"])
        #expect(listed.winners == ["Ada Lovelace"])
    }

    /// Two machines have written one end each.
    @Test func aRangeThatIsThereIsNoObstacle() async throws {
        let scorebook = try await catan()
        try await scorebook.execute("UPDATE SBGame SET minPlayers = 5")
        var renaming = GameEdit()
        renaming.name = .set("Settlers")
        #expect(try await scorebook.editGame("Catan", renaming).name == "Settlers")
        var range = GameEdit()
        range.maxPlayers = .set(2)
        let narrow = range
        let error = await #expect(throws: ScorebookError.self) {
            _ = try await scorebook.editGame("Settlers", narrow)
        }
        #expect(error?.message == "a game for at least 5 players cannot be for at most 2")
    }

    @Test func unknownPlayersAreRefusedUnlessAskedFor() async throws {
        let scorebook = try await catan()
        let before = try await scorebook.digest()
        for players in [["Nobody"], ["Ada Lovelace", "ada lovelace"]] {
            await #expect(throws: ScorebookError.self) {
                try await scorebook.addMatch(NewMatch(game: "Catan", players: players.map { NewPlayer($0) }))
            }
        }
        await #expect(throws: ScorebookError.self) {
            try await scorebook.addMatch(
                NewMatch(
                    game: "Catan", players: [NewPlayer("New One"), NewPlayer("New One")], createsPersons: true
                ))
        }
        #expect(try await scorebook.digest() == before)
    }

    @Test(
        arguments: [
            ("2024-03-05", "2024-03-05T12:00:00Z"), ("2024-03-05 19:30", "2024-03-05T19:30:00Z"),
            ("2024-03-05T19:30", "2024-03-05T19:30:00Z"), ("2024-03-05 19:30:15", "2024-03-05T19:30:15Z"),
            ("2024-03-05T19:30:00Z", "2024-03-05T19:30:00Z"), ("2024-02-30", nil), ("someday", nil),
            ("2024-03-05T19:30:00+01:00", "2024-03-05T18:30:00Z"), ("", nil),
        ] as [(String, String?)])
    func datesAreISO8601(text: String, expected: String?) async throws {
        let scorebook = try await catan()
        if let expected {
            let match = try await scorebook.addMatch(
                NewMatch(game: "Catan", date: text, players: [NewPlayer("Ada Lovelace")]))
            #expect(match.date == expected)
        } else {
            let error = await #expect(throws: ScorebookError.self) {
                try await scorebook.addMatch(
                    NewMatch(game: "Catan", date: text, players: [NewPlayer("Ada Lovelace")]))
            }
            #expect(error?.code == .invalidValue)
        }
    }

    @Test func withoutADateAMatchIsPlayedNow() async throws {
        let match = try await catan().addMatch(
            NewMatch(game: "Catan", players: [NewPlayer("Ada")], createsPersons: true))
        #expect(match.date == "2021-08-01T00:00:00Z")
    }

    @Test func anEditChangesWhatItNamesAndNothingElse() async throws {
        let scorebook = try await catan()
        _ = try await scorebook.editGame(
            "Catan",
            {
                var edit = GameEdit()
                edit.year = .clear
                edit.noPoints = .set(false)
                return edit
            }())
        let game = try await scorebook.game("Catan").game
        #expect(game.year == nil && game.noPoints == false && game.bggID == 13)
        _ = try await scorebook.editPerson(
            "Ada Lovelace", PersonEdit(name: .set("Ada King"), emailAddress: .set("a@b.c")))
        #expect(try await scorebook.person("ada king").person.emailAddress == "a@b.c")
        let match = try await scorebook.addMatch(
            NewMatch(game: "Catan", players: [NewPlayer("Ada")], location: "Here")
        ).recordName
            .description
        var edit = MatchEdit()
        edit.location = .set("There")
        edit.notes = .set("Moved")
        edit.durationMinutes = .set(30)
        _ = try await scorebook.editMatch(match, edit)
        var sheet = try await scorebook.matchSheet(match)
        #expect(sheet.location == "There" && sheet.notes == "Moved" && sheet.durationMinutes == 30)
        edit = MatchEdit()
        edit.location = .clear
        _ = try await scorebook.editMatch(match, edit)
        sheet = try await scorebook.matchSheet(match)
        #expect(sheet.location == nil && sheet.notes == "Moved")
    }

    @Test func valuesOutOfBoundsAreRefused() async throws {
        let scorebook = try await catan()
        let before = try await scorebook.digest()
        let attempts: [@Sendable () async throws -> Void] = [
            { _ = try await scorebook.addPerson("  ") },
            { _ = try await scorebook.addPerson("a\nb") },
            { _ = try await scorebook.editPerson("Ada Lovelace", PersonEdit(emailAddress: .set("a\nb"))) },
            { _ = try await scorebook.editPerson("Ada Lovelace", PersonEdit(bggUsername: .set(" "))) },
            { _ = try await scorebook.addGame(NewGame(name: "")) },
            { _ = try await scorebook.addGame(NewGame(name: "X", minPlayers: 5, maxPlayers: 4)) },
            { _ = try await scorebook.addGame(NewGame(name: "X", bggID: 0)) },
            { _ = try await scorebook.addMatch(NewMatch(game: "Catan", durationMinutes: -1)) },
            { _ = try await scorebook.editPerson("Ada Lovelace", PersonEdit(name: .clear)) },
        ]
        for attempt in attempts {
            let error = await #expect(throws: ScorebookError.self) { try await attempt() }
            #expect(error?.code == .invalidValue)
        }
        #expect(try await scorebook.digest() == before)
    }

    @Test func scoresAreAddedPerRoundAndChanged() async throws {
        let scorebook = try await catan()
        let match = try await scorebook.addMatch(
            NewMatch(game: "Catan", players: [NewPlayer("Ada Lovelace")])
        ).recordName.description
        let first = try await scorebook.addScore(
            NewScore(match: match, player: "Ada Lovelace", value: "7", round: 1))
        _ = try await scorebook.addScore(NewScore(player: first.player.description, value: "2.5", round: 2))
        let taken = await #expect(throws: ScorebookError.self) {
            try await scorebook.addScore(NewScore(match: match, player: "Ada Lovelace", value: "1", round: 2))
        }
        #expect(taken?.code == .invalidValue)
        let changed = try await scorebook.editScore(first.recordName.description, ScoreEdit(value: "out"))
        #expect(changed.points == nil && changed.text == "out")
        _ = try await scorebook.editScore(first.recordName.description, ScoreEdit(value: "8", round: .set(3)))
        let listed = try await scorebook.scores(match: match)
        #expect(listed.map(\.score.round) == [2, 3])
        #expect(listed.map(\.score.points) == [2.5, 8])
        #expect(listed.allSatisfy { $0.person == "Ada Lovelace" })
        #expect(try await scorebook.matchSheet(match).players.first?.total == 10.5)
        _ = try await scorebook.addPerson("Grace")
        let absent = await #expect(throws: ScorebookError.self) {
            try await scorebook.addScore(NewScore(match: match, player: "Grace", value: "1"))
        }
        #expect(absent?.code == .notFound)
    }

    @Test func aDeletionTakesWhatBelongsToIt() async throws {
        let scorebook = try await catan()
        _ = try await scorebook.addMatch(
            NewMatch(game: "Catan", players: [NewPlayer("Ada Lovelace", score: "1")]))
        let planned = try await scorebook.deletionSteps(.game, "Catan")
        let done = try await scorebook.delete(.game, "Catan")
        #expect(planned == done)
        #expect(done.map(\.name.recordType) == ["SBScore", "SBPlayer", "SBMatch", "SBGame"])
        let status = try await scorebook.status()
        #expect(status.records.filter { $0.value > 0 } == ["SBPerson": 1])
        #expect(status.tombstones == 1 && status.hidden == 3)
    }

    @Test func listsAreInOrderAndFiltered() async throws {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.later())
        #expect(
            try await scorebook.games().map(\.game.name) == [
                "Harbour Lights (2nd ed.)", "Lighthouse Keepers", "Low Tide", "Two Teams",
            ])
        #expect(try await scorebook.games().map(\.matches) == [6, 2, 3, 1])
        #expect(try await scorebook.persons().map(\.person.name).first == "Ada Lovelace")
        let all = try await scorebook.matches()
        #expect(all.count == 12)
        let dates = all.map { $0.date ?? "" }
        #expect(dates == dates.sorted(by: >))
        #expect(try await scorebook.matches(MatchFilter(game: "low tide")).count == 3)
        #expect(try await scorebook.matches(MatchFilter(person: "cher")).count == 2)
        #expect(try await scorebook.matches(MatchFilter(limit: 2)) == Array(all.prefix(2)))
    }

    @Test func jsonNamesEveryKey() async throws {
        let scorebook = try await catan()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var game = try #require(try await scorebook.games().first)
        let text = String(decoding: try encoder.encode(game), as: UTF8.self)
        let name = game.game.recordName
        let date = game.game.modificationDate ?? ""
        #expect(
            text == """
                {"bggID":13,"cooperative":null,"highestWins":null,"matches":0,"maxPlayers":4,"minPlayers":3,\
                "modificationDate":"\(date)","name":"Catan","noPoints":null,"recordName":"\(name)",\
                "thumbnail":null,"usesTeams":null,"year":1995,"zone":"ScorebookData"}
                """)
        var edit = GameEdit()
        edit.highestWins = .set(true)
        _ = try await scorebook.editGame("Catan", edit)
        game = try await scorebook.game("Catan")
        #expect(String(decoding: try encoder.encode(game), as: UTF8.self).contains(#""highestWins":true"#))
    }
}

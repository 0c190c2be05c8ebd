import PeerSyncModel
import Scorebook
import Testing

/// Matches are chosen for a list, and words are found wherever they are.
struct FindingTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Hearts", highestWins: false))
        try await scorebook.addGame(NewGame(name: "Café International"))
        for (game, date, place, notes, players) in [
            ("Hearts", "2021-07-01 20:00", "at Ada's", "It snowed.", ["Ada=5", "Alan=8"]),
            ("Hearts", "2021-07-02 23:59", "Club 100%", "A 100_000 point game", ["Ada=9", "Grace=3"]),
            ("Café", "2021-07-03", "at Ada's", "Snow again", ["Zoë=5", "Ada=8"]),
        ] {
            let players = players.map { text in
                let parts = text.split(separator: "=")
                return NewPlayer(String(parts[0]), score: String(parts[1]))
            }
            try await scorebook.addMatch(
                NewMatch(
                    game: game, date: date, players: players, location: place, notes: notes,
                    createsPersons: true))
        }
        return scorebook
    }

    /// By the day of July 2021.
    @Test(
        arguments: [
            (MatchFilter(since: "2021-07-02"), [3, 2]), (MatchFilter(until: "2021-07-02"), [2, 1]),
            (MatchFilter(until: "2021-07-02 23:59"), [1]),
            (MatchFilter(since: "2.7.2021 21:00", until: "2.7.2021"), [2]),
            (MatchFilter(place: "ada"), [3, 1]), (MatchFilter(place: "100%"), [2]),
            (MatchFilter(place: "%"), [2]),
            (MatchFilter(text: "snow"), [3, 1]), (MatchFilter(text: "100_"), [2]),
            (MatchFilter(text: "club"), [2]),
            (MatchFilter(winner: "ada"), [3, 1]), (MatchFilter(winner: "ada", limit: 1), [3]),
            (MatchFilter(game: "hearts", winner: "grace"), [2]), (MatchFilter(person: "zoe"), [3]),
            (MatchFilter(winner: "zoe"), []), (MatchFilter(game: "caf", text: "snow"), [3]),
            (MatchFilter(limit: 2), [3, 2]), (MatchFilter(limit: -1), []),
            (MatchFilter(winner: "ada", limit: -1), []),
        ] as [(MatchFilter, [Int])])
    func matchesAreChosen(filter: MatchFilter, days: [Int]) async throws {
        #expect(try await self.days(filter) == days)
    }

    /// Also where the winner follows from the scores, which SQL does not know.
    @Test(
        arguments: [
            (nil, nil, [2, 1]), (nil, 1, [2]), ("ada", nil, [1]), ("ada", 1, [1]), ("grace", 1, []),
        ] as [(String?, Int?, [Int])])
    func theLatestMatchIsLeftOut(winner: String?, limit: Int?, days: [Int]) async throws {
        var filter = MatchFilter(winner: winner, limit: limit)
        filter.offset = 1
        #expect(try await self.days(filter) == days)
    }

    private func days(_ filter: MatchFilter) async throws -> [Int] {
        let dates = try await scorebook().matches(filter).compactMap(\.date)
        return dates.compactMap { Int($0.dropFirst(8).prefix(2)) }
    }

    /// A person who plays two hands plays once.
    @Test func thoseWhoPlayedLastComeFirst() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addGame(NewGame(name: "Arimaa"))
        try await scorebook.addPerson("Bea")
        let match = try await scorebook.find(.match, "2021-07-02")
        try await scorebook.execute(
            "INSERT INTO SBPlayer (recordName, match, person) SELECT 'SBPlayer|~|2', '\(match)', recordName FROM SBPerson WHERE firstName = 'Ada'"
        )
        let persons = try await scorebook.recentPersons()
        #expect(persons.map(\.name) == ["Ada", "Zoë", "Grace", "Alan", "Bea"])
        #expect(persons.map(\.matches) == [3, 1, 1, 1, 0])
        #expect(persons.last?.lastDate == nil && persons[2].lastDate == "2021-07-02T23:59:00Z")
        let games = try await scorebook.recentGames()
        #expect(games.map(\.name) == ["Café International", "Hearts", "Arimaa"])
        #expect(games.map(\.matches) == [1, 2, 0])
        #expect(try await scorebook.names(.person).map(\.name) == ["Ada", "Alan", "Bea", "Grace", "Zoë"])
        #expect(
            try await scorebook.names(.game).map(\.name) == ["Arimaa", "Café International", "Hearts"])
    }

    @Test(arguments: [
        ("snow", ["match Café International, 2021-07-03 12:00", "match Hearts, 2021-07-01 20:00"]),
        ("zoe", ["person Zoë", "match Café International, 2021-07-03 12:00"]),
        ("CAFE inter", ["game Café International", "match Café International, 2021-07-03 12:00"]),
        ("hearts grace", ["match Hearts, 2021-07-02 23:59"]),
        ("ada club", ["match Hearts, 2021-07-02 23:59"]),
        ("\"snow\" OR* (again", []), ("again snow", ["match Café International, 2021-07-03 12:00"]),
        ("earts", []),
    ])
    func wordsAreFound(words: String, hits: [String]) async throws {
        #expect(try await scorebook().search(words).map { "\($0.kind) \($0.title)" } == hits)
    }

    @Test func aSearchNeedsAWord() async throws {
        let scorebook = try await scorebook()
        await #expect(throws: ScorebookError.self) { try await scorebook.search("…") }
    }

    /// The index is not in the database: nothing has to be kept in step, or forgotten.
    @Test func aSearchLeavesNothingInTheDatabase() async throws {
        let scorebook = try await scorebook()
        let before = try await scorebook.rows("SELECT name FROM sqlite_schema ORDER BY name")
        _ = try await scorebook.search("snow")
        #expect(try await scorebook.rows("SELECT name FROM sqlite_schema ORDER BY name") == before)
    }
}

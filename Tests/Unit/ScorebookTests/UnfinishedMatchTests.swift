import GRDB
import PeerSyncModel
import Scorebook
import Testing

/// A match that goes on later has no winner yet, and counts in no statistics.
struct UnfinishedMatchTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Catan"))
        try await scorebook.addMatch(
            NewMatch(
                game: "Catan", players: [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8")],
                isUnfinished: true, createsPersons: true))
        return scorebook
    }

    private func plays(_ scorebook: ScorebookStore) async throws -> Int {
        try await scorebook.statistics().results.plays
    }

    @Test func nobodyHasWonItUntilItIsOver() async throws {
        let scorebook = try await scorebook()
        let sheet = try await scorebook.matchSheet("last")
        #expect(sheet.isUnfinished && sheet.players.map(\.winner) == [nil, nil])
        // The places are those of now.
        #expect(sheet.players.map(\.rank) == [1, 2])
        #expect(sheet.text.contains("Catan · 2021-08-01 00:00 · unfinished\n"))
        #expect(try await scorebook.matches().map(\.winners) == [[]])
        #expect(try await scorebook.matches(MatchFilter(winner: "Ada")).isEmpty)
        #expect(try await plays(scorebook) == 0)
        var edit = MatchEdit()
        edit.unfinished = .clear
        try await scorebook.editMatch("last", edit)
        #expect(try await scorebook.matches().map(\.winners) == [["Ada"]])
        #expect(try await plays(scorebook) == 1)
    }

    @Test func whoKeepsTheScoreEndsIt() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addMatch(NewMatch(game: "Catan", date: "2021-08-02", players: [NewPlayer("Ada")]))
        // Without a name, the one that goes on; not the latest.
        var keeping = try await scorebook.keepScore(of: "\(scorebook.unfinishedMatch(nil))")
        #expect(keeping.players == ["Ada", "Alan"])
        _ = try await keeping.take("5 6")
        #expect(try await plays(scorebook) == 1)
        _ = try await keeping.take("end")
        #expect(try await plays(scorebook) == 2)
        #expect(try await scorebook.rows("SELECT count(unfinished) FROM SBMatch") == ["0"])
        // Somebody else may have ended it meanwhile: a pause does not open it again.
        _ = try await keeping.take("pause")
        #expect(try await plays(scorebook) == 2)
    }

    @Test func onlyAnUnfinishedMatchGoesOn() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addMatch(NewMatch(game: "Catan", date: "2021-07-31", players: [NewPlayer("Ada")]))
        let open = try await scorebook.unfinishedMatch(nil)
        // The other match of the game does not make this one ambiguous.
        #expect(try await scorebook.unfinishedMatch("catan") == open)
        let finished = try await scorebook.find(.match, "2021-07-31")
        for text in ["2021-07-31", "\(finished)"] {
            let error = await #expect(throws: ScorebookError.self) {
                try await scorebook.unfinishedMatch(text)
            }
            #expect(error?.message == "Catan, 2021-07-31 12:00 is finished")
        }
        var keeping = try await scorebook.keepScore(of: "\(open)")
        _ = try await keeping.take("end")
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.unfinishedMatch(nil) }
        #expect(error?.message == "there is no unfinished match")
    }

    /// Other programs write any value.
    @Test(arguments: [("1", 0), ("0", 1), ("NULL", 1), ("'yes'", 1), ("2", 1)])
    func whatOtherProgramsWrite(value: String, plays: Int) async throws {
        let scorebook = try await scorebook()
        try await scorebook.execute("UPDATE SBMatch SET unfinished = \(value)")
        #expect(try await self.plays(scorebook) == plays)
        #expect(try await scorebook.matchSheet("last").isUnfinished == (plays == 0))
        #expect(try await scorebook.unfinishedMatches(limit: 9).count == 1 - plays)
    }

    @Test func aStoreOfBeforeGetsTheColumn() async throws {
        let database = try DatabaseQueue()
        let replica = ReplicaID(rawValue: 1)
        try await ScorebookStore(database, replica: replica).addGame(NewGame(name: "Catan"))
        try await database.write { db in
            for trigger in try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'SBMatch'")
            {
                try db.execute(sql: "DROP TRIGGER \(trigger)")
            }
            try db.execute(
                sql: """
                    ALTER TABLE SBMatch DROP COLUMN unfinished;
                    DELETE FROM grdb_migrations WHERE identifier = 'scorebook 3';
                    """)
        }
        let scorebook = try ScorebookStore(database, replica: replica)
        try await scorebook.addMatch(
            NewMatch(game: "Catan", players: [NewPlayer("Ada")], isUnfinished: true, createsPersons: true))
        #expect(try await scorebook.rows("SELECT unfinished FROM SBMatch") == ["1"])
    }
}

import GRDB
import PeerSyncModel
import Testing

@testable import Scorebook

/// Lists of matches begin with the latest, and look at few of a large scorebook.
struct ListOrderTests {
    /// A scorebook in which Ada has played more than a thousand matches, one a minute, and Alan every hundredth.
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.execute(
            """
            INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan');
            INSERT INTO SBPerson (recordName, firstName) VALUES ('SBPerson|~|1', 'Ada'), ('SBPerson|~|2', 'Alan');
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1200)
            INSERT INTO SBMatch (recordName, game, date)
            SELECT 'SBMatch|~|' || n, 'SBGame|~|1', strftime('%Y-%m-%dT%H:%M:%SZ', 1600000000 + n * 7919 % 1201 * 60, 'unixepoch')
            FROM number;
            INSERT INTO SBPlayer (recordName, match, person)
            SELECT 'SBPlayer|~|1.' || rowid, recordName, 'SBPerson|~|1' FROM SBMatch;
            INSERT INTO SBPlayer (recordName, match, person)
            SELECT 'SBPlayer|~|2.' || rowid, recordName, 'SBPerson|~|2' FROM SBMatch WHERE rowid % 100 = 0;
            """)
        return scorebook
    }

    @Test(arguments: [("Ada", 1200), ("Alan", 12)])
    func someMatchesOfAPersonAreTheLatestOfAll(person: String, count: Int) async throws {
        let scorebook = try await scorebook()
        let all = try await scorebook.matches(MatchFilter(person: person))
        #expect(all.count == count)
        #expect(all.map(\.date) == all.map(\.date).sorted { $0 ?? "" > $1 ?? "" })
        var filter = MatchFilter(person: person, limit: 4)
        filter.offset = 5
        #expect(try await scorebook.matches(filter).map(\.recordName) == all[5..<9].map(\.recordName))
    }

    @Test(arguments: [
        "SELECT recordName FROM SBMatch ORDER BY date DESC, recordName DESC LIMIT 10",
        "SELECT recordName FROM SBMatch WHERE game = 'SBGame|~|1' ORDER BY date DESC, recordName DESC LIMIT 10",
    ])
    func theLatestMatchesAreFoundWithoutTheOthers(sql: String) async throws {
        let plan = try await scorebook().rows("EXPLAIN QUERY PLAN \(sql)").joined(separator: "\n")
        #expect(!plan.contains("FOR ORDER BY"), "\(plan)")
    }

    @Test func aStoreOfBeforeGetsTheIndexes() async throws {
        let database = try DatabaseQueue()
        let replica = ReplicaID(rawValue: 1)
        try await ScorebookStore(database, replica: replica).addGame(NewGame(name: "Catan"))
        try await database.write {
            try $0.execute(
                sql: """
                    DROP INDEX SBMatch_date;
                    DROP INDEX SBMatch_game;
                    CREATE INDEX SBMatch_game ON SBMatch (game);
                    DELETE FROM grdb_migrations WHERE identifier = 'scorebook 4';
                    """)
        }
        let scorebook = try ScorebookStore(database, replica: replica)
        let indexes = try await scorebook.rows(
            "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'SBMatch' AND sql NOT NULL ORDER BY name"
        )
        #expect(
            indexes == [
                "CREATE INDEX SBMatch_date ON SBMatch (date)",
                "CREATE INDEX SBMatch_game ON SBMatch (game, date)",
            ])
    }

    @Test func aRecordIsFoundByItsName() async throws {
        let scorebook = try await scorebook()
        let person: Person = try await scorebook.record("ada")
        #expect(person.recordName.description == "SBPerson|~|1")
        await #expect(throws: ScorebookError.self) { try await scorebook.record("ada") as Game }
    }
}

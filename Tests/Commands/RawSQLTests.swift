import GRDB
import Testing

/// Whatever another program writes with plain SQL counts, although nothing of ours runs and foreign keys are off.
@Suite(.takingTurns) struct RawSQLTests {
    @Test func insertsIntoEveryTableArrive() async throws {
        try await withPair { kitchen, study in
            try kitchen.write(
                """
                INSERT INTO SBScore (recordName, player, round, points, text) VALUES
                    ('SBScore|~|1', 'SBPlayer|~|1', 1, 10, NULL), ('SBScore|~|2', 'SBPlayer|~|1', 2, 2.5, NULL),
                    ('SBScore|~|3', 'SBPlayer|~|1', NULL, NULL, '7 + 2');
                INSERT INTO SBPlayer (recordName, match, person, seatOrder, team, role, rank, winner) VALUES
                    ('SBPlayer|~|1', 'SBMatch|~|1', 'SBPerson|~|1', 1, 'red', 'spy', 1, 1);
                INSERT INTO SBMatchLocation (recordName, match, name, latitude, longitude) VALUES
                    ('SBMatchLocation|~|1', 'SBMatch|~|1', 'Café “Zur Linde” ☕', 52.52, -13.405);
                INSERT INTO SBMatchImage (recordName, match, image, caption) VALUES
                    ('SBMatchImage|~|1', 'SBMatch|~|1', 'no picture', '');
                INSERT INTO SBMatch (recordName, game, date, durationMinutes, notes, rating, ignored) VALUES
                    ('SBMatch|~|1', 'SBGame|~|1', '2024-03-05T19:30:00Z', 90, 'two' || char(10) || 'lines', 8.5, 0);
                INSERT INTO SBGame (recordName, name, bggID, highestWins) VALUES
                    ('SBGame|~|1', 'Catan', 9223372036854775807, 1);
                INSERT INTO SBPerson (recordName, firstName, lastName, avatar) VALUES
                    ('SBPerson|~|1', 'Zoë', NULL, NULL);
                INSERT INTO SBPerson (recordName) VALUES ('SBPerson|~|nobody');
                """)
            let written = try kitchen.contents()
            try await study.sync(with: kitchen)
            #expect(try study.contents() == kitchen.contents())
            #expect(try kitchen.contents() == written)
            #expect(try await study.status().live == 10)
            #expect(try study.rows("SELECT image, caption FROM SBMatchImage") == ["no picture|"])
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test func updatesAndDeletesArrive() async throws {
        try await withHousehold { kitchen, study in
            let match = try #require(try kitchen.rows("SELECT recordName FROM SBMatch LIMIT 1").first)
            // With foreign keys off, nothing but this deletes what belongs to the match.
            try kitchen.write(
                """
                UPDATE SBPerson SET lastName = upper(lastName);
                UPDATE SBMatch SET notes = 'from SQL', durationMinutes = NULL WHERE rowid % 7 = 0;
                DELETE FROM SBScore WHERE player IN (SELECT recordName FROM SBPlayer WHERE match = '\(match)');
                DELETE FROM SBPlayer WHERE match = '\(match)';
                DELETE FROM SBMatchLocation WHERE match = '\(match)';
                DELETE FROM SBMatch WHERE recordName = '\(match)';
                INSERT OR REPLACE INTO SBGame (recordName, name)
                    SELECT recordName, 'Replaced' FROM SBGame ORDER BY name LIMIT 1;
                """)
            let written = try kitchen.contents(without: "modificationDate")
            try await study.sync(with: kitchen)
            #expect(try kitchen.contents(without: "modificationDate") == written)
            #expect(try study.contents() == kitchen.contents())
            #expect(try study.rows("SELECT COUNT(*) FROM SBGame WHERE name = 'Replaced'") == ["1"])
            #expect(try await kitchen.digest() == study.digest())
            #expect(try study.isSound())
        }
    }

    @Test func bothSidesMayWriteBeforeTheySync() async throws {
        try await withHousehold { kitchen, study in
            try kitchen.write(
                "UPDATE SBGame SET year = 1900; DELETE FROM SBMatchLocation WHERE name LIKE 'P%'")
            try study.write(
                "UPDATE SBGame SET bggID = 5; INSERT INTO SBPerson (recordName) VALUES ('SBPerson|~|x')")
            try await study.sync(with: kitchen)
            #expect(try kitchen.contents() == study.contents())
            #expect(try study.rows("SELECT DISTINCT year, bggID FROM SBGame") == ["1900|5"])
            #expect(try study.rows("SELECT * FROM SBMatchLocation WHERE name LIKE 'P%'").isEmpty)
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test func aGameThatIsDeletedAloneTakesItsMatchesAlong() async throws {
        try await withHousehold { kitchen, study in
            try kitchen.write("DELETE FROM SBGame WHERE name = 'Catan'")
            try await study.sync(with: kitchen)
            #expect(try kitchen.contents() == study.contents())
            #expect(try await kitchen.digest() == study.digest())
            for machine in [kitchen, study] {
                #expect(try machine.isSound())
                #expect(try await machine.status().held == 0)
                #expect(
                    try machine.rows(
                        "SELECT COUNT(*) FROM SBMatch WHERE game NOT IN (SELECT recordName FROM SBGame)")
                        == ["0"])
            }
        }
    }

    @Test func aRecordThatGetsAnotherNameIsThatRecordEverywhere() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try kitchen.write("UPDATE SBGame SET recordName = 'SBGame|~|renamed'")
            try await study.sync(with: kitchen)
            #expect(try study.rows("SELECT recordName, name FROM SBGame") == ["SBGame|~|renamed|Catan"])
            #expect(try kitchen.contents() == study.contents())
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    @Test func aTransactionThatIsRolledBackLeavesNothing() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            try kitchen.write("BEGIN; UPDATE SBGame SET name = 'Gone'; DELETE FROM SBGame; ROLLBACK")
            let figures = try await study.sync(with: kitchen)
            #expect(figures.sent == 0 && figures.received == 0)
        }
    }

    // MARK: Held records

    @Test func anOrphanIsHeldUntilItsParentComes() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            try kitchen.write(
                """
                INSERT INTO SBPerson (recordName, firstName) VALUES ('SBPerson|~|ada', 'Ada');
                INSERT INTO SBPlayer (recordName, match, person, team)
                    VALUES ('SBPlayer|~|1', 'SBMatch|~|later', 'SBPerson|~|ada', 'red');
                INSERT INTO SBScore (recordName, player, points) VALUES ('SBScore|~|1', 'SBPlayer|~|1', 42);
                """)
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try await machine.status().held == 2)
                let held = try await machine.json([RecordLine].self, "record", "list", "--held")
                #expect(held.map(\.recordName) == ["SBPlayer|~|1", "SBScore|~|1"])
                #expect(held.first?.waitsFor == "SBMatch|~|later")
                let text = try await machine.peer("record", "list", "--held")
                #expect(text.contains("SBPlayer|~|1 waits for SBMatch|~|later\n"))
                #expect(try machine.isSound())
            }
            #expect(try await kitchen.digest() == study.digest())

            // The parent comes on the other machine.
            try study.write(
                """
                INSERT INTO SBMatch (recordName, game)
                    SELECT 'SBMatch|~|later', recordName FROM SBGame
                """)
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] {
                #expect(try await machine.status().held == 0)
                #expect(
                    try machine.rows(
                        "SELECT match, team, points FROM SBPlayer JOIN SBScore ON player = SBPlayer.recordName"
                    )
                        == ["SBMatch|~|later|red|42"])
                #expect(try machine.isSound())
            }
            #expect(try kitchen.contents() == study.contents())
            #expect(try await kitchen.digest() == study.digest())
        }
    }

    /// JSON has no infinite numbers.
    @Test func infinitePointsAreATextInJSON() async throws {
        struct Line: Decodable { let points: String }
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada=1")
            try kitchen.write("UPDATE SBScore SET points = -9e999")
            let scores = try await kitchen.json([Line].self, "score", "list")
            #expect(scores.map(\.points) == ["-Infinity"])
            let score = try kitchen.rows("SELECT recordName FROM SBScore")[0]
            for command in [["match", "show", match], ["record", "show", score], ["stats"]] {
                let outcome = try await kitchen.start(command + ["--json"]).outcome()
                #expect(outcome.exitCode == 0, "\(outcome)")
            }
        }
    }

    @Test func anOrphanAppearsWhenItsParentIsWrittenHere() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try kitchen.write(
                "INSERT INTO SBMatchLocation (recordName, match, name) VALUES ('SBMatchLocation|~|1', 'SBMatch|~|1', 'Here')"
            )
            #expect(try await kitchen.status().held == 1)
            try kitchen.write(
                "INSERT INTO SBMatch (recordName, game) SELECT 'SBMatch|~|1', recordName FROM SBGame")
            let status = try await kitchen.status()
            #expect(status.held == 0 && status.records["SBMatchLocation"] == 1)
            #expect(try kitchen.rows("SELECT name FROM SBMatchLocation") == ["Here"])
        }
    }
}

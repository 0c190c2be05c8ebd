import Foundation
import PeerSyncModel
import Testing

@testable import Scorebook

/// What becomes of a BG Stats export, object by object.
struct BGStatsMappingTests {
    private func imported() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.earlier())
        return scorebook
    }

    @Test func personsHaveTheirNamesSplitAndTheirUUIDsKept() async throws {
        let rows = try await imported().rows(
            "SELECT recordName, firstName, lastName, bggUsername, emailAddress FROM SBPerson ORDER BY modificationDate"
        )
        #expect(
            rows == [
                "SBPerson|~|0000000a-0000-4000-8000-000000000001|Ada|Lovelace|adal|null",
                "SBPerson|~|0000000A-0000-4000-8000-000000000002|Grace|Hopper|null|null",
                "SBPerson|~|0000000a-0000-4000-8000-000000000003|林|美咲|null|null",
                "SBPerson|~|0000000a-0000-4000-8000-000000000004|Jose\u{301}|Nu\u{301}n\u{303}ez|null|null",
                "SBPerson|~|0000000a-0000-4000-8000-000000000005|Cher|null|null|null",
                "SBPerson|~|0000000a-0000-4000-8000-000000000006|Anonymous|player|null|null",
                "SBPerson|~|0000000a-0000-4000-8000-000000000007|Mary|Ann Evans|null|null",
            ])
    }

    @Test func gamesHaveNoughtTurnedIntoNull() async throws {
        let rows = try await imported().rows(
            """
            SELECT name, bggID, year, minPlayers, maxPlayers, highestWins, noPoints, cooperative, usesTeams
            FROM SBGame ORDER BY recordName
            """)
        #expect(
            rows == [
                "Harbour Lights|101|1995|3|4|1|0|0|0",
                "Two Teams|102|2001|4|8|1|0|0|1",
                "Low Tide|null|null|null|null|0|0|0|0",
                "Lighthouse Keepers|104|2019|1|4|1|1|1|0",
            ])
    }

    @Test func playsBecomeMatches() async throws {
        let rows = try await imported().rows(
            """
            SELECT substr(recordName, -2), substr(game, -1), date, durationMinutes, rounds, notes, board, rating,
                ignored, modificationDate
            FROM SBMatch WHERE durationMinutes OR rounds OR rating ORDER BY date
            """)
        #expect(
            rows == [
                "01|1|2021-04-01T19:30:00Z|75|null|Close to the end.\nA second line.|Seafarers|null|0"
                    + "|2021-04-01T22:00:00.000Z",
                "04|4|2021-04-04T19:30:00Z|null|null|null|null|7.5|1|2021-04-04T22:00:00.000Z",
                "0a|3|2021-04-10T19:30:00Z|null|3|null|null|null|0|2021-04-10T22:00:00.000Z",
            ])
    }

    @Test func playerScoresBecomePlayersAndScores() async throws {
        let rows = try await imported().rows(
            """
            SELECT substr(match, -1), substr(person, -1), seatOrder, team, role, rank, startPlayer, newPlayer, winner,
                points, typeof(points), text, round
            FROM SBPlayer LEFT JOIN SBScore ON player = SBPlayer.recordName
            WHERE match GLOB '*-00000000000[123478b]' ORDER BY match, seatOrder
            """)
        #expect(
            rows == [
                "1|1|1|null|null|1|1|0|1|10|integer|null|null",
                "1|2|2|null|null|2|0|0|0|8|integer|null|null",
                "1|3|3|null|null|3|0|1|0|7|integer|null|null",
                "2|1|1|1|null|null|0|0|1|21|integer|null|null",
                "2|2|2|1|null|null|0|0|1|21|integer|null|null",
                "2|3|3|2|null|null|0|0|0|15|integer|null|null",
                "2|4|4|2|Captain|null|0|0|0|15|integer|null|null",
                "3|1|1|null|null|null|0|0|1|13.5|real|null|null",
                "3|5|2|null|null|null|0|0|0|10.25|real|null|null",
                "4|1|1|null|null|null|0|0|1|null|null|null|null",
                "4|2|2|null|null|null|0|0|1|null|null|null|null",
                "7|1|1|null|null|null|0|0|0|5|integer|null|null",
                "7|2|2|null|null|null|0|0|1|7|integer|null|null",
                "7|7|3|null|null|null|0|0|0|4|integer|null|null",
                "8|2|1|null|null|null|0|0|1|-4|integer|null|null",
                "8|3|2|null|null|null|0|0|0|null|null|DNF|null",
                "8|6|3|null|null|null|0|0|0|2|integer|null|null",
                "b|1|1|null|null|null|0|0|0|9|integer|null|null",
                "b|4|2|null|null|null|0|0|1|11|integer|null|null",
            ])
    }

    @Test func aPersonMayTakePartTwice() async throws {
        let rows = try await imported().rows(
            """
            SELECT seatOrder, points FROM SBPlayer JOIN SBScore ON player = SBPlayer.recordName
            WHERE match GLOB '*C' AND person GLOB '*6' ORDER BY seatOrder
            """)
        #expect(rows == ["1|30", "2|25"])
    }

    @Test func locationsBelongToMatchesAndCarryTheLaterDate() async throws {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.later())
        let rows = try await scorebook.rows(
            "SELECT substr(match, -1), name, modificationDate FROM SBMatchLocation WHERE match GLOB '*[126]' ORDER BY 1"
        )
        #expect(
            rows == [
                "1|Ada's new kitchen|2021-06-06T09:00:00.000Z",
                "2|The old mill|2021-04-02T22:00:00.000Z",
                "6|The old mill|2021-06-02T09:00:00.000Z",
            ])
    }

    @Test func derivedNamesFollowTheDocumentedRule() async throws {
        let scorebook = try await imported()
        let names = try await scorebook.rows(
            """
            SELECT SBPlayer.recordName, SBScore.recordName, SBMatchLocation.recordName
            FROM SBPlayer JOIN SBScore ON player = SBPlayer.recordName
            JOIN SBMatchLocation ON SBMatchLocation.match = SBPlayer.match
            WHERE SBPlayer.match GLOB '*-000000000001' AND seatOrder = 1
            """)
        #expect(
            names == [
                [
                    "SBPlayer|~|b78bfaa9-9d52-8aee-acd3-044401e8408e",
                    "SBScore|~|49e0e516-c057-8167-9880-fc8c346efde3",
                    "SBMatchLocation|~|e337cbcd-b8b5-8b6d-b099-2e812e8a05dd",
                ].joined(separator: "|")
            ])
    }

    @Test func fieldsCarryTheFilesDatesUnderTheNameOfBGStats() async throws {
        let scorebook = try await imported()
        let origin = ReplicaID(hashing: "BG Stats".utf8)
        let state = try #require(
            try await scorebook.states().first {
                $0.name.description == "SBGame|~|0000000b-0000-4000-8000-000000000001"
            })
        let time = HybridTime(milliseconds: 1_612_173_600_000)  // 2021-02-01 10:00:00
        #expect(state.fields.allSatisfy { $0.stamp == Stamp(time: time, replica: origin) })
        #expect(
            state.fields.map(\.name) == [
                "bggID", "cooperative", "highestWins", "maxPlayers", "minPlayers", "name", "noPoints",
                "usesTeams", "year",
            ])
    }

    @Test func aDateInTheFutureCountsAsNow() async throws {
        let now: Int64 = 1_617_271_200_000  // 2021-04-01 10:00:00, before most plays
        let scorebook = try Support.scorebook(now: now)
        _ = try await scorebook.importData(Support.earlier())
        let newest = try await scorebook.states().compactMap(\.newestWrite).max()
        #expect(newest?.time == HybridTime(milliseconds: now))
    }

    @Test(
        arguments: [
            ("7", 7.0, nil), ("-4", -4.0, nil), ("13.5", 13.5, nil), ("007", 7.0, nil), ("-0", 0.0, nil),
            ("123456789012345", 123_456_789_012_345.0, nil), ("1234567890123456", nil, "1234567890123456"),
            ("13,5", nil, "13,5"), ("DNF", nil, "DNF"), ("1e3", nil, "1e3"), ("5+3", nil, "5+3"),
            (".5", nil, ".5"),
            ("5.", nil, "5."), ("-", nil, "-"), ("٣", nil, "٣"),
        ] as [(String, Double?, String?)])
    func scoresAreNumbersOrTextAsWritten(written: String, points: Double?, text: String?) {
        let score = ScoreValue(written)
        #expect(score.points == points)
        #expect(score.text == text)
    }
}

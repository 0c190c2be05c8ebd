import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// Scores that several type at the same time, which come again, replace each other and are taken back.
struct ScoreEntryTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addMatch(
            NewMatch(
                game: "Hearts", players: ["Ada", "Alan"].map { NewPlayer($0) }, createsPersons: true,
                createsGame: true))
        return scorebook
    }

    /// Writes an entry as the page does, and returns what it conflicts with.
    @discardableResult
    private func enter(
        _ scorebook: ScorebookStore, _ id: UUID, _ scores: [String: String], round: Int = 1,
        replaces: Bool = true
    ) async throws -> [String] {
        var habits = Habits(timeZone: .gmt)
        habits.command = Habits.Command(name: "score add", run: "\(id)")
        let sheet = try await scorebook.matchSheet("last")
        let values = sheet.players.compactMap { line in scores[line.person].map { (line.recordName, $0) } }
        return try await scorebook.with(habits).enter(
            ScoreEntry(
                id: id, match: sheet.recordName, round: round,
                values: Dictionary(uniqueKeysWithValues: values), replaces: replaces)
        ).conflicts.map(\.present)
    }

    private func scores(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.rows(
            """
            SELECT firstName, points FROM SBScore JOIN SBPlayer ON player = SBPlayer.recordName
            JOIN SBPerson ON person = SBPerson.recordName ORDER BY seatOrder, points
            """)
    }

    private let first = UUID()
    private let second = UUID()
    private let third = UUID()

    @Test func whatIsThereStaysUnlessItIsReplaced() async throws {
        let scorebook = try await scorebook()
        #expect(try await enter(scorebook, first, ["Ada": "5"], replaces: false).isEmpty)
        #expect(try await enter(scorebook, second, ["Ada": "5", "Alan": "6"], replaces: false).isEmpty)
        #expect(try await enter(scorebook, third, ["Ada": "7"], replaces: false) == ["5"])
        #expect(try await scores(scorebook) == ["Ada|5", "Alan|6"])
        #expect(try await enter(scorebook, third, ["Ada": "7"]).isEmpty)
        #expect(try await scores(scorebook) == ["Ada|7", "Alan|6"])
    }

    /// Otherwise an entry whose answer was lost would overwrite what somebody corrected meanwhile.
    @Test(arguments: ["5", "7"])
    func aReplacementThatComesAgainIsWrittenOnce(typed: String) async throws {
        let scorebook = try await scorebook()
        try await enter(scorebook, first, ["Ada": "5"])
        try await enter(scorebook, second, ["Ada": typed])
        try await enter(scorebook, third, ["Ada": "9"])
        try await enter(scorebook, second, ["Ada": typed])
        #expect(try await scores(scorebook) == ["Ada|9"])
        // Nor is it written again when it was taken back.
        _ = try await scorebook.undo("\(third)")
        try await enter(scorebook, third, ["Ada": "9"])
        #expect(try await scores(scorebook) == ["Ada|\(typed)"])
    }

    /// Who goes back in a browser types the next scores into the form of the last ones, which has the same id.
    @Test func anotherRoundOrScoreUnderTheSameIDIsAnotherEntry() async throws {
        let scorebook = try await scorebook()
        for round in [1, 2, 2] {
            try await enter(scorebook, first, ["Ada": "5"], round: round, replaces: false)
        }
        #expect(try await scores(scorebook) == ["Ada|5", "Ada|5"])
        #expect(try await enter(scorebook, first, ["Ada": "7"], round: 2, replaces: false) == ["5"])
        #expect(try await scores(scorebook) == ["Ada|5", "Ada|5"])
    }

    /// An entry may wait in a browser while the program becomes a newer one.
    @Test func whatAnEarlierVersionWroteIsKnown() async throws {
        let scorebook = try await scorebook()
        let sheet = try await scorebook.matchSheet("last")
        let player = try #require(sheet.players.first { $0.person == "Ada" }).recordName
        let key = UUID(derivedFrom: "scorebook-peer score entry 1", first.uuidString, player.description)
        // Somebody has corrected it since.
        try await scorebook.execute(
            "INSERT INTO SBScore (recordName, player, round, points) "
                + "VALUES ('SBScore|~|\(key.uuidString.lowercased())', '\(player)', 1, 9)")
        try await enter(scorebook, first, ["Ada": "5"])
        #expect(try await scores(scorebook) == ["Ada|9"])
    }

    /// Enters 5 for each player that an open page shows.
    private func enterFive(for sheet: MatchSheet, _ scorebook: ScorebookStore) async throws
        -> ScoreEntry.Outcome
    {
        let values = sheet.players.map { ($0.recordName, "5") }
        return try await scorebook.enter(
            ScoreEntry(
                id: first, match: sheet.recordName, round: 1,
                values: Dictionary(uniqueKeysWithValues: values)))
    }

    @Test func whoHasLeftKeepsNobodyFromScoring() async throws {
        let scorebook = try await scorebook()
        let sheet = try await scorebook.matchSheet("last")
        var edit = MatchEdit()
        edit.players.removed = ["Alan"]
        try await scorebook.editMatch("last", edit)
        let outcome = try await enterFive(for: sheet, scorebook)
        #expect(outcome.gone.map(\.person) == ["Alan"] && outcome.gone.map(\.typed) == ["5"])
        #expect(outcome.conflicts.isEmpty)
        #expect(try await scores(scorebook) == ["Ada|5"])
    }

    /// The part went with the person.
    @Test func whoIsDeletedKeepsNobodyFromScoring() async throws {
        let scorebook = try await scorebook()
        let sheet = try await scorebook.matchSheet("last")
        try await scorebook.delete(.person, "Alan")
        let outcome = try await enterFive(for: sheet, scorebook)
        #expect(outcome.gone.count == 1)
        #expect(try await scores(scorebook) == ["Ada|5"])
    }

    /// By a slip, or for another seat.
    @Test func whoWasTakenOutAndAddedAgainGetsTheScore() async throws {
        let scorebook = try await scorebook()
        let sheet = try await scorebook.matchSheet("last")
        var edit = MatchEdit()
        edit.players.removed = ["Alan"]
        try await scorebook.editMatch("last", edit)
        edit = MatchEdit()
        edit.players.added = [NewPlayer("Alan")]
        try await scorebook.editMatch("last", edit)
        let outcome = try await enterFive(for: sheet, scorebook)
        #expect(outcome.gone.isEmpty && outcome.conflicts.isEmpty)
        #expect(try await scores(scorebook) == ["Ada|5", "Alan|5"])
    }

    @Test func whatAnEntryReplacedComesBack() async throws {
        let scorebook = try await scorebook()
        try await enter(scorebook, first, ["Ada": "5", "Alan": "6"])
        // Another machine has written one more.
        try await scorebook.execute(
            "INSERT INTO SBScore SELECT 'SBScore|~|x', player, round, 8, text, NULL FROM SBScore WHERE points = 5"
        )
        try await enter(scorebook, second, ["Ada": "7"])
        #expect(try await scores(scorebook) == ["Ada|7", "Alan|6"])
        let undone = try await scorebook.undo("\(second)")
        #expect(undone.restored.count == 2 && undone.deleted.count == 1 && undone.kept == 0)
        #expect(try await scores(scorebook) == ["Ada|5", "Ada|8", "Alan|6"])
    }

    /// Otherwise a player would have two scores in one round.
    @Test func whatAnEntryReplacedStaysAwayWhenSomebodyHasReplacedTheEntry() async throws {
        let scorebook = try await scorebook()
        try await enter(scorebook, first, ["Ada": "5"])
        try await enter(scorebook, second, ["Ada": "7", "Alan": "6"])
        try await enter(scorebook, third, ["Ada": "9"])
        let undone = try await scorebook.undo("\(second)")
        #expect(undone.restored.isEmpty && undone.deleted.count == 1 && undone.kept == 1 && !undone.isEmpty)
        #expect(try await scores(scorebook) == ["Ada|9"])
        #expect(try await scorebook.undo("\(first)").isEmpty)
        #expect(try await scores(scorebook) == ["Ada|9"])
    }
}

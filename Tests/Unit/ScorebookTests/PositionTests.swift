import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// A match has one place, a person one seat in it, and a player one score in a round, whoever takes back or restores.
struct PositionTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addMatch(
            NewMatch(
                game: "Hearts", players: [NewPlayer("Ada", score: "10"), NewPlayer("Alan", score: "8")],
                createsPersons: true, createsGame: true))
        return scorebook
    }

    /// Two machines that have the match.
    private func pair() async throws -> (ScorebookStore, ScorebookStore) {
        let (kitchen, study) = (try await scorebook(), try Support.scorebook(2))
        try await study.take(from: kitchen)
        return (kitchen, study)
    }

    private func command(_ scorebook: ScorebookStore, _ run: String = "edit") -> ScorebookStore {
        var habits = Habits(timeZone: .gmt)
        habits.command = Habits.Command(name: run, run: run)
        return scorebook.with(habits)
    }

    private func edit(_ scorebook: ScorebookStore, _ change: (inout MatchEdit) -> Void) async throws {
        var edit = MatchEdit()
        change(&edit)
        try await scorebook.editMatch("last", edit)
    }

    /// Writes a place as earlier versions did, which gave it a name of its own.
    private func insertPlace(_ name: String, _ scorebook: ScorebookStore) async throws {
        try await scorebook.execute(
            """
            INSERT INTO SBMatchLocation (recordName, match, name)
            SELECT 'SBMatchLocation|~|\(name)', recordName, '\(name)' FROM SBMatch
            """)
    }

    private func places(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.rows("SELECT name FROM SBMatchLocation ORDER BY recordName")
    }

    private func scores(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.rows(
            """
            SELECT firstName, round, points FROM SBPlayer JOIN SBPerson ON person = SBPerson.recordName
            LEFT JOIN SBScore ON player = SBPlayer.recordName ORDER BY seatOrder, round, points
            """)
    }

    // MARK: One place

    /// The place keeps its record, whatever is written into that meanwhile.
    @Test func aPlaceThatIsTakenBackHasItsNameOfThen() async throws {
        let scorebook = try await scorebook()
        try await edit(scorebook) { $0.location = .set("Kitchen") }
        try await edit(command(scorebook, "clear")) { $0.location = .clear }
        try await edit(command(scorebook, "name")) { $0.location = .set("Garden") }
        #expect(try await scorebook.undo().command == "name")
        #expect(try await scorebook.undo().command == "clear")
        #expect(try await places(scorebook) == ["Kitchen"])
    }

    /// An exchanged seat that stays is an obstacle for the one that was given up for it.
    @Test func aSeatThatStaysKeepsItsFormerOwnFromSittingTwice() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addMatch(
            NewMatch(
                game: "Hearts", players: ["Ada", "Bea", "Cid"].map { NewPlayer($0, score: "1") },
                createsPersons: true, createsGame: true))
        try await edit(command(scorebook, "exchange")) {
            $0.players.removed = ["Bea"]
            $0.players.exchanged = [("Ada", "Bea")]
        }
        try await edit(scorebook) { $0.players.added = [NewPlayer("Ada", score: "12")] }
        _ = try await scorebook.undo()
        let seats = try await scorebook.rows(
            "SELECT firstName FROM SBPlayer JOIN SBPerson ON person = SBPerson.recordName ORDER BY 1")
        #expect(seats == ["Ada", "Bea", "Cid"])
    }

    @Test func ofTwoMachinesThatNameThePlaceTheLastOneWins() async throws {
        let (kitchen, study) = try await pair()
        try await edit(kitchen) { $0.location = .set("Kitchen") }
        try await edit(study) { $0.location = .set("Study") }
        try await kitchen.take(from: study)
        try await study.take(from: kitchen)
        let named = try await places(kitchen)
        #expect(named.count == 1)
        #expect(try await places(study) == named)
        // The record of before comes back.
        try await edit(kitchen) { $0.location = .clear }
        #expect(try await places(kitchen).isEmpty)
        try await edit(kitchen) { $0.location = .set("Garden") }
        try await study.take(from: kitchen)
        #expect(try await places(kitchen) == ["Garden"])
        #expect(try await places(study) == ["Garden"])
    }

    /// Machines that did not see each other wrote two.
    @Test func aPlaceThatIsNamedAgainIsTheOnlyOne() async throws {
        let scorebook = try await scorebook()
        for name in ["Attic", "Balcony"] { try await insertPlace(name, scorebook) }
        try await edit(scorebook) { $0.location = .set("Cellar") }
        #expect(
            try await scorebook.rows("SELECT recordName, name FROM SBMatchLocation") == [
                "SBMatchLocation|~|Attic|Cellar"
            ])
    }

    // MARK: Taking back

    @Test(arguments: [true, false])
    func aPlaceThatSomebodyNamedSinceIsTheOnlyOne(isOfEarlierVersion: Bool) async throws {
        let (kitchen, study) = try await pair()
        if isOfEarlierVersion {
            try await insertPlace("Attic", kitchen)
        } else {
            try await edit(kitchen) { $0.location = .set("Attic") }
        }
        try await edit(command(kitchen)) { $0.location = .clear }
        try await study.take(from: kitchen)
        try await edit(study) { $0.location = .set("Study") }
        try await kitchen.take(from: study)
        let undone = try await kitchen.undo()
        #expect(undone.isEmpty && undone.kept == 1)
        #expect(try await places(kitchen) == ["Study"])
    }

    @Test func whoSitsThereAgainHasOneSeat() async throws {
        let (kitchen, study) = try await pair()
        try await edit(command(kitchen)) { $0.players.removed = ["Ada"] }
        try await study.take(from: kitchen)
        try await edit(study) { $0.players.added = [NewPlayer("Ada", score: "12")] }
        try await kitchen.take(from: study)
        #expect(try await kitchen.undo().kept == 1)
        #expect(try await scores(kitchen) == ["Alan|null|8", "Ada|null|12"])
    }

    @Test func whoWasExchangedAndSitsThereAgainHasOneSeat() async throws {
        let (kitchen, study) = try await pair()
        try await kitchen.addPerson("Bea")
        try await edit(command(kitchen)) { $0.players.exchanged = [("Ada", "Bea")] }
        try await study.take(from: kitchen)
        try await edit(study) { $0.players.added = [NewPlayer("Ada", score: "12")] }
        try await kitchen.take(from: study)
        let undone = try await kitchen.undo()
        #expect(undone.isEmpty && undone.kept == 1)
        #expect(try await scores(kitchen) == ["Bea|null|10", "Alan|null|8", "Ada|null|12"])
    }

    /// BG Stats lets a person take part twice.
    @Test func whatStoodBesideItBeforeIsNoObstacle() async throws {
        let scorebook = try await scorebook()
        try await scorebook.execute(
            """
            INSERT INTO SBScore (recordName, player, points)
            SELECT 'SBScore|~|x', player, 11 FROM SBScore WHERE points = 10;
            INSERT INTO SBPlayer (recordName, match, person, seatOrder)
            SELECT 'SBPlayer|~|x', match, person, 3 FROM SBPlayer WHERE seatOrder = 1
            """)
        let both = try await scores(scorebook)
        #expect(both == ["Ada|null|10", "Ada|null|11", "Alan|null|8", "Ada|null|null"])
        for text in ["SBScore|~|x", "SBPlayer|~|x"] {
            try await command(scorebook, text).delete(RecordName(text))
            #expect(try await scorebook.undo().kept == 0)
            #expect(try await scores(scorebook) == both)
        }
        let seat = try RecordName("SBPlayer|~|x")
        try await scorebook.delete(seat)
        try await scorebook.restore(seat)
        #expect(try await scores(scorebook) == both)
    }

    @Test func ofTwoScoresTheOneThatWasCorrectedStays() async throws {
        let scorebook = try await scorebook()
        try await command(scorebook).addScores(
            NewScores(match: "last", round: .number(1), values: [("Ada", "5"), ("Alan", "6")]))
        try await scorebook.execute("UPDATE SBScore SET points = 9 WHERE points = 5")
        let undone = try await scorebook.undo()
        #expect(undone.deleted.count == 1 && undone.kept == 1)
        #expect(try await scores(scorebook) == ["Ada|null|10", "Ada|1|9", "Alan|null|8"])
    }

    /// Otherwise the player would have two.
    @Test func whatACorrectedScoreReplacedStaysAway() async throws {
        let scorebook = try await scorebook()
        let sheet = try await scorebook.matchSheet("last")
        let ada = try #require(sheet.players.first { $0.person == "Ada" }).recordName
        _ = try await command(scorebook).enter(
            ScoreEntry(id: UUID(), match: sheet.recordName, round: nil, values: [ada: "7"], replaces: true))
        try await scorebook.execute("UPDATE SBScore SET points = 9 WHERE points = 7")
        let undone = try await scorebook.undo()
        #expect(undone.isEmpty && undone.kept == 1)
        #expect(try await scores(scorebook) == ["Ada|null|9", "Alan|null|8"])
    }

    /// As `play` does.
    @Test func whatACommandItselfCorrectedGoesBack() async throws {
        let scorebook = try await scorebook()
        let before = try await scores(scorebook)
        for points in ["5", "7"] {
            try await command(scorebook).addScores(
                NewScores(match: "last", round: .number(1), values: [("Ada", points)], replaces: true))
        }
        let undone = try await scorebook.undo()
        #expect(undone.deleted.count == 1 && undone.kept == 0)
        #expect(try await scores(scorebook) == before)
    }

    // MARK: Restoring

    private enum Position: String { case score, seat, place }

    @Test(arguments: [
        ("SBScore WHERE points = 10", "score", "Ada has 12 for the whole match already"),
        ("SBPlayer WHERE seatOrder = 1", "seat", "Ada plays in this match already"),
        // It would bring the player along.
        ("SBScore WHERE points = 10", "seat", "Ada plays in this match already"),
        ("SBMatchLocation", "place", "the match has the place “Garden” already"),
    ])
    func nothingIsRestoredBesideWhatIsThere(row: String, position: String, message: String) async throws {
        let scorebook = try await scorebook()
        try await insertPlace("Attic", scorebook)
        let old = try RecordName(try await scorebook.rows("SELECT recordName FROM \(row)")[0])
        switch try #require(Position(rawValue: position)) {
        case .score:
            try await scorebook.delete(old)
            try await scorebook.addScores(NewScores(match: "last", values: [("Ada", "12")]))
        case .seat:
            try await edit(scorebook) { $0.players.removed = ["Ada"] }
            try await edit(scorebook) { $0.players.added = [NewPlayer("Ada", score: "12")] }
        case .place:
            try await scorebook.delete(old)
            try await edit(scorebook) { $0.location = .set("Garden") }
        }
        let digest = try await scorebook.digest()
        let deleted = await #expect(throws: ScorebookError.self) { try await scorebook.restore(old) }
        let lately = await #expect(throws: ScorebookError.self) {
            try await scorebook.restore(old, at: Support.now - 1)
        }
        for error in [deleted, lately] {
            #expect(error?.code == .invalidValue && error?.hint != nil)
            #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        }
        #expect(try await scorebook.digest() == digest)
    }

    @Test func aScoreComesBackWhenTheOtherOneIsGone() async throws {
        let scorebook = try await scorebook()
        let names = try await scorebook.rows("SELECT recordName FROM SBScore WHERE points = 10")
        let old = try RecordName(names[0])
        try await scorebook.delete(old)
        let other = try await scorebook.addScore(NewScore(match: "last", player: "Ada", value: "12"))
        try await scorebook.delete(other.recordName)
        try await scorebook.restore(old)
        #expect(try await scores(scorebook) == ["Ada|null|10", "Alan|null|8"])
    }
}

import PeerSyncModel
import PeerSyncRules
import Testing

/// What is newer than a deletion brings the deleted record back, however far below it stands.
struct RevivalTests {
    private var household = Household()

    init() throws {
        try household.write("Game|~|skat", at: 1)
        try household.write("Venue|~|club", at: 2)
        try household.write(
            "Match|~|monday", ["game": reference("Game|~|skat"), "venue": reference("Venue|~|club")], at: 3)
        try household.write("Loan|~|cards", ["match": reference("Match|~|monday")], at: 4)
    }

    private func state(_ name: String) throws -> RecordState? { household.states[try RecordName(name)] }

    @Test mutating func aWriteFarBelowBringsBackTheTopThroughWhatWasNeverDeleted() throws {
        try household.delete("Game|~|skat", at: 10)
        try household.write("Loan|~|cards", at: 11)
        #expect(try household.shown().count == 4)
        #expect(try state("Game|~|skat")?.revival == Household.stamp(11))
        #expect(try state("Match|~|monday")?.revival == nil)
    }

    @Test mutating func whatIsNotNewerBringsNothingBack() throws {
        try household.delete("Game|~|skat", at: 10)
        try household.write("Loan|~|cards", at: 10)
        #expect(try household.shown() == ["Venue|~|club"])
    }

    @Test mutating func aDeletedRecordDoesNotSpeakForOthers() throws {
        try household.write("Loan|~|cards", at: 11)
        try household.delete("Loan|~|cards", at: 12)
        try household.delete("Game|~|skat", at: 10)
        #expect(try household.shown() == ["Venue|~|club"])
    }

    @Test mutating func aReferenceThatIsNewerThanTheDeletionOfItsTargetSpeaksForIt() throws {
        try household.delete("Venue|~|club", at: 10)
        // Something else in the match does not: it can do without its venue.
        try household.write("Match|~|monday", at: 11)
        #expect(try !household.shown().contains("Venue|~|club"))
        try household.write("Match|~|monday", ["venue": reference("Venue|~|club")], at: 12)
        #expect(try state("Venue|~|club")?.revival == Household.stamp(12))
    }

    /// The match comes back for the loan's sake, and with it what its own reference says.
    @Test mutating func whatComesBackSpeaksInTurn() throws {
        try household.write("Match|~|monday", ["venue": reference("Venue|~|club")], at: 9)
        try household.delete("Venue|~|club", at: 8)
        #expect(try state("Venue|~|club")?.revival == Household.stamp(9))
        var other = Household()
        try other.delete("Match|~|monday", at: 20)
        household.hear(other)
        #expect(try !household.shown().contains("Match|~|monday"))
        try household.write("Loan|~|cards", at: 21)
        #expect(try household.shown().count == 4)
    }

    /// The loan is older than the deletion of the match, and newer than that of the game.
    @Test mutating func aStampGoesOnThroughWhatStaysDeleted() throws {
        var other = household
        try other.delete("Match|~|monday", at: 20)
        try other.delete("Game|~|skat", at: 10)
        // The reference of the match is newer than this; but it is that of a deleted record.
        try other.delete("Venue|~|club", at: 2)
        try household.write("Loan|~|cards", at: 15)
        household.hear(other)
        #expect(try household.shown() == ["Game|~|skat"])
        #expect(try state("Game|~|skat")?.revival == Household.stamp(15))
        #expect(try household.isSettled())
    }

    @Test mutating func aReferenceSpeaksWithItsOwnStamp() throws {
        var other = household
        try other.write("Match|~|monday", ["venue": reference("Venue|~|club")], at: 12)
        try other.write("Match|~|monday", at: 13)
        try household.delete("Venue|~|club", at: 10)
        household.hear(other)
        #expect(try state("Venue|~|club")?.revival == Household.stamp(12))
    }

    /// The match itself is older than the deletion of its new game; the loan is not.
    @Test mutating func whatIsMovedBelowADeletedRecordBringsItBackWithWhatIsBelow() throws {
        try household.write("Game|~|hearts", at: 5)
        var other = household
        try other.write("Match|~|monday", ["game": reference("Game|~|hearts")], at: 9)
        try household.write("Loan|~|cards", at: 12)
        try household.delete("Game|~|hearts", at: 10)
        #expect(try !household.shown().contains("Game|~|hearts"))
        household.hear(other)
        #expect(try state("Game|~|hearts")?.revival == Household.stamp(12))
        #expect(try household.shown().contains("Loan|~|cards"))
    }

    @Test mutating func whatWasDeletedForEverComesBackOnlyIfItIsWrittenAnew() throws {
        try household.erase("Game|~|skat", at: 10)
        try household.write("Loan|~|cards", at: 11)
        #expect(try household.shown() == ["Venue|~|club"])
        #expect(try state("Game|~|skat")?.revival == nil)
        try household.write("Game|~|skat", at: 12)
        #expect(try household.shown().count == 4)
    }

    /// The game has fields again, and its own are older than a second deletion. The loan was there before them.
    @Test mutating func whatIsWrittenAnewIsBroughtBackByWhatStandsBelowItAlready() throws {
        try household.erase("Game|~|skat", at: 10)
        try household.delete("Game|~|skat", at: 20)
        try household.write("Loan|~|cards", at: 25)
        #expect(try household.shown() == ["Venue|~|club"])
        try household.write("Game|~|skat", at: 15)
        #expect(try state("Game|~|skat")?.revival == Household.stamp(25))
        #expect(try household.shown().count == 4)
        #expect(try household.isSettled())
    }

    @Test mutating func nothingInAnotherZoneBringsARecordBack() throws {
        household.elsewhere = [try RecordName("Game|~|skat"), try RecordName("Venue|~|club")]
        try household.delete("Game|~|skat", at: 10)
        try household.delete("Venue|~|club", at: 10)
        try household.write("Match|~|monday", ["venue": reference("Venue|~|club")], at: 11)
        #expect(try household.shown() == [])
        #expect(try state("Game|~|skat")?.revival == nil)
        #expect(try state("Venue|~|club")?.revival == nil)
    }

    @Test mutating func oneCallIsEnough() throws {
        try household.delete("Game|~|skat", at: 10)
        try household.write("Loan|~|cards", at: 11)
        #expect(try household.isSettled())
    }

    /// A move away from a record, heard before or after the record's deletion, has one result.
    @Test func aMoveAndADeletionGiveTheSameInEitherOrder() throws {
        var moved = household
        try moved.write("Game|~|hearts", at: 5)
        try moved.write("Match|~|monday", ["game": reference("Game|~|hearts")], at: 6)
        var deleted = household
        try deleted.delete("Game|~|skat", at: 7)
        var (first, second) = (household, household)
        first.hear(moved)
        first.hear(deleted)
        second.hear(deleted)
        second.hear(moved)
        #expect(first == second)
        #expect(try first.shown() == ["Game|~|hearts", "Loan|~|cards", "Match|~|monday", "Venue|~|club"])
    }
}

import MergeRules
import SyncModel
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
        try household.hear(other)
        #expect(try !household.shown().contains("Match|~|monday"))
        try household.write("Loan|~|cards", at: 21)
        #expect(try household.shown().count == 4)
    }

    @Test mutating func theSameCallTwiceGivesNothing() throws {
        try household.delete("Game|~|skat", at: 10)
        try household.write("Loan|~|cards", at: 11)
        let states = household.states
        try household.revive(after: states.keys)
        #expect(household.states == states)
    }

    /// A move away from a record, heard before or after the record's deletion, has one result.
    @Test func aMoveAndADeletionGiveTheSameInEitherOrder() throws {
        var moved = household
        try moved.write("Game|~|hearts", at: 5)
        try moved.write("Match|~|monday", ["game": reference("Game|~|hearts")], at: 6)
        var deleted = household
        try deleted.delete("Game|~|skat", at: 7)
        var (first, second) = (household, household)
        try first.hear(moved)
        try first.hear(deleted)
        try second.hear(deleted)
        try second.hear(moved)
        #expect(first == second)
        #expect(try first.shown() == ["Game|~|hearts", "Loan|~|cards", "Match|~|monday", "Venue|~|club"])
    }
}

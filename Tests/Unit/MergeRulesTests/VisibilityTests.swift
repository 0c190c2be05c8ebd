import PeerSyncModel
import PeerSyncRules
import Testing

/// What a machine shows of the states that it holds: a deletion hides what is below it, and takes nothing from it.
struct VisibilityTests {
    private var household = Household()

    private static let everything = [
        "Game|~|skat", "Loan|~|cards", "Match|~|monday", "Match|~|sunday", "Venue|~|club",
    ]

    init() throws {
        try household.write("Game|~|skat", at: 1)
        try household.write("Venue|~|club", at: 2)
        try household.write(
            "Match|~|monday", ["game": reference("Game|~|skat"), "venue": reference("Venue|~|club")], at: 3)
        try household.write("Match|~|sunday", ["game": reference("Game|~|skat"), "venue": .null], at: 4)
        try household.write("Loan|~|cards", ["match": reference("Match|~|monday")], at: 5)
    }

    private func visibility(_ name: String) throws -> Visibility? {
        try household.visibility()[RecordName(name)]
    }

    @Test func everythingIsShown() throws {
        #expect(try household.shown() == Self.everything)
    }

    @Test mutating func aDeletionHidesWhatIsBelowAndWritesNothingThere() throws {
        let before = household.states
        try household.delete("Game|~|skat", at: 10)
        #expect(try household.shown() == ["Venue|~|club"])
        let game = try RecordName("Game|~|skat")
        #expect(try visibility("Game|~|skat") == .deleted)
        #expect(try visibility("Loan|~|cards") == .hidden(by: game, since: Household.stamp(10)))
        #expect(household.states.filter { $0.key != game } == before.filter { $0.key != game })
    }

    @Test mutating func restoringBringsEverythingBackThatHadGoneWithIt() throws {
        try household.delete("Game|~|skat", at: 10)
        try household.restore("Game|~|skat", at: 11)
        #expect(try household.shown() == Self.everything)
    }

    @Test mutating func aRecordThatWasDeletedByItselfStaysDeleted() throws {
        try household.delete("Match|~|sunday", at: 9)
        try household.delete("Game|~|skat", at: 10)
        try household.restore("Game|~|skat", at: 11)
        #expect(try household.shown() == Self.everything.filter { $0 != "Match|~|sunday" })
    }

    /// Of two deletions above a record the newer one is why it is out of sight.
    @Test mutating func theNewestDeletionHides() throws {
        try household.delete("Game|~|skat", at: 10)
        try household.delete("Match|~|monday", at: 12)
        let match = try RecordName("Match|~|monday")
        #expect(try visibility("Loan|~|cards") == .hidden(by: match, since: Household.stamp(12)))
        try household.restore("Game|~|skat", at: 13)
        #expect(try visibility("Loan|~|cards") == .hidden(by: match, since: Household.stamp(12)))
    }

    @Test mutating func aNullifyReferenceToWhatIsOutOfSightIsEmptyAndKeepsItsRecord() throws {
        try household.delete("Venue|~|club", at: 10)
        #expect(try household.shown() == Self.everything.filter { $0 != "Venue|~|club" })
        #expect(try visibility("Venue|~|club") != .shown)
        try household.restore("Venue|~|club", at: 11)
        #expect(try visibility("Venue|~|club") == .shown)
    }

    @Test mutating func whatIsIncompleteIsHeldWithAllThatNeedsIt() throws {
        try household.write("Match|~|tuesday", ["game": reference("Game|~|missing"), "venue": .null], at: 6)
        try household.write("Loan|~|dice", ["match": reference("Match|~|tuesday")], at: 7)
        try household.write("Match|~|none", ["game": .null, "venue": .null], at: 8)
        try household.write("Match|~|odd", ["game": reference("Venue|~|club"), "venue": .null], at: 8)
        try household.write("Dice|~|unknown", at: 8)
        #expect(try household.shown() == Self.everything)
        for name in ["Match|~|tuesday", "Loan|~|dice", "Match|~|none", "Match|~|odd", "Dice|~|unknown"] {
            #expect(try visibility(name) == .held)
        }
        let refused = try household.visibility(refused: [RecordName("Match|~|monday")])
        #expect(try refused[RecordName("Loan|~|cards")] == .held)
        #expect(try refused[RecordName("Match|~|sunday")] == .shown)
    }

    @Test mutating func allThatNeedsAHeldRecordIsHeldHoweverFar() throws {
        for number in 1...50 {
            try household.write(
                "Note|~|\(number)", ["on": reference("Note|~|\(number - 1)")], at: 20 + number)
        }
        #expect(try household.shown() == Self.everything)
    }

    @Test mutating func whatHasItsFieldsElsewhereIsHeld() throws {
        let game = try RecordName("Game|~|hollow")
        household.states[game] = RecordState(name: game, revival: Household.stamp(6))
        try household.write("Match|~|tuesday", ["game": reference("Game|~|hollow"), "venue": .null], at: 6)
        #expect(try household.shown() == Self.everything)
        #expect(try visibility("Game|~|hollow") == .held)
        #expect(try visibility("Match|~|tuesday") == .held)
    }

    @Test mutating func aDeletionHidesNothingInAnotherZone() throws {
        household.elsewhere = [try RecordName("Match|~|monday"), try RecordName("Loan|~|cards")]
        try household.delete("Game|~|skat", at: 10)
        #expect(
            try visibility("Match|~|sunday")
                == .hidden(by: RecordName("Game|~|skat"), since: Household.stamp(10)))
        #expect(try visibility("Match|~|monday") == .held)
        #expect(try visibility("Loan|~|cards") == .held)
    }

    @Test mutating func circlesAreShownTogetherAndHiddenTogether() throws {
        try household.write("Note|~|1", ["on": reference("Note|~|2")], at: 20)
        try household.write("Note|~|2", ["on": reference("Note|~|1")], at: 21)
        try household.write("Note|~|3", ["on": reference("Note|~|3")], at: 22)
        #expect(
            try household.shown() == Self.everything.prefix(4) + [
                "Note|~|1", "Note|~|2", "Note|~|3", "Venue|~|club",
            ])
        try household.delete("Note|~|1", at: 23)
        #expect(try visibility("Note|~|2") == .hidden(by: RecordName("Note|~|1"), since: Household.stamp(23)))
        try household.restore("Note|~|1", at: 24)
        #expect(try visibility("Note|~|2") == .shown)
    }

    @Test mutating func longChainsNeedNoRecursion() throws {
        let length = 20_000
        for number in 0..<length {
            let name = try RecordName("Note|~|\(number)")
            let above = number == 0 ? FieldValue.null : try reference("Note|~|\(number - 1)")
            household.states[name] = RecordState(
                name: name,
                fields: [RecordField(name: "on", value: above, stamp: Household.stamp(30 + number))])
        }
        try household.delete("Note|~|0", at: 30 + length)
        #expect(try household.shown() == Self.everything)
        // A write at the very end brings the first one back, and all between them.
        try household.write("Note|~|\(length - 1)", at: 31 + length)
        #expect(try household.shown().count == Self.everything.count + length)
    }
}

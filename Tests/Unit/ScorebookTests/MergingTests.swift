import PeerSyncModel
import Scorebook
import Testing

/// Two persons, or two games, become one, and stay one.
struct MergingTests {
    private let names = ["Grace H.", "Grace Hopper"]

    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Go"))
        for name in names { try await play(scorebook, name) }
        try await scorebook.editPerson("Grace H.", PersonEdit(emailAddress: .set("g@example.org")))
        return scorebook
    }

    private func play(_ scorebook: ScorebookStore, _ person: String) async throws {
        try await scorebook.addMatch(
            NewMatch(game: "Go", players: [NewPlayer(person), NewPlayer("Ada")], createsPersons: true))
    }

    private func persons(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.persons().map { "\($0.person.name) \($0.matches)" }
    }

    @Test func everythingBelongsToTheOneThatIsLeft() async throws {
        let scorebook = try await scorebook()
        let (old, new) = (
            try await scorebook.find(.person, "Grace H."), try await scorebook.find(.person, "Grace Hopper")
        )
        #expect(try await scorebook.merge(.person, "Grace H.", into: "Grace Hopper") == new)
        #expect(try await persons(scorebook) == ["Ada 2", "Grace Hopper 2"])
        #expect(try await scorebook.person("Grace").person.emailAddress == "g@example.org")
        // Who has the old name in a script, or in a list that was printed, gets the one that is left.
        for text in ["\(old)", "\(old.suffix)", String(old.suffix.suffix(12))] {
            #expect(try await scorebook.find(.person, text) == new)
        }
        #expect(try await scorebook.search("grace").filter { $0.kind == "person" }.count == 1)
    }

    /// The other machine knows nothing of the merge yet.
    @Test func whatAnotherMachineAddsToTheOldOneBelongsToTheNewOne() async throws {
        let (kitchen, study) = (try await scorebook(), try Support.scorebook(2))
        try await study.take(from: kitchen)
        try await kitchen.merge(.person, "Grace H.", into: "Grace Hopper")
        try await play(study, "Grace H.")
        for _ in 0..<2 {
            try await kitchen.take(from: study)
            #expect(try await persons(kitchen) == ["Ada 3", "Grace Hopper 3"])
            try await study.take(from: kitchen)
            #expect(try await persons(study) == ["Ada 3", "Grace Hopper 3"])
        }
        try await kitchen.take(from: study)
        #expect(try await kitchen.digest() == study.digest())
    }

    /// Each machine merges the other way round, and both come to the same.
    @Test func aCircleOfMergesLeavesOne() async throws {
        let (kitchen, study) = (try await scorebook(), try Support.scorebook(2))
        try await study.take(from: kitchen)
        try await kitchen.merge(.person, "Grace H.", into: "Grace Hopper")
        try await study.merge(.person, "Grace Hopper", into: "Grace H.")
        for _ in 0..<2 {
            try await kitchen.take(from: study)
            _ = try await kitchen.persons()
            try await study.take(from: kitchen)
            _ = try await study.persons()
        }
        #expect(try await persons(kitchen) == persons(study))
        #expect(try await persons(kitchen).filter { $0.hasPrefix("Grace") }.map { $0.suffix(2) } == [" 2"])
        #expect(try await kitchen.digest() == study.digest())
    }

    @Test func gamesBecomeOneToo() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addGame(NewGame(name: "Weiqi", year: -500))
        try await scorebook.addMatch(NewMatch(game: "Weiqi", players: [NewPlayer("Ada")]))
        try await scorebook.merge(.game, "Weiqi", into: "Go")
        #expect(
            try await scorebook.games().map { "\($0.game.name ?? "") \($0.matches) \($0.game.year ?? 0)" }
                == ["Go 3 -500"])
    }

    @Test func whatIsOneAlreadyIsSaid() async throws {
        let scorebook = try await scorebook()
        try await scorebook.merge(.person, "Grace H.", into: "Grace Hopper")
        for (text, other) in [("Grace H.", "Grace Hopper"), ("grace hopper", "grace h.")] {
            let error = await #expect(throws: ScorebookError.self) {
                try await scorebook.merge(.person, text, into: other)
            }
            let gone = text.hasSuffix(".") ? text : other
            #expect(error?.message == "“\(gone)” is Grace Hopper already" && error?.hint == nil)
        }
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.merge(.person, "Ada", into: "ada")
        }
        #expect(error?.message == "both texts name the same person")
    }

    /// Neither is there no such person, nor is another one meant of whose name it is a part.
    @Test(arguments: ["Grace H.", "Ann"]) func aSecondMergeOfTheSameTwoIsNone(name: String) async throws {
        let scorebook = try await scorebook()
        for person in ["Ann", "Bea"] { try await play(scorebook, person) }
        try await scorebook.merge(.person, name, into: "Bea")
        let before = try await persons(scorebook)
        let again = await #expect(throws: ScorebookError.self) {
            try await scorebook.merge(.person, name, into: "Bea")
        }
        #expect(again?.message == "“\(name)” is Bea already")
        #expect(try await persons(scorebook) == before)
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.merge(.person, "Nobody", into: "Bea")
        }
        #expect(error?.code == .notFound)
    }

    @Test func chainsAreFollowed() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addPerson("Amazing Grace")
        try await scorebook.merge(.person, "Grace H.", into: "Grace Hopper")
        try await scorebook.merge(.person, "Grace Hopper", into: "Amazing")
        #expect(try await persons(scorebook) == ["Ada 2", "Amazing Grace 2"])
    }

    @Test func whoPlayedTogetherIsNotOne() async throws {
        let scorebook = try await scorebook()
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.merge(.person, "Grace H.", into: "Ada")
        }
        #expect(error?.message.hasPrefix("both played in Go, ") == true)
        await #expect(throws: ScorebookError.self) { try await scorebook.merge(.person, "Ada", into: "ada") }
        #expect(try await persons(scorebook) == ["Ada 2", "Grace H. 1", "Grace Hopper 1"])
    }

    /// A merged record must not come back into lists because the other one went.
    @Test func aDeletionTakesTheMergedOneAlong() async throws {
        let scorebook = try await scorebook()
        try await scorebook.merge(.person, "Grace H.", into: "Grace Hopper")
        try await scorebook.delete(.person, "Grace Hopper")
        #expect(try await persons(scorebook) == ["Ada 2"])
        try await scorebook.restore(.person, "Grace Hopper")
        #expect(try await persons(scorebook) == ["Ada 2", "Grace Hopper 2"])
    }

    @Test func aDeletionTakesAWholeChainAlong() async throws {
        let scorebook = try await scorebook()
        let old = try await scorebook.find(.person, "Grace H.")
        let last = try await scorebook.addPerson("Amazing Grace").recordName
        try await scorebook.merge(.person, "Grace H.", into: "Grace Hopper")
        try await scorebook.merge(.person, "Grace Hopper", into: "Amazing")
        #expect(try await scorebook.deleteForever(last).contains(old))
        #expect(try await persons(scorebook) == ["Ada 2"])
        #expect(try await scorebook.rows("SELECT firstName FROM SBPerson") == ["Ada"])
    }

    /// Other programs may write anything into a column.
    @Test func anOddTargetStopsNothing() async throws {
        let scorebook = try await scorebook()
        try await scorebook.execute("UPDATE SBPerson SET mergedInto = X'FF' WHERE firstName = 'Ada'")
        #expect(try await persons(scorebook) == ["Ada 2", "Grace H. 1", "Grace Hopper 1"])
        #expect(try await scorebook.statistics().plays == 2)
    }
}

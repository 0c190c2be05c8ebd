import PeerSyncModel
import Scorebook
import Testing

/// Which deleted record a text means.
struct RestoringByTextTests {
    private func scorebook(_ list: [RecordName] = []) async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        return scorebook.with(habits(list))
    }

    /// Habits of somebody who has just seen a list.
    private func habits(_ list: [RecordName]) -> Habits {
        Habits(timeZone: .gmt) { _, number in list.indices.contains(number - 1) ? list[number - 1] : nil }
    }

    /// The day and the time are of numbers, too.
    @Test func aNumberIsThatOfTheListAndNotOneInATitle() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addGame(NewGame(name: "Go"))
        var names: [RecordName] = []
        for date in ["2021-02-01 20:15", "2021-03-04 20:15"] {
            names.append(
                try await scorebook.addMatch(
                    NewMatch(game: "Go", date: date, players: [NewPlayer("Ada")], createsPersons: true)
                ).recordName)
        }
        for name in names { try await scorebook.delete(name) }
        // The first match has a “1” in its title, and is the second one in the list.
        let reader = scorebook.with(habits([names[1], names[0]]))
        #expect(try await reader.restore(.match, "01").name == names[1])
    }

    @Test func aNumberThatIsAlsoANameMayMeanBoth() async throws {
        let scorebook = try await scorebook()
        let wonders = try await scorebook.addGame(NewGame(name: "2 Wonders")).recordName
        let chess = try await scorebook.addGame(NewGame(name: "Chess")).recordName
        for name in [wonders, chess] { try await scorebook.delete(name) }
        let reader = scorebook.with(habits([wonders, chess]))
        let error = await #expect(throws: ScorebookError.self) { try await reader.restore(.game, "2") }
        let choice = try #require(error?.choice)
        #expect(choice.candidates.map(\.title) == ["Chess", "2 Wonders"])
        var habits = reader.habits
        habits.chosen[choice.question] = wonders
        #expect(try await reader.with(habits).restore(.game, "2").name == wonders)
        #expect(try await reader.restore(.game, "2").name == chess)
    }

    /// Somebody deletes a person whom two records had become.
    @Test func whatHadBecomeOneComesBackAsOne() async throws {
        let scorebook = try await scorebook()
        try await scorebook.addGame(NewGame(name: "Go"))
        for name in ["Grace", "Grace H.", "Grace Hopper"] {
            try await scorebook.addMatch(
                NewMatch(game: "Go", players: [NewPlayer(name)], createsPersons: true))
        }
        try await scorebook.merge(.person, "Grace H.", into: "Grace Hopper")
        let first = try await scorebook.find(.person, "Grace")
        try await scorebook.merge(.person, "\(first)", into: "Grace Hopper")
        let states = try await scorebook.shownStates().count
        let steps = try await scorebook.delete(.person, "Grace Hopper")
        #expect(steps.count { $0.action == .delete && $0.name.recordType == "SBPerson" } == 1)
        #expect(try await scorebook.deletedRecords().map(\.title) == ["Grace Hopper"])
        try await scorebook.restore(.person, "Grace")
        #expect(try await scorebook.persons().map { "\($0.person.name) \($0.matches)" } == ["Grace Hopper 3"])
        #expect(try await scorebook.shownStates().count == states)
        #expect(try await scorebook.deletedRecords().isEmpty)
    }

    /// Two machines have merged them in both directions.
    @Test func ofACircleOneCanBeRestored() async throws {
        let scorebook = try await scorebook()
        for name in ["Ann", "Bob"] { try await scorebook.addPerson(name) }
        try await scorebook.execute(
            "UPDATE SBPerson AS p SET mergedInto = (SELECT recordName FROM SBPerson AS o WHERE o.firstName <> p.firstName)"
        )
        let name = try #require(try await scorebook.persons().first).person.recordName
        try await scorebook.delete(name)
        #expect(try await scorebook.deletedRecords().map(\.recordName) == [name])
    }
}

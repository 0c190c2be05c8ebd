import Foundation
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// How people say which record they mean.
struct LookupTests {
    private func scorebook() async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        try await scorebook.execute(
            """
            INSERT INTO SBPerson (recordName, firstName, lastName) VALUES
                ('SBPerson|~|aaaa1111-0000-7000-8000-000000000001', 'Ada', 'Lovelace'),
                ('SBPerson|~|aaaa2222-0000-7000-8000-000000000002', 'Grace', 'Hopper'),
                ('SBPerson|~|BBBB1111-0000-7000-8000-000000000003', 'Grace', 'Kelly'),
                ('SBPerson|~|cccc1111-0000-7000-8000-000000000004', 'Ann', NULL),
                ('SBPerson|~|cccc2222-0000-7000-8000-000000000005', 'ann', NULL),
                ('SBPerson|~|dddd1111-0000-7000-8000-000000000006', 'Zoë', 'Ångström'),
                ('SBPerson|~|eeee1111-0000-7000-8000-000000000007', 'Twin', 'One'),
                ('SBPerson|~|eeee2222-0000-7000-8000-000000000008', 'Twin', 'One'),
                ('SBPerson|~|eeee3333-0000-7000-8000-000000000009', NULL, 'aaaa');
            """)
        return scorebook
    }

    @Test(arguments: [
        ("SBPerson|~|aaaa1111-0000-7000-8000-000000000001", 1), ("Ada Lovelace", 1), ("  ada lovelace ", 1),
        ("aaaa1", 1),
        ("AAAA2222-0000", 2), ("grace kelly", 3), ("bbbb", 3), ("Ann", 4), ("ann", 5), ("zoë ÅNGSTRÖM", 6),
        ("dddd1111-0000-7000-8000-000000000006", 6), ("aaaa", 9), ("lovelace", 1), ("kelly", 3), ("hop", 2),
        ("gr kel", 3),
        ("angstrom", 6), ("Zoe", 6), ("8000-000000000007", 7), ("000008", 8), ("aaa", 9), ("l", 1),
    ])
    func aRecordIsFound(text: String, number: Int) async throws {
        let name = try await scorebook().find(.person, text)
        #expect(name.description.hasSuffix("00\(number)"))
    }

    @Test(
        arguments: [
            ("Nobody", ScorebookError.Code.notFound, "Nobody"), ("aab", .notFound, "aab"),
            ("grace", .ambiguous, "Grace Hopper (no matches, id 000002)"), ("Lovlace", .notFound, "Lovlace"),
            ("aa%a", .notFound, "aa%a"),
            ("____", .notFound, "there is no person"), ("", .notFound, "there is no person"),
            ("eeee", .ambiguous, "Twin One (no matches, id 000007)"),
            ("Twin One", .ambiguous, "id 000008"),
            ("ANN", .ambiguous, "several"), ("SBPerson|~|aaaa", .notFound, "there is no record"),
            ("SBGame|~|aaaa", .invalidValue, "is not a person"), ("Bogus|~|", .invalidValue, "nothing after"),
            ("|~|x", .invalidValue, "record type"), ("SBPerson|~|é", .invalidValue, "ASCII"),
        ] as [(String, ScorebookError.Code, String)])
    func whatFitsNoneOrSeveralIsAnError(text: String, code: ScorebookError.Code, message: String) async throws
    {
        let scorebook = try await scorebook()
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.find(.person, text) }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    /// A typing error is answered with the names that are near.
    @Test(arguments: [
        ("Lovlace", "did you mean Ada Lovelace?"), ("Garce", "did you mean Grace Hopper or Grace Kelly?"),
        ("Qwertz", "`person list` shows those there are"),
    ])
    func whatIsNearIsNamed(text: String, hint: String) async throws {
        let scorebook = try await scorebook()
        let error = await #expect(throws: ScorebookError.self) { try await scorebook.find(.person, text) }
        #expect(error?.hint == hint)
    }

    @Test func aNumberMeansTheRecordThatTheListShowed() async throws {
        let scorebook = try await scorebook()
        let grace = try await scorebook.find(.person, "Grace Hopper")
        let reader = scorebook.with(Habits { kind, number in kind == .person && number == 2 ? grace : nil })
        #expect(try await reader.find(.person, "2") == grace)
        await #expect(throws: ScorebookError.self) { try await reader.find(.person, "3") }
        try await scorebook.addPerson("Henry 2")
        let error = await #expect(throws: ScorebookError.self) { try await reader.find(.person, "2") }
        #expect(
            error?.code == .ambiguous
                && error?.choice?.candidates.map(\.title) == ["Grace Hopper", "Henry 2"])
        try await scorebook.delete(.person, "Henry 2")
        try await scorebook.delete(.person, "Grace Hopper")
        let gone = await #expect(throws: ScorebookError.self) { try await reader.find(.person, "2") }
        #expect(gone?.message.contains("not there any more") == true)
    }

    /// Of persons, words are enough.
    @Test func aNewGameIsNotAnotherOneThatHasItsWords() async throws {
        let scorebook = try await scorebook()
        for name in ["7 Wonders Duel", "Café International"] {
            try await scorebook.addGame(NewGame(name: name))
        }
        let persons = try await scorebook.persons().count
        let duel = try await scorebook.find(.game, "7 Wonders Duel")
        for game in ["7 Wonders", "7 wonders duel", "cafe international", "\(duel)"] {
            let match = try await scorebook.addMatch(
                NewMatch(
                    game: game, players: [NewPlayer("Lovelace")], createsPersons: true, createsGame: true))
            #expect((match.game == duel) == (game.contains("uel") || game == "\(duel)"))
        }
        #expect(
            try await scorebook.rows("SELECT name FROM SBGame ORDER BY name") == [
                "7 Wonders", "7 Wonders Duel", "Café International",
            ])
        #expect(try await scorebook.persons().count == persons)
    }

    @Test func aChoiceSettlesWhatFitsSeveral() async throws {
        let scorebook = try await scorebook()
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.find(.person, "Twin One")
        }
        let choice = try #require(error?.choice)
        #expect(choice.count == 2)
        var habits = Habits()
        habits.chosen[choice.question] = choice.candidates[1].recordName
        #expect(try await scorebook.with(habits).find(.person, "Twin One") == choice.candidates[1].recordName)
    }

    @Test(
        arguments: [
            ("Ada Lovelace", "Ada", "Lovelace"), ("Cher", "Cher", nil),
            ("  Mary  Ann Evans ", "Mary", "Ann Evans"),
            ("林 美咲", "林", "美咲"),
        ] as [(String, String, String?)])
    func namesAreSplitAtTheFirstBlank(name: String, first: String, last: String?) async throws {
        let person = try await Support.scorebook().addPerson(name)
        #expect(person.firstName == first)
        #expect(person.lastName == last)
    }
}

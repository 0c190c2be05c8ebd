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
        ("dddd1111-0000-7000-8000-000000000006", 6), ("aaaa", 9),
    ])
    func aRecordIsFound(text: String, number: Int) async throws {
        let name = try await scorebook().find(.person, text)
        #expect(name.description.hasSuffix("00\(number)"))
    }

    @Test(
        arguments: [
            ("Nobody", ScorebookError.Code.notFound, "`person list`"), ("aaa", .notFound, "aaa"),
            ("aa%a", .notFound, "aa%a"),
            ("____", .notFound, "there is no person"), ("", .notFound, "there is no person"),
            ("eeee", .ambiguous, "SBPerson|~|eeee1111"),
            ("Twin One", .ambiguous, "Twin One (SBPerson|~|eeee2222"),
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

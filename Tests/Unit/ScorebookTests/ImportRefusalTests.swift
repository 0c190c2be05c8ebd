import Foundation
import Scorebook
import TestSupport
import Testing

/// Files that are not what they should be: each is refused with the place of the error, and changes nothing.
struct ImportRefusalTests {
    private static let bgStats = """
        {"players": [{"uuid": "P1", "id": 1, "name": "Ada", "modificationDate": "2021-01-01 10:00:00"}],
         "locations": [{"uuid": "L1", "id": 1, "name": "Home", "modificationDate": "2021-01-01 10:00:00"}],
         "games": [{"uuid": "G1", "id": 1, "name": "Go", "bggId": 188, "modificationDate": "2021-01-01 10:00:00"}],
         "plays": [{"uuid": "Y1", "modificationDate": "2021-01-01 10:00:00", "playDate": "2021-01-01 09:00:00",
                    "gameRefId": 1, "locationRefId": 1, "rating": 0,
                    "playerScores": [{"playerRefId": 1, "score": "3", "winner": true}]}],
         "deletedObjects": [{"uuid": "Y9", "modificationDate": "2021-01-01 10:00:00", "objectType": "Play"}]}
        """

    private static let export = """
        {"format": "scorebook export", "version": 1, "zone": "ScorebookData", "records": {"SBGame": [
          {"recordName": "SBGame|~|1", "fields": {"name": "Go", "year": 1, "highestWins": true},
           "stamp": "1609459200000.0@0000000000000001"}]}}
        """

    struct Case: Sendable, CustomTestStringConvertible {
        let original: String
        let replacement: String
        let place: String?
        let message: String
        var isExport = false

        var testDescription: String { "\(original) → \(replacement)" }
    }

    static let cases: [Case] = [
        // Syntax.
        Case(
            original: #""gameRefId": 1,"#, replacement: #""gameRefId" 1,"#, place: "line 5, column 25",
            message: "a colon is missing"),
        Case(
            original: #"Play"}]}"#, replacement: "Play", place: "line 7, column 93",
            message: "the closing quote of the string is missing"),
        Case(
            original: #""Play"}]}"#, replacement: #""Play""#, place: "line 7, column 99",
            message: "a comma or } is missing"),
        Case(
            original: #""Play"}]}"#, replacement: #""Play"}]}]"#, place: "line 7, column 102",
            message: "something follows its end"),
        Case(
            original: #""name": "Go""#, replacement: #""name": "G\o""#, place: "line 3, column 46",
            message: "a backslash that begins no escape"),
        // What is JSON, and can be read all the same by nobody.
        Case(
            original: #""name": "Go""#, replacement: #""name": "\ud800""#, place: "line 3, column 45",
            message: "a surrogate without its other half"),
        Case(
            original: #""name": "Go""#, replacement: #""name": "\ud83d\u0041""#, place: "line 3, column 45",
            message: "a surrogate without its other half"),
        Case(
            original: #""rating": 0"#, replacement: #""rating": 1e999"#, place: "line 5, column 59",
            message: "a number is too large"),
        Case(
            original: #""rating": 0"#, replacement: #""rating": \#(String(repeating: "[", count: 600))"#,
            place: "line 5, column 568", message: "more than 512 objects and lists in each other"),
        // Keys and types.
        Case(
            original: #""playDate": "2021-01-01 09:00:00","#, replacement: "", place: "plays[0].playDate",
            message: "is missing"),
        Case(original: #""players": "#, replacement: #""people": "#, place: "players", message: "is missing"),
        Case(
            original: #""bggId": 188"#, replacement: #""bggId": "188""#, place: "games[0].bggId",
            message: "should be a whole number"),
        Case(
            original: #""bggId": 188"#, replacement: #""bggId": 1.5"#, place: "games[0].bggId",
            message: "should be a whole number"),
        Case(
            original: #""winner": true"#, replacement: #""winner": "yes""#,
            place: "plays[0].playerScores[0].winner",
            message: "should be true or false"),
        Case(
            original: #""score": "3""#, replacement: #""score": 3"#, place: "plays[0].playerScores[0].score",
            message: "should be a text"),
        Case(
            original: #""rating": 0"#, replacement: #""rating": {}"#, place: "plays[0].rating",
            message: "should be a number"),
        Case(
            original: #""name": "Go""#, replacement: #""name": null"#, place: "games[0].name",
            message: "is null"),
        Case(
            original: #"[{"playerRefId": 1, "score": "3", "winner": true}]"#, replacement: "7",
            place: "plays[0].playerScores", message: "should be a list"),
        // References.
        Case(
            original: #""playerRefId": 1"#, replacement: #""playerRefId": 99"#,
            place: "plays[0].playerScores[0].playerRefId",
            message: "is 99, but the file has no player with that id"),
        Case(
            original: #""gameRefId": 1"#, replacement: #""gameRefId": 2"#, place: "plays[0].gameRefId",
            message: "no game"),
        Case(
            original: #""locationRefId": 1"#, replacement: #""locationRefId": 2"#,
            place: "plays[0].locationRefId",
            message: "no location"),
        Case(
            original: #""games": ["#,
            replacement:
                #""games": [{"uuid": "G0", "id": 1, "name": "Go", "modificationDate": "2021-01-01 10:00:00"},"#,
            place: "games[1].id", message: "is 1, which another of the games has too"),
        // Dates.
        Case(
            original: "2021-01-01 09:00:00", replacement: "2021-02-30 09:00:00", place: "plays[0].playDate",
            message: "2021-02-30 09:00:00"),
        Case(
            original: #""playDate": "2021-01-01 09:00:00""#, replacement: #""playDate": "yesterday""#,
            place: "plays[0].playDate", message: "yesterday"),
        Case(
            original: #"10:00:00", "objectType""#, replacement: #"24:00:00", "objectType""#,
            place: "deletedObjects[0].modificationDate", message: "24:00:00"),
        // Names.
        Case(
            original: #""uuid": "Y1""#, replacement: #""uuid": """#, place: "plays[0].uuid",
            message: "which is no UUID"),
        Case(
            original: #""uuid": "P1""#, replacement: #""uuid": "Ü""#, place: "players[0].uuid",
            message: "which is no UUID"),
        // Exports of a scorebook.
        Case(
            original: #""name": "Go""#, replacement: #""name": "\ud800""#, place: "line 2, column 52",
            message: "a surrogate without its other half", isExport: true),
        Case(
            original: #""year": 1"#, replacement: #""year": 1e999"#, place: "line 2, column 65",
            message: "a number is too large", isExport: true),
        Case(
            original: #""version": 1"#, replacement: #""version": 1.5"#, place: "version",
            message: "version should be a whole number", isExport: true),
        Case(
            original: #""year": 1"#, replacement: #""year": {"integer": 1.5}"#,
            place: "records.SBGame[0].fields.year.integer", message: "should be a whole number",
            isExport: true),
        // What no other machine takes.
        Case(
            original: #""year": 1"#, replacement: #""year": {"real": "7ff8000000000001"}"#,
            place: "records.SBGame[0].fields.year", message: "a real number that is none", isExport: true),
        Case(
            original: #""year": 1"#, replacement: #""year": {"date": 253402300800000}"#,
            place: "records.SBGame[0].fields.year", message: "after 9999", isExport: true),
        Case(
            original: #""name": "Go""#, replacement: #""name": ["Go"]"#,
            place: "records.SBGame[0].fields.name",
            message: "should be a text", isExport: true),
        Case(
            original: "scorebook export", replacement: "shopping list", place: "format",
            message: "shopping list",
            isExport: true),
        Case(
            original: #""version": 1"#, replacement: #""version": 2"#, place: "version",
            message: "install a newer one",
            isExport: true),
        Case(
            original: #""zone": "ScorebookData""#, replacement: #""zone": "Ü""#, place: "zone",
            message: "zone", isExport: true),
        Case(
            original: "SBGame|~|1", replacement: "SBGame", place: "records.SBGame[0].recordName",
            message: "record type",
            isExport: true),
        Case(
            original: "SBGame|~|1", replacement: "SBMatch|~|1", place: "records.SBGame[0].recordName",
            message: "no SBGame",
            isExport: true),
        Case(
            original: #""name": "Go""#, replacement: #""name": 7"#, place: "records.SBGame[0].fields.name",
            message: "should be a text", isExport: true),
        Case(
            original: #""year": 1"#, replacement: #""year": "1""#, place: "records.SBGame[0].fields.year",
            message: "should be a number", isExport: true),
        Case(
            original: #""year": 1"#, replacement: #""year": []"#, place: "records.SBGame[0].fields.year",
            message: "should be", isExport: true),
        Case(
            original: #""year": 1"#, replacement: #""a b": 1"#, place: "records.SBGame[0].fields",
            message: "cannot name a field", isExport: true),
        Case(
            original: ".0@0000000000000001", replacement: "", place: "records.SBGame[0].stamp",
            message: "a stamp looks like", isExport: true),
        Case(
            original: "1609459200000", replacement: "1909459200000", place: "SBGame|~|1",
            message: "2030-07-05T05:20:00Z, but the clock of this machine shows 2021-08-01T00:00:00Z",
            isExport: true),
    ]

    @Test(arguments: cases)
    func aWrongFileIsRefusedWithThePlaceAndChangesNothing(test: Case) async throws {
        let original = test.isExport ? Self.export : Self.bgStats
        let scorebook = try Support.scorebook()
        _ = try await scorebook.addPerson("Somebody")
        let before = try await scorebook.states()
        let wrong = original.replacing(test.original, with: test.replacement, maxReplacements: 1)
        try #require(wrong != original)
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.importData(Data(wrong.utf8))
        }
        #expect(error?.code == .invalidFile)
        #expect(error?.place == test.place)
        #expect(error?.message.contains(test.message) == true, "\(error?.message ?? "no error")")
        #expect(try await scorebook.states() == before)
    }

    /// Foundation's own words would not help anybody.
    @Test(arguments: [
        #"{"format": "scorebook export", "version": 1, "zone": "\udc00"}"#,
        #"{"format": "scorebook export", "versi\udc00"}"#,
        #"{"players": [{"uuid": "\ud800"}]}"#, "{\"format\": \"\u{1}\"}",
        #"{"format": "scorebook export", "version": 1e30}"#,
    ])
    func noErrorIsInTheWordsOfTheDecoder(text: String) async throws {
        let error = await #expect(throws: ScorebookError.self) {
            try await Support.scorebook().importData(Data(text.utf8))
        }
        let place = try #require(error?.place)
        #expect(error?.message.contains(place) == true && error?.message.contains("given data") == false)
    }

    @Test func theUnchangedFilesAreAccepted() async throws {
        let scorebook = try Support.scorebook()
        #expect(try await scorebook.importData(Data(Self.bgStats.utf8)).total.new == 6)
        #expect(try await scorebook.importData(Data(Self.export.utf8)).total.new == 1)
    }

    @Test func aByteOrderMarkIsSkipped() async throws {
        let scorebook = try Support.scorebook()
        let data = Data([0xEF, 0xBB, 0xBF]) + Data(Self.bgStats.utf8)
        #expect(try await scorebook.importData(data).total.new == 6)
    }

    @Test(arguments: ["", "[]", "7", "{}", #"{"shopping": ["milk"]}"#, "not JSON at all", "\u{0}\u{1}"])
    func somethingElseIsRefused(text: String) async throws {
        let scorebook = try Support.scorebook()
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.importData(Data(text.utf8))
        }
        #expect(error?.code == .invalidFile)
        #expect(try await scorebook.states().isEmpty)
    }

    @Test func aZoneThatThisStoreDoesNotHaveIsRefused() async throws {
        let scorebook = try Support.scorebook()
        let text = Self.export.replacing("ScorebookData", with: "Holidays")
        await #expect(throws: (any Error).self) { try await scorebook.importData(Data(text.utf8)) }
        #expect(try await scorebook.states().isEmpty)
    }

    @Test func theErrorOfAFileNamesIt() async throws {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let directory = files.url
        let file = directory.appendingPathComponent("plays.json")
        try Data("{".utf8).write(to: file)
        let scorebook = try Support.scorebook()
        let wrong = await #expect(throws: ScorebookError.self) {
            try await scorebook.importFile(at: file.path)
        }
        #expect(wrong?.message.hasPrefix("\(file.path): the file is not JSON") == true)
        let missing = directory.appendingPathComponent("none.json").path
        let absent = await #expect(throws: ScorebookError.self) {
            try await scorebook.importFile(at: missing)
        }
        #expect(absent?.message == "\(missing) cannot be read: there is no such file")
        #expect(absent?.code == .unreadableFile)
    }
}

import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// Collections and plays of BoardGameGeek: what becomes of them, and what a second file changes.
struct BoardGameGeekTests {
    private static let plays = "plays.bgg.xml"
    private static let games = "SELECT name, bggID, year, minPlayers, maxPlayers FROM SBGame ORDER BY bggID"
    private static let collection = [
        "Harbour Lights|101|1995|3|4", "Die Fähre & der Fluß|201|2012|2|5",
        "Somebody Else's|203|null|null|null",
    ]

    private func imported(_ name: String = plays) async throws -> ScorebookStore {
        let scorebook = try Support.scorebook()
        _ = try await scorebook.importData(Support.data(name))
        return scorebook
    }

    @discardableResult
    private func `import`(
        _ scorebook: ScorebookStore, replacing old: String, with new: String
    ) async throws -> ImportReport {
        let text = String(decoding: try Support.data(Self.plays), as: UTF8.self)
        try #require(text.contains(old))
        return try await scorebook.importData(Data(text.replacing(old, with: new).utf8))
    }

    // MARK: What becomes of a file

    @Test(arguments: ["collection.bgg.xml", "collection.bgg.csv"])
    func aCollectionBecomesGames(name: String) async throws {
        let scorebook = try Support.scorebook()
        let report = try await scorebook.importData(Support.data(name))
        #expect(report.format == .bggCollection)
        #expect(report.total == ImportReport.Counts(new: 3))
        // A wish, and an expansion that nobody has played.
        #expect(report.leftOut == 2)
        #expect(try await scorebook.rows(Self.games) == Self.collection)
    }

    @Test func bothFormsOfACollectionAreTheSameGames() async throws {
        let scorebook = try await imported("collection.bgg.xml")
        let report = try await scorebook.importData(Support.data("collection.bgg.csv"))
        #expect(report.total == ImportReport.Counts(unchanged: 3))
    }

    @Test func entriesBecomeMatches() async throws {
        let rows = try await imported().rows(
            """
            SELECT g.name, m.date, durationMinutes, notes, ignored, unfinished, l.name FROM SBMatch m JOIN SBGame g ON g.recordName = m.game
            LEFT JOIN SBMatchLocation l ON l.match = m.recordName ORDER BY m.date, durationMinutes
            """)
        #expect(
            rows == [
                "Low Tide|null|null|null|null|null|null",
                "Harbour Lights|2021-01-02T12:00:00Z|75|Close <to> the end.\nA second line.|null|null|Ada's place",
                // One entry for two plays.
                "Two Teams|2021-01-03T12:00:00Z|30|null|null|null|null",
                "Two Teams|2021-01-03T12:00:00Z|30|null|null|null|null",
                // Incomplete.
                "Harbour Lights|2021-01-04T12:00:00Z|null|null|null|1|null",
                "Low Tide|2021-01-05T12:00:00Z|null|null|null|null|null",
            ])
    }

    @Test func whatDoesNotCountThereCountsNotHereEither() async throws {
        let scorebook = try Support.scorebook()
        try await `import`(
            scorebook, replacing: "incomplete=\"1\" nowinstats=\"0\"",
            with: "incomplete=\"0\" nowinstats=\"1\"")
        #expect(
            try await scorebook.rows("SELECT ignored, unfinished FROM SBMatch WHERE date LIKE '2021-01-04%'")
                == ["1|null"])
    }

    @Test func playersBecomePersonsWithTheirParts() async throws {
        let scorebook = try await imported()
        #expect(
            try await scorebook.rows("SELECT firstName, lastName, bggUsername FROM SBPerson ORDER BY 1, 2")
                == [
                    "Ada|Lovelace|AdaL", "Anonymous|player|null", "Grace|Hopper|null", "林美咲|null|null",
                ])
        let parts = """
            SELECT firstName, seatOrder, team, role, startPlayer, newPlayer, winner, s.points, s.text
            FROM SBPlayer p JOIN SBPerson n ON n.recordName = p.person JOIN SBMatch m ON m.recordName = p.match
            LEFT JOIN SBScore s ON s.player = p.recordName WHERE m.date LIKE
            """
        #expect(
            try await scorebook.rows("\(parts) '2021-01-02%' ORDER BY 1") == [
                "Ada|1|null|red|1|0|1|10|null", "Grace|2|null|blue|null|1|0|8|null",
            ])
        // Colours that several share are teams; nobody won.
        #expect(
            try await scorebook.rows("SELECT DISTINCT * FROM (\(parts) '2021-01-03%') ORDER BY 1") == [
                "Ada|1|north|null|null|0|0|null|null", "Grace|2|north|null|null|0|0|null|null",
                "林美咲|3|south|null|null|0|0|null|null",
            ])
        #expect(
            try await scorebook.rows("\(parts) '2021-01-04%'") == ["Grace|1|null|null|null|0|0|null|12,5"])
        // Nobody was marked, and the scores tell who won.
        let sheet = try await scorebook.matchSheet("2021-01-05")
        #expect(sheet.players.filter { $0.winner == true }.map(\.person) == ["Ada Lovelace"])
    }

    /// A table of three has three persons.
    @Test func playersWithoutANameAreNotTheSame() async throws {
        let scorebook = try Support.scorebook()
        try await `import`(scorebook, replacing: "name=\"Grace Hopper\"", with: "name=\"\"")
        let sheet = try await scorebook.matchSheet("2021-01-05")
        #expect(
            sheet.players.map { "\($0.person) \($0.writtenTotal ?? "")" } == [
                "Ada Lovelace 7", "Anonymous player 3", "Anonymous player 2 -2",
            ])
        #expect(Set(sheet.players.map(\.personRecord)).count == 3)
        let persons = try await scorebook.persons().map { "\($0.person.name) \($0.matches)" }
        #expect(persons == ["Ada Lovelace 4", "Anonymous player 5", "Anonymous player 2 1", "林美咲 2"])
    }

    // MARK: Files that are imported again

    @Test(arguments: ["collection.bgg.xml", "collection.bgg.csv", plays])
    func importingAFileTwiceChangesNothing(name: String) async throws {
        let scorebook = try await imported(name)
        let states = try await scorebook.states()
        let report = try await scorebook.importData(Support.data(name))
        #expect(report.total == ImportReport.Counts(unchanged: states.count))
        #expect(try await scorebook.states() == states)
    }

    @Test func twoMachinesThatImportAFileHoldTheSame() async throws {
        let (kitchen, study) = (try await imported(), try Support.scorebook(2))
        _ = try await study.importData(Support.data(Self.plays))
        #expect(try await kitchen.digest() == study.digest())
        try await study.take(from: kitchen)
        #expect(try await kitchen.digest() == study.digest())
    }

    @Test func whatSomebodyChangedHereStaysAndTheRestFollowsTheFile() async throws {
        let scorebook = try await imported()
        try await scorebook.execute("UPDATE SBMatch SET notes = 'Mine' WHERE durationMinutes = 75")
        let report = try await `import`(
            scorebook, replacing: "length=\"75\"", with: "length=\"80\"")
        #expect(report.total.changed == 1 && report.total.new == 0)
        #expect(
            try await scorebook.rows("SELECT notes, durationMinutes FROM SBMatch WHERE notes IS NOT NULL")
                == ["Mine|80"])
        // The text of the file has changed as well, and still loses.
        try await `import`(scorebook, replacing: "Close", with: "Not close")
        #expect(
            try await scorebook.rows("SELECT notes, durationMinutes FROM SBMatch WHERE notes IS NOT NULL")
                == ["Mine|75"])
    }

    @Test func aPlayerThatLeavesAPlayGoesAndComesBack() async throws {
        let scorebook = try await imported()
        let players =
            "SELECT COUNT(*) FROM SBPlayer JOIN SBMatch m ON m.recordName = match WHERE m.date LIKE '2021-01-02%'"
        let grace = String(decoding: try Support.data(Self.plays), as: UTF8.self)
            .split(separator: "\n").first { $0.contains("score=\"8\"") }
        let report = try await `import`(scorebook, replacing: String(try #require(grace)), with: "")
        #expect(report.total.deleted == 2)
        #expect(try await scorebook.rows(players) == ["1"])
        #expect(try await scorebook.importData(Support.data(Self.plays)).restored == 2)
        #expect(try await scorebook.rows(players) == ["2"])
    }

    @Test func whatWasDeletedHereStaysDeletedUnlessItIsRestored() async throws {
        let scorebook = try await imported()
        try await scorebook.execute("DELETE FROM SBMatch WHERE durationMinutes = 75")
        let report = try await scorebook.importData(Support.data(Self.plays))
        #expect(report.total.new == 0 && report.stillDeleted == 6)
        #expect(try await scorebook.importData(Support.data(Self.plays), restores: true).restored == 6)
        #expect(try await scorebook.rows("SELECT COUNT(*) FROM SBMatch") == ["6"])
    }

    // MARK: What is here already

    @Test func gamesAndPersonsThatAreHereStayOne() async throws {
        let scorebook = try Support.scorebook()
        // Known by the number, by the name, by the user name.
        try await scorebook.addGame(NewGame(name: "Hafenlichter", bggID: 101))
        try await scorebook.addGame(NewGame(name: "two teams"))
        try await scorebook.addPerson("Countess Lovelace")
        try await scorebook.execute("UPDATE SBPerson SET bggUsername = 'adal'")
        try await scorebook.addPerson("Grace Hopper")
        let report = try await scorebook.importData(Support.data(Self.plays))
        #expect(report.joined == 4)
        #expect(
            report.joinedNames == ["Countess Lovelace", "Grace Hopper", "Hafenlichter", "two teams"])
        let games = try await scorebook.games().map { "\($0.game.name ?? "") \($0.matches)" }
        #expect(games == ["Hafenlichter 2", "Low Tide 2", "two teams 2"])
        #expect(
            try await scorebook.persons().map { "\($0.person.name) \($0.matches)" } == [
                "Anonymous player 1", "Countess Lovelace 4", "Grace Hopper 5", "林美咲 2",
            ])
        #expect(try await scorebook.rows("SELECT bggID FROM SBGame WHERE name = 'two teams'") == ["102"])
        let again = try await scorebook.importData(Support.data(Self.plays))
        #expect(again.total.new == 0 && again.total.changed == 0 && again.joined == 0)
    }

    @Test func whoeverWantsKeepsThemApart() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Two Teams"))
        let report = try await scorebook.importData(Support.data(Self.plays), apart: true)
        #expect(report.joined == 0)
        #expect(try await scorebook.games().filter { $0.game.name == "Two Teams" }.count == 2)
        let shared = try await scorebook.sharedNames(.game)
        #expect(shared.map { $0.map(\.detail) } == [["2 matches", "no matches"]])
        #expect(try await scorebook.sharedNames(.person).isEmpty)
    }

    /// Two persons of one match are two, whatever their names are.
    @Test func namesakesOfOneMatchStayTwo() async throws {
        let scorebook = try Support.scorebook()
        try await `import`(scorebook, replacing: "name=\"Grace Hopper\"", with: "name=\"Ada Lovelace\"")
        #expect(
            try await scorebook.rows(
                "SELECT COUNT(*) FROM SBPerson WHERE firstName = 'Ada' AND mergedInto IS NULL") == ["2"])
    }

    @Test func machinesThatKnewTheGameInOtherWaysAgree() async throws {
        let (kitchen, study) = (try await imported(), try Support.scorebook(2))
        try await study.addGame(NewGame(name: "Hafenlichter", bggID: 101))
        _ = try await study.importData(Support.data(Self.plays))
        for _ in 0..<2 {
            try await kitchen.take(from: study)
            #expect(
                try await kitchen.games().compactMap(\.game.name) == [
                    "Hafenlichter", "Low Tide", "Two Teams",
                ])
            try await study.take(from: kitchen)
            #expect(
                try await study.games().compactMap(\.game.name) == ["Hafenlichter", "Low Tide", "Two Teams"])
        }
        #expect(try await kitchen.digest() == study.digest())
    }

    // MARK: Wrong files

    struct Wrong: Sendable, CustomTestStringConvertible {
        let text: String
        let message: String
        var testDescription: String { message }
    }

    static let play = #"<play id="1" date="2021-01-02" quantity="1"><item name="Go" objectid="5"/></play>"#

    @Test(arguments: [
        Wrong(text: "<plays>\n\(play)", message: "not all of it is there: <plays> is open at line 2"),
        Wrong(text: "<plays>\(play)</wrong>", message: "not XML"),
        Wrong(
            text: "<plays>\n" + play.replacing("2021-01-02", with: "2.1.2021"),
            message: "line 2 has the date “2.1.2021”"),
        Wrong(text: "<plays>" + play.replacing("\"5\"", with: "\"five\""), message: "“five” as objectid"),
        Wrong(
            text: "<plays>" + play.replacing("quantity=\"1\"", with: "quantity=\"5000\""),
            message: "quantity 5000"),
        Wrong(text: "<plays><play id=\"1\"/></plays>", message: "a play without a game"),
        Wrong(
            text: "<!DOCTYPE plays [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><plays>&a;</plays>",
            message: "document type"),
        Wrong(
            text: "<message>\n\tYour request for this collection has been accepted.</message>",
            message: "says: Your request for this collection has been accepted."),
        Wrong(
            text: "<errors><error><message>Invalid username specified</message></error></errors>",
            message: "says: Invalid username specified"),
        Wrong(text: "<rss><channel/></rss>", message: "begins with <rss>"),
        Wrong(text: "<items><item type=\"boardgame\" id=\"13\"/></items>", message: "no collection"),
        Wrong(
            text: "objectname,objectid,own\nGo,5",
            message: "line 2 has 2 values, but the first line has 3 columns"),
        Wrong(
            text: "objectname,objectid\n\"Go,5", message: "line 2 has a value whose closing quote is missing"),
        Wrong(
            text: "objectname,objectid\n\"Go\"x,5", message: "line 2 has something after the closing quote"),
        Wrong(text: "objectname,objectid\nGo,", message: "line 2 has no objectid"),
        // What other programs write.
        Wrong(
            text: "Date,Player,Score\n2021-01-02,Ada,7",
            message: "a table of another program, with the columns Date,Player,Score"),
        Wrong(text: "SQLite format 3\0…", message: "an SQLite database"),
        Wrong(text: "PK\u{3}\u{4}…", message: "a ZIP archive"),
        Wrong(text: "%PDF-1.7", message: "a PDF"),
        Wrong(text: "<!DOCTYPE html><html></html>", message: "a web page"),
        Wrong(text: #"[{"recordName": "SBGame|~|1"}]"#, message: "printed with --json"),
    ])
    func whatIsNoListOfBoardGameGeekIsRefusedWhole(wrong: Wrong) async throws {
        let scorebook = try Support.scorebook()
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.importData(Data(wrong.text.utf8))
        }
        #expect(error?.code == .invalidFile)
        #expect(error?.message.contains(wrong.message) == true, "\(error?.message ?? "")")
        #expect(try await scorebook.states().isEmpty)
    }

    // MARK: A rehearsal

    @Test(arguments: [plays, "collection.bgg.csv", "later.bgstats.json"])
    func aRehearsalReportsTheSameAndChangesNothing(name: String) async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Hafenlichter", bggID: 101))
        try await scorebook.addPerson("Grace Hopper")
        let states = try await scorebook.states()
        let rehearsed = try await scorebook.importData(Support.data(name), isRehearsal: true)
        #expect(try await scorebook.states() == states)
        #expect(try await scorebook.importData(Support.data(name)) == rehearsed)
        #expect(rehearsed.total.new > 0)
    }
}

import Foundation
import PeerSyncModel
import Scorebook
import Testing

/// Files whose games and persons became one with those that were here.
struct JoinedRecordTests {
    /// A play, and the same as it was mended on the phone.
    private static let january = BGStatsFile(plays: [.init(written: "2021-01-03 10:00:00")])
    private static let july = BGStatsFile(
        plays: [.init(game: 2, written: "2021-07-03 10:00:00", scores: [(3, 5), (2, 3)])])

    /// The matches as `Skat: Anna 5, Ben 3`.
    private func matches(_ scorebook: ScorebookStore) async throws -> [String] {
        var texts: [String] = []
        for match in try await scorebook.matches() {
            let sheet = try await scorebook.matchSheet("\(match.recordName)")
            texts.append(
                "\(sheet.game): "
                    + sheet.bySeat.map { "\($0.person) \($0.writtenTotal ?? "-")" }.joined(separator: ", "))
        }
        return texts
    }

    private func persons(_ scorebook: ScorebookStore) async throws -> [String] {
        try await scorebook.persons().map { "\($0.person.name) \($0.matches)" }
    }

    // MARK: What refers to them

    @Test func aPlayOfBGStatsFollowsTheNextFileOnEveryMachine() async throws {
        let (kitchen, study, cellar) = (
            try Support.scorebook(), try Support.scorebook(2), try Support.scorebook(3)
        )
        try await kitchen.addGame(NewGame(name: "Skat"))
        try await kitchen.addPerson("Anna")
        #expect(try await kitchen.importData(Self.january.data).joinedNames == ["Anna", "Skat"])
        #expect(try await matches(kitchen) == ["Skat: Anna 5, Ben 3"])
        try await cellar.take(from: kitchen)
        // The same file changes nothing.
        let states = try await kitchen.states()
        #expect(try await kitchen.importData(Self.january.data).total.changed == 0)
        #expect(try await kitchen.states() == states)
        for file in [Self.january, Self.july] { _ = try await study.importData(file.data) }
        _ = try await kitchen.importData(Self.july.data)
        #expect(try await matches(kitchen) == ["Rummy: Cid 5, Ben 3"])
        for _ in 0..<2 {
            for scorebook in [kitchen, study, cellar] {
                // What it has itself changes nothing.
                for other in [kitchen, study, cellar] { try await scorebook.take(from: other) }
                #expect(try await matches(scorebook) == ["Rummy: Cid 5, Ben 3"])
            }
        }
        #expect(try await kitchen.digest() == study.digest())
        #expect(try await kitchen.digest() == cellar.digest())
    }

    @Test func whatSomebodyDecidedAboutTheGameStays() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Skat"))
        try await scorebook.addGame(NewGame(name: "Hearts"))
        _ = try await scorebook.importData(Self.january.data)
        var edit = MatchEdit()
        edit.game = "Hearts"
        try await scorebook.editMatch("last", edit)
        _ = try await scorebook.importData(Self.july.data)
        #expect(try await matches(scorebook) == ["Hearts: Cid 5, Ben 3"])
    }

    // MARK: Two of one name

    @Test func twoOfOneFileAreNotBothTheOneThatWasHere() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addPerson("Anna")
        var file = BGStatsFile(persons: ["Anna", "Anna", "Ben"])
        file.plays = [
            .init(id: 1, written: "2021-07-03 10:00:00", scores: [(1, 5), (3, 3)]),
            .init(id: 2, written: "2021-07-03 10:00:00", scores: [(2, 5), (3, 3)]),
        ]
        #expect(try await scorebook.importData(file.data).joined == 0)
        #expect(try await persons(scorebook).sorted() == ["Anna 0", "Anna 1", "Anna 1", "Ben 2"])
    }

    @Test func aSecondOneOfALaterFileStaysApart() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addPerson("Anna")
        let first = BGStatsFile(persons: ["Anna", "Ben"], plays: Self.january.plays)
        #expect(try await scorebook.importData(first.data).joinedNames == ["Anna"])
        let second = BGStatsFile(
            persons: ["Anna", "Ben", "Anna"],
            plays: first.plays + [.init(id: 2, written: "2021-07-03 10:00:00", scores: [(3, 5), (2, 3)])])
        #expect(try await scorebook.importData(second.data).joined == 0)
        #expect(try await persons(scorebook) == ["Anna 1", "Anna 1", "Ben 2"])
    }

    // MARK: Names

    @Test func twoNamesDoNotBecomeAThirdOne() async throws {
        let scorebook = try Support.scorebook()
        for name in ["Bob Smith", "Grace"] { try await scorebook.addPerson(name) }
        try await scorebook.merge(.person, "Bob Smith", into: "Grace")
        #expect(try await persons(scorebook) == ["Grace 0"])
        try await scorebook.addPerson("Ada")
        try await scorebook.execute("UPDATE SBPerson SET bggUsername = 'Ada1815' WHERE firstName = 'Ada'")
        let plays = """
            <plays><play id="1" date="2021-01-02" quantity="1"><item name="Go" objectid="5"/>
            <players><player username="ada1815" name="Countess of Lovelace" score="1"/></players></play></plays>
            """
        #expect(try await scorebook.importData(Data(plays.utf8)).joinedNames == ["Ada"])
        #expect(try await persons(scorebook) == ["Ada 1", "Grace 0"])
    }

    /// Who has no name at all gets the whole one.
    @Test func aNameIsTakenWhole() async throws {
        let scorebook = try Support.scorebook()
        for name in ["Bob Smith", "Grace"] { try await scorebook.addPerson(name) }
        try await scorebook.execute("UPDATE SBPerson SET firstName = NULL WHERE firstName = 'Grace'")
        let nameless = try await scorebook.rows("SELECT recordName FROM SBPerson WHERE firstName IS NULL")
        try await scorebook.merge(.person, "Bob Smith", into: nameless[0])
        #expect(try await persons(scorebook) == ["Bob Smith 0"])
    }

    /// Somebody deletes the record that went, and a file brings it back.
    @Test func whatComesBackIsNotStillDeleted() async throws {
        let scorebook = try Support.scorebook()
        for name in ["Ann", "Grace"] { try await scorebook.addPerson(name) }
        let old = try await scorebook.find(.person, "Ann")
        try await scorebook.merge(.person, "Ann", into: "Grace")
        let file = try await scorebook.exportData()
        try await scorebook.delete(old)
        #expect(try await scorebook.importData(file).stillDeleted == 1)
        let report = try await scorebook.importData(file, restores: true)
        #expect(report.stillDeleted == 0 && report.total == ImportReport.Counts(unchanged: 2))
        #expect(try await scorebook.rows("SELECT count(*) FROM SBPerson") == ["2"])
    }

    // MARK: What later files say of them

    private static let plays = Data(
        """
        <plays><play id="1" date="2021-01-02" quantity="1"><item name="Catan" objectid="13"/></play></plays>
        """.utf8)

    private static func collection(_ year: Int) -> Data {
        Data(
            """
            <items><item objectid="13" subtype="boardgame"><name>Catan</name><yearpublished>\(year)</yearpublished>
            <stats minplayers="3" maxplayers="4"/><status own="1"/><numplays>1</numplays></item></items>
            """.utf8)
    }

    private static let catan = """
        SELECT name, bggID, year, minPlayers, maxPlayers FROM SBGame WHERE mergedInto IS NULL
        """

    @Test func theGameThatIsLeftGetsWhatALaterFileKnows() async throws {
        for files in [[Self.plays, Self.collection(1995)], [Self.collection(1995), Self.plays]] {
            let scorebook = try Support.scorebook()
            try await scorebook.addGame(NewGame(name: "Catan"))
            for file in files { _ = try await scorebook.importData(file) }
            #expect(try await scorebook.rows(Self.catan) == ["Catan|13|1995|3|4"])
        }
    }

    @Test func theReportTellsWhatBecomesVisible() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Catan", year: 1994))
        _ = try await scorebook.importData(Self.plays)
        // Not the year, which somebody wrote here.
        #expect(
            try await scorebook.importData(Self.collection(1995)).total == ImportReport.Counts(changed: 1))
        #expect(try await scorebook.rows(Self.catan) == ["Catan|13|1994|3|4"])
        #expect(
            try await scorebook.importData(Self.collection(1996)).total == ImportReport.Counts(unchanged: 1))
    }

    @Test func whatTheGameHasOfTheFileFollowsIt() async throws {
        let scorebook = try Support.scorebook()
        try await scorebook.addGame(NewGame(name: "Skat"))
        var file = BGStatsFile(games: ["Skat"], gameKeys: ["highestWins": true, "cooperative": false])
        _ = try await scorebook.importData(file.data)
        try await scorebook.execute("UPDATE SBGame SET cooperative = 1 WHERE mergedInto IS NULL")
        file.gameKeys = ["highestWins": false, "bggYear": 1810]
        (file.games, file.written) = (["Scat"], "2021-02-01 10:00:00")
        #expect(try await scorebook.importData(file.data).types["SBGame"] == ImportReport.Counts(changed: 1))
        let game = "SELECT name, highestWins, cooperative, year FROM SBGame WHERE mergedInto IS NULL"
        #expect(try await scorebook.rows(game) == ["Skat|0|1|1810"])
        // What somebody takes away here stays away.
        try await scorebook.execute("UPDATE SBGame SET year = NULL WHERE mergedInto IS NULL")
        #expect(try await scorebook.importData(file.data).total.changed == 0)
        #expect(try await scorebook.rows(game) == ["Skat|0|1|null"])
    }
}

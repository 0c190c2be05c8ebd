import Foundation
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// A scorebook with several zones: what is added, found and listed where.
struct ZoneTests {
    /// A scorebook whose zone “club” has Hearts and Ada, and whose default zone has Catan, Ada and Bob.
    private func scorebook() async throws -> (all: ScorebookStore, club: ScorebookStore) {
        let all = try Support.scorebook(now: RecordStore.wallClock())
        let club = all.limited(to: try await all.records.zones.create("club"))
        try await club.addGame(NewGame(name: "Hearts"))
        try await club.addPerson("Ada")
        try await all.addGame(NewGame(name: "Catan"))
        try await all.addPerson("Ada")
        try await all.addPerson("Bob")
        return (all, club)
    }

    @Test func whatIsAddedIsInTheZone() async throws {
        let (all, club) = try await scorebook()
        #expect(try await club.games().map(\.game.name) == ["Hearts"])
        #expect(try await club.persons().map(\.zone) == ["club"])
        #expect(try await all.games().map(\.zone) == ["ScorebookData", "club"])
        #expect(try await all.records.zones.all().map { Int($0.digest.count) } == [3, 2])
    }

    @Test func aMatchIsInTheZoneOfItsGameWithAllThatIsNew() async throws {
        let (all, club) = try await scorebook()
        let match = try await all.addMatch(
            NewMatch(
                game: "Hearts", players: [NewPlayer("Ada", score: "1"), NewPlayer("Bob", score: "2")],
                location: "Kitchen", createsPersons: true))
        // Bob of the default zone is another Bob.
        #expect(try await club.persons().map(\.person.name) == ["Ada", "Bob"])
        #expect(try await club.matches().map(\.players) == [["Ada", "Bob"]])
        #expect(try await all.records.zones.all().map { Int($0.digest.count) } == [3, 9])
        try await all.addScore(
            NewScore(match: "\(match.recordName)", player: "Bob", value: "3", round: 1))
        #expect(try await club.scores().count == 3)
    }

    @Test func namesMayMeanRecordsOfSeveralZones() async throws {
        let (all, club) = try await scorebook()
        let error = await #expect(throws: ScorebookError.self) { try await all.find(.person, "Ada") }
        #expect(error?.code == .ambiguous)
        #expect(error?.message.contains("zone club") == true && error?.hint?.contains("--zone") == true)
        #expect(try await club.find(.person, "ada") != club.find(.game, "Hearts"))
        #expect(try await all.find(.game, "hearts") == club.find(.game, "Hearts"))
        #expect(try await all.find(.person, "Bob").recordType == "SBPerson")
    }

    /// The zone in use comes first, and the others after it.
    @Test func namesAreLookedUpInTheZoneInUseFirst() async throws {
        let (all, club) = try await scorebook()
        #expect(try await all.zoneInUse() == nil)
        #expect(try await all.useZone(named: "club").name == "club")
        var habits = all.habits
        habits.zone = try await all.zoneInUse()
        let using = all.with(habits)
        #expect(try await using.find(.person, "Ada") == club.find(.person, "Ada"))
        #expect(try await using.find(.person, "Bob") == all.find(.person, "Bob"))
        let nobody = await #expect(throws: ScorebookError.self) { try await using.find(.person, "Xenia") }
        #expect(nobody?.code == .notFound)
        let bob = try await all.find(.person, "Bob")
        #expect(try await using.find(.person, "\(bob)") == bob)
        try await using.addGame(NewGame(name: "Skat"))
        #expect(try await club.games().map(\.game.name) == ["Hearts", "Skat"])
        #expect(try await using.games().count == 3)
        // A zone that is limited to counts more.
        let home = try await all.records.zones.find(named: "ScorebookData")
        #expect(try await using.limited(to: home).find(.person, "Ada") != club.find(.person, "Ada"))
        // The name here may change; the zone stays in use.
        try await all.records.zones.rename("club", to: "friends")
        #expect(try await all.zoneInUse()?.name == "friends")
        try await all.deleteZone(named: "friends")
        #expect(try await all.zoneInUse() == nil)
        #expect(try await all.games().map(\.game.name) == ["Catan"])
    }

    @Test func whatBelongsTogetherIsInOneZone() async throws {
        let (all, club) = try await scorebook()
        let bob = try await all.find(.person, "Bob").description
        let catan = try await all.find(.game, "Catan").description
        let match = try await club.addMatch(NewMatch(game: "Hearts", players: [NewPlayer("Ada")]))
        let name = match.recordName.description
        let before = try await all.records.zones.all().map(\.digest)
        var edit = MatchEdit()
        edit.game = catan
        for attempt in [
            { try await all.addMatch(NewMatch(game: "Hearts", players: [NewPlayer("Bob")])) as Any },
            {
                try await all.addMatch(
                    NewMatch(game: "Hearts", players: [NewPlayer(bob)], createsPersons: true))
            },
            { try await club.addMatch(NewMatch(game: "Catan")) },
            { try await club.addMatch(NewMatch(game: catan)) },
            { [edit] in try await all.editMatch(name, edit) },
            { try await all.addScore(NewScore(match: name, player: "Bob", value: "1")) },
            { try await club.person("Bob") }, { try await club.delete(.person, bob) },
        ] {
            let error = await #expect(throws: ScorebookError.self) { _ = try await attempt() }
            for zone in ["ScorebookData", "club"] {
                #expect(error?.message.contains("“\(zone)”") == true, "\(error?.message ?? "")")
            }
        }
        #expect(try await all.records.zones.all().map(\.digest) == before)
    }

    /// What other programs wrote before goes where it would have gone anyway.
    @Test func whatOthersWroteDoesNotFollowWhatIsAdded() async throws {
        let (all, club) = try await scorebook()
        let hearts = try await all.find(.game, "Hearts")
        try await all.records.database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO SBPerson (recordName, firstName) VALUES ('SBPerson|~|raw', 'Raw');
                    INSERT INTO SBMatch (recordName, game) VALUES ('SBMatch|~|raw', '\(hearts)');
                    INSERT INTO SBMatchLocation (recordName, match) VALUES ('SBMatchLocation|~|raw', 'SBMatch|~|raw');
                    """)
        }
        try await club.addPerson("Eve")
        #expect(try await club.persons().map(\.person.name) == ["Ada", "Eve"])
        #expect(try await club.matches().map(\.recordName.description) == ["SBMatch|~|raw"])
        #expect(try await all.records.zones.all().map { Int($0.digest.count) } == [4, 5])
    }

    @Test func aZoneThatIsGoneGetsNoGame() async throws {
        let (all, club) = try await scorebook()
        try await all.deleteZone(named: "club")
        let error = await #expect(throws: RecordStoreError.self) {
            try await club.addGame(NewGame(name: "Chess"))
        }
        #expect(error?.code == .noSuchZone)
        #expect(try await all.games().map(\.game.name) == ["Catan"])
    }

    @Test func aFileIsImportedIntoOneZone() async throws {
        let (all, club) = try await scorebook()
        let report = try await club.importData(try Support.later())
        let count = UInt64(report.total.new)
        #expect(try await all.records.zones.all().map(\.digest.count) == [3, 2 + count])
        // The same records are not in two zones.
        let error = await #expect(throws: RecordStoreError.self) {
            _ = try await all.importData(try Support.later())
        }
        #expect(error?.code == .otherZone)
        #expect(try await club.importData(try Support.later()).total.changed == 0)
    }

    @Test func anExportHasOneZone() async throws {
        let (all, club) = try await scorebook()
        let (data, contents) = try await club.exportDataAndContents()
        #expect(contents.records == 2)
        #expect(String(decoding: data, as: UTF8.self).contains("\"zone\": \"club\""))
        let other = try Support.scorebook(2, now: RecordStore.wallClock())
        let error = await #expect(throws: ScorebookError.self) { _ = try await other.importData(data) }
        #expect(error?.code == .invalidFile && error?.message == "its zone “club” is not here")
        #expect(error?.hint == "`zone create club` makes it, and --zone names another one")
        try await other.records.zones.create("club")
        _ = try await other.importData(data)
        #expect(
            try await other.records.zones.find(named: "club").digest
                == club.records.zones.find(named: "club").digest)
        #expect(try await other.persons().map(\.zone) == ["club"])
        // A zone that is named wins over the file's.
        let third = try Support.scorebook(3, now: RecordStore.wallClock())
        let games = third.limited(to: try await third.records.zones.create("games"))
        _ = try await games.importData(data)
        #expect(try await third.games().map(\.zone) == ["games"])
        #expect(try await all.exportDataAndContents().contents.records == 3)
    }

    /// Every scorebook has a default zone, whatever it is called there.
    @Test func theDefaultZoneKeepsItsNameInExports() async throws {
        let (all, _) = try await scorebook()
        try await all.records.zones.rename("ScorebookData", to: "home")
        let data = try await all.exportData()
        let other = try Support.scorebook(2, now: RecordStore.wallClock())
        _ = try await other.importData(data)
        #expect(try await other.games().map(\.game.name) == ["Catan"])
    }

    @Test func picturesAreListedByZone() async throws {
        try await Support.withPictures { all, directory, match in
            let club = all.limited(to: try await all.records.zones.create("club"))
            try await club.addGame(
                NewGame(name: "Hearts", thumbnail: Support.picture("a.jpg", in: directory, "a")))
            try await all.addImages(
                match: "\(match.recordName)", files: [Support.picture("b.jpg", in: directory, "b")])
            #expect(try await club.pictures().map(\.zone) == ["club"])
            #expect(try await all.pictures().map(\.zone) == ["ScorebookData", "club"])
            #expect(try await all.pictureUses().count == 2)
            #expect(try await club.pictureUses().count == 1)
        }
    }
}

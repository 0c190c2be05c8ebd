import Foundation
import TestSupport
import Testing

/// Zones: scorebooks of their own, each on the machines that it was granted to.
@Suite(.takingTurns) struct GrantedZoneTests {
    /// Two machines that are paired; the kitchen has the zone “club”, and lets the study do this much in it.
    private func withClub(_ rights: String, _ body: (Machine, Machine) async throws -> Void) async throws {
        try await withPair { kitchen, study in
            try await kitchen.makeClub()
            try await kitchen.addGame("Catan")
            try await kitchen.peer("peers", "grant", "study", "club", rights)
            try await study.sync(with: kitchen)
            try await body(kitchen, study)
        }
    }

    private func isSound(_ machines: Machine...) async throws -> Bool {
        for machine in machines {
            guard try await machine.run("status", "--check").exitCode == 0, try machine.isSound() else {
                return false
            }
        }
        return true
    }

    // MARK: Deleting

    /// One side has decided; the other need not do anything.
    @Test func aZoneThatOneSideDeletesComesBackOnlyWhenThatSideSaysSo() async throws {
        try await withClub("write") { kitchen, study in
            let refusal = try await kitchen.run("zone", "delete", "club", "--yes")
            #expect(refusal.isSentence(75) || refusal.isSentence(65), "\(refusal)")
            try await kitchen.peer("peers", "revoke", "study", "club")
            let deleted = try await kitchen.peer("zone", "delete", "club", "--yes")
            #expect(
                deleted.contains("study may have it still, and `zone accept club` lets it come back"),
                "\(deleted)")
            for _ in 1...2 {
                try await study.sync(with: kitchen)
                #expect(try await kitchen.status().zones.map(\.name) == ["ScorebookData"])
            }
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Catan"])
            #expect(try await study.zone("club").records == 5)
            #expect(try await kitchen.peer("zone", "accept") == "deleted on this machine: club\n")
            #expect(try await kitchen.run("zone", "accept", "team").isSentence(65))
            try await kitchen.peer("zone", "accept", "club")
            try await study.sync(with: kitchen)
            #expect(try await haveEqualZones("club", kitchen, study))
            #expect(try await kitchen.peer("zone", "accept").contains("no zone was deleted"))
            #expect(try await isSound(kitchen, study))
        }
    }

    /// The other machine still shares the deleted one: its records would come into the new one.
    @Test func aZoneThatIsMadeAnewIsAnotherOne() async throws {
        try await withClub("write") { kitchen, study in
            try await kitchen.peer("peers", "revoke", "study", "club")
            try await kitchen.peer("zone", "delete", "club", "--yes")
            try await kitchen.peer("zone", "create", "club")
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            try await study.sync(with: kitchen)
            #expect(try await kitchen.zone("club").records == 0)
            #expect(try await study.status().zones.map(\.name) == ["ScorebookData", "club", "club 2"])
            #expect(try await study.zone("club").records == 5)
            #expect(try await kitchen.peer("zone", "accept") == "deleted on this machine: club\n")
            #expect(try await isSound(kitchen, study))
        }
    }

    @Test func aNameIsFreeOnceItsZoneHasAnother() async throws {
        try await withMachine { kitchen in
            for _ in 1...2 {
                try await kitchen.peer("zone", "create", "club")
                try await kitchen.peer("zone", "rename", "club", "old")
                try await kitchen.peer("zone", "create", "club")
                try await kitchen.peer("zone", "delete", "club", "--yes")
                try await kitchen.peer("zone", "delete", "old", "--yes")
            }
            #expect(try await kitchen.status().zones.map(\.name) == ["ScorebookData"])
        }
    }

    // MARK: Pairing

    /// Somebody who shows a code for the scorebook gives none of the zones that are shared with others.
    @Test(arguments: [[], ["--read-only"]])
    func aCodeGivesNoZoneThatItDoesNotName(options: [String]) async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.makeClub()
            try await kitchen.addGame("Catan")
            let process = try kitchen.start(["pair", "--port", "0"] + options)
            let text = try await process.output(matching: /add: --with .*\n/)
            let may = options.isEmpty ? "read and write" : "read"
            #expect(
                text.contains("the new machine may \(may) the scorebook; not its zone “club”\n"), "\(text)")
            let code = try #require(text.firstMatch(of: /code ([0-9]{3}-[0-9]{3})/)).1
            let port = try #require(text.firstMatch(of: /--with .*:([0-9]+)/)).1
            // Unlike `pair`, it prints what happens. Who had nothing has lost nothing.
            let paired = try await study.run(
                "connect", "127.0.0.1:\(port)", "--code", String(code), "--once")
            #expect(
                paired.exitCode == 0 && !(paired.output + paired.errors).contains("replaced"), "\(paired)")
            #expect(try await process.end() == 0)
            #expect(try await study.status().zones.map(\.name) == ["ScorebookData"])
            let rights = options.isEmpty ? "write" : "read"
            #expect(try await kitchen.status().peers.first?.zones.map(\.rights) == [rights, "none"])
        }
    }

    /// Both have the zone, and the end of a pairing takes the rights of both.
    @Test func aZoneThatBothHaveAfterAPairingAnewIsNamedUntilBothShareIt() async throws {
        try await withClub("write") { kitchen, study in
            try await kitchen.peer("peers", "forget", "study")
            try await study.peer("peers", "forget", "kitchen")
            try await study.pair(with: kitchen)
            #expect(try await kitchen.status().peers.first?.zones.map(\.rights) == ["write", "none"])
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            _ = try await kitchen.json(RecordLine.self, "person", "add", "Eve", "--zone", "club")
            for isNews in [true, false] {
                let listener = try await kitchen.listen()
                let outcome = try await study.run("connect", listener.address, "--once")
                #expect(outcome.exitCode == 0)
                let way = "`scorebook-peer peers grant kitchen club write` takes part"
                #expect((outcome.output + outcome.errors).contains(way) == isNews, "\(outcome)")
                #expect(try await study.peer("status").contains(way))
                try await listener.stop()
            }
            #expect(try await kitchen.peer("status").contains("for study, which has not taken the zone up"))
            try await study.peer("peers", "grant", "kitchen", "club", "write")
            try await study.sync(with: kitchen)
            #expect(try await haveEqualZones("club", kitchen, study))
            #expect(try await !study.peer("status").contains("takes part"))
        }
    }

    // MARK: Rights

    @Test(arguments: ["read", "write"])
    func aZoneThatIsGrantedComes(rights: String) async throws {
        try await withClub(rights) { kitchen, study in
            #expect(try await haveEqualZones("club", kitchen, study))
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try await study.zone("club").records == 5)
            #expect(try study.zonesOfRecords() == kitchen.zonesOfRecords())
            #expect(try await study.json([MatchLine].self, "match", "list").map(\.zone) == ["club"])
            let grants = try await kitchen.status().peers.first?.zones
            #expect(
                grants?.map { "\($0.zone) \($0.rights) \($0.behind)" } == [
                    "ScorebookData write 0", "club \(rights) 0",
                ])
            #expect(grants?.allSatisfy { $0.lastSync != nil } == true)
            #expect(try await isSound(kitchen, study))
        }
    }

    /// What a reader writes stays with it, named, until it is given up.
    @Test func whatAReaderWritesIsRefusedByNameAndCanBeGivenUp() async throws {
        try await withClub("read") { kitchen, study in
            let before = try kitchen.contents()
            let hearts = try await study.json(RecordLine.self, "game", "edit", "Hearts", "--year", "1850")
            let eve = try await study.json(RecordLine.self, "person", "add", "Eve", "--zone", "club")
            let match = try #require(try study.rows("SELECT recordName FROM SBMatch").first)
            try await study.peer("record", "delete", match, "--yes")
            let listener = try await kitchen.listen()
            let outcome = try await study.run("connect", listener.address, "--once")
            #expect(
                outcome.exitCode == 0 && outcome.output.contains("kitchen does not take ")
                    && outcome.output.contains("Hearts"), "\(outcome)")
            let refusal = try await listener.process.event("refusedPeersRecords")
            #expect(refusal.peer == "study" && refusal.records?.contains(eve.recordName) == true)
            #expect(try kitchen.contents() == before)

            let refused = try await study.status().refused
            #expect(
                Set(refused.map(\.name)).isSuperset(of: [hearts.recordName, eve.recordName, match])
                    && refused.allSatisfy { $0.peer == "kitchen" && $0.zone == "club" })
            #expect(try await study.peer("status").contains("`zone restore` gives them up"))
            #expect(try await study.run("zone", "restore", "club").isSentence(64))
            #expect(try await study.status().refused.count == refused.count)
            let given = try await study.json([String].self, "zone", "restore", "club", "--yes")
            #expect(given == refused.map(\.name).sorted())
            #expect(try await isSound(study))
            try await study.sync(listener)
            #expect(try study.contents() == before)
            #expect(try await haveEqualZones("club", kitchen, study))
            #expect(try await study.status().refused.isEmpty)
            #expect(try await isSound(kitchen, study))
        }
    }

    @Test func whatWasRefusedIsTakenOnceWritingIsGranted() async throws {
        try await withClub("read") { kitchen, study in
            try await study.peer("game", "edit", "Hearts", "--year", "1850")
            try await study.addMatch("Hearts", "Grace=7")
            try await study.sync(with: kitchen)
            #expect(try await !study.status().refused.isEmpty)
            #expect(try kitchen.rows("SELECT year FROM SBGame WHERE name = 'Hearts'") == ["-"])
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            try await study.sync(with: kitchen)
            #expect(try await study.status().refused.isEmpty)
            #expect(try kitchen.rows("SELECT year FROM SBGame WHERE name = 'Hearts'") == ["1850"])
            #expect(try await haveEqualZones("club", kitchen, study))
            #expect(try kitchen.contents() == study.contents())
        }
    }

    @Test func givingUpWorksInALiveSession() async throws {
        try await withClub("read") { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync", count: 2)
            try await study.peer("game", "edit", "Hearts", "--year", "1850")
            try await connection.event("peerRefusedRecords")
            try await study.peer("zone", "restore", "club", "--yes")
            try await eventually("the game as the kitchen has it") {
                try study.contents() == kitchen.contents()
            }
            #expect(try await haveEqualZones("club", kitchen, study))
        }
    }

    /// What was sent before stays where it is; what comes later does not go there.
    @Test func revokingEndsTheExchangeInALiveSession() async throws {
        try await withClub("write") { kitchen, study in
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync", count: 2)
            try await kitchen.peer("game", "edit", "Hearts", "--year", "1")
            try await eventually("the edit in the study") {
                try study.rows("SELECT year FROM SBGame WHERE name = 'Hearts'") == ["1"]
            }
            try await kitchen.peer("peers", "revoke", "study", "club")
            try await connection.event("disconnected")
            try await kitchen.peer("game", "edit", "Hearts", "--year", "2")
            try await study.peer("game", "edit", "Hearts", "--min-players", "3")
            try await kitchen.peer("game", "edit", "Catan", "--year", "1995")
            // The default zone goes on in the next session.
            try await eventually("the edit of the default zone in the study") {
                try study.rows("SELECT year FROM SBGame WHERE name = 'Catan'") == ["1995"]
            }
            try await eventually("the digest of the default zone") {
                try await haveEqualDigests(kitchen, study)
            }
            let hearts = "SELECT year, minPlayers FROM SBGame WHERE name = 'Hearts'"
            #expect(try study.rows(hearts) == ["1|3"])
            #expect(try kitchen.rows(hearts) == ["2|-"])
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            try await eventually("both edits on both machines") {
                try study.rows(hearts) == ["2|3"] && kitchen.rows(hearts) == ["2|3"]
            }
        }
    }

    /// Machines that both have a zone exchange it only when each lets the other have it; the rest goes on as ever.
    @Test func aZoneThatOnlyOneSideGrantsIsLeftOut() async throws {
        try await withClub("write") { kitchen, study in
            try await kitchen.peer("peers", "revoke", "study", "club")
            try await kitchen.peer("game", "edit", "Hearts", "--year", "1850")
            let listener = try await kitchen.listen()
            let connection = try await study.connect(to: listener)
            try await connection.event("inSync")
            try await kitchen.peer("game", "edit", "Catan", "--year", "1995")
            try await eventually("the edit of the default zone in the study") {
                try study.rows("SELECT name, year FROM SBGame ORDER BY name") == ["Catan|1995", "Hearts|-"]
            }
            for process in [listener.process, connection] {
                #expect(try process.events("disconnected").isEmpty && process.events("zoneTakenUp").isEmpty)
            }
        }
    }

    /// Whatever other zones are called, a sync tells the digest of the default one.
    @Test func aSyncTellsTheDigestOfTheDefaultZone() async throws {
        try await withClub("write") { kitchen, study in
            try await kitchen.peer("zone", "rename", "club", "Abc")
            try await kitchen.peer("zone", "create", "Aaa")
            try await kitchen.peer("peers", "grant", "study", "Aaa", "write")
            #expect(try await study.sync(with: kitchen).digest == kitchen.digest())
        }
    }

    // MARK: Which zone is which

    /// Two people had the same idea for a name.
    @Test func zonesOfTheSameNameOfTwoOwnersStayApart() async throws {
        try await withPair { kitchen, study in
            try await kitchen.makeClub()
            try await study.peer("zone", "create", "club")
            try await study.peer("game", "add", "Scythe", "--zone", "club")
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            try await study.sync(with: kitchen)
            let zones = try await study.status().zones
            #expect(zones.map(\.name) == ["ScorebookData", "club", "club 2"])
            #expect(zones[1].id != zones[2].id && zones[1].owner != zones[2].owner)
            #expect(zones[2].digest == (try await kitchen.zone("club").digest))
            #expect(
                try await study.json([GameLine].self, "game", "list").map { [$0.name, $0.zone] } == [
                    ["Hearts", "club 2"], ["Scythe", "club"],
                ])
            #expect(try await kitchen.json([GameLine].self, "game", "list").map(\.name) == ["Hearts"])
            // Each is reached by its own name, and goes on syncing under another.
            try await study.peer("zone", "rename", "club 2", "theirs")
            try await study.peer("game", "edit", "Hearts", "--zone", "theirs", "--year", "1850")
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT name, year FROM SBGame") == ["Hearts|1850"])
        }
    }

    /// Not a byte of a zone is on a machine that it was not granted to, whoever that machine is paired with.
    @Test func aZoneNeverReachesAMachineWithoutIt() async throws {
        try await withScene { scene in
            let (kitchen, study, hall) = (
                scene.machine("kitchen"), scene.machine("study"), scene.machine("hall")
            )
            try await study.pair(with: kitchen)
            try await hall.pair(with: kitchen)
            try await hall.pair(with: study)
            let match = try await kitchen.makeClub()
            try await kitchen.addGame("Catan")
            try await kitchen.peer("image", "add", match, scene.file("a.png", SamplePicture.png(255)))
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            try await study.sync(with: kitchen)
            try await study.peer("match", "add", "Hearts", "Grace=1", "--new-persons")
            try await study.sync(with: kitchen)
            for machine in [kitchen, study] { try await hall.sync(with: machine) }
            #expect(try await haveEqualDigests(kitchen, study, hall))
            #expect(try await hall.status().zones.count == 1)
            for text in ["Hearts", "Grace", "club", match, "SBMatch|~|", "image/png"] {
                #expect(try !kitchen.tables(with: text).isEmpty, "\(text)")
                #expect(try hall.tables(with: text).isEmpty, "\(text)")
            }
            // Nor the picture of one of its matches.
            #expect(try study.pictureFiles() == kitchen.pictureFiles())
            #expect(try study.pictureFiles().count == 1 && hall.pictureFiles().isEmpty)
            #expect(try await isSound(kitchen, study, hall))
        }
    }

    // MARK: What belongs where

    @Test(arguments: [
        ["match", "add", "Hearts", "Bob"], ["match", "add", "Catan", "Ada"],
        ["match", "add", "Hearts", "--zone", "ScorebookData"], ["match", "add", "Catan", "--zone", "club"],
        ["person", "show", "Bob", "--zone", "club"], ["game", "delete", "Catan", "--yes", "--zone", "club"],
    ])
    func whatIsInAnotherZoneIsRefused(arguments: [String]) async throws {
        try await withMachine { kitchen in
            try await kitchen.makeClub()
            try await kitchen.addGame("Catan")
            try await kitchen.peer("person", "add", "Bob")
            let before = try kitchen.contents()
            let outcome = try await kitchen.start(arguments).outcome()
            #expect(outcome.isSentence(65), "\(outcome)")
            #expect(outcome.errors.contains("“ScorebookData”") && outcome.errors.contains("“club”"))
            #expect(try kitchen.contents() == before)
        }
    }

    @Test func namesInSeveralZonesNeedTheZone() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeClub()
            let ada = try await kitchen.json(RecordLine.self, "person", "add", "Ada").recordName
            let outcome = try await kitchen.run("person", "show", "Ada")
            #expect(outcome.isSentence(65) && outcome.errors.contains("--zone"), "\(outcome)")
            #expect(
                try await kitchen.json(RecordLine.self, "person", "show", "Ada", "--zone", "ScorebookData")
                    .recordName == ada)
            let table = try await kitchen.peer("person", "list")
            #expect(table.contains(/# +NAME +MATCHES +ZONE +ID/), "\(table)")
            #expect(
                try await kitchen.peer("record", "list", "--zone", "ScorebookData")
                    == "\(ada)  ScorebookData\n")
        }
    }

    /// With one zone, nobody needs to know of zones.
    @Test func aStoreWithOneZoneDoesNotSpeakOfZones() async throws {
        try await withPair { kitchen, _ in
            try await kitchen.addGame("Catan")
            try await kitchen.addMatch("Catan", "Ada")
            for command in [
                ["status"], ["peers"], ["game"], ["person"], ["match"], ["game", "show", "Catan"], ["record"],
            ] {
                let output = try await kitchen.start(command).outcome().output
                #expect(
                    !output.lowercased().contains("zone") && !output.contains("ScorebookData"), "\(output)")
            }
            #expect(try await kitchen.run("person", "show", "Eve").errors.contains("zone") == false)
        }
    }

    @Test func aFileGoesIntoTheZoneThatIsNamed() async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("zone", "create", "club")
            try await kitchen.peer("import", Household.path, "--zone", "club")
            #expect(try await kitchen.status().zones.map(\.records) == [0, Household.recordCount])
            let again = try await kitchen.run("import", Household.path)
            #expect(again.isSentence(65) && again.errors.contains("another zone"), "\(again)")
            #expect(try await kitchen.status().zones.map(\.records) == [0, Household.recordCount])
            let file = kitchen.scene.path("club.json")
            try await kitchen.peer("export", file, "--zone", "club")
            let study = kitchen.scene.machine("study")
            let refused = try await study.run("import", file)
            #expect(refused.isSentence(65) && refused.errors.contains("“club”"), "\(refused)")
            try await study.peer("zone", "create", "games")
            try await study.peer("import", file, "--zone", "games")
            #expect(try await study.zone("games").digest == kitchen.zone("club").digest)
            #expect(try await study.peer("export", kitchen.scene.path("all.json")).contains("0 records"))
        }
    }

    /// Other programs need to know nothing of zones: a record goes where what it refers to is.
    @Test func rawSQLChildrenAreInTheZoneOfTheirParents() async throws {
        try await withClub("write") { kitchen, study in
            let hearts = try #require(
                try kitchen.rows("SELECT recordName FROM SBGame WHERE name = 'Hearts'").first)
            let ada = try #require(try kitchen.rows("SELECT recordName FROM SBPerson").first)
            try kitchen.write(
                """
                INSERT INTO SBScore (recordName, player, points) VALUES ('SBScore|~|raw', 'SBPlayer|~|raw', 3);
                INSERT INTO SBPlayer (recordName, match, person) VALUES ('SBPlayer|~|raw', 'SBMatch|~|raw', '\(ada)');
                INSERT INTO SBMatch (recordName, game) VALUES ('SBMatch|~|raw', '\(hearts)');
                INSERT INTO SBPerson (recordName, firstName) VALUES ('SBPerson|~|raw', 'Raw');
                """)
            // Also when the next command works on another zone.
            try await kitchen.peer("person", "add", "Eve", "--zone", "club")
            #expect(
                try kitchen.zonesOfRecords().filter { $0.contains("|~|raw") } == [
                    "SBMatch|~|raw|club", "SBPerson|~|raw|ScorebookData", "SBPlayer|~|raw|club",
                    "SBScore|~|raw|club",
                ])
            try await study.sync(with: kitchen)
            #expect(try await haveEqualZones("club", kitchen, study))
            #expect(try study.contents() == kitchen.contents())
        }
    }

    /// Tables that were filled before anybody thought of sync come along whole.
    @Test func aStoreThatWasFilledBeforeItsFirstPairingMovesInWhole() async throws {
        try await withTwoMachines { kitchen, study in
            _ = try await kitchen.status()
            try kitchen.write(
                """
                WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 500)
                INSERT INTO SBGame (recordName, name, year) SELECT 'SBGame|~|' || n, 'Game ' || n, 1500 + n FROM number;
                INSERT INTO SBPerson (recordName, firstName) VALUES ('SBPerson|~|1', 'Ada');
                INSERT INTO SBMatch (recordName, game, date)
                    SELECT replace(recordName, 'SBGame', 'SBMatch'), recordName, '2026-11-21T08:00:00Z' FROM SBGame;
                INSERT INTO SBPlayer (recordName, match, person)
                    SELECT replace(recordName, 'SBMatch', 'SBPlayer'), recordName, 'SBPerson|~|1' FROM SBMatch;
                """)
            try await study.pair(with: kitchen)
            try await study.sync(with: kitchen)
            #expect(try await study.status().live == 1501)
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try study.contents() == kitchen.contents())
            #expect(try await isSound(kitchen, study))
        }
    }

    // MARK: Wrong input

    @Test(arguments: [
        ["zone", "create", ""], ["zone", "create", " club"], ["zone", "create", "klüb"],
        ["zone", "create", "CLUB"], ["zone", "create", "a\tb"],
        ["zone", "create", String(repeating: "x", count: 256)], ["zone", "rename", "nowhere", "x"],
        ["zone", "rename", "club", "scorebookdata"], ["zone", "rename", "club", ""],
        ["zone", "restore", "nowhere"], ["peers", "grant", "study", "nowhere", "read"],
        ["peers", "grant", "nobody", "club", "read"], ["peers", "revoke", "study", "nowhere"],
        ["peers", "revoke", "nobody", "club"], ["person", "add", "Eve", "--zone", "nowhere"],
        ["game", "list", "--zone", "nowhere"], ["record", "list", "--zone", ""],
        ["import", Household.path, "--zone", "nowhere"], ["export", "-", "--zone", "nowhere"],
    ])
    func wrongInputIsToldInOneSentence(arguments: [String]) async throws {
        try await withPair { kitchen, _ in
            try await kitchen.peer("zone", "create", "club")
            let before = try await kitchen.status()
            let outcome = try await kitchen.start(arguments).outcome()
            #expect(outcome.isSentence(65), "\(outcome)")
            #expect(try await kitchen.status() == before)
        }
    }
}

/// A game in a list.
private struct GameLine: Decodable {
    let name: String
    let zone: String
}

/// A match in a list.
private struct MatchLine: Decodable {
    let zone: String
}

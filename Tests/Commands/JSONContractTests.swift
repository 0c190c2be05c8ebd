import Foundation
import Testing

/// What programs read: each command with `--json` prints one value of JSON, with the keys that are promised.
@Suite(.takingTurns) struct JSONContractTests {
    /// Keys of the rows of each type, as the store's tables have them.
    private static let person: Set = [
        "recordName", "firstName", "lastName", "emailAddress", "bggUsername", "avatar", "modificationDate",
    ]
    private static let game: Set = [
        "recordName", "name", "bggID", "year", "minPlayers", "maxPlayers", "highestWins", "noPoints",
        "cooperative", "usesTeams", "thumbnail", "modificationDate",
    ]
    private static let match: Set = [
        "recordName", "game", "date", "durationMinutes", "rounds", "notes", "board", "rating", "ignored",
        "unfinished", "modificationDate",
    ]
    private static let zone: Set = ["name", "id", "owner", "records", "digest", "shared"]
    private static let score: Set = ["recordName", "player", "round", "points", "text", "modificationDate"]

    private func value(_ machine: Machine, _ arguments: String...) async throws -> Any {
        try await parse(machine, arguments)
    }

    private func parse(_ machine: Machine, _ arguments: [String]) async throws -> Any {
        let outcome = try await machine.scene.run(
            arguments + ["--json", "--store", machine.store.path, "--new"])
        try #require(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome)")
        return try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    }

    /// The keys of the object that a command prints.
    private func keys(_ machine: Machine, _ arguments: String...) async throws -> Set<String> {
        let object = try #require(try await parse(machine, arguments) as? [String: Any])
        return Set(object.keys)
    }

    /// The keys that every object has of the list that a command prints.
    private func keysOfEach(_ machine: Machine, _ arguments: String...) async throws -> Set<String> {
        try Self.keysOfEach(await parse(machine, arguments))
    }

    private static func keysOfEach(_ value: Any) throws -> Set<String> {
        let list = try #require(value as? [[String: Any]])
        let sets = Set(list.map { Set($0.keys) })
        #expect(sets.count == 1)
        return try #require(sets.first)
    }

    @Test func status() async throws {
        try await withPair { kitchen, study in
            for machine in [kitchen, study] {
                let status = try #require(try await value(machine, "status") as? [String: Any])
                #expect(
                    Set(status.keys).isSuperset(of: [
                        "digest", "records", "tombstones", "hidden", "held", "pending", "peers", "assets",
                        "zones",
                        "refused", "alarms", "awaitedCopy", "sync", "mailboxes",
                    ]))
                #expect(status["awaitedCopy"] is NSNull)
                #expect(status["sync"] as? Bool == true && (status["refused"] as? [Any])?.isEmpty == true)
                let zone = try #require((status["zones"] as? [[String: Any]])?.first)
                #expect(Set(zone.keys) == Self.zone)
                #expect(zone["digest"] as? String == status["digest"] as? String)
                let assets = try #require(status["assets"] as? [String: Any])
                #expect(assets["policy"] as? String == "all")
                #expect(
                    Set(assets.keys) == [
                        "policy", "files", "bytes", "missing", "missingBytes", "unstored",
                        "unstoredBytes", "left", "leftBytes",
                    ])
                #expect(try await keys(machine, "assets") == Set(assets.keys))
                let digest = try #require(status["digest"] as? String)
                #expect(digest.wholeMatch(of: /[0-9a-f]{32}/) != nil)
                let records = try #require(status["records"] as? [String: Int])
                #expect(Set(records.keys) == Set(Machine.tables))
                for key in ["tombstones", "hidden", "held", "pending"] { #expect(status[key] as? Int == 0) }
                let peers = try #require(status["peers"] as? [[String: Any]])
                let peer = try #require(peers.first)
                #expect(
                    Set(peer.keys) == [
                        "name", "key", "address", "connected", "pairedAt", "introducedBy", "lastSeen",
                        "lastSync", "lastHeard", "lastError", "lastErrorCode", "awaitsChanges",
                        "behind", "zones",
                    ])
                #expect(peer["lastErrorCode"] is NSNull)
                #expect(
                    peer["zones"] as? NSArray == [
                        [
                            "zone": "ScorebookData", "rights": "write", "ownRights": "write",
                            "obstacle": NSNull(), "behind": 0, "lastSync": peer["lastSync"],
                        ]
                    ])
                #expect((peer["key"] as? String)?.wholeMatch(of: /[0-9a-f]{64}/) != nil)
                #expect(peer["connected"] as? Bool == false && peer["behind"] as? Int == 0)
                #expect(
                    (peer["lastSync"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/)
                        != nil)
                #expect(try await keysOfEach(machine, "peers") == Set(peer.keys))
            }
            // A peer's key is what the peer calls its own.
            let own = try #require((try await value(study, "status") as? [String: Any])?["key"] as? String)
            #expect(try await kitchen.status().peers.map(\.key) == [own])
        }
    }

    @Test func persons() async throws {
        try await withMachine { kitchen in
            let added = try await keys(kitchen, "person", "add", "Ada")
            #expect(added == Self.person)
            #expect(
                try await keysOfEach(kitchen, "person", "list")
                    == Self.person.union(["name", "matches", "zone"]))
            #expect(
                try await keys(kitchen, "person", "show", "Ada")
                    == Self.person.union(["name", "matches", "zone"]))
            #expect(try await keys(kitchen, "person", "edit", "Ada", "--name", "Eve") == Self.person)
            #expect(
                try await keysOfEach(kitchen, "person", "delete", "Eve", "--yes").isSuperset(of: [
                    "recordName", "action",
                ]))
        }
    }

    @Test func games() async throws {
        try await withMachine { kitchen in
            let added = try await keys(kitchen, "game", "add", "Catan")
            #expect(added == Self.game)
            #expect(try await keysOfEach(kitchen, "game", "list") == Self.game.union(["matches", "zone"]))
            #expect(
                try await keys(kitchen, "game", "show", "Catan") == Self.game.union(["matches", "zone"]))
            #expect(try await keys(kitchen, "game", "edit", "Catan", "--year", "1") == Self.game)
            #expect(
                try await keysOfEach(kitchen, "game", "delete", "Catan", "--dry-run").isSuperset(of: [
                    "recordName", "action",
                ]))
        }
    }

    @Test func matchesAndScores() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let added = try await value(kitchen, "match", "add", "Catan", "Ada=1", "Alan=2", "--new-persons")
            let addedMatch = try #require(added as? [String: Any])
            #expect(Set(addedMatch.keys) == Self.match)
            let name = try #require(addedMatch["recordName"] as? String)
            #expect(
                try await keysOfEach(kitchen, "match", "list") == [
                    "recordName", "date", "game", "location", "players", "winners", "unfinished", "zone",
                ])
            let sheet = try #require(try await value(kitchen, "match", "show", name) as? [String: Any])
            #expect(
                Set(sheet.keys) == [
                    "recordName", "game", "date", "location", "durationMinutes", "rounds", "board", "notes",
                    "rating", "ignored", "unfinished", "result", "players",
                ])
            #expect(
                try Self.keysOfEach(#require(sheet["players"])) == [
                    "recordName", "person", "seatOrder", "team", "role", "startPlayer", "newPlayer", "winner",
                    "rank", "scores", "total",
                ])
            #expect(try await keys(kitchen, "match", "edit", name, "--rounds", "2") == Self.match)

            let score = try #require(
                try await value(kitchen, "score", "add", name, "Ada", "7", "--round", "1") as? [String: Any])
            #expect(Set(score.keys) == Self.score)
            let listed = Self.score.union(["match", "game", "date", "person", "zone"])
            #expect(try await keysOfEach(kitchen, "score", "list") == listed)
            let scoreName = try #require(score["recordName"] as? String)
            #expect(try await keys(kitchen, "score", "show", scoreName) == listed)
            #expect(try await keys(kitchen, "score", "edit", scoreName, "8") == Self.score)
        }
    }

    @Test func statistics() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try await kitchen.peer(
                "match", "add", "Catan", "Ada=1", "Alan=2", "--new-persons", "--date", "2025-03-05")
            let figures: Set = [
                "plays", "minutes", "results", "hIndex", "days", "weekdays", "hours", "tables", "games",
                "persons", "streaks", "records", "rivalries",
            ]
            #expect(try await keys(kitchen, "stats") == figures)
            #expect(try await keys(kitchen, "stats", "person", "Ada") == figures)
            #expect(try await keys(kitchen, "stats", "year", "2025") == figures)
            let game = try #require(
                try await value(kitchen, "stats", "game", "Catan") as? [String: Any])
            #expect(
                try Self.keysOfEach(#require(game["records"])) == [
                    "match", "person", "game", "points", "day",
                ])
            #expect(
                try Self.keysOfEach(#require(game["persons"])) == ["recordName", "name", "results", "versus"])
            let results = try #require(game["results"] as? [String: [String: Any]])
            #expect(Set(results.keys) == ["competitive", "cooperative", "solo"])
            #expect(results["solo"]?["rate"] is NSNull)
        }
    }

    @Test func pictures() async throws {
        try await withMachine { kitchen in
            let (match, file) = try await kitchen.addMatchWithPicture()
            let image: Set = ["recordName", "match", "image", "caption", "modificationDate"]
            // A list, however many files are added.
            #expect(try await keysOfEach(kitchen, "image", "add", match, file) == image)
            try await kitchen.peer("person", "edit", "Ada", "--avatar", file)
            let listed = image.union(["field", "subject", "here", "zone"])
            #expect(try await keysOfEach(kitchen, "image", "list") == listed)
            #expect(try await keysOfEach(kitchen, "image", "list", match) == listed)
            #expect(try await keys(kitchen, "image", "show", "Ada") == listed.union(["file"]))
            let shown = try #require(try await value(kitchen, "image", "show", "Ada") as? [String: Any])
            let asset = try #require(shown["image"] as? [String: Any])
            #expect(Set(asset.keys) == ["hash", "name", "size", "type"])
            let path = try #require(shown["file"] as? String)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: path))
                    == Data(contentsOf: URL(fileURLWithPath: file)))
            let name = try #require(try await kitchen.pictures().first?.recordName)
            #expect(try await keys(kitchen, "image", "edit", name, "--caption", "x") == image)
            let target = kitchen.scene.path("out.png")
            #expect(
                try await keysOfEach(kitchen, "image", "save", name, "--to", target) == [
                    "recordName", "path", "bytes", "type",
                ])
            #expect(
                try await keysOfEach(kitchen, "image", "delete", name, "--yes").isSuperset(of: [
                    "recordName", "action",
                ]))
        }
    }

    @Test func playersAreListedInTheOrderOfTheirSeats() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try await kitchen.peer("match", "add", "Catan", "Ada=1", "Alan=2", "Grace=3", "--new-persons")
            let list = try #require(try await value(kitchen, "match", "list") as? [[String: Any]])
            #expect(list.first?["players"] as? [String] == ["Ada", "Alan", "Grace"])
            #expect(list.first?["winners"] as? [String] == ["Grace"])
        }
    }

    /// What was written just now is printed as it can be read afterwards.
    @Test func whatAddAndEditPrintIsWhatShowPrints() async throws {
        try await withMachine { kitchen in
            for command in [["add", "Catan"], ["edit", "Catan", "--year", "1995"]] {
                let outcome = try await kitchen.scene.run(
                    ["game"] + command + ["--json", "--store", kitchen.store.path])
                let printed = try #require(
                    JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? NSDictionary)
                var shown = try #require(try await value(kitchen, "game", "show", "Catan") as? [String: Any])
                shown["matches"] = nil
                shown["zone"] = nil
                #expect(printed == shown as NSDictionary, "\(command[0])")
            }
        }
    }

    @Test func records() async throws {
        try await withMachine { kitchen in
            let game = try await kitchen.addGame("Catan")
            try kitchen.write(
                "INSERT INTO SBMatch (recordName, game) VALUES ('SBMatch|~|1', 'SBGame|~|missing')")
            #expect(try await keysOfEach(kitchen, "record", "list").contains("recordName"))
            #expect(
                try await keysOfEach(kitchen, "record", "list", "--held") == [
                    "recordName", "waitsFor", "zone",
                ])
            let shown = try #require(try await value(kitchen, "record", "show", game) as? [String: Any])
            #expect(Set(shown.keys).isSuperset(of: ["recordName", "zone", "deleted", "fields"]))
            let fields = try #require(shown["fields"] as? [String: [String: Any]])
            #expect(fields["name"]?["value"] as? String == "Catan")
            #expect(
                (fields["name"]?["stamp"] as? String)?.wholeMatch(of: /\d{13}\.\d+@[0-9a-f]{16}/) != nil)
            #expect(
                try await keysOfEach(kitchen, "record", "delete", game, "--yes").contains("recordName")
            )
            let deleted = try #require(try await value(kitchen, "record", "show", game) as? [String: Any])
            #expect(deleted["deleted"] as? Bool == true && deleted["deletion"] is String)
            #expect(deleted["hidden"] as? Bool == false)
            #expect(
                try await keysOfEach(kitchen, "record", "list", "--deleted") == [
                    "recordName", "title", "players", "deletedAt", "here", "machine", "replica", "companions",
                    "restorableUntil", "zone",
                ])
            let step: Set = ["recordName", "action", "field"]
            #expect(try await keysOfEach(kitchen, "record", "restore", game) == step)
            for option in ["--dry-run", "--yes"] {
                #expect(
                    try await keysOfEach(kitchen, "record", "delete", game, "--forever", option) == step)
            }
            #expect((try await value(kitchen, "record", "list", "--deleted") as? [Any])?.isEmpty == true)
        }
    }

    @Test func zonesAndTheSwitch() async throws {
        try await withPair { kitchen, _ in
            #expect(try await keys(kitchen, "zone", "create", "club") == Self.zone)
            #expect(try await keysOfEach(kitchen, "zone", "list") == Self.zone.union(["peers"]))
            #expect(try await keys(kitchen, "zone", "rename", "club", "team") == Self.zone)
            let granted = try await value(kitchen, "peers", "grant", "study", "team", "read")
            #expect(
                granted as? [String: String] == ["peer": "study", "zone": "team", "rights": "read"])
            let zones = try #require(try await value(kitchen, "zone", "list") as? [[String: Any]])
            #expect(zones.last?["name"] as? String == "team")
            #expect(zones.last?["peers"] as? [[String: String]] == [["peer": "study", "rights": "read"]])
            let revoked = try await value(kitchen, "peers", "revoke", "study", "team")
            #expect(
                revoked as? [String: String] == ["peer": "study", "zone": "team", "rights": "none"])
            #expect((try await value(kitchen, "zone", "restore", "team", "--yes") as? [Any])?.isEmpty == true)
            for (position, isOn) in [("off", false), ("on", true)] {
                #expect(try await value(kitchen, "sync", position) as? [String: Bool] == ["sync": isOn])
                #expect(try await value(kitchen, "sync") as? [String: Bool] == ["sync": isOn])
            }
        }
    }

    @Test func importAndExport() async throws {
        try await withMachine { kitchen in
            let report = try #require(try await value(kitchen, "import", Household.path) as? [String: Any])
            let types = try #require(report["types"] as? [String: [String: Int]])
            #expect(report["restored"] as? Int == 0 && report["stillDeleted"] as? Int == 0)
            #expect(types["SBGame"] == ["new": 40, "changed": 0, "unchanged": 0, "deleted": 0])
            let file = kitchen.scene.path("export.json")
            let exported = try #require(try await value(kitchen, "export", file) as? [String: Any])
            #expect(exported["records"] as? Int == Household.recordCount)
            #expect(exported["pictures"] is NSNull && report["pictures"] is NSNull)
            #expect(exported["zonesLeftOut"] as? [String] == [])
            let directory = kitchen.scene.path("pictures")
            for command in [["export", file, "--force"], ["import", file]] {
                let value = try #require(
                    try await parse(kitchen, command + ["--pictures", directory]) as? [String: Any])
                let copies = try #require(value["pictures"] as? [String: Any])
                #expect(Set(copies.keys) == ["copied", "bytes", "unchanged", "missing", "damaged"])
            }
        }
    }

    @Test func emptyListsAreListsToo() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            for command in ["person", "game", "match", "score", "image", "peers", "record"] {
                let list = try #require(try await value(kitchen, command, "list") as? [Any])
                #expect(list.isEmpty)
            }
        }
    }

    @Test func oneSync() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Catan")
            let listener = try await kitchen.listen()
            let figures = try #require(
                try await value(study, "connect", listener.address, "--once") as? [String: Any])
            #expect(
                Set(figures.keys).isSuperset(of: [
                    "sent", "received", "bytes", "seconds", "digest", "records",
                ]))
            #expect(figures["seconds"] is Double)
        }
    }

    /// Commands that stay write one object a line, when it happens.
    @Test func events() async throws {
        try await withTwoMachines { kitchen, study in
            let listener = try await kitchen.listen(pair: true)
            let connection = try study.start([
                "connect", listener.address, "--code", try #require(listener.code), "--name", "study",
                "--json",
            ])
            for process in [listener.process, connection] { try await process.event("inSync") }
            connection.signal(2)
            #expect(try await connection.end() == 0)
            try await listener.process.event("disconnected")
            #expect(
                try listener.process.events().map(\.event) == [
                    "listening", "pairingCode", "paired", "connected", "inSync", "disconnected",
                ])
            #expect(
                try connection.events().map(\.event) == ["paired", "connected", "inSync", "disconnected"])
        }
    }
}

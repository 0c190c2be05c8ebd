import Foundation
import Testing

/// A store that cannot be used is refused with a sentence, and left as it is.
@Suite(.takingTurns) struct StoreFileTests {
    /// The names and contents of all files in the store's directory, but for the index of the log: who only reads may write there.
    private func files(_ machine: Machine) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: machine.store.path)
            .filter { !$0.hasSuffix("-shm") }
        return try Dictionary(
            uniqueKeysWithValues: names.map {
                ($0, try Data(contentsOf: machine.store.appendingPathComponent($0)))
            })
    }

    /// Commands of all sorts: they read, write, and stay.
    private static let commands = [
        ["status"], ["status", "--json"], ["game", "add", "Catan"], ["import", Household.path],
        ["listen", "--host", "127.0.0.1", "--port", "0"], ["connect", "127.0.0.1:1", "--once"], ["peers"],
    ]

    /// Expects that each command is refused and changes no file.
    private func expectRefused(_ machine: Machine, _ exitCode: Int32, _ part: String) async throws {
        let before = try files(machine)
        for command in Self.commands {
            let process = try machine.start(command)
            let outcome = try await process.outcome()
            #expect(outcome.isSentence(exitCode), "\(command) \(outcome)")
            #expect(outcome.errors.contains(part), "\(command) \(outcome)")
            try #require(files(machine) == before, "\(command)")
        }
    }

    @Test(arguments: ["This is not a database.", String(repeating: "not a database ", count: 10_000)])
    func aFileThatIsNotSQLiteIsRefused(content: String) async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            try Data(content.utf8).write(to: kitchen.databaseFile)
            try await expectRefused(kitchen, 65, "is not a SQLite database")
        }
    }

    /// That is what SQLite makes of a database before it is written to.
    @Test func anEmptyFileIsANewStore() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            try Data().write(to: kitchen.databaseFile)
            #expect(try await kitchen.status().live == 0)
        }
    }

    // MARK: What SQLite says is for programmers

    @Test func aDamagedDatabase() async throws {
        try await withHousehold { kitchen, _ in
            let file = try FileHandle(forWritingTo: kitchen.databaseFile)
            try file.seek(toOffset: 3 * 4096)
            try file.write(contentsOf: Data(repeating: 0xFF, count: 20 * 4096))
            try file.close()
            for command in [["status"], ["game"], ["game", "add", "Catan"], ["export", "-"]] {
                let outcome = try await kitchen.start(command).outcome()
                #expect(outcome.isSentence(65) && outcome.errors.contains("copy a backup"), "\(outcome)")
                #expect(!outcome.errors.contains("malformed"), "\(outcome)")
            }
        }
    }

    @Test func aTriggerOfSomebodyElseThatRefuses() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            try kitchen.write(
                "CREATE TRIGGER refuse BEFORE INSERT ON SBGame BEGIN SELECT RAISE (ABORT, 'no such luck'); END"
            )
            let outcome = try await kitchen.run("game", "add", "Catan")
            #expect(outcome.isSentence(70) && outcome.errors.contains("--check"), "\(outcome)")
            for text in ["no such luck", "INSERT", "SQLite error"] {
                #expect(!outcome.errors.contains(text), "\(outcome)")
            }
        }
    }

    @Test func aDirectoryInPlaceOfTheDatabaseIsRefused() async throws {
        try await withMachine { kitchen in
            try FileManager.default.createDirectory(
                at: kitchen.databaseFile, withIntermediateDirectories: true)
            let outcome = try await kitchen.run("status")
            #expect(outcome.isSentence(65))
        }
    }

    @Test func aPipeInPlaceOfTheDatabaseIsNotWaitedFor() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            try FileManager.default.removeItem(at: kitchen.databaseFile)
            try #require(mkfifo(kitchen.databaseFile.path, 0o600) == 0)
            let outcome = try await kitchen.run("status")
            #expect(outcome.isSentence(65) && outcome.errors.contains("a pipe"), "\(outcome)")
        }
    }

    @Test(arguments: [
        (
            "UPDATE grdb_sync_syncState SET value = 1000 WHERE name = 'formatVersion'",
            "newer version of the program"
        ),
        ("INSERT INTO grdb_migrations VALUES ('scorebook 1000')", "newer version of the program"),
        ("DROP TABLE grdb_sync_unsyncedRecord", "lacks tables of its format"),
        (
            "ALTER TABLE grdb_sync_peerSession DROP COLUMN start", "lacks tables of its format"
        ),
        (
            "DROP TABLE grdb_sync_formerPeer; CREATE TABLE grdb_sync_formerPeer (publicKey BLOB, zone INTEGER)",
            "lacks tables of its format"
        ),
    ])
    func aStoreOfAnotherVersionIsRefusedAndLeftAsItIs(sql: String, part: String) async throws {
        try await withHousehold { kitchen, _ in
            try kitchen.write(sql)
            try await expectRefused(kitchen, 65, part)
        }
    }

    @Test(arguments: [0o644, 0o640, 0o604])
    func anIdentityThatOthersCanReadIsRefused(mode: Int) async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            let key = kitchen.store.appendingPathComponent("identity.key")
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key.path)
            try await expectRefused(kitchen, 78, "chmod 600 \(key.path)")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
            try await kitchen.makeStore()
        }
    }

    @Test func anIdentityThatIsNoneIsRefused() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            let key = kitchen.store.appendingPathComponent("identity.key")
            try FileHandle(forWritingTo: key).write(contentsOf: Data("not a key".utf8))
            try await expectRefused(kitchen, 78, "is not an identity key")
        }
    }

    @Test func aNewStoreIsOnlyForItsOwner() async throws {
        try await withMachine { kitchen in
            try await kitchen.makeStore()
            func mode(_ url: URL) throws -> Int? {
                let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
                return (attributes[.posixPermissions] as? NSNumber)?.intValue
            }
            #expect(try mode(kitchen.store) == 0o700)
            #expect(try mode(kitchen.store.appendingPathComponent("identity.key")) == 0o600)
        }
    }

    @Test func aDirectoryThatCannotBeMade() async throws {
        try await withScene { scene in
            try Data("a file".utf8).write(to: scene.directory.appendingPathComponent("file"))
            for path in ["file", "file/store", "file/store/deeper"] {
                let outcome = try await scene.run(["peers", "--store", scene.path(path)])
                #expect(outcome.isSentence(73), "\(outcome)")
                #expect(outcome.errors.contains(scene.path(path)))
            }
            #expect(
                try Data(contentsOf: scene.directory.appendingPathComponent("file")) == Data("a file".utf8))
        }
    }

    // MARK: Where the store is

    @Test func theEnvironmentSaysWhereTheStoreIs() async throws {
        try await withScene { scene in
            let places: [(environment: [String: String], arguments: [String], store: String)] = [
                ([:], [], ".local/share/scorebook-peer"),
                (["XDG_DATA_HOME": scene.path("data")], [], "data/scorebook-peer"),
                (["SCOREBOOK_STORE": scene.path("a"), "XDG_DATA_HOME": scene.path("data 2")], [], "a"),
                (["SCOREBOOK_STORE": scene.path("b")], ["--store", scene.path("c")], "c"),
            ]
            for place in places {
                let outcome = try await scene.run(
                    ["game", "add", "Catan"] + place.arguments, environment: place.environment)
                #expect(outcome.exitCode == 0)
                #expect(
                    FileManager.default.fileExists(atPath: scene.path(place.store + "/scorebook.sqlite")),
                    "\(place)")
            }
            #expect(!FileManager.default.fileExists(atPath: scene.path("b")))
            #expect(!FileManager.default.fileExists(atPath: scene.path("data 2")))
        }
    }

    /// Shells expand `~` only at the beginning of a word.
    @Test func aTildeIsTheHomeDirectory() async throws {
        try await withScene { scene in
            let places: [(arguments: [String], environment: [String: String], store: String)] = [
                (["--store=~/a"], [:], "a"), (["--store=~"], [:], "."),
                ([], ["SCOREBOOK_STORE": "~/b/c"], "b/c"),
                ([], ["XDG_DATA_HOME": "relative"], ".local/share/scorebook-peer"),
            ]
            for place in places {
                let outcome = try await scene.run(
                    ["game", "add", "Catan"] + place.arguments, environment: place.environment)
                #expect(outcome.exitCode == 0, "\(outcome)")
                #expect(
                    FileManager.default.fileExists(atPath: scene.path(place.store + "/scorebook.sqlite")),
                    "\(place)")
            }
            let stranger = try await scene.run(["status", "--store=~nobody-of-that-name/a"])
            #expect(stranger.isSentence(73) && stranger.errors.contains("no user"), "\(stranger)")
        }
    }

    @Test(arguments: [
        ["status"], ["doctor"], ["game", "add", "Catan"], ["status", "--store=~/a"], ["service", "install"],
    ])
    func aHomeDirectoryThatIsNotThereIsASentence(command: [String]) async throws {
        try await withScene { scene in
            for home in [scene.path("gone"), "relative"] {
                let outcome = try await scene.run(command, environment: ["HOME": home])
                #expect(outcome.isSentence(73) && outcome.errors.contains("HOME"), "\(outcome)")
                #expect(!FileManager.default.fileExists(atPath: home))
            }
            // What does not need it works without it.
            let outcome = try await scene.run(
                ["game", "add", "Catan", "--store", scene.path("a")],
                environment: ["HOME": scene.path("gone")])
            #expect(outcome.exitCode == 0, "\(outcome)")
        }
    }
}

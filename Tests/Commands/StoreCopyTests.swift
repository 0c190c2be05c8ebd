import Foundation
import Testing

/// Stores that are restored from a backup or copied to another machine catch up, and cost nobody a write.
@Suite(.takingTurns) struct StoreCopyTests {
    @Test func aStoreThatWasRestoredCatchesUp() async throws {
        try await withPair { kitchen, study in
            try await kitchen.addGame("Before the backup")
            try await study.sync(with: kitchen)
            let backup = kitchen.scene.path("backup.sqlite")
            try kitchen.write("VACUUM INTO ?", [backup])
            try await kitchen.addGame("Lost in the kitchen")
            try await study.addGame("From the study")
            try await study.sync(with: kitchen)

            for name in ["scorebook.sqlite", "scorebook.sqlite-wal", "scorebook.sqlite-shm"] {
                try? FileManager.default.removeItem(at: kitchen.store.appendingPathComponent(name))
            }
            try FileManager.default.copyItem(atPath: backup, toPath: kitchen.databaseFile.path)
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Before the backup"])
            try await kitchen.addGame("After the restoration")
            try await study.addGame("From the study again")
            try await study.sync(with: kitchen)
            #expect(
                try kitchen.rows("SELECT name FROM SBGame ORDER BY name") == [
                    "After the restoration", "Before the backup", "From the study", "From the study again",
                    "Lost in the kitchen",
                ])
            #expect(try kitchen.contents() == study.contents())
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func aDatabaseThatWasCopiedIsAMachineOfItsOwn() async throws {
        try await withPair { kitchen, study in
            let game = try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)
            let attic = kitchen.scene.machine("attic")
            try FileManager.default.createDirectory(at: attic.store, withIntermediateDirectories: true)
            try study.write("VACUUM INTO ?", [attic.databaseFile.path])

            let listener = try await kitchen.listen()
            let lacksKey = try await attic.run("connect", listener.address, "--once")
            #expect(lacksKey.isSentence(78) && lacksKey.errors.contains("`scorebook-peer identity renew`"))
            try await attic.peer("identity", "renew", "--yes")
            #expect(try await attic.run("connect", listener.address, "--once").isSentence(77))
            try await listener.stop()
            try await attic.pair(with: kitchen)
            #expect(try await kitchen.status().peers.map(\.name).sorted() == ["attic", "study"])

            try await attic.peer("game", "edit", game, "--year", "1995")
            try await study.peer("game", "edit", game, "--max-players", "4")
            try await study.sync(with: kitchen)
            try await attic.sync(with: kitchen)
            try await study.sync(with: kitchen)
            #expect(try kitchen.rows("SELECT name, year, maxPlayers FROM SBGame") == ["Catan|1995|4"])
            #expect(try await haveEqualDigests(kitchen, study, attic))
        }
    }

    @Test func aStoreThatWasCopiedWithItsKeyIsNoticed() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let attic = kitchen.scene.machine("attic")
            try FileManager.default.copyItem(at: kitchen.store, to: attic.store)
            let listener = try await kitchen.listen(pair: true)
            let code = try #require(listener.code)
            let outcome = try await attic.run("connect", listener.address, "--once", "--code", code)
            #expect(outcome.isSentence(77))
            #expect(outcome.errors.contains("same identity") && outcome.errors.contains("identity renew"))

            try await attic.peer("identity", "renew", "--yes")
            try await attic.addGame("Hearts")
            try await attic.peer("connect", listener.address, "--once", "--code", code)
            #expect(try kitchen.rows("SELECT name FROM SBGame ORDER BY name") == ["Catan", "Hearts"])
            #expect(try await haveEqualDigests(kitchen, attic))
        }
    }

    @Test func aStoreWhoseKeyIsGoneKeepsItsPairings() async throws {
        try await withPair { kitchen, study in
            let key = study.store.appendingPathComponent("identity.key")
            let aside = study.store.appendingPathComponent("aside")
            try FileManager.default.moveItem(at: key, to: aside)
            for command in [["match", "list"], ["peers"], ["game", "add", "Go"], ["identity"]] {
                let outcome = try await study.start(command).outcome()
                #expect(
                    outcome.isSentence(78) && outcome.errors.contains("identity.key is missing"), "\(outcome)"
                )
            }
            #expect(!FileManager.default.fileExists(atPath: key.path))
            let unasked = try await study.run("identity", "renew")
            #expect(unasked.isSentence(64) && unasked.errors.contains("--yes"), "\(unasked)")
            try FileManager.default.moveItem(at: aside, to: key)
            try await kitchen.addGame("Catan")
            try await study.sync(with: kitchen)

            try FileManager.default.removeItem(at: key)
            try await study.peer("identity", "renew", "--yes")
            #expect(try await study.status().peers.isEmpty)
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        }
    }

    /// The listener would go on as the machine of before, and pair others with that.
    @Test func theKeyIsNotRenewedUnderAListener() async throws {
        try await withMachine { kitchen in
            let key = try await kitchen.peer("identity")
            let listener = try await kitchen.listen()
            let outcome = try await kitchen.run("identity", "renew", "--yes")
            #expect(outcome.isSentence(75), "\(outcome)")
            let file = kitchen.store.appendingPathComponent("identity.key")
            let aside = kitchen.store.appendingPathComponent("aside")
            try FileManager.default.moveItem(at: file, to: aside)
            #expect(try await kitchen.run("identity", "renew", "--yes").isSentence(75))
            try FileManager.default.moveItem(at: aside, to: file)
            #expect(try await kitchen.peer("identity") == key)
            try await listener.stop()
            try await kitchen.peer("identity", "renew", "--yes")
            #expect(try await kitchen.peer("identity") != key)
        }
    }
}

import Foundation
import Testing

/// Machines that are never on together sync through a folder; wrong places are refused with a sentence.
@Suite(.takingTurns) struct MailboxCommandTests {
    private struct Figures: Decodable {
        struct Machine: Decodable { let name: String }
        let name: String
        let kind: String
        let place: String
        let lastSync: String?
        let lastError: String?
        let machines: [Machine]
    }

    @Test func machinesThatAreNeverOnTogetherHoldTheSame() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            try await kitchen.importHousehold()
            try await kitchen.peer("mailbox", "add", "folder", folder.path)
            let added = try await study.peer("mailbox", "add", "folder", folder.path, "--as", "nas two")
            #expect(added.contains("kitchen: 400 new matches, 40 new games, 12 new persons"), "\(added)")
            #expect(added.contains("added the mailbox “nas two”"))
            #expect(try await haveEqualDigests(kitchen, study))

            try await study.addMatch("Scythe", "Ada")
            #expect(try await study.peer("mailbox", "sync").contains("left what is new here"))
            let taken = try await kitchen.peer("mailbox", "sync")
            #expect(taken.contains("study: "), "\(taken)")
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try await kitchen.peer("mailbox", "sync") == "in step with “nas”: nothing was new\n")
            // What came through the mailbox does not come again over the network.
            #expect(try await study.sync(with: kitchen).received == 0)
            #expect(try await study.sync(with: kitchen).sent == 0)
        }
    }

    @Test func theStatusTellsOfMailboxes() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            #expect(try await kitchen.peer("mailbox").hasPrefix("there is no mailbox"))
            for machine in [kitchen, study] {
                try await machine.peer("mailbox", "add", "folder", folder.path)
            }
            try await kitchen.peer("mailbox", "sync")
            let figures = try #require(try await kitchen.json([Figures].self, "mailbox", "list").first)
            #expect(figures.name == "nas" && figures.kind == "folder" && figures.place.hasSuffix("/nas"))
            #expect(figures.lastSync != nil && figures.lastError == nil)
            #expect(figures.machines.map(\.name) == ["study"])
            #expect(try await kitchen.peer("status").contains("“nas”: in step"))
            #expect(try await kitchen.peer("peers").contains("IN MAILBOX"))
            let doctor = try await kitchen.run("doctor", "--port", "1")
            #expect(doctor.output.contains("the mailbox “nas” can be used"), "\(doctor)")
            #expect(try await kitchen.peer("mailbox", "check").contains("sound: read"))

            try FileManager.default.moveItem(at: folder, to: folder.appendingPathExtension("away"))
            let failed = try await kitchen.run("mailbox", "sync")
            #expect(failed.isSentence(69), "\(failed)")
            #expect(failed.errors.contains("is not there now"), "\(failed)")
            #expect(try await kitchen.peer("status").contains("is not there now"))
            #expect(
                try await kitchen.run("doctor", "--port", "1").output.contains(
                    "the mailbox “nas” cannot be used: the folder \(folder.path) is not there now"))
            try FileManager.default.moveItem(at: folder.appendingPathExtension("away"), to: folder)

            #expect(
                try await kitchen.peer("mailbox", "remove", "nas", "--erase") == "removed the mailbox “nas”\n"
            )
            #expect(try await kitchen.json([Figures].self, "mailbox", "list").isEmpty)
            #expect(try await kitchen.run("mailbox", "sync").isSentence(66))
        }
    }

    /// The two listen all the time, and nothing but the folder is between them.
    @Test func whoListensUsesMailboxesThatCameMeanwhile() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            let listeners = [
                try await kitchen.listen(extra: ["--passive"]), try await study.listen(extra: ["--passive"]),
            ]
            for machine in [kitchen, study] {
                try await machine.peer("mailbox", "add", "folder", folder.path)
            }
            try await listeners[0].process.event("mailboxInStep")
            try await listeners[1].process.event("mailboxInStep")
            let game = try await kitchen.addGame("Hearts")
            let event = try await listeners[1].process.event("mailboxChanged")
            #expect(event.peer == "kitchen")
            #expect(event.records == [game])
            #expect(try await haveEqualDigests(kitchen, study))
            for listener in listeners { try await listener.stop() }
        }
    }

    /// The choice of files keeps the picture away until somebody wants to save it.
    @Test func aPictureThatSomebodySavesComesThroughTheMailbox() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            try await study.peer("assets", "none")
            let (match, _) = try await kitchen.addMatchWithPicture()
            for machine in [kitchen, study] {
                try await machine.peer("mailbox", "add", "folder", folder.path)
            }
            let target = kitchen.scene.path("saved")
            let asked = try await study.run("image", "save", match, "--to", target)
            #expect(asked.isSentence(69), "\(asked)")
            #expect(asked.errors.contains("asked for through the mailbox"), "\(asked)")
            for machine in [study, kitchen, study] { try await machine.peer("mailbox", "sync") }
            #expect(try await study.peer("image", "save", match, "--to", target).contains("saved"))
        }
    }

    /// The owner of the storage learns sizes and times.
    @Test func nothingInAMailboxHasAWordOfTheScorebook() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            try await kitchen.importHousehold()
            try await kitchen.peer(
                "match", "add", "Catan", "Ada=1", "--new-persons", "--notes", "Unforgettable evening")
            for machine in [kitchen, study, kitchen] {
                _ = try await machine.run("mailbox", "add", "folder", folder.path)
                try await machine.peer("mailbox", "sync")
            }
            let export = try await kitchen.peer("export", "-")
            // Random bytes have shorter words by chance.
            let words = Set(
                export.split { !$0.isLetter && !$0.isNumber }.filter { $0.utf8.count >= 5 }.map(String.init)
            )
            .union(["kitchen", "study", "ScorebookData"])
            #expect(words.isSuperset(of: ["Unforgettable", "evening", "Catan"]) && words.count > 1000)
            let files = try #require(
                FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            )
            .compactMap { $0 as? URL }
            let objects = files.filter { !$0.hasDirectoryPath }
            #expect(objects.count >= 4)
            for object in objects {
                let path = object.path.dropFirst(folder.path.count)
                let content =
                    try #require(String(data: Data(contentsOf: object), encoding: .isoLatin1)) + path
                let found = Set(content.split { !$0.isLetter && !$0.isNumber }.map(String.init)).intersection(
                    words)
                #expect(found.isEmpty, "\(path)")
            }
        }
    }

    // MARK: Wrong places

    @Test func aPlaceThatCannotHoldAMailboxIsRefused() async throws {
        try await withPair { kitchen, _ in
            let file = kitchen.scene.path("file")
            try Data().write(to: URL(fileURLWithPath: file))
            let inside = kitchen.store.appendingPathComponent("inside")
            try FileManager.default.createDirectory(at: inside, withIntermediateDirectories: false)
            let link = kitchen.scene.path("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: inside.path)
            for (path, code, words) in [
                (file, Int32(65), "is a file"), (kitchen.scene.path("missing"), 66, "there is no folder"),
                (inside.path, 65, "inside the scorebook's own directory"),
                (kitchen.store.path, 65, "inside the scorebook's own directory"),
                (link, 65, "inside the scorebook's own directory"),
            ] {
                let outcome = try await kitchen.run("mailbox", "add", "folder", path)
                #expect(outcome.isSentence(code), "\(outcome)")
                #expect(outcome.errors.contains(words), "\(outcome)")
            }
            #expect(try await kitchen.json([Figures].self, "mailbox", "list").isEmpty)
        }
    }

    @Test func aPlaceOrANameIsThereOnce() async throws {
        try await withMailboxFolder { kitchen, _, folder in
            try await kitchen.peer("mailbox", "add", "folder", folder.path)
            let again = try await kitchen.run("mailbox", "add", "folder", folder.path, "--as", "other")
            #expect(again.isSentence(65) && again.errors.contains("“nas” lies there already"), "\(again)")
            let other = folder.appendingPathComponent("deeper/nas")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            let named = try await kitchen.run("mailbox", "add", "folder", other.path)
            #expect(named.isSentence(65) && named.errors.contains("--as"), "\(named)")
            #expect(try await kitchen.json([Figures].self, "mailbox", "list").map(\.name) == ["nas"])
        }
    }

    private static let onServers = [
        ["webdav", "https://localhost/dav"], ["s3", "scores", "--endpoint", "https://localhost"],
    ]

    #if WebStorage
        @Test(arguments: onServers) func aPasswordIsNoArgumentAndItsFileNobodyElses(place: [String])
            async throws
        {
            try await withMachine { kitchen in
                let nobody = try await kitchen.start(["mailbox", "add"] + place).outcome()
                #expect(nobody.isSentence(64) && nobody.errors.contains("nobody can be asked"), "\(nobody)")
                let file = URL(fileURLWithPath: kitchen.scene.path("credentials"))
                try Data("ada\nhush\n".utf8).write(to: file)
                for (mode, content, code, words) in [
                    (0o644, "ada\nhush\n", Int32(78), "others can read"), (0o600, "ada\n", 65, "two lines"),
                    (0o600, "ada\nhush\n", 69, "nothing listens there"),
                ] {
                    try Data(content.utf8).write(to: file)
                    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
                    let outcome = try await kitchen.start(
                        ["mailbox", "add"] + place.map { $0.replacing("localhost", with: "localhost:1") }
                            + ["--credentials", file.path]
                    ).outcome()
                    #expect(outcome.isSentence(code) && outcome.errors.contains(words), "\(outcome)")
                    #expect(!(outcome.output + outcome.errors).contains("hush"))
                }
                // What was not added leaves no password behind.
                let left = try? String(
                    contentsOf: kitchen.store.appendingPathComponent("mailboxes.json"), encoding: .utf8)
                #expect(left?.contains("hush") != true)
            }
        }

        @Test(arguments: [
            "https://ada:hush@localhost/dav", "http://cloud.example.org/dav", "cloud.example.org",
        ]) func anAddressThatIsNotSafeIsNotUsed(address: String) async throws {
            try await withMachine { kitchen in
                let outcome = try await kitchen.run("mailbox", "add", "webdav", address)
                #expect(outcome.isSentence(65) && !outcome.errors.contains("hush"), "\(outcome)")
            }
        }
    #else
        @Test(arguments: onServers) func serversNeedAnotherBuild(place: [String]) async throws {
            try await withMachine { kitchen in
                let outcome = try await kitchen.start(["mailbox", "add"] + place).outcome()
                #expect(outcome.isSentence(69) && outcome.errors.contains("in folders only"), "\(outcome)")
            }
        }
    #endif
}

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

    /// Two paired machines, and a folder that both reach. No two of their commands run at the same time.
    private func withFolder(_ body: (Machine, Machine, URL) async throws -> Void) async throws {
        try await withPair { kitchen, study in
            let folder = URL(fileURLWithPath: kitchen.scene.path("nas"))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try await body(kitchen, study, folder)
        }
    }

    @Test func machinesThatAreNeverOnTogetherHoldTheSame() async throws {
        try await withFolder { kitchen, study, folder in
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
        try await withFolder { kitchen, study, folder in
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

    private struct Obstacles: Decodable {
        struct Peer: Decodable { let zones: [Zone] }
        struct Zone: Decodable {
            let zone: String
            let ownRights: String?
            let obstacle: String?
            let behind: Int
        }
        let peers: [Peer]

        func zone(_ name: String) -> Zone? { peers[0].zones.first { $0.zone == name } }
    }

    /// A zone needs a meeting of the two; from then on the mailbox carries what is in it.
    @Test func aZoneThatNobodyHasTakenUpSaysWhatItWaitsFor() async throws {
        try await withFolder { kitchen, study, folder in
            try await kitchen.makeClub()
            try await kitchen.peer("peers", "grant", "study", "club", "write")
            let before = try await kitchen.peer("status")
            #expect(!before.contains("mailbox"), "\(before)")
            for machine in [kitchen, study, kitchen, study] {
                _ = try await machine.run("mailbox", "add", "folder", folder.path)
                try await machine.peer("mailbox", "sync")
            }
            var status = try await kitchen.peer("status")
            #expect(
                status.contains("changes of the zone “club” wait for study, which has not taken the zone up"),
                "\(status)")
            var club = try await kitchen.json(Obstacles.self, "status").zone("club")
            #expect(try await kitchen.peer("mailbox").contains("has not taken the zone up"))
            #expect(club?.obstacle == "notTakenUp" && club?.ownRights == nil && club?.behind != 0)

            _ = try await study.sync(with: kitchen)
            try await kitchen.peer("game", "add", "Go", "--zone", "club")
            club = try await kitchen.json(Obstacles.self, "status").zone("club")
            #expect(club?.obstacle == nil && club?.ownRights == "write" && club?.behind == 1)
            for machine in [kitchen, study, kitchen] { try await machine.peer("mailbox", "sync") }
            status = try await kitchen.peer("status")
            #expect(!status.contains("“club”") && status.contains("nothing"), "\(status)")
            #expect(try await haveEqualZones("club", kitchen, study))
        }
    }

    /// The two listen all the time, and nothing but the folder is between them.
    @Test func whoListensUsesMailboxesThatCameMeanwhile() async throws {
        try await withFolder { kitchen, study, folder in
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

    /// The owner of the storage learns sizes and times.
    @Test func nothingInAMailboxHasAWordOfTheScorebook() async throws {
        try await withFolder { kitchen, study, folder in
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

    // MARK: What is wrong

    /// Nobody could read what would be left there.
    @Test func whoIsPairedWithNobodyIsToldSo() async throws {
        try await withMachine { kitchen in
            let folder = kitchen.scene.path("nas")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try await kitchen.addGame("Catan")
            let added = try await kitchen.peer("mailbox", "add", "folder", folder)
            #expect(added.contains("no machine is paired") && added.contains("added the mailbox"), "\(added)")
            #expect(!added.contains("in step"), "\(added)")
            let checked = try await kitchen.run("mailbox", "check")
            #expect(checked.isSentence(77) && checked.output.isEmpty, "\(checked)")
            #expect(checked.errors.contains("no machine is paired"), "\(checked)")
            #expect(checked.errors.contains("`scorebook-peer pair`"), "\(checked)")
        }
    }

    private struct Checked: Decodable { let sound: Bool }

    /// The records of a machine whose note is gone may all lie in what another one has left.
    @Test func aCheckHasOneVerdict() async throws {
        try await withFolder { kitchen, study, folder in
            try await kitchen.addGame("Catan")
            for machine in [kitchen, study, kitchen] {
                _ = try await machine.run("mailbox", "add", "folder", folder.path)
                try await machine.peer("mailbox", "sync")
            }
            try await study.peer("mailbox", "sync")
            let sound = try await kitchen.peer("mailbox", "check")
            #expect(sound.contains("the same as here") && sound.contains("sound: read"), "\(sound)")
            let own = try await heads(of: study, in: folder)
            for head in own { try FileManager.default.removeItem(at: head) }
            let checked = try await kitchen.run("mailbox", "check")
            #expect(checked.exitCode == 65, "\(checked)")
            #expect(checked.output.contains("the last head of study is not there"), "\(checked)")
            #expect(
                checked.errors.contains("something in “nas” is missing or damaged, although a new machine"),
                "\(checked)")
            #expect(!checked.errors.contains("could not be made"), "\(checked)")
        }
    }

    private struct Pass: Decodable {
        struct Unread: Decodable, Equatable {
            let machine: String
            let code: String
        }
        let unread: [Unread]
        let paired: Int
    }

    /// What cannot be read keeps nothing else from being synced, but a script has to know.
    @Test func theExitCodeOfASyncTellsThatSomethingIsNotRead() async throws {
        try await withFolder { kitchen, study, folder in
            for machine in [kitchen, study, kitchen] {
                _ = try await machine.run("mailbox", "add", "folder", folder.path)
                try await machine.peer("mailbox", "sync")
            }
            let before = try objects(folder)
            try await kitchen.addGame("Catan")
            try await kitchen.peer("mailbox", "sync")
            let new = try objects(folder).filter { before[$0.key] == nil }
            let segment = try #require(new.first { !$0.key.path.contains("/heads/") })
            let head = try #require(new.first { $0.key.path.contains("/heads/") })

            func sync(_ code: Int32, _ words: String, _ stored: String) async throws {
                let outcome = try await study.run("mailbox", "sync")
                #expect(outcome.exitCode == code && outcome.errors.contains(words), "\(outcome)")
                #expect(outcome.output.contains("apart from what kitchen left there"), "\(outcome)")
                let json = try await study.run("mailbox", "sync", "--json")
                let passes = try JSONDecoder().decode([Pass].self, from: Data(json.output.utf8))
                #expect(
                    json.exitCode == code && passes[0].unread == [.init(machine: "kitchen", code: stored)])
                #expect(passes[0].paired == 1)
                #expect(try await study.peer("status").contains(words))
            }
            try FileManager.default.removeItem(at: segment.key)
            try await sync(75, "has not come yet", "waiting")
            try segment.value.dropLast().write(to: segment.key)
            try await sync(65, "damaged", "invalid")
            try segment.value.write(to: segment.key)
            try await study.peer("mailbox", "sync")
            #expect(try await haveEqualDigests(kitchen, study))
            try FileManager.default.removeItem(at: head.key)
            try await sync(75, "something of “kitchen” is gone that was there", "wentBack")
            try head.value.write(to: head.key)
            try await study.peer("mailbox", "sync")

            try await kitchen.peer("peers", "grant", "study", "ScorebookData", "none")
            try await kitchen.peer("mailbox", "sync")
            try await sync(77, "no longer lets this machine read anything there", "notShared")
            let outcome = try await study.run("mailbox", "sync")
            #expect(outcome.errors.contains("`scorebook-peer peers forget kitchen`"), "\(outcome)")
            let list = try await study.peer("mailbox")
            #expect(list.contains("no longer lets this machine read anything there"), "\(list)")
            #expect(!list.contains("shares the scorebook with this machine no more"), "\(list)")
        }
    }

    /// The files in a folder, with what is in them.
    private func objects(_ folder: URL) throws -> [URL: Data] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let urls = (files?.compactMap { $0 as? URL } ?? []).filter { !$0.hasDirectoryPath }
        return try Dictionary(uniqueKeysWithValues: urls.map { ($0, try Data(contentsOf: $0)) })
    }

    /// The heads in a folder that a machine has put: those whose author has another folder than the other machine has.
    private func heads(of machine: Machine, in folder: URL) async throws -> [URL] {
        let heads = folder.appendingPathComponent("heads")
        let author = try machine.rows("SELECT lower(hex(author)) FROM grdb_sync_mailboxAuthor")
        return try FileManager.default.contentsOfDirectory(at: heads, includingPropertiesForKeys: nil).filter
        {
            head in !author.contains { head.lastPathComponent.hasPrefix($0) }
        }
    }

    /// A path may have any character, a sentence has one line.
    @Test func lineBreaksMakeNoLines() async throws {
        try await withMachine { kitchen in
            let folder = kitchen.scene.path("n\nas")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let named = try await kitchen.start(["mailbox", "add", "folder", folder, "--as", "a\nb"])
                .outcome()
            #expect(named.isSentence(64) && named.errors.contains("no line breaks"), "\(named)")
            try await kitchen.peer("mailbox", "add", "folder", folder)
            let figures = try await kitchen.json([Figures].self, "mailbox", "list")
            #expect(figures.map(\.name) == ["n\u{FFFD}as"] && figures[0].place.hasSuffix("/n\nas"))
            try FileManager.default.removeItem(atPath: folder)
            let failed = try await kitchen.run("mailbox", "sync")
            #expect(
                failed.isSentence(69) && failed.errors.contains("n\u{FFFD}as is not there now"), "\(failed)")
        }
    }

    @Test func aHintNamesTheMailbox() async throws {
        try await withMachine { kitchen in
            let folder = URL(fileURLWithPath: kitchen.scene.path("nas"))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try await kitchen.peer("mailbox", "add", "folder", folder.path, "--as", "my nas")
            try FileManager.default.removeItem(at: folder.appendingPathComponent("heads"))
            let outcome = try await kitchen.run("mailbox", "sync")
            #expect(outcome.isSentence(69), "\(outcome)")
            #expect(outcome.errors.contains("`scorebook-peer mailbox remove 'my nas'`"), "\(outcome)")
            #expect(try await kitchen.peer("status").contains("mailbox remove 'my nas'"))
        }
    }

    @Test func whatIsErasedLeavesNothing() async throws {
        try await withFolder { kitchen, study, folder in
            for machine in [kitchen, study] {
                try await machine.peer("mailbox", "add", "folder", folder.path)
            }
            func names() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            }
            try await kitchen.peer("mailbox", "remove", "nas", "--erase")
            #expect(try names().count == 2)
            try await study.peer("mailbox", "sync")
            try await study.peer("mailbox", "remove", "nas", "--erase")
            #expect(try names() == [])
        }
    }

    @Test(arguments: ["-1", "0", "1441", "x"]) func anIntervalIsANumberOfMinutes(text: String) async throws {
        try await withMachine { kitchen in
            let outcome = try await kitchen.start(["listen", "--mailbox-interval", text]).outcome()
            #expect(outcome.isSentence(64), "\(outcome)")
            #expect(
                outcome.errors.contains("'\(text)'") && outcome.errors.contains("minutes from 1 to 1440"),
                "\(outcome)")
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
        try await withFolder { kitchen, _, folder in
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

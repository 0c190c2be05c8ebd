import Foundation
import Testing

/// Who uses mailboxes is told what is wrong, what waits for what, and what helps; scripts see it in the exit code.
@Suite(.takingTurns) struct MailboxTroubleTests {
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
        try await withMailboxFolder { kitchen, study, folder in
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

    /// Each mailbox is a way of its own.
    @Test func aMailboxInTroubleKeepsNobodyFromTheOthers() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            let second = kitchen.scene.path("stick")
            try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: false)
            for machine in [kitchen, study] {
                _ = try await machine.run("mailbox", "add", "folder", folder.path)
                _ = try await machine.run("mailbox", "add", "folder", second)
            }
            try await kitchen.peer("mailbox", "sync")
            try FileManager.default.moveItem(atPath: folder.path, toPath: folder.path + ".away")
            try await kitchen.addGame("Carcassonne")
            for machine in [kitchen, study] {
                let outcome = try await machine.run("mailbox", "sync")
                #expect(outcome.exitCode == 69, "\(outcome)")
                #expect(outcome.output.contains("in step with “stick”"), "\(outcome)")
            }
            #expect(try await study.peer("game", "list").contains("Carcassonne"))
            let checked = try await kitchen.run("mailbox", "check")
            #expect(checked.exitCode == 69 && checked.output.contains("stick"), "\(checked)")
        }
    }

    @Test func whatLiesInTheFutureIsToldForPeople() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            let game = try await kitchen.addGame("Catan")
            for machine in [kitchen, study] {
                try await machine.peer("mailbox", "add", "folder", folder.path)
            }
            let ahead = study.shifted(by: "+2h")
            try await ahead.peer("game", "edit", game, "--year", "1995")
            try await ahead.peer("mailbox", "sync")
            let outcome = try await kitchen.run("mailbox", "sync")
            #expect(outcome.exitCode != 0, "\(outcome)")
            for text in [
                outcome.errors, try await kitchen.peer("mailbox"), try await kitchen.peer("status"),
            ] {
                #expect(
                    text.contains(/: Catan was written at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d by/), "\(text)")
                #expect(text.contains("`scorebook-peer clock repair`"), "\(text)")
            }
        }
    }

    /// Others can read the file with the passwords, so the program does not use it.
    @Test func aMailboxThatCannotBeginSaysWhy() async throws {
        try await withMailboxFolder { kitchen, study, folder in
            try await kitchen.makeStore()
            try kitchen.write(
                """
                INSERT INTO grdb_sync_mailbox (name, location, addedAt)
                VALUES ('cloud', 'webdav https://localhost:1/dav', '2026-11-24T00:00:00Z')
                """)
            try await kitchen.peer("mailbox", "add", "folder", folder.path)
            let file = kitchen.store.appendingPathComponent("mailboxes.json")
            try Data(#"{"version": 1, "mailboxes": {}}"#.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            try await kitchen.addGame("Carcassonne")
            let outcome = try await kitchen.run("mailbox", "sync")
            #expect(outcome.exitCode == 78 && outcome.errors.contains("others can read"), "\(outcome)")
            #expect(outcome.errors.contains("chmod 600"), "\(outcome)")
            #expect(outcome.output.contains("in step with “nas”"), "\(outcome)")
            for command in ["mailbox", "status"] {
                #expect(try await kitchen.peer(command).contains("others can read"), "\(command)")
            }
            try kitchen.write("UPDATE grdb_sync_mailbox SET lastError = NULL, lastErrorCode = NULL")
            let listener = try await kitchen.listen(extra: ["--passive"])
            let failed = try await listener.process.event("mailboxFailed")
            #expect(failed.reason?.contains("others can read") == true)
            #expect(try await kitchen.peer("mailbox").contains("others can read"))
            try await listener.stop()
        }
    }

    private struct Listed: Decodable {
        let name: String
        let place: String
    }

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

    /// The records of a machine whose note is gone may all lie in what another one has left.
    @Test func aCheckHasOneVerdict() async throws {
        try await withMailboxFolder { kitchen, study, folder in
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
        try await withMailboxFolder { kitchen, study, folder in
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
            let checked = try await study.run("mailbox", "check")
            #expect(checked.exitCode == 77 && !checked.output.contains("sound"), "\(checked)")
            #expect(checked.errors.contains("`scorebook-peer peers forget kitchen`"), "\(checked)")
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
            let figures = try await kitchen.json([Listed].self, "mailbox", "list")
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
        try await withMailboxFolder { kitchen, study, folder in
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
}

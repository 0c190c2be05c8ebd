import Foundation
import Testing

/// On a full disk everything that is there can be read, and nothing is harmed.
@Suite(.takingTurns) struct FullDiskTests {
    private func withMatch(_ body: (Machine, SmallDisk) async throws -> Void) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            _ = try await kitchen.addMatch("Catan", "Ada=10")
            try await body(kitchen, SmallDisk(directory: kitchen.store, megabytes: 8, start: .full))
        }
    }

    @Test(arguments: [
        ["status"], ["status", "--json"], ["status", "--check"], ["person"], ["person", "show", "Ada"],
        ["game"],
        ["match"], ["score"], ["image"], ["record"], ["record", "list", "--held"], ["peers"], ["zone"],
        ["assets"],
        ["sync"], ["identity"],
    ])
    func whatIsReadIsTheSame(command: [String]) async throws {
        try await withMatch { kitchen, disk in
            // Without a place to remember them, lists show no numbers; and a file in the place of their folder is none.
            let lists = kitchen.store.appendingPathComponent("lists")
            try? FileManager.default.removeItem(at: lists)
            try Data().write(to: lists)
            let usual = try await kitchen.start(command).outcome()
            let outcome = try await kitchen.start(command, with: disk).outcome()
            #expect(outcome.exitCode == 0 && outcome.errors.isEmpty, "\(outcome)")
            #expect(outcome.output == usual.output)
        }
    }

    @Test(arguments: [(SmallDisk.Start.full, "no room"), (.readOnly, "cannot be written")])
    func aFolderThatTakesNothingIsNoMailbox(start: SmallDisk.Start, words: String) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let folder = URL(fileURLWithPath: kitchen.scene.path("nas"))
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            let disk = SmallDisk(directory: folder, megabytes: 8, start: start)
            let outcome = try await kitchen.start(["mailbox", "add", "folder", folder.path], with: disk)
                .outcome()
            #expect(outcome.isSentence(73) && outcome.errors.contains(words), "\(outcome)")
            #expect(try await kitchen.peer("mailbox").hasPrefix("there is no mailbox"))
        }
    }

    /// What is there already stays, and the next sync goes on with it.
    @Test func aMailboxThatIsFullAfterTheFirstObjectsIsAdded() async throws {
        try await withMailboxFolder { kitchen, _, folder in
            try await kitchen.addGame("Catan")
            let match = try await kitchen.addMatch("Catan", "Ada=1")
            let picture = SamplePicture.jpeg(String(repeating: "a picture", count: 1 << 18))
            try await kitchen.peer("image", "add", match, try kitchen.scene.file("IMG_1.jpg", picture))
            let disk = SmallDisk(directory: folder, megabytes: 1)
            let outcome = try await kitchen.start(["mailbox", "add", "folder", folder.path], with: disk)
                .outcome()
            #expect(outcome.isSentence(73), "\(outcome)")
            #expect(
                outcome.errors.contains("added the mailbox “nas”; not yet in step: there is no room"),
                "\(outcome)")
            let list = try await kitchen.peer("mailbox")
            #expect(list.contains("nas") && list.contains("there is no room"), "\(list)")
        }
    }

    @Test func aScorebookCanBeSavedFromIt() async throws {
        try await withMatch { kitchen, disk in
            let file = kitchen.scene.path("export.json")
            #expect(try await kitchen.start(["export", file], with: disk).outcome().exitCode == 0)
            let study = kitchen.scene.machine("study")
            try await study.peer("import", file)
            #expect(try await haveEqualDigests(kitchen, study))
        }
    }

    @Test func whatOtherProgramsWroteIsSaidToWait() async throws {
        try await withMatch { kitchen, disk in
            let digest = try await kitchen.digest()
            try kitchen.write("INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|raw', 'Azul')")
            for command in [["status", "--verbose"], ["record"], ["image"], ["zone"], ["assets"], ["clock"]] {
                let outcome = try await kitchen.start(command, with: disk).outcome()
                #expect(outcome.exitCode == 0, "\(outcome)")
                #expect(
                    outcome.errors.wholeMatch(of: /warning: the disk is full, .* not taken in yet; .*\n/)
                        != nil)
                if command == ["status", "--verbose"] { #expect(outcome.output.contains(digest)) }
            }
            // What the tables have is there to be seen all the same.
            let games = try await kitchen.start(["game"], with: disk).outcome()
            #expect(games.exitCode == 0 && games.output.contains("Azul"), "\(games)")
            // These would be wrong without it.
            for command in [["status", "--check"], ["export", "-"]] {
                #expect(try await kitchen.start(command, with: disk).outcome().isSentence(73))
            }
        }
    }

    @Test(arguments: [
        ["game", "add", "Azul"], ["import", Household.path], ["sync", "off"], ["assets", "none"],
        ["person", "delete", "Ada", "--yes"], ["zone", "create", "club"],
        ["connect", "127.0.0.1:1"],
    ])
    func whatWritesSaysWhyItCannot(command: [String]) async throws {
        try await withMatch { kitchen, disk in
            let outcome = try await kitchen.start(command, with: disk).outcome()
            #expect(outcome.isSentence(73), "\(outcome)")
            #expect(outcome.errors.contains("disk is full"), "\(outcome)")
        }
    }

    @Test func aDiskThatFillsUpWhileItListens() async throws {
        try await withMatch { kitchen, _ in
            let status = try await kitchen.run("status").output
            let disk = SmallDisk(directory: kitchen.store, megabytes: 8, start: .filled)
            let listener = try kitchen.start(
                ["listen", "--host", "127.0.0.1", "--port", "0", "--json"], with: disk)
            try await listener.event("listening")
            try disk.fill(of: listener)
            let store = ["--store", kitchen.store.path]
            let read = try await disk.run(["status"] + store, beside: listener, in: kitchen.scene)
            #expect(read.exitCode == 0 && read.errors.isEmpty && read.output == status, "\(read)")
            let write = try await disk.run(
                ["game", "add", "Azul"] + store, beside: listener, in: kitchen.scene)
            #expect(write.isSentence(73), "\(write)")
            #expect(listener.isRunning)
        }
    }

    @Test func theDoctorSaysThatTheDiskIsFullOrCanOnlyBeRead() async throws {
        try await withMatch { kitchen, disk in
            let full = try await kitchen.doctor(with: disk)
            #expect(full.exitCode == 73 && full.problems == ["diskFull"], "\(full)")
            let readOnly = SmallDisk(directory: kitchen.store, megabytes: 8, start: .readOnly)
            let said = try await kitchen.doctor(with: readOnly)
            #expect(said.exitCode == 73 && said.problems == ["readOnlyDisk"], "\(said)")
            #expect(said.codes.contains("sound"), "\(said)")
            // No command opens a scorebook there, so it cannot be exported.
            #expect(said.finding("readOnlyDisk")?.text.contains("give that with --store") == true)
            let list = try await kitchen.start(["game", "list"], with: readOnly).outcome()
            #expect(list.isSentence(73), "\(list)")
        }
    }

    @Test func aFileIsReplacedWholeOrNotAtAll() async throws {
        try await withMachine { kitchen in
            try await kitchen.importHousehold()
            let directory = kitchen.scene.directory.appendingPathComponent("stick", isDirectory: true)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let path = directory.appendingPathComponent("export.json").path
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let disk = SmallDisk(directory: directory, megabytes: 1, start: .full)
            let holder = try kitchen.start(
                ["listen", "--host", "127.0.0.1", "--port", "0", "--json"], with: disk)
            try await holder.event("listening")
            let outcome = try await disk.run(
                ["export", path, "--force", "--store", kitchen.store.path], beside: holder, in: kitchen.scene)
            #expect(
                outcome.isSentence(73) && outcome.errors.contains("there is no room for it"), "\(outcome)")
            #expect(try Data(contentsOf: disk.file("export.json", of: holder)) == Data("old".utf8))
            let names = try FileManager.default.contentsOfDirectory(atPath: disk.file("", of: holder).path)
            #expect(Set(names) == ["export.json", "filler"])
        }
    }
}

import Foundation
import TestSupport
import Testing

/// Files come in whole or not at all, and go out so that they can come in elsewhere.
@Suite(.takingTurns) struct ImportExportTests {
    /// Whoever keeps the file as a backup must know.
    @Test func anExportSaysWhichZonesAreNotInIt() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let file = kitchen.scene.path("export.json")
            #expect(try await kitchen.peer("export", file) == "exported 1 record to \(file)\n")
            try await kitchen.peer("zone", "create", "club")
            #expect(try await !kitchen.peer("export", file, "--force").contains("not in it"))
            try await kitchen.peer("game", "add", "Chess", "--zone", "club")
            #expect(try await kitchen.peer("export", file, "--force").contains("not in it: the zone “club”;"))
            #expect(try await kitchen.run("export", "-").errors.contains("not in it: the zone “club”;"))
            #expect(
                try await !kitchen.peer("export", file, "--force", "--zone", "club").contains("not in it"))
        }
    }

    @Test func aFileThatIsImportedTwiceChangesNothing() async throws {
        try await withMachine { kitchen in
            #expect(try await kitchen.peer("import", Household.path).contains("3,007 records changed"))
            let before = try kitchen.contents()
            let status = try await kitchen.status()
            #expect(try await kitchen.peer("import", Household.path).contains("nothing new"))
            #expect(try kitchen.contents() == before)
            #expect(try await kitchen.status() == status)
        }
    }

    @Test func anExportGivesAnEmptyStoreTheSameRecords() async throws {
        try await withTwoMachines { kitchen, study in
            try await kitchen.importHousehold()
            try await kitchen.peer("game", "delete", "Scythe", "--yes")
            try await kitchen.peer("game", "edit", "Catan", "--name", "Café “Catan” ☕")
            try kitchen.write("INSERT INTO SBPerson (recordName, avatar) VALUES ('SBPerson|~|x', x'00ff')")
            let file = kitchen.scene.path("export.json")
            let exported = try await kitchen.peer("export", file)
            try await study.peer("import", file)
            // What the game has taken along is not in the file.
            let live = try await study.status().live
            #expect(try await kitchen.status().live > live)
            #expect(exported == "exported \(grouped(live)) records to \(file)\n")
            let object = try #require(
                JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: file)))
                    as? [String: Any])
            #expect(object["digest"] as? String == (try await study.digest()))
            #expect(
                try kitchen.contents(without: "modificationDate")
                    == study.contents(without: "modificationDate"))
            #expect(try await study.peer("import", file).contains("nothing new"))
        }
    }

    @Test func anExportGoesToStandardOutputToo() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let text = try await kitchen.peer("export", "-")
            let object = try #require(
                JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(object["digest"] as? String == (try await kitchen.digest()))
            #expect(object["count"] as? Int == 1)
        }
    }

    @Test func aMissingFile() async throws {
        try await withMachine { kitchen in
            let path = kitchen.scene.path("none.json")
            let outcome = try await kitchen.run("import", path)
            #expect(outcome.isSentence(66))
            #expect(outcome.errors.contains(path))
        }
    }

    @Test func anExportThatCannotBeWritten() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let path = kitchen.scene.path("none/export.json")
            let outcome = try await kitchen.run("export", path)
            #expect(outcome.isSentence(73))
            #expect(outcome.errors.contains(path))
        }
    }

    /// What is done to the text of the household's file, and what the sentence says of the place.
    struct Damage: CustomTestStringConvertible {
        let testDescription: String
        /// nil where no place can be told.
        let place: String?
        let apply: @Sendable (String) -> String
    }

    static let damages = [
        Damage(testDescription: "cut off", place: "line ") { String($0.prefix($0.count / 2)) },
        Damage(testDescription: "one colon is missing", place: "line 3, column ") {
            $0.replacing("\"uuid\":", with: "\"uuid\"", maxReplacements: 1)
        },
        Damage(testDescription: "a text in place of a number", place: "plays[399].durationMin") { text in
            let last = text.ranges(of: /"durationMin":[0-9]+/).last!
            return text.replacingCharacters(in: last, with: "\"durationMin\":\"long\"")
        },
        Damage(testDescription: "a reference to nothing", place: "plays[399].gameRefId") { text in
            let last = text.ranges(of: /"gameRefId":[0-9]+/).last!
            return text.replacingCharacters(in: last, with: "\"gameRefId\":4711")
        },
        Damage(testDescription: "empty", place: nil) { _ in "" },
        Damage(testDescription: "something else", place: nil) { _ in "{\"shopping\": [\"milk\"]}" },
    ]

    @Test(arguments: damages)
    func aWrongFileIsRefusedWhole(damage: Damage) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Mine")
            let (before, status) = (try kitchen.contents(), try await kitchen.status())
            let text = try String(contentsOfFile: Household.path, encoding: .utf8)
            let file = kitchen.scene.path("wrong.json")
            try Data(damage.apply(text).utf8).write(to: URL(fileURLWithPath: file))
            let outcome = try await kitchen.run("import", file)
            #expect(outcome.isSentence(65), "\(outcome)")
            #expect(outcome.errors.contains(file), "\(outcome)")
            // Once is enough.
            if let place = damage.place { #expect(outcome.errors.ranges(of: place).count == 1, "\(outcome)") }
            #expect(try kitchen.contents() == before)
            #expect(try await kitchen.status() == status)
        }
    }

    private func grouped(_ number: Int) -> String {
        number < 1000 ? "\(number)" : "\(number / 1000),\(String(format: "%03d", number % 1000))"
    }

    @Test func anExportTouchesNothingButItsFile() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let files = FileManager.default
            let path = kitchen.scene.path("export.json")
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            // What somebody else has put where a careless program would put its own.
            try files.createDirectory(atPath: path + ".partial/precious", withIntermediateDirectories: true)
            try files.createSymbolicLink(
                atPath: kitchen.scene.path("link.json"), withDestinationPath: path)
            let refused = try await kitchen.run("export", kitchen.scene.path("link.json"))
            #expect(refused.isSentence(73) && refused.errors.contains("--force"), "\(refused)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
            try await kitchen.peer("export", kitchen.scene.path("link.json"), "--force")
            #expect(files.fileExists(atPath: path + ".partial/precious"))
            let link = try files.destinationOfSymbolicLink(atPath: kitchen.scene.path("link.json"))
            #expect(link == path)
            let written = try String(contentsOfFile: path, encoding: .utf8)
            #expect(written.contains("Catan"))
            #expect(try await kitchen.run("export", path + ".partial", "--force").isSentence(73))
            let left = try files.contentsOfDirectory(atPath: kitchen.scene.directory.path)
            #expect(
                left.filter { $0.hasPrefix("export.json") }.sorted() == [
                    "export.json", "export.json.partial",
                ])
        }
    }

    @Test func anExportThatStandardOutputGetsIsNothingElse() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            for name in ["-", "/dev/stdout"] {
                let output = try await kitchen.peer("export", name)
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(output.utf8)) }
            }
        }
    }

    /// Somebody reads from a pipe while it is written, and it stays a pipe.
    @Test func anExportGoesIntoAPipe() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let pipe = kitchen.scene.path("pipe")
            try #require(mkfifo(pipe, 0o600) == 0)
            let process = try kitchen.start(["export", pipe])
            let reader = Task.detached {
                try FileHandle(forReadingFrom: URL(fileURLWithPath: pipe)).readToEnd() ?? Data()
            }
            #expect(try await process.outcome().exitCode == 0)
            #expect(try JSONSerialization.jsonObject(with: await reader.value) is [String: Any])
        }
    }

    @Test(arguments: [
        ("/dev/zero", "it is a device"), ("pipe", "it is a pipe"), ("none.json", "no such file"),
    ])
    func whatIsNoFileIsNotWaitedFor(name: String, what: String) async throws {
        try await withMachine { kitchen in
            try #require(mkfifo(kitchen.scene.path("pipe"), 0o600) == 0)
            let path = name.hasPrefix("/") ? name : kitchen.scene.path(name)
            let outcome = try await kitchen.run("import", path)
            #expect(outcome.isSentence(66), "\(outcome)")
            #expect(
                outcome.errors.contains("\(path) cannot be read: ") && outcome.errors.contains(what),
                "\(outcome)")
        }
    }

    @Test func whereNoScorebookIsNoneIsExported() async throws {
        try await withMachine { kitchen in
            let outcome = try await kitchen.run("export", kitchen.scene.path("export.json"))
            #expect(outcome.isSentence(66))
            #expect(!FileManager.default.fileExists(atPath: kitchen.store.path))
        }
    }

    @Test func aRehearsalSaysWhatWouldChangeAndChangesNothing() async throws {
        try await withMachine { kitchen in
            let none = try await kitchen.run("import", Household.path, "--dry-run")
            #expect(none.output.hasPrefix("a BG Stats export would change 3,007 records\n"), "\(none)")
            #expect(none.exitCode == 0 && none.errors.hasPrefix("note: there is no scorebook in "), "\(none)")
            #expect(
                try await kitchen.run("import", Household.path, "--dry-run", "--zone", "club").isSentence(65))
            #expect(!FileManager.default.fileExists(atPath: kitchen.store.path))
            try await kitchen.addGame("Mine")
            let (before, status) = (try kitchen.contents(), try await kitchen.status())
            let rehearsed = try await kitchen.peer("import", Household.path, "--dry-run")
            #expect(rehearsed.hasPrefix("a BG Stats export would change 3,007 records\n"))
            #expect(try kitchen.contents() == before)
            #expect(try await kitchen.status() == status)
            // A rehearsal is no command to take back.
            #expect(try await kitchen.peer("undo").hasPrefix("took back `game add`"))
            try await kitchen.importHousehold()
            #expect(
                try await kitchen.peer("import", Household.path, "--dry-run")
                    .hasPrefix("a BG Stats export would change nothing\n"))
            #expect(
                try await kitchen.run("import", Household.path, "--dry-run", "--pictures", "x").isSentence(64)
            )
        }
    }

    @Test func whatACollectionLeavesOutIsSaid() async throws {
        try await withMachine { kitchen in
            let file = Repository.root.appendingPathComponent(
                "Tests/Unit/ScorebookTests/Data/collection.bgg.xml")
            let said = try await kitchen.peer("import", file.path, "--dry-run")
            #expect(
                said.contains(
                    "left out 2 entries: games that nobody has or has played, and expansions that were not played"
                ), "\(said)")
        }
    }

    /// The file is the export of a zone.
    @Test func aZoneThatIsMissingIsMadeByTheHint() async throws {
        try await withTwoMachines { kitchen, study in
            let file = kitchen.scene.path("club.json")
            try await kitchen.peer("zone", "create", "Ida's club")
            try await kitchen.peer("game", "add", "Go", "--zone", "Ida's club")
            try await kitchen.peer("export", file, "--zone", "Ida's club")
            try await study.makeStore()
            let refused = try await study.run("import", file)
            #expect(refused.isSentence(65) && refused.errors.contains("its zone “Ida's club” is not here"))
            #expect(refused.errors.contains("hint: `zone create 'Ida'\\''s club'` makes it"), "\(refused)")
            try await study.peer("zone", "create", "Ida's club")
            try await study.peer("import", file)
            #expect(try study.rows("SELECT name FROM SBGame") == ["Go"])
        }
    }

    @Test(arguments: [("n", 75), ("y", 0)] as [(String, Int32)])
    func anExportAsksBeforeItReplacesAFile(answer: String, exitCode: Int32) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let path = kitchen.scene.path("backup.json")
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let terminal = try PseudoTerminal()
            let process = try kitchen.start(["export", path], at: terminal)
            try await eventually("the question") { process.errors.contains("[y/N]") }
            #expect(process.errors.hasPrefix("Replace \(path) (3 bytes, written 20"), "\(process)")
            try terminal.type(answer)
            #expect(try await process.end() == exitCode, "\(process)")
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("Catan") == (answer == "y"))
        }
    }

    /// What this machine has not deleted is not written anew, so a deletion of another one stays.
    @Test func aBackupBringsBackWhatIsDeletedHereAndNoMore() async throws {
        try await withPair { kitchen, study in
            for game in ["Catan", "Azul"] { try await kitchen.addGame(game) }
            try await kitchen.sync(with: study)
            let backup = kitchen.scene.path("backup.json")
            try await kitchen.peer("export", backup)
            try await kitchen.peer("game", "delete", "Catan", "--yes")
            try await study.peer("game", "delete", "Azul", "--yes")
            #expect(
                try await kitchen.peer("import", backup, "--restore", "--dry-run")
                    .hasPrefix("a scorebook export would change 1 record, 1 would come back\n"))
            #expect(try kitchen.rows("SELECT name FROM SBGame") == ["Azul"])
            #expect(
                try await kitchen.peer("import", backup, "--restore").contains(
                    "1 record changed, 1 came back\n"))
            try await kitchen.sync(with: study)
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try study.rows("SELECT name FROM SBGame") == ["Catan"])
        }
    }
}

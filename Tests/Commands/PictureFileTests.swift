import Foundation
import Testing

/// Which pictures a machine has and wants, and whether their files are whole.
@Suite(.takingTurns) struct PictureFileTests {
    private let files = FileManager.default

    @Test func whichPicturesAreWanted() async throws {
        try await withMachine { kitchen in
            #expect(try await kitchen.json(Status.Assets.self, "assets").policy == "all")
            #expect(!(try await kitchen.peer("status").contains("pictures")))
            try await kitchen.addGame("Catan")
            for (name, size) in [("a", 999), ("b", 5_000_000)] {
                let hash = String(repeating: name, count: 64)
                try kitchen.write(
                    """
                    INSERT INTO SBPerson (recordName, avatar) VALUES (?, json_object('hash', ?, 'name', '',
                        'size', ?, 'type', 'image/png'))
                    """, ["SBPerson|~|\(name)", hash, size])
            }
            for (policy, shown, missing, left) in [
                (["none"], "none", 0, 2), (["under", "5MB"], "under 5MB", 1, 1),
                (["under 5 MB"], "under 5MB", 1, 1), (["under", "5.1", "MB"], "under 5100kB", 2, 0),
                (["under", "4883KiB"], "under 5000192", 2, 0), (["all"], "all", 2, 0),
            ] {
                let output = try await kitchen.start(["assets"] + policy).outcome()
                #expect(output.exitCode == 0 && output.output.contains(shown), "\(output)")
                let figures = try await kitchen.json(Status.Assets.self, "assets")
                #expect(figures.policy == shown && figures.files == 2 && figures.bytes == 5_000_999)
                #expect(figures.missing == missing && figures.left == left, "\(policy)")
                #expect(try await kitchen.status().assets == figures)
            }
        }
    }

    @Test(arguments: [
        ["some"], ["under"], ["under", "x"], ["under", "0"], ["under", "-5MB"], ["all", "none"],
        ["under 5 PB"],
        ["ALL", "of", "them"], [""],
    ])
    func aWrongPolicyIsRefused(policy: [String]) async throws {
        try await withMachine { kitchen in
            try await kitchen.peer("assets", "under", "1kB")
            let outcome = try await kitchen.start(["assets"] + policy).outcome()
            #expect(outcome.exitCode == 64 && outcome.errors.contains("under 5MB"), "\(outcome)")
            #expect(try await kitchen.json(Status.Assets.self, "assets").policy == "under 1kB")
        }
    }

    // MARK: Checking

    private struct Check: Decodable {
        struct Assets: Decodable {
            struct Damage: Decodable {
                let hash: String
                let records: [String]
                let name: String?
            }

            let checked: Int
            let damaged: [Damage]
        }

        let sound: Bool
        let assets: Assets?
    }

    @Test func aDamagedFileIsNamedAndPutAside() async throws {
        try await withMachine { kitchen in
            let (match, file) = try await kitchen.addMatchWithPicture()
            let picture = try #require(try await kitchen.pictures().first)
            let sound = try await kitchen.json(Check.self, "status", "--check", "--assets")
            #expect(sound.assets?.checked == 1 && sound.assets?.damaged.isEmpty == true)
            #expect(try await kitchen.json(Check.self, "status", "--check").assets == nil)

            // One bit, as an old disk may do it.
            var bytes = try Data(contentsOf: kitchen.assetFile(picture))
            bytes[40] ^= 1
            try bytes.write(to: kitchen.assetFile(picture))
            #expect(try await kitchen.run("image", "save", match).isSentence(65))
            #expect(try await kitchen.run("status", "--check").exitCode == 0)
            let outcome = try await kitchen.run("status", "--check", "--assets")
            #expect(outcome.exitCode == 65)
            for part in [picture.recordName, "IMG_1.png", try #require(picture.image?.hash)] {
                #expect(outcome.output.contains(part), "\(outcome)")
            }
            #expect(outcome.errors.wholeMatch(of: /error: .*damaged.*\n/) != nil)
            #expect(try await kitchen.status().assets.missing == 1)
            #expect(try await kitchen.run("image", "save", match).isSentence(69))

            // The same file again mends it.
            try await kitchen.peer("image", "add", match, file)
            #expect(try await kitchen.pictures().map(\.here) == [true, true])
            #expect(try await kitchen.run("status", "--check", "--assets").exitCode == 0)
        }
    }

    @Test func whatIsDamagedIsToldAsJSONToo() async throws {
        try await withMachine { kitchen in
            _ = try await kitchen.addMatchWithPicture()
            let picture = try #require(try await kitchen.pictures().first)
            try Data("x".utf8).write(to: kitchen.assetFile(picture))
            let outcome = try await kitchen.run("status", "--check", "--assets", "--json")
            #expect(outcome.exitCode == 65)
            let check = try JSONDecoder().decode(Check.self, from: Data(outcome.output.utf8))
            #expect(check.sound && check.assets?.checked == 1)
            let damage = try #require(check.assets?.damaged.first)
            #expect(damage.records == [picture.recordName] && damage.name == "IMG_1.png")
            #expect(damage.hash == picture.image?.hash)
        }
    }

    // MARK: Export and import

    @Test func anExportTakesThePicturesAlong() async throws {
        try await withTwoMachines { kitchen, study in
            let (match, original) = try await kitchen.addMatchWithPicture()
            let (export, directory) = (kitchen.scene.path("e.json"), kitchen.scene.path("deep/pictures"))
            let exported = try await kitchen.peer("export", export, "--pictures", directory)
            #expect(exported.contains("exported 1 picture ("))
            #expect(
                try await kitchen.peer("export", export, "--force", "--pictures", directory)
                    .contains("1 there already"))
            try await study.peer("import", export)
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try await study.pictures().map(\.here) == [false])
            #expect(
                try await study.peer("import", export, "--pictures", directory).contains(
                    "imported 1 picture ("))
            let target = kitchen.scene.path("out.png")
            try await study.peer("image", "save", match, "--to", target)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: target))
                    == Data(contentsOf: URL(fileURLWithPath: original)))
        }
    }

    @Test func aPictureThatIsWrongOrMissingIsNamedAndTheRecordsComeIn() async throws {
        try await withTwoMachines { kitchen, study in
            let (match, _) = try await kitchen.addMatchWithPicture()
            try await kitchen.peer(
                "image", "add", match, kitchen.scene.file("gone.png", SamplePicture.png(9)))
            let (export, directory) = (kitchen.scene.path("e.json"), kitchen.scene.path("pictures"))
            try await kitchen.peer("export", export, "--pictures", directory)
            for picture in try await kitchen.pictures() {
                let image = try #require(picture.image)
                let file = URL(fileURLWithPath: "\(directory)/\(image.hash).png")
                if image.name == "gone.png" {
                    try files.removeItem(at: file)
                } else {
                    try SamplePicture.png(8).write(to: file)
                }
            }
            let outcome = try await study.run("import", export, "--pictures", directory)
            #expect(outcome.exitCode == 65)
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count == 2, "\(outcome)")
            #expect(lines.first?.hasPrefix("warning: ") == true && lines.first?.contains("gone.png") == true)
            #expect(lines.last?.hasPrefix("error: ") == true && lines.last?.contains("IMG_1.png") == true)
            #expect(try await haveEqualDigests(kitchen, study))
            #expect(try await study.pictures().map(\.here) == [false, false])
        }
    }

    @Test func anExportWithoutAFileSaysSo() async throws {
        try await withMachine { kitchen in
            _ = try await kitchen.addMatchWithPicture()
            try files.removeItem(at: kitchen.assetFile(#require(try await kitchen.pictures().first)))
            let directory = kitchen.scene.path("pictures")
            let outcome = try await kitchen.run("export", "-", "--pictures", directory)
            #expect(outcome.exitCode == 0)
            #expect(outcome.errors.wholeMatch(of: /warning: 1 picture is not on this machine: .*\n/) != nil)
            #expect(try files.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }

    @Test func aDirectoryOfPicturesThatCannotBeUsed() async throws {
        try await withMachine { kitchen in
            let (_, file) = try await kitchen.addMatchWithPicture()
            let export = kitchen.scene.path("e.json")
            #expect(try await kitchen.run("export", export, "--pictures", file).isSentence(73))
            #expect(!files.fileExists(atPath: export))
            try await kitchen.peer("export", export)
            let digest = try await kitchen.digest()
            for path in ["none", "IMG_1.png"] {
                let outcome = try await kitchen.run("import", export, "--pictures", kitchen.scene.path(path))
                #expect(outcome.isSentence(66) && outcome.errors.contains(path), "\(outcome)")
            }
            #expect(try await kitchen.digest() == digest)
        }
    }
}

import Foundation
import Testing

/// Pictures go in from files, are told of, and come out as the same files.
@Suite(.takingTurns) struct ImageTests {
    private let files = FileManager.default

    private func content(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func aPictureOfAMatch() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let match = try await kitchen.json(
                RecordLine.self, "match", "add", "Catan", "Ada=1", "--new-persons", "--date", "2026-11-20"
            ).recordName
            let paths = try [
                kitchen.scene.file("first.png", SamplePicture.png(255)),
                kitchen.scene.file("second.jpg", SamplePicture.jpeg("second")),
            ]
            let added = try await kitchen.peer(
                "image", "add", match, paths[0], paths[1], "--caption", "-5 °C")
            #expect(added.hasPrefix("added 2 pictures to the match Catan, 2026-11-20"))
            let pictures = try await kitchen.pictures()
            #expect(pictures.map { $0.image?.name } == ["first.png", "second.jpg"])
            #expect(pictures.map { $0.image?.type } == ["image/png", "image/jpeg"])
            #expect(pictures.allSatisfy { $0.here && $0.match == match && $0.subject == "Catan, 2026-11-20" })
            #expect(pictures.allSatisfy { $0.caption == "-5 °C" })
            #expect(try await kitchen.json([PictureLine].self, "image", "list", match) == pictures)

            // The scorebook has a copy.
            let original = try content(paths[0])
            for path in paths { try files.removeItem(atPath: path) }
            let name = pictures[0].recordName
            let shown = try await kitchen.peer("image", "show", String(name.dropFirst(15).prefix(23)))
            for part in ["Catan, 2026-11-20", "first.png", "image/png", "-5 °C", name, match] {
                #expect(shown.contains(part), "\(part)")
            }
            #expect(
                try await kitchen.peer("image", "edit", name, "--caption", "The end").hasPrefix(
                    "changed the picture The end of Catan, 2026-11-20"))
            #expect(try kitchen.rows("SELECT caption FROM SBMatchImage") == ["The end", "-5 °C"])
            let again = try await kitchen.peer("image", "edit", name, "--caption", "The end")
            #expect(again.hasPrefix("nothing changed: "), "\(again)")
            #expect(try await kitchen.peer("image", "edit", name, "--caption", "").hasPrefix("changed "))
            #expect(try kitchen.rows("SELECT caption FROM SBMatchImage") == ["-", "-5 °C"])

            let target = kitchen.scene.path("saved.png")
            #expect(
                try await kitchen.peer("image", "save", name, "--to", target).hasPrefix("saved \(target)"))
            #expect(try content(target) == original)
            #expect(
                try await kitchen.peer("image", "delete", name, "--dry-run").hasPrefix(
                    "would delete the picture first.png of Catan, 2026-11-20"))
            #expect(try await kitchen.run("image", "delete", name).isSentence(64))
            #expect(
                try await kitchen.peer("image", "delete", name, "--yes").hasPrefix(
                    "deleted the picture first.png of Catan"))
            #expect(try await kitchen.pictures() == [pictures[1]])
        }
    }

    @Test func anAvatarAndAThumbnail() async throws {
        try await withMachine { kitchen in
            let (ada, eve) = try (
                kitchen.scene.file("ada.png", SamplePicture.png(1)),
                kitchen.scene.file("eve.jpg", SamplePicture.jpeg("eve"))
            )
            try await kitchen.peer("person", "add", "Ada Lovelace", "--avatar", ada)
            try await kitchen.peer("game", "add", "Catan", "--thumbnail", ada)
            try await kitchen.peer("game", "add", "Azul", "--year", "2017", "--thumbnail", "")
            #expect(try await kitchen.pictures().map(\.subject) == ["Ada Lovelace", "Catan"])
            #expect(try await kitchen.pictures().map(\.field) == ["avatar", "thumbnail"])
            // One file for both.
            #expect(try await kitchen.status().assets.files == 1)
            #expect(try await kitchen.peer("person", "show", "ada lovelace").contains("ada.png ("))
            #expect(try await kitchen.peer("game", "show", "Catan").contains("ada.png ("))

            try await kitchen.peer("person", "edit", "Ada Lovelace", "--avatar", eve)
            let target = kitchen.scene.path("out.jpg")
            try await kitchen.peer("image", "save", "Ada Lovelace", "--to", target)
            #expect(try content(target) == SamplePicture.jpeg("eve"))
            try await kitchen.peer(
                "person", "edit", "Ada Lovelace", "--avatar", "", "--email", "a@example.org")
            try await kitchen.peer("game", "edit", "Catan", "--thumbnail", "")
            #expect(try kitchen.rows("SELECT avatar, emailAddress FROM SBPerson") == ["-|a@example.org"])
            #expect(try await kitchen.peer("image") == "there are no pictures yet\n")
            #expect(try await kitchen.run("image", "save", "Ada Lovelace").isSentence(65))
        }
    }

    // MARK: What is refused

    static let wrongFiles: [(name: String, content: Data?, exitCode: Int32, part: String)] = [
        ("notes.txt", Data("hello".utf8), 65, "JPEG, PNG"), ("empty.png", Data(), 65, "is empty"),
        ("page.png", Data("<html>".utf8), 65, "JPEG, PNG"), ("none.png", nil, 66, "there is no such file"),
        ("", nil, 66, "it is a directory"), ("two\nlines.txt", Data("x".utf8), 65, "two\u{FFFD}lines.txt"),
    ]

    @Test(arguments: wrongFiles)
    func aFileThatIsNoPictureIsRefused(
        name: String, content: Data?, exitCode: Int32, part: String
    ) async throws {
        try await withMachine { kitchen in
            let (match, good) = try await kitchen.addMatchWithPicture()
            let path = kitchen.scene.path(name)
            try content?.write(to: URL(fileURLWithPath: path))
            let (before, digest) = (try kitchen.contents(), try await kitchen.digest())
            for command in [
                ["image", "add", match, good, path], ["person", "add", "Grace Hopper", "--avatar", path],
                ["person", "edit", "Ada", "--avatar", path], ["game", "add", "Azul", "--thumbnail", path],
                ["game", "edit", "Catan", "--year", "1995", "--thumbnail", path],
            ] {
                let outcome = try await kitchen.start(command).outcome()
                #expect(outcome.isSentence(exitCode), "\(command) \(outcome)")
                #expect(outcome.errors.contains(part), "\(command) \(outcome)")
            }
            #expect(try kitchen.contents() == before)
            #expect(try await kitchen.digest() == digest)
        }
    }

    /// A pipe that nobody writes to would never end.
    @Test func whatIsNoRegularFileIsRefused() async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture()
            let pipe = kitchen.scene.path("pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            for (path, kind) in [(pipe, "it is a pipe"), ("/dev/null", "it is a device")] {
                let outcome = try await kitchen.run("image", "add", match, path)
                #expect(outcome.isSentence(66) && outcome.errors.contains(kind), "\(outcome)")
            }
        }
    }

    @Test func whatIsNotThereIsToldApart() async throws {
        try await withMachine { kitchen in
            let (match, file) = try await kitchen.addMatchWithPicture()
            for command in [
                ["image", "add", "cafe", file], ["image", "list", "cafe"], ["image", "show", "cafe"],
                ["image", "show", "SBMatchImage|~|cafe"], ["image", "show", "SBScore|~|cafe"],
                ["image", "save", "Azul"], ["image", "edit", match, "--caption", "x"],
                ["image", "delete", "SBPerson|~|cafe", "--yes"],
                ["image", "edit", "Catan", "--caption", "x"],
            ] {
                let outcome = try await kitchen.start(command).outcome()
                #expect(outcome.isSentence(65), "\(command) \(outcome)")
            }
            for caption in ["two\nlines", String(repeating: "x", count: 501)] {
                #expect(
                    try await kitchen.run("image", "add", match, file, "--caption", caption).isSentence(65))
                #expect(try await kitchen.run("image", "edit", match, "--caption", caption).isSentence(65))
            }
            #expect(try await kitchen.pictures().count == 1)
        }
    }

    @Test func aDirectoryThatCannotBeMadeIsNamed() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let file = try kitchen.scene.file("a.png", SamplePicture.png(1))
            let assets = kitchen.store.appendingPathComponent("assets")
            try Data("in the way".utf8).write(to: assets)
            let outcome = try await kitchen.run("game", "edit", "Catan", "--thumbnail", file)
            #expect(outcome.isSentence(73) && outcome.errors.contains(assets.path), "\(outcome)")
            #expect(try await kitchen.pictures().isEmpty)
            #expect(try content(assets.path) == Data("in the way".utf8))
        }
    }

    // MARK: Saving

    @Test func nothingIsOverwrittenWithoutForce() async throws {
        try await withMachine { kitchen in
            let (match, file) = try await kitchen.addMatchWithPicture()
            let directory = kitchen.scene.path("out")
            try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let target = directory + "/IMG_1.png"
            try Data("mine".utf8).write(to: URL(fileURLWithPath: target))
            for path in [directory, target] {
                let outcome = try await kitchen.run("image", "save", match, "--to", path)
                #expect(outcome.isSentence(73) && outcome.errors.contains("--force"), "\(outcome)")
                #expect(try content(target) == Data("mine".utf8))
            }
            // A link that leads nowhere is not followed.
            let link = directory + "/link.png"
            try files.createSymbolicLink(
                atPath: link, withDestinationPath: kitchen.scene.path("elsewhere.png"))
            #expect(try await kitchen.run("image", "save", match, "--to", link).isSentence(73))
            #expect(!files.fileExists(atPath: kitchen.scene.path("elsewhere.png")))
            try await kitchen.peer("image", "save", match, "--to", directory, "--force")
            #expect(try content(target) == content(file))
            #expect(try files.contentsOfDirectory(atPath: directory).sorted() == ["IMG_1.png", "link.png"])
        }
    }

    @Test func aDirectoryIsMade() async throws {
        try await withMachine { kitchen in
            let (match, file) = try await kitchen.addMatchWithPicture()
            for name in ["photos", "out/"] {
                let directory = kitchen.scene.path(name)
                try await kitchen.peer("image", "save", match, "--to", directory)
                #expect(try content("\(directory)/IMG_1.png") == content(file))
            }
        }
    }

    @Test func aPlaceThatCannotBeWrittenIsNamed() async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture()
            for path in ["none/x.png", "none/photos", "none/photos/", "IMG_1.png/x.png"] {
                let outcome = try await kitchen.run(
                    "image", "save", match, "--to", "\(kitchen.scene.directory.path)/\(path)")
                #expect(outcome.isSentence(73) && outcome.errors.contains(path), "\(path) \(outcome)")
            }
        }
    }

    @Test func allPicturesOfAMatchAreSaved() async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture()
            let directory = kitchen.scene.path("other")
            try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
            // The same name again, in another case.
            try await kitchen.peer(
                "image", "add", match, kitchen.scene.file("other/img_1.PNG", SamplePicture.png(9)))
            let target = kitchen.scene.path("out")
            try files.createDirectory(atPath: target, withIntermediateDirectories: true)
            try await kitchen.peer("image", "save", match, "--to", target)
            #expect(try files.contentsOfDirectory(atPath: target).sorted() == ["IMG_1.png", "img_1-2.PNG"])
            for path in ["-", kitchen.scene.path("one.png")] {
                #expect(try await kitchen.run("image", "save", match, "--to", path).isSentence(65))
            }
        }
    }

    @Test func aPictureGoesToStandardOutputToo() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let bytes = SamplePicture.jpeg("plain")
            let match = try await kitchen.addMatch("Catan", "Ada=1")
            try await kitchen.peer("image", "add", match, kitchen.scene.file("a.jpg", bytes))
            let output = try await kitchen.peer("image", "save", match, "--to", "-")
            #expect(output == String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Names that other machines may send: none leaves the directory, hides the file or makes it a program.
    @Test(arguments: [
        (".bashrc", "bashrc.png"), ("Makefile", "Makefile.png"), ("...x", "x.png"), ("a b.jpeg", "a b.jpeg"),
        ("-rf", "-rf.png"), ("", "cafe.png"),
    ])
    func aFileIsSavedUnderAHarmlessName(name: String, expected: String) async throws {
        try await withMachine { kitchen in
            let (_, _) = try await kitchen.addMatchWithPicture()
            try kitchen.write(
                """
                UPDATE SBMatchImage SET recordName = 'SBMatchImage|~|cafe', image = json_object('hash',
                    image ->> 'hash', 'name', ?, 'size', image ->> 'size', 'type', image ->> 'type')
                """, [name])
            let process = try kitchen.start(["image", "save", "SBMatchImage|~|cafe"])
            #expect(try await process.outcome().exitCode == 0)
            #expect(try files.contentsOfDirectory(atPath: process.directory.path).contains(expected))
        }
    }

    @Test func aPictureThatIsNotHereIsUnavailable() async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture("here.png")
            try await kitchen.peer(
                "image", "add", match, kitchen.scene.file("gone.png", SamplePicture.png(9)))
            let gone = try #require(try await kitchen.pictures().first { $0.image?.name == "gone.png" })
            try files.removeItem(at: kitchen.assetFile(gone))
            #expect(try await kitchen.pictures().map(\.here) == [true, false])
            let target = kitchen.scene.path("x.png")
            let outcome = try await kitchen.run("image", "save", gone.recordName, "--to", target)
            #expect(outcome.isSentence(69) && outcome.errors.contains("gone.png"), "\(outcome)")
            #expect(!files.fileExists(atPath: target))
            let directory = kitchen.scene.path("out")
            try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
            // What is here is saved all the same.
            #expect(try await kitchen.run("image", "save", match, "--to", directory).exitCode == 69)
            #expect(try files.contentsOfDirectory(atPath: directory) == ["here.png"])
            let figures = try await kitchen.status().assets
            #expect(figures.files == 2 && figures.missing == 1 && figures.left == 0)
            #expect(figures.missingBytes == gone.image?.size)
        }
    }

    @Test func aStoreThatIsMovedKeepsItsPictures() async throws {
        try await withScene { scene in
            let kitchen = scene.machine("kitchen")
            let (match, file) = try await kitchen.addMatchWithPicture()
            let moved = scene.machine("attic")
            try files.moveItem(at: kitchen.store, to: moved.store)
            #expect(try await moved.pictures().map(\.here) == [true])
            let target = scene.path("out.png")
            try await moved.peer("image", "save", match, "--to", target)
            #expect(try content(target) == content(file))
        }
    }
}

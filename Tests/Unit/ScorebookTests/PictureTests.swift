import Foundation
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// Pictures of matches, persons and games.
struct PictureTests {
    @Test func aPictureOfAMatchIsCopiedAndFound() async throws {
        try await Support.withPictures { scorebook, directory, match in
            let file = try Support.picture("IMG_1.jpg", in: directory)
            let images = try await scorebook.addImages(
                match: "\(match.recordName)", files: [file], caption: "  The end  ")
            let image = try #require(images.first)
            #expect(image.match == match.recordName && image.caption == "The end")
            #expect(image.image?.name == "IMG_1.jpg" && image.image?.mediaType == "image/jpeg")
            #expect(image.image?.size == 11)
            try FileManager.default.removeItem(at: file)

            let found = try await scorebook.picture(String(image.recordName.suffix.prefix(23)))
            #expect(found.recordName == image.recordName && found.field == "image")
            #expect(found.subject == "Catan, 2024-03-05" && found.caption == "The end" && found.isHere)
            #expect(try await scorebook.pictures(match: "\(match.recordName)") == [found])
            let kept = try #require(found.image.flatMap { scorebook.records.assets.file($0) })
            #expect(try Data(contentsOf: kept).count == 11)

            try await scorebook.editImage("\(image.recordName)", caption: .clear)
            #expect(try await scorebook.picture("\(match.recordName)").caption == nil)
            try await scorebook.delete(.matchImage, "\(image.recordName)")
            #expect(try await scorebook.pictures().isEmpty)
        }
    }

    @Test func anAvatarAndAThumbnailAreSetAndCleared() async throws {
        try await Support.withPictures { scorebook, directory, _ in
            let ada = try Support.picture("ada.jpg", in: directory, "ada")
            let board = try Support.picture("board.jpg", in: directory, "board")
            try await scorebook.editPerson("Ada Lovelace", PersonEdit(avatar: .set(ada)))
            var edit = GameEdit()
            edit.thumbnail = .set(board)
            try await scorebook.editGame("Catan", edit)
            try await scorebook.addPerson("Grace Hopper", avatar: ada)
            try await scorebook.addGame(NewGame(name: "Azul", thumbnail: board))
            let pictures = try await scorebook.pictures()
            #expect(pictures.map(\.subject) == ["Ada Lovelace", "Grace Hopper", "Azul", "Catan"])
            #expect(pictures.map(\.field) == ["avatar", "avatar", "thumbnail", "thumbnail"])
            #expect(try await scorebook.pictureUses().map(\.records.count) == [2, 2])
            #expect(try await scorebook.picture("ada lovelace").image?.name == "ada.jpg")

            // Other edits leave it alone.
            try await scorebook.editPerson("Ada Lovelace", PersonEdit(emailAddress: .set("a@example.org")))
            #expect(try await scorebook.person("Ada Lovelace").person.avatar?.name == "ada.jpg")
            try await scorebook.editPerson("Ada Lovelace", PersonEdit(avatar: .clear))
            edit.thumbnail = .clear
            try await scorebook.editGame("Catan", edit)
            #expect(try await scorebook.pictures().map(\.subject) == ["Grace Hopper", "Azul"])
            // Nobody sees the one that became one with another, and the picture is the other's now.
            try await scorebook.merge(.person, "Grace Hopper", into: "Ada Lovelace")
            #expect(try await scorebook.pictures().map(\.subject) == ["Ada Lovelace", "Azul"])
        }
    }

    @Test func whatIsNoPictureIsClearedAsWell() async throws {
        try await Support.withPictures { scorebook, _, _ in
            try await scorebook.execute(
                "UPDATE SBPerson SET avatar = 'junk'; UPDATE SBGame SET thumbnail = 7")
            #expect(try await scorebook.pictures().map(\.image) == [nil, nil])
            try await scorebook.editPerson("Ada Lovelace", PersonEdit(avatar: .clear))
            var edit = GameEdit()
            edit.thumbnail = .clear
            try await scorebook.editGame("Catan", edit)
            #expect(
                try await scorebook.rows("SELECT avatar, thumbnail FROM SBPerson, SBGame") == ["null|null"])
        }
    }

    @Test func picturesOfTheLatestMatchComeFirst() async throws {
        try await Support.withPictures { scorebook, directory, match in
            let later = try await scorebook.addMatch(
                NewMatch(game: "Catan", date: "2024-03-06", players: [NewPlayer("Ada Lovelace")]))
            for (number, match) in [match, later, match].enumerated() {
                let file = try Support.picture("\(number).jpg", in: directory, "\(number)")
                try await scorebook.addImages(match: "\(match.recordName)", files: [file])
            }
            #expect(try await scorebook.pictures().map { $0.image?.name } == ["1.jpg", "0.jpg", "2.jpg"])
            let error = await #expect(throws: ScorebookError.self) {
                try await scorebook.picture("\(match.recordName)")
            }
            #expect(error?.code == .ambiguous)
        }
    }

    @Test(
        arguments: [
            ("notes.txt", "hello", ScorebookError.Code.invalidFile, "JPEG, PNG"),
            ("empty.jpg", "", .invalidFile, "is empty"),
            ("video.mp4", "\0\0\0\u{20}ftypisom", .invalidFile, "is not a picture"),
            ("missing.jpg", nil, .unreadableFile, "there is no such file"),
            ("", nil, .unreadableFile, "it is a directory"),
        ] as [(String, String?, ScorebookError.Code, String)])
    func whatIsNoPictureIsRefused(
        name: String, content: String?, code: ScorebookError.Code, message: String
    ) async throws {
        try await Support.withPictures { scorebook, directory, match in
            let good = try Support.picture("good.jpg", in: directory)
            let file = directory.appendingPathComponent(name)
            try content.map { try Data($0.utf8).write(to: file) }
            let digest = try await scorebook.digest()
            for attempt in 0..<4 {
                let error = await #expect(throws: ScorebookError.self) {
                    switch attempt {
                    case 0: try await scorebook.addImages(match: "\(match.recordName)", files: [good, file])
                    case 1: try await scorebook.addPerson("Grace Hopper", avatar: file)
                    case 2: try await scorebook.editPerson("Ada Lovelace", PersonEdit(avatar: .set(file)))
                    default: try await scorebook.addGame(NewGame(name: "Azul", thumbnail: file))
                    }
                }
                #expect(error?.code == code)
                #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
            }
            #expect(try await scorebook.digest() == digest)
            #expect(!FileManager.default.fileExists(atPath: directory.appendingPathComponent("assets").path))
        }
    }

    @Test func aFileOfMoreThan2GiBIsRefused() async throws {
        try await Support.withPictures { scorebook, directory, match in
            let file = try Support.picture("large.jpg", in: directory)
            // Takes no room on the disk.
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 2 << 30 + 1)
            try handle.close()
            let error = await #expect(throws: ScorebookError.self) {
                try await scorebook.addImages(match: "\(match.recordName)", files: [file])
            }
            #expect(error?.code == .invalidFile && error?.message.contains("2 GiB") == true)
        }
    }

    @Test func withoutADirectoryForThemThereAreNoPictures() async throws {
        let scorebook = try Support.scorebook()
        let error = await #expect(throws: ScorebookError.self) {
            try await scorebook.addPerson("Ada", avatar: URL(fileURLWithPath: "ada.jpg"))
        }
        #expect(error?.code == .noAssetDirectory)
        #expect(try await scorebook.persons().isEmpty)
    }

    /// What a picture and its record are called, and how its file is called then.
    @Test(
        arguments: [
            ("IMG_1.JPG", "1", "image/jpeg", "IMG_1.JPG"), ("scan.png", "1", "image/jpeg", "scan.png"),
            ("Ferien am Meer", "1", "image/png", "Ferien am Meer.png"),
            ("Makefile", "1", "image/gif", "Makefile.gif"),
            ("run.sh", "1", "image/webp", "run.sh.webp"), (".bashrc", "1", "image/jpeg", "bashrc.jpg"),
            (" ..x.tif ", "1", "image/tiff", "x.tif"), ("...", "cafe", "image/heic", "cafe.heic"),
            ("", "cafe", "image/avif", "cafe.avif"), ("", "cafe", "application/octet-stream", "cafe.bin"),
            ("", "../../.ssh/keys", "image/jpeg", "sshkeys.jpg"), ("", "/", "image/jpeg", nil),
            ("holiday\u{202E}gpj.exe", "1", "image/jpeg", "holidaygpj.exe.jpg"),
            (".\u{0301}bashrc", "1", "image/jpeg", "\u{0301}bashrc.jpg"),
        ] as [(String, String, String, String?)])
    func aFileGetsAHarmlessName(name: String, record: String, type: String, expected: String?) async throws {
        try await Support.withPictures { scorebook, _, match in
            let hash = String(repeating: "0f", count: 32)
            try await scorebook.execute(
                """
                INSERT INTO SBMatchImage (recordName, match, image) SELECT 'SBMatchImage|~|\(record)', recordName,
                    json_object('hash', '\(hash)', 'name', '\(name)', 'size', 7, 'type', '\(type)') FROM SBMatch
                """)
            let picture = try await scorebook.picture("SBMatchImage|~|\(record)")
            #expect(picture.fileName == expected ?? "\(hash).jpg")
            #expect(!picture.isHere)
        }
    }

    @Test func aLongNameStaysWithinWhatFileSystemsAllow() async throws {
        try await Support.withPictures { scorebook, directory, match in
            let file = try Support.picture("short.jpg", in: directory)
            try await scorebook.addImages(match: "\(match.recordName)", files: [file])
            let name = String(repeating: "é", count: 127)
            try await scorebook.execute(
                "UPDATE SBMatchImage SET image = json_set(image, '$.name', '\(name)')")
            let picture = try await scorebook.picture("\(match.recordName)")
            #expect(picture.image?.name == name)
            #expect(picture.fileName == String(repeating: "é", count: 125) + ".jpg")
        }
    }

    @Test func aDescriptorThatIsNotWrittenAsItShouldBeIsNoPicture() async throws {
        try await Support.withPictures { scorebook, _, match in
            let hash = String(repeating: "0f", count: 32)
            for text in [
                "{\"name\":\"a\",\"hash\":\"\(hash)\",\"size\":7,\"type\":\"image/png\"}",
                "{\"hash\":\"\(hash)\",\"name\":\"a/b\",\"size\":7,\"type\":\"image/png\"}",
                "{\"hash\":\"\(hash)\",\"name\":\"..\",\"size\":7,\"type\":\"image/png\"}",
                "{\"hash\":\"../../../etc\",\"name\":\"a\",\"size\":7,\"type\":\"image/png\"}",
                "{\"hash\":\"\(hash)\",\"name\":\"a\",\"size\":-7,\"type\":\"image/png\"}",
            ] {
                try await scorebook.execute(
                    """
                    INSERT OR REPLACE INTO SBMatchImage (recordName, match, image)
                        SELECT 'SBMatchImage|~|1', recordName, '\(text)' FROM SBMatch
                    """)
                let picture = try await scorebook.picture("\(match.recordName)")
                #expect(picture.image == nil && picture.fileName == nil && !picture.isHere)
                // It is kept as it is.
                #expect(try await scorebook.rows("SELECT image FROM SBMatchImage") == [text])
            }
        }
    }
}

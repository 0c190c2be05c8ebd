import Foundation
import GRDB
import Testing

/// What other programs write into the columns of pictures with plain SQL.
@Suite(.takingTurns) struct ImageSQLTests {
    @Test func bytesBecomeAFile() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let bytes = SamplePicture.png(7)
            try kitchen.write("UPDATE SBGame SET thumbnail = ?", [bytes])
            let picture = try #require(try await kitchen.pictures().first)
            #expect(picture.here && picture.image?.type == "image/png" && picture.image?.name == "")
            #expect(picture.image?.size == bytes.count)
            #expect(try kitchen.rows("SELECT typeof(thumbnail) FROM SBGame") == ["text"])
            #expect(try Data(contentsOf: kitchen.assetFile(picture)) == bytes)
            // It has no name, so that of the record has to do.
            let process = try kitchen.start(["image", "save", "Catan"])
            #expect(try await process.outcome().exitCode == 0)
            let name = picture.recordName.dropFirst("SBGame|~|".count) + ".png"
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: process.directory.path)
                    .contains(String(name)))
        }
    }

    /// Bytes that are no picture are kept as well; nothing that a program wrote is lost.
    @Test(arguments: [Data([1, 2, 3]), Data()])
    func bytesThatAreNoPictureAreKept(bytes: Data) async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            try kitchen.write("UPDATE SBGame SET thumbnail = ?", [bytes])
            let picture = try #require(try await kitchen.pictures().first)
            #expect(picture.here && picture.image?.type == "application/octet-stream")
            #expect(try Data(contentsOf: kitchen.assetFile(picture)) == bytes)
        }
    }

    @Test func nothingAndTextAreNoPictures() async throws {
        try await withMachine { kitchen in
            let (match, _) = try await kitchen.addMatchWithPicture()
            let picture = try #require(try await kitchen.pictures().first?.image)
            for value in [
                nil, "junk", "", "{}", "../../../etc/passwd",
                // Not in the order in which it has to be.
                "{\"name\":\"a.png\",\"hash\":\"\(picture.hash)\",\"size\":\(picture.size),\"type\":\"image/png\"}",
                "{\"hash\":\"\(picture.hash)\",\"name\":\"../a.png\",\"size\":\(picture.size),\"type\":\"image/png\"}",
            ] as [String?] {
                try kitchen.write("UPDATE SBMatchImage SET image = ?", [value])
                let listed = try #require(try await kitchen.pictures().first)
                #expect(listed.image == nil && !listed.here, "\(value ?? "NULL")")
                #expect(try await kitchen.run("image", "save", match).isSentence(65))
                #expect(try await kitchen.peer("image", "list").contains("no picture"))
                #expect(try kitchen.rows("SELECT image FROM SBMatchImage") == [value ?? "-"])
                #expect(try await kitchen.status().assets.files == 0)
            }
            #expect(try kitchen.isSound())
        }
    }

    @Test func aDescriptorOfAnotherPictureIsThatPicture() async throws {
        try await withMachine { kitchen in
            let (_, file) = try await kitchen.addMatchWithPicture()
            try kitchen.write("UPDATE SBPerson SET avatar = (SELECT image FROM SBMatchImage)")
            let target = kitchen.scene.path("ada.png")
            try await kitchen.peer("image", "save", "Ada", "--to", target)
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: target))
                    == Data(contentsOf: URL(fileURLWithPath: file)))
            let figures = try await kitchen.status().assets
            #expect(figures.files == 1 && figures.missing == 0)
            // The one goes, the other stays.
            try kitchen.write("DELETE FROM SBMatchImage")
            #expect(try await kitchen.pictures().map(\.field) == ["avatar"])
            #expect(try await kitchen.pictures().map(\.here) == [true])
        }
    }

    @Test func aDescriptorOfAFileThatNobodyHasIsMissing() async throws {
        try await withMachine { kitchen in
            try await kitchen.addGame("Catan")
            let hash = String(repeating: "0f", count: 32)
            try kitchen.write(
                "UPDATE SBGame SET thumbnail = json_object('hash', ?, 'name', 'x.png', 'size', 1234567, 'type', 'image/png')",
                [hash])
            #expect(try await kitchen.pictures().map(\.here) == [false])
            #expect(try await kitchen.run("image", "save", "Catan").isSentence(69))
            #expect(try await kitchen.peer("status").contains("  1 (1.2 MB), 1 missing (1.2 MB)"))
        }
    }
}

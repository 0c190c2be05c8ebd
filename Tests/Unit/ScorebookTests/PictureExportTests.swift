import Foundation
import PeerSyncStore
import Scorebook
import Testing

/// The files of pictures beside an export.
struct PictureExportTests {
    @Test func theFilesOfPicturesTravelBesideAnExport() async throws {
        try await Support.withPictures { scorebook, directory, match in
            let files = try ["one", "two"].map { try Support.picture("\($0).jpg", in: directory, $0) }
            try await scorebook.addImages(match: "\(match.recordName)", files: files + [files[0]])
            let target = directory.appendingPathComponent("pictures", isDirectory: true)
            try scorebook.makePictureDirectory(target)
            let (data, contents) = try await scorebook.exportDataAndContents()
            let copies = try await scorebook.exportPictures(contents, to: target)
            #expect(copies.copied == 2 && copies.bytes == 14 && copies.missing.isEmpty)
            let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
            #expect(names.allSatisfy { $0.wholeMatch(of: /[0-9a-f]{64}\.jpg/) != nil } && names.count == 2)
            #expect(try await scorebook.exportPictures(contents, to: target).unchanged == 2)

            let copy = try Support.scorebook(
                2, assets: directory.appendingPathComponent("copy"), now: RecordStore.wallClock())
            _ = try await copy.importData(data)
            #expect(try await copy.digest() == scorebook.digest())
            #expect(try await copy.pictures().map(\.isHere) == [false, false, false])
            let taken = try await copy.importPictures(from: target)
            #expect(taken.copied == 2 && taken.damaged.isEmpty && taken.missing.isEmpty)
            #expect(try await copy.pictures().map(\.isHere) == [true, true, true])
            #expect(try await copy.importPictures(from: target).unchanged == 2)
        }
    }

    /// The file in the directory has the size of the picture.
    @Test func aDamagedCopyIsMadeAnew() async throws {
        try await Support.withPictures { scorebook, directory, match in
            let file = try Support.picture("one.jpg", in: directory)
            try await scorebook.addImages(match: "\(match.recordName)", files: [file])
            let target = directory.appendingPathComponent("pictures", isDirectory: true)
            try scorebook.makePictureDirectory(target)
            let (_, contents) = try await scorebook.exportDataAndContents()
            _ = try await scorebook.exportPictures(contents, to: target)
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: target.path).first)
            let copy = target.appendingPathComponent(name)
            let whole = try Data(contentsOf: copy)
            try Data(count: whole.count).write(to: copy)
            #expect(try await scorebook.exportPictures(contents, to: target).copied == 1)
            #expect(try Data(contentsOf: copy) == whole)
        }
    }

    /// What is done to the only file of the directory, and whether it counts as damaged or as missing.
    @Test(arguments: ["other bytes", "cut off", "gone", "directory"])
    func aFileThatIsNotThePictureIsNotTaken(damage: String) async throws {
        try await Support.withPictures { scorebook, directory, match in
            let file = try Support.picture("one.jpg", in: directory)
            try await scorebook.addImages(match: "\(match.recordName)", files: [file])
            let target = directory.appendingPathComponent("pictures", isDirectory: true)
            try scorebook.makePictureDirectory(target)
            let (data, contents) = try await scorebook.exportDataAndContents()
            _ = try await scorebook.exportPictures(contents, to: target)
            let name = try #require(FileManager.default.contentsOfDirectory(atPath: target.path).first)
            let exported = target.appendingPathComponent(name)
            try FileManager.default.removeItem(at: exported)
            switch damage {
            case "other bytes": _ = try Support.picture(name, in: target, "holidaX")
            case "cut off": _ = try Support.picture(name, in: target, "holid")
            case "directory":
                try FileManager.default.createDirectory(at: exported, withIntermediateDirectories: true)
            default: break
            }
            let assets = directory.appendingPathComponent("copy")
            let copy = try Support.scorebook(2, assets: assets, now: RecordStore.wallClock())
            _ = try await copy.importData(data)
            let copies = try await copy.importPictures(from: target)
            let wrong = damage == "gone" ? copies.missing : copies.damaged
            #expect(copies.copied == 0 && copies.missing.count + copies.damaged.count == 1)
            #expect(wrong.first?.image.name == "one.jpg" && wrong.first?.records.count == 1)
            #expect(try await copy.pictures().map(\.isHere) == [false])
            #expect(try await copy.records.assets.status().missing.files == 1)
        }
    }
}

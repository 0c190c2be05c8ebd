import Foundation
import PeerSync
import TestSupport
import Testing

@testable import ScorebookWeb

/// The small forms of pictures, with a program that only copies.
struct ThumbnailTests {
    @Test func aSmallFormIsOfAWholePictureThatIsThere() async throws {
        try await withTemporaryDirectory { directory in
            let program = directory.appendingPathComponent("vipsthumbnail")
            try "#!/bin/sh\ncp \"$1\" \"${5%%\\[*}\"\n".write(to: program, atomically: true, encoding: .utf8)
            chmod(program.path, 0o700)
            let assets = AssetDirectory(at: directory.appendingPathComponent("assets", isDirectory: true))
            let source = directory.appendingPathComponent("a.jpg")
            try Data([1, 2, 3]).write(to: source)
            let hash = try assets.add(source).hash
            let thumbnails = Thumbnails(assets, path: directory.path + ":/bin:/usr/bin")
            // Browsers keep what they get.
            try Data([1, 2, 4]).write(to: assets.file(hash))
            #expect(await thumbnails.file(hash) == nil)
            #expect(try assets.add(source).hash == hash)
            let small = try #require(await thumbnails.file(hash))
            #expect(try Data(contentsOf: small) == Data([1, 2, 3]))
            try FileManager.default.removeItem(at: assets.file(hash))
            #expect(await thumbnails.file(hash) == nil)
            #expect(!FileManager.default.fileExists(atPath: small.path))
        }
    }

    @Test func aPictureOfWhichNothingCanBeMadeIsTriedSeldomAndWithinBounds() async throws {
        try await withTemporaryDirectory { directory in
            let program = directory.appendingPathComponent("vipsthumbnail")
            let tries = directory.appendingPathComponent("tries")
            try "#!/bin/sh\nulimit -v >>\(tries.path)\nexit 1\n".write(
                to: program, atomically: true, encoding: .utf8)
            chmod(program.path, 0o700)
            let assets = AssetDirectory(at: directory.appendingPathComponent("assets", isDirectory: true))
            let source = directory.appendingPathComponent("a.jpg")
            try Data([1, 2, 3]).write(to: source)
            let hash = try assets.add(source).hash
            let (begin, clock) = (ContinuousClock.now, SetClock(0))
            let thumbnails = Thumbnails(assets, path: directory.path) {
                begin + .milliseconds(clock.milliseconds)
            }
            // The last try is ten minutes after the first.
            for milliseconds: Int64 in [0, 0, 599_999, 600_000] {
                clock.milliseconds = milliseconds
                #expect(await thumbnails.file(hash) == nil)
            }
            let bounds = try String(contentsOf: tries, encoding: .utf8).split(separator: "\n")
            #expect(bounds.count == 2)
            #if os(Linux)
                #expect(bounds == ["1048576", "1048576"])
            #endif
        }
    }
}

import Foundation
import Logging
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncStore

/// One picture that makes trouble is put aside, and ends nothing.
struct SharedAssetsTests {
    private func withAssets(_ body: (AssetDirectory, Asset) async throws -> Void) async throws {
        try await withTemporaryDirectory { url in
            let assets = AssetDirectory(at: url)
            try await body(assets, try assets.add([1, 2, 3]))
        }
    }

    private func open(_ asset: Asset, in assets: AssetDirectory) async throws -> String {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return switch try await SharedAssets().open(asset.hash, in: assets, logger: logger) {
        case .file: "file"
        case .missing: "missing"
        case .damaged: "damaged"
        }
    }

    /// Reading a directory fails, as reading from a disk that is failing does.
    private func makeUnreadable(_ file: URL) throws {
        try? FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    }

    @Test func whatCannotBeReadIsDamaged() async throws {
        try await withAssets { assets, asset in
            #expect(try await open(asset, in: assets) == "file")
            try makeUnreadable(assets.file(asset.hash))
            #expect(try await open(asset, in: assets) == "damaged")
            #expect(try await open(asset, in: assets) == "missing")
        }
    }

    @Test func whatCannotBePutAsideIsMissing() async throws {
        try await withAssets { assets, asset in
            try makeUnreadable(assets.file(asset.hash))
            try Data([1]).write(to: assets.url.appendingPathComponent("damaged"))
            #expect(try await open(asset, in: assets) == "missing")
        }
    }

    /// A file that could not be read is not given out again unseen.
    @Test func whatIsDoubtedIsLookedAtAgain() async throws {
        try await withAssets { assets, asset in
            let shared = SharedAssets()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            guard case .file(let file) = try await shared.open(asset.hash, in: assets, logger: logger) else {
                Issue.record("the file is whole")
                return
            }
            // Another byte, and nothing by which it can be told from before.
            let path = assets.file(asset.hash).path
            var times = [timespec](repeating: timespec(), count: 2)
            let modified = Int64(try PosixFile(path, O_RDONLY).status().modified)
            for index in times.indices {
                times[index].tv_sec = Int(modified / 1_000_000_000)
                times[index].tv_nsec = Int(modified % 1_000_000_000)
            }
            try [UInt8]([9]).withUnsafeBytes { try PosixFile(path, O_WRONLY).write($0, at: 0) }
            #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
            #expect(assets.open(asset.hash)?.version == file.version)
            shared.doubt(asset.hash)
            guard case .damaged = try await shared.open(asset.hash, in: assets, logger: logger) else {
                Issue.record("it has another byte")
                return
            }
        }
    }
}

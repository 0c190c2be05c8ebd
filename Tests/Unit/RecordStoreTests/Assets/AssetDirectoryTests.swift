import Foundation
import PeerSyncModel
import Synchronization
import TestSupport
import Testing

@testable import PeerSyncStore

/// Files are found by their hash, appear whole or not at all, and go on where they were.
struct AssetDirectoryTests {
    static let bytes = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    @Test func aFileIsKeptOnceUnderItsHash() throws {
        try withAssets { assets in
            let source = assets.url.deletingLastPathComponent().appendingPathComponent("a picture.png")
            try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Self.bytes).write(to: source)
            let asset = try assets.add(source)
            #expect(asset.name == "a picture.png")
            #expect(asset.mediaType == "image/png")
            #expect(asset.size == 3_000_008)
            #expect(try assets.add(source) == asset)
            #expect(try Data(contentsOf: assets.file(asset.hash)) == Data(contentsOf: source))
            #expect(try assets.present() == [asset.hash: asset.size])
            #expect(assets.isIntact(asset.hash))
            #expect(try assets.incoming.isEmpty)
        }
    }

    /// Somebody may hold the only good copy, and delete it when it has been added.
    @Test(arguments: [true, false]) func whatIsAddedTakesThePlaceOfADamagedFile(isFile: Bool) throws {
        try withAssets { assets in
            let asset = try assets.add(Self.bytes)
            var damaged = Self.bytes
            damaged[0] ^= 1
            try Data(damaged).write(to: assets.file(asset.hash))
            if isFile {
                let source = assets.url.deletingLastPathComponent().appendingPathComponent("copy")
                try Data(Self.bytes).write(to: source)
                #expect(try assets.add(source).hash == asset.hash)
            } else {
                #expect(try assets.add(Self.bytes) == asset)
            }
            #expect(assets.isIntact(asset.hash))
        }
    }

    @Test func aDamagedFileThatNobodyWantsGoes() throws {
        try withAssets { assets in
            let (wanted, unwanted) = (try assets.add([1, 2, 3]), try assets.add([4, 5, 6]))
            let before = Date(timeIntervalSinceNow: -60)
            for asset in [wanted, unwanted] {
                try assets.setAside(asset.hash)
            }
            let aside = assets.url.appendingPathComponent("damaged", isDirectory: true)
            func left() throws -> Set<String> {
                Set(try FileManager.default.contentsOfDirectory(atPath: aside.path))
            }
            assets.removeLeftovers(untouchedSince: before, wanted: [wanted.hash])
            #expect(try left() == [wanted.hash.description, unwanted.hash.description])
            assets.removeLeftovers(untouchedSince: .distantFuture, wanted: [wanted.hash])
            #expect(try left() == [wanted.hash.description])
        }
    }

    @Test func whatCannotBeReadIsRefused() throws {
        try withAssets { assets in
            for url in [assets.url.appendingPathComponent("none"), assets.url.deletingLastPathComponent()] {
                #expect(throws: RecordStoreError.self) { try assets.add(url) }
            }
            let present = try assets.present()
            #expect(present.isEmpty)
        }
    }

    /// A copy of 2 GiB would be in vain.
    @Test func aWrongMediaTypeIsRefusedBeforeTheCopy() throws {
        try withAssets { assets in
            let source = assets.url.deletingLastPathComponent().appendingPathComponent("note.txt")
            try Data([1, 2, 3]).write(to: source)
            let error = #expect(throws: RecordStoreError.self) { try assets.add(source, mediaType: "text") }
            #expect(error?.code == .invalidValue)
            #expect(try FileManager.default.contentsOfDirectory(atPath: assets.url.path).isEmpty)
            #expect(try assets.add(source, mediaType: "text/plain").mediaType == "text/plain")
        }
    }

    #if os(Linux)
        /// This file says that it is empty, and has more bytes, as one that grows while it is copied.
        @Test func aFileThatGrowsBeyondTheBoundLeavesNothing() throws {
            try withAssets { assets in
                let source = URL(fileURLWithPath: "/proc/self/status")
                let error = #expect(throws: RecordStoreError.self) {
                    try assets.add(source, maximumSize: 10)
                }
                #expect(error?.code == .invalidValue)
                let (present, incoming) = (try assets.present(), try assets.incoming)
                #expect(present.isEmpty && incoming.isEmpty)
            }
        }

        /// The first bytes of this process's memory cannot be read, although the file can be opened.
        @Test func anErrorOfReadingIsOneOfTheSource() throws {
            try withAssets { assets in
                let error = #expect(throws: RecordStoreError.self) {
                    try assets.add(URL(fileURLWithPath: "/proc/self/mem"))
                }
                #expect(error?.code == .unreadableFile)
            }
        }
    #endif

    @Test func aFileComesInPieces() throws {
        try withAssets { assets in
            let asset = try withAssets { try $0.add(Self.bytes) }
            for (begin, end) in [(0, 1_000_000), (1_000_000, 1_500_000), (1_500_000, 3_000_000)] {
                let file = try #require(try assets.receive(asset.hash, size: asset.size))
                #expect(file.count == Int64(begin))
                #expect(!assets.contains(asset.hash, size: asset.size))
                try Self.bytes[begin..<end].withUnsafeBytes { try file.append($0) }
                if end == 3_000_000 { #expect(try file.finish()) }
            }
            #expect(assets.contains(asset.hash, size: asset.size))
            #expect(assets.isIntact(asset.hash))
            #expect(try assets.incoming.isEmpty)
        }
    }

    @Test func onlyOneReceivesAFileAtATime() throws {
        try withAssets { assets in
            let asset = try withAssets { try $0.add(Self.bytes) }
            var first = try assets.receive(asset.hash, size: asset.size)
            #expect(try assets.receive(asset.hash, size: asset.size) == nil)
            try Self.bytes.withUnsafeBytes { try first?.append($0) }
            first = nil
            #expect(try assets.receive(asset.hash, size: asset.size)?.count == asset.size)
        }
    }

    @Test func otherBytesAreThrownAway() throws {
        try withAssets { assets in
            let asset = try withAssets { try $0.add(Self.bytes) }
            let file = try #require(try assets.receive(asset.hash, size: asset.size))
            var wrong = Self.bytes
            wrong[1_234_567] ^= 1
            try wrong.withUnsafeBytes { try file.append($0) }
            #expect(try file.finish() == false)
            #expect(!assets.contains(asset.hash, size: asset.size))
            #expect(try assets.receive(asset.hash, size: asset.size)?.count == 0)
        }
    }

    @Test func aLongerRestThanTheFileIsBegunAnew() throws {
        try withAssets { assets in
            let asset = try withAssets { try $0.add(Self.bytes) }
            let incoming = assets.url.appendingPathComponent("incoming")
            try FileManager.default.createDirectory(at: incoming, withIntermediateDirectories: true)
            try Data(count: 4_000_000).write(to: incoming.appendingPathComponent(asset.hash.description))
            #expect(try assets.receive(asset.hash, size: asset.size)?.count == 0)
        }
    }

    @Test func aDamagedFileIsPutAsideUntilAWholeOneComes() throws {
        try withAssets { assets in
            let asset = try assets.add(Self.bytes)
            var damaged = Self.bytes
            damaged[0] ^= 1
            try Data(damaged).write(to: assets.file(asset.hash))
            #expect(!assets.isIntact(asset.hash))
            try assets.setAside(asset.hash)
            #expect(!assets.contains(asset.hash, size: asset.size))
            let aside = assets.url.appendingPathComponent("damaged/\(asset.hash)")
            #expect(FileManager.default.fileExists(atPath: aside.path))
            _ = try assets.add(Self.bytes)
            #expect(!FileManager.default.fileExists(atPath: aside.path))
        }
    }

    /// Nobody can make this machine read or write through a link that lies in the directory.
    @Test func linksAreNotFollowed() throws {
        try withAssets { assets in
            let asset = try withAssets { try $0.add(Self.bytes) }
            let elsewhere = assets.url.deletingLastPathComponent().appendingPathComponent("elsewhere")
            try Data(Self.bytes).write(to: elsewhere)
            let link = assets.file(asset.hash)
            try FileManager.default.createDirectory(
                at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: elsewhere)
            #expect(!assets.contains(asset.hash, size: asset.size))
            #expect(assets.open(asset.hash) == nil)
            #expect(!assets.isIntact(asset.hash))
        }
    }

    /// What cannot be read to its end is damaged; but who cannot even open a file, for want of rights or descriptors, has
    /// found no damage.
    @Test func onlyWrongBytesAreDamage() throws {
        try withAssets { assets in
            let asset = try assets.add(Self.bytes)
            #expect(try !assets.isDamaged(asset.hash))
            try FileManager.default.removeItem(at: assets.file(asset.hash))
            #expect(try !assets.isDamaged(asset.hash))
            try FileManager.default.createDirectory(
                at: assets.file(asset.hash), withIntermediateDirectories: true)
            #expect(try assets.isDamaged(asset.hash))
            let directory = assets.file(asset.hash).deletingLastPathComponent()
            try FileManager.default.removeItem(at: directory)
            try Data([1]).write(to: directory)
            #expect(throws: RecordStoreError.self) { try assets.isDamaged(asset.hash) }
        }
    }

    /// What another process clears away is what was left behind, not what is being added.
    @Test func whatIsBeingAddedStays() throws {
        try withAssets { assets in
            let (hash, _) = try assets.add { offset in
                assets.removeLeftovers(untouchedSince: .distantFuture, wanted: [])
                return offset == 0 ? [1, 2, 3] : []
            }
            #expect(assets.contains(hash, size: 3))
        }
    }

    // MARK: Room

    /// Whoever else fills the disk, what comes from peers leaves room for records.
    @Test func theReserveStaysFreeWhoeverWrites() throws {
        try withAssets { directory in
            let free = Mutex<Int64>(AssetDirectory.reserve + 10_000_000)
            let assets = AssetDirectory(at: directory.url) { _ in free.withLock { $0 } }
            let asset = try withAssets { try $0.add(Self.bytes) }
            let file = try #require(try assets.receive(asset.hash, size: asset.size))
            try Self.bytes[..<1_000_000].withUnsafeBytes { try file.append($0) }
            free.withLock { $0 = AssetDirectory.reserve + 1000 }
            #expect(throws: RecordStoreError.self) {
                for part in 0..<20 {
                    try Self.bytes[(1_000_000 + part * 65_000)...].prefix(65_000)
                        .withUnsafeBytes { try file.append($0) }
                }
            }
            #expect(file.count < 1_100_000)
        }
    }

    /// The size of a file decides, not what is left of others; and what is too large is not read before that is known.
    @Test func aFileThatDoesNotFitKeepsNoOtherWaiting() throws {
        try withAssets { directory in
            let assets = AssetDirectory(at: directory.url) { _ in AssetDirectory.reserve + 5000 }
            let asset = try withAssets { try $0.add(Self.bytes) }
            #expect(throws: RecordStoreError.self) { try assets.receive(asset.hash, size: asset.size) }
            #expect(try assets.receive(asset.hash, size: 5000) != nil)
            #expect(assets.hasRoom)
            #expect(!AssetDirectory(at: directory.url) { _ in AssetDirectory.reserve }.hasRoom)
        }
    }

    @Test(
        arguments: [
            (1000, 4096, 4_096_000), (.max, 4096, .max), (.max, 1, .max), (0, 4096, 0),
        ] as [(UInt64, UInt64, Int64)])
    func freeBytesOfAnyFileSystem(blocks: UInt64, size: UInt64, bytes: Int64) {
        #expect(AssetDirectory.bytes(of: blocks, blocksOf: size) == bytes)
    }

    @Test(arguments: [
        ("all", AssetPolicy.all), ("none", .none), ("under 5MB", .under(5_000_000)),
        ("under 5 MB", .under(5_000_000)), ("Under 1.5mib", .under(1_572_864)), ("under 300", .under(300)),
        ("under 2kB", .under(2000)), ("under 1 GiB", .under(1 << 30)),
    ])
    func policiesAreRead(text: String, policy: AssetPolicy) {
        #expect(AssetPolicy(text) == policy)
        #expect(AssetPolicy(policy.description) == policy)
    }

    @Test(arguments: [
        "", "some", "under", "under 0", "under -5MB", "under MB", "all 5MB", "under 1e99GB", "under nan",
    ])
    func otherPoliciesAreNone(text: String) {
        #expect(AssetPolicy(text) == nil)
    }
}

extension AssetDirectory {
    fileprivate var incoming: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: url.appendingPathComponent("incoming").path)
        }
    }
}

/// Runs a test with a directory of assets of its own.
func withAssets<Value>(_ body: (AssetDirectory) throws -> Value) throws -> Value {
    let directory = try TemporaryDirectory()
    defer { directory.remove() }
    let url = directory.url.appendingPathComponent("assets", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return try body(AssetDirectory(at: url))
}

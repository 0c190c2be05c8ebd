import Foundation
import GRDB
import PeerSyncStore
import Scorebook
import TestSupport
import Testing

@testable import PeerSync

/// The identity key is made once, kept private, and never replaced silently.
struct IdentityTests {
    private func withKeyFile(_ body: (URL) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try body(directory.url.appendingPathComponent(Identity.fileName))
    }

    @Test func theSameKeyComesBack() throws {
        try withKeyFile { url in
            let made = try Identity.loadOrCreate(at: url)
            let loaded = try Identity.loadOrCreate(at: url)
            #expect(made.publicKey == loaded.publicKey)
            #expect(made.replicaID == loaded.replicaID)
            let mode =
                try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o660])
    func aKeyThatOthersCanReadIsRefused(mode: Int) throws {
        try withKeyFile { url in
            _ = try Identity.loadOrCreate(at: url)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
            #expect { try Identity.loadOrCreate(at: url) } throws: {
                ($0 as? PeerSyncError)?.code == .unsafeIdentity
            }
        }
    }

    /// What is checked is the file that is read.
    @Test func aLinkToAKeyThatOthersCanReadIsRefused() throws {
        try withKeyFile { url in
            let other = url.appendingPathExtension("elsewhere")
            let made = try Identity.loadOrCreate(at: other)
            try FileManager.default.createSymbolicLink(at: url, withDestinationURL: other)
            let loaded = try Identity.loadOrCreate(at: url)
            #expect(loaded.publicKey == made.publicKey)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other.path)
            #expect { try Identity.loadOrCreate(at: url) } throws: {
                ($0 as? PeerSyncError)?.code == .unsafeIdentity
            }
        }
    }

    @Test func whatIsNoFileIsRefused() throws {
        try withKeyFile { url in
            try FileManager.default.createSymbolicLink(
                at: url, withDestinationURL: url.appendingPathExtension("nowhere"))
            #expect { try Identity.loadOrCreate(at: url) } throws: {
                ($0 as? PeerSyncError)?.code == .storeUnusable
            }
            try FileManager.default.removeItem(at: url)
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            #expect { try Identity.loadOrCreate(at: url) } throws: {
                ($0 as? PeerSyncError)?.code == .invalidIdentity
            }
            try FileManager.default.removeItem(at: url)
            #expect(mkfifo(url.path, 0o600) == 0)
            #expect { try Identity.loadOrCreate(at: url) } throws: {
                ($0 as? PeerSyncError)?.code == .invalidIdentity
            }
        }
    }

    @Test func aNewKeyTakesThePlaceOfTheOldOne() throws {
        try withKeyFile { url in
            let old = try Identity.loadOrCreate(at: url)
            let new = try Identity.renew(at: url)
            #expect(new.publicKey != old.publicKey)
            let loaded = try Identity.loadOrCreate(at: url)
            #expect(loaded.publicKey == new.publicKey)
            let files = try FileManager.default.contentsOfDirectory(
                atPath: url.deletingLastPathComponent().path)
            #expect(files == [Identity.fileName])
        }
    }

    /// Under a new key its pairings would end, for good.
    @Test func aPairedStoreGetsNoNewKeyUnasked() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let url = directory.url.appendingPathComponent(Identity.fileName)
        let database = try DatabaseQueue()
        // A database that was never opened for sync, and one that no other machine knows.
        let first = try Identity.loadOrCreate(at: url, for: database)
        let store = try ScorebookStore(database, replica: first.replicaID).records
        try FileManager.default.removeItem(at: url)
        let second = try Identity.loadOrCreate(at: url, for: database)
        #expect(second.publicKey != first.publicKey)
        _ = try await store.peers.add(key: Identity.generate().publicKey.bytes, name: "study")
        #expect(try Identity.loadOrCreate(at: url, for: database).publicKey == second.publicKey)
        try FileManager.default.removeItem(at: url)
        let error = #expect(throws: PeerSyncError.self) {
            try Identity.loadOrCreate(at: url, for: database)
        }
        #expect(error?.code == .missingIdentity && error?.path == url.path)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(try await store.peers.all().map(\.name) == ["study"])
        #expect(try Identity.loadOrCreate(at: url, for: nil).publicKey != second.publicKey)
    }

    @Test func aKeyThatAnAppKeepsIsTheSameIdentity() throws {
        let made = Identity.generate()
        let again = try Identity(rawRepresentation: made.rawRepresentation)
        #expect(again.publicKey == made.publicKey)
        #expect(again.rawRepresentation == made.rawRepresentation)
        for count in [0, 31, 33] {
            #expect {
                try Identity(rawRepresentation: [UInt8](repeating: 1, count: count))
            } throws: {
                ($0 as? PeerSyncError)?.code == .invalidIdentity
            }
        }
    }

    @Test(arguments: [
        "", "nonsense", "scorebook-peer identity 1 00ff\n",
        "scorebook-peer identity 1 " + String(repeating: "zz", count: 32),
    ])
    func aFileThatIsNoKeyIsRefusedAndLeftAlone(content: String) throws {
        try withKeyFile { url in
            let isMade = FileManager.default.createFile(
                atPath: url.path, contents: Data(content.utf8), attributes: [.posixPermissions: 0o600])
            #expect(isMade)
            #expect { try Identity.loadOrCreate(at: url) } throws: {
                ($0 as? PeerSyncError)?.code == .invalidIdentity
            }
            let left = try String(contentsOf: url, encoding: .utf8)
            #expect(left == content)
        }
    }
}

import Foundation
import GRDB
import SyncModel
import Testing

@testable import PeerSync
@testable import RecordStore
@testable import SyncProtocol

/// What a peer that asks for files is told.
struct AssetSessionTests {
    /// A side of a session, of which the test is the other.
    private struct Side {
        let store: RecordStore
        let assets: AssetDirectory
        let session: AssetSession
        let outbox = Outbox()

        init(_ url: URL) async throws {
            let database = try DatabaseQueue()
            try await database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE Photo (
                            recordName TEXT NOT NULL PRIMARY KEY, file BLOB, modificationDate TEXT);
                        """)
            }
            let identity = Identity.generate()
            assets = AssetDirectory(at: url)
            store = try RecordStore(
                database,
                schema: RecordSchema([RecordType("Photo", [FieldDefinition("file", .asset)])]),
                replica: identity.replicaID, assets: assets)
            let peer = try await store.addPeer(key: [UInt8](repeating: 9, count: 32), name: "attic")
            let engine = SyncEngine(store: store, identity: identity, displayName: "kitchen")
            session = AssetSession(
                engine, with: peer, zones: [try await store.zone(named: "ScorebookData")], outbox: outbox,
                statistics: StatisticsCounter(engine.metrics))
        }

        func addRecord(_ asset: Asset) async throws {
            try await store.write { db in
                try db.execute(
                    sql: "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)",
                    arguments: [asset.json])
            }
        }

        func ask(_ hash: AssetHash, length: UInt64) async throws {
            try await session.received(Message.AssetRequest(hash: hash, offset: 0, length: length))
        }

        /// The next thing that the session says of files, apart from what it wants itself.
        func answer() async throws -> Message {
            while true {
                switch outbox.next() {
                case .message(.assetsWanted): break
                case .message(let message): return message
                case .nothing, .end: try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
    }

    private func withSide(_ body: @escaping @Sendable (Side) async throws -> Void) async throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("scorebook-peer-\(UUID().uuidString)", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: url) }
        let side = try await Side(url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await side.session.run {} }
            try await body(side)
            group.cancelAll()
        }
    }

    /// A file that is shorter than the peer takes it for, and one that is not here: each request has its answer.
    @Test(.timeLimit(.minutes(1))) func everyRequestIsAnswered() async throws {
        try await withSide { side in
            let here = try side.assets.add([1, 2, 3])
            let none = try side.assets.add([4, 5, 6])
            try FileManager.default.removeItem(at: side.assets.file(none.hash))
            try await side.addRecord(here)
            try await side.ask(here.hash, length: 4)
            try await side.ask(none.hash, length: 3)
            try await side.ask(none.hash, length: 3)
            try await side.ask(here.hash, length: 3)
            #expect(try await side.answer() == .assetMissing(here.hash))
            #expect(try await side.answer() == .assetMissing(none.hash))
            #expect(try await side.answer() == .assetMissing(none.hash))
            guard case .assetChunk(let chunk) = try await side.answer() else {
                Issue.record("the file is here")
                return
            }
            #expect(Array(chunk.bytes.readableBytesView) == [1, 2, 3])
        }
    }

    /// The peer may know of the record before this side does.
    @Test(.timeLimit(.minutes(1))) func aFileIsToldWhenARecordRefersToIt() async throws {
        try await withSide { side in
            let (known, secret) = (try side.assets.add([1, 2, 3]), try side.assets.add([4, 5, 6]))
            for asset in [known, secret] {
                try await side.ask(asset.hash, length: 3)
                #expect(try await side.answer() == .assetMissing(asset.hash))
                await side.session.arrived(asset.hash)
            }
            try await side.addRecord(known)
            try await side.session.refresh()
            #expect(try await side.answer() == .assetsAvailable([known.hash]))
        }
    }
}

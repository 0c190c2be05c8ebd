import Foundation
import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSync
@testable import PeerSyncProtocol
@testable import PeerSyncStore

/// What a peer that asks for files is told.
struct AssetSessionTests {
    /// A side of a session, of which the test is the other.
    private struct Side {
        let store: RecordStore
        let assets: AssetDirectory
        let engine: SyncEngine
        let session: AssetSession
        let outbox = Outbox()

        init(_ database: any DatabaseWriter, _ url: URL) async throws {
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
                replica: identity.replicaID, assetDirectory: assets)
            let peer = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "attic")
            engine = SyncEngine(app: "scorebook", store: store, identity: identity, displayName: "kitchen")
            session = AssetSession(
                engine, with: peer, zones: [try await store.zones.find(named: "ScorebookData")],
                outbox: outbox,
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
            try await eventually("an answer", within: .seconds(300)) {
                while case .message(let message) = outbox.next() {
                    switch message {
                    case .assetsWanted, .assetRequest: continue
                    default: return message
                    }
                }
                return nil
            }
        }
    }

    private func withSide(_ body: @escaping @Sendable (Side) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in try await run(Side(DatabaseQueue(), directory), body)
        }
    }

    private func run(
        _ side: Side, _ body: @escaping @Sendable (Side) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await side.session.run {} }
            try await body(side)
            group.cancelAll()
        }
    }

    /// A file that is shorter than the peer takes it for, and one that is not here: each request has its answer.
    @Test(.timeLimit(.minutes(5))) func everyRequestIsAnswered() async throws {
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

    /// A listener may have a thousand machines, each of which has got some files once.
    @Test(.timeLimit(.minutes(5))) func filesAreOpenOnlyAsLongAsThePeerWantsAny() async throws {
        try await withSide { side in
            let asset = try side.assets.add([1, 2, 3])
            try await side.addRecord(asset)
            await side.session.received(Message.AssetsWanted(files: 1, bytes: 3))
            try await side.ask(asset.hash, length: 3)
            guard case .assetChunk = try await side.answer() else {
                Issue.record("the file is here")
                return
            }
            #expect(await side.session.outgoing.count == 1)
            await side.session.received(Message.AssetsWanted(files: 0, bytes: 0))
            #expect(await side.session.outgoing.isEmpty)
        }
    }

    /// Records come before the files of the bytes that a program wrote into them. A peer that syncs once asks only once.
    @Test(.timeLimit(.minutes(5))) func whatIsAboutToBecomeAFileIsNotMissing() async throws {
        try await withSide { side in
            let bytes: [UInt8] = [1, 2, 3]
            try await side.store.database.write { db in
                try db.execute(
                    sql: "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)",
                    arguments: [Data(bytes)])
                // The record is there, and its file is not.
                _ = try side.store.fold(db)
            }
            try await side.ask(Asset(describing: bytes).hash, length: 3)
            guard case .assetChunk(let chunk) = try await side.answer() else {
                Issue.record("the bytes are here")
                return
            }
            #expect(Array(chunk.bytes.readableBytesView) == bytes)
        }
    }

    /// The peer may know of the record before this side does.
    @Test(.timeLimit(.minutes(5))) func aFileIsToldWhenARecordRefersToIt() async throws {
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

    /// No write to the database tells of a file that somebody has taken away.
    @Test(.timeLimit(.minutes(5))) func aFileThatGoesMeanwhileIsWantedAgain() async throws {
        try await withTemporaryDirectory { directory in
            let side = try await Side(DatabaseQueue(), directory)
            side.engine.deadlines.fileLooks = .milliseconds(20)
            let asset = try side.assets.add([1, 2, 3])
            try await side.addRecord(asset)
            @Sendable func wanted(_ count: UInt64) async throws {
                try await eventually("what it wants", within: .seconds(300)) {
                    while case .message(let message) = side.outbox.next() {
                        if case .assetsWanted(let wanted) = message, wanted.files == count { return true }
                    }
                    return false
                }
            }
            try await run(side) { side in
                try await wanted(0)
                try FileManager.default.removeItem(at: side.assets.file(asset.hash))
                try await wanted(1)
            }
        }
    }

    /// The peer asks for a picture that another program writes into the column while the store is watched.
    @Test(.timeLimit(.minutes(5))) func aPictureThatAnotherProgramWritesBecomesAFileAndIsTold() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("album.sqlite").path
            let side = try await Side(
                DatabasePool(path: path), directory.appendingPathComponent("assets", isDirectory: true))
            let bytes: [UInt8] = [1, 2, 3]
            let hash = Asset(describing: bytes).hash
            let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let observation = side.engine.watch.observe { change.yield() }
            defer { withExtendedLifetime(observation) {} }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await side.engine.watchStore() }
                group.addTask { for await _ in changes { try await side.session.refresh() } }
                try await run(side) { side in
                    try await side.ask(hash, length: 3)
                    #expect(try await side.answer() == .assetMissing(hash))
                    let other = try DatabaseQueue(path: path)
                    try await other.write { db in
                        try db.execute(
                            sql: "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)",
                            arguments: [Data(bytes)])
                    }
                    #expect(try await side.answer() == .assetsAvailable([hash]))
                    #expect(side.assets.isIntact(hash))
                }
                group.cancelAll()
            }
        }
    }
}

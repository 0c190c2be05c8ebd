import Foundation
import GRDB
import PeerSyncModel
import Synchronization
import TestSupport
import Testing

@testable import PeerSyncStore

/// Whoever observes the database with GRDB hears of what another connection has written once the store has looked for it; the sessions
/// do not take that for a write.
struct OthersWritesTests {
    /// A store in a file, a connection of another program, and how often observers of the first have heard of anything.
    private final class Scene: Sendable {
        let store: RecordStore
        let other: DatabaseQueue
        let path: String
        let toldOfAuthors = Mutex(0)
        let toldOfWrites = Mutex(0)

        /// - Parameter sql: makes tables beside those of the tests.
        init(_ path: String, sql: String) throws {
            self.path = path
            let database = try DatabaseQueue(path: path)
            try database.write { try $0.execute(sql: Library.sql + sql) }
            store = try RecordStore(
                database, schema: Library.schema(), replica: ReplicaID(rawValue: 1))
            other = try DatabaseQueue(path: path)
        }

        func insert(_ number: Int) throws {
            try other.write {
                try $0.execute(
                    sql: "INSERT INTO Author (recordName, name) VALUES (?, 'A')",
                    arguments: ["Author|~|\(number)"])
            }
        }

        /// Returns how often observers of a table of the app's, and of this process's writes, hear of what `body` does.
        func told(by body: () async throws -> Void) async throws -> [Int] {
            let before = [toldOfAuthors.withLock { $0 }, toldOfWrites.withLock { $0 }]
            try await body()
            return [toldOfAuthors.withLock { $0 } - before[0], toldOfWrites.withLock { $0 } - before[1]]
        }
    }

    private func withScene(_ sql: String = "", _ body: (Scene) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let scene = try Scene(directory.appendingPathComponent("app.db").path, sql: sql)
            let authors = DatabaseRegionObservation(tracking: Table("Author")).start(
                in: scene.store.database, onError: { _ in },
                onChange: { _ in scene.toldOfAuthors.withLock { $0 += 1 } })
            let writes = scene.store.observeWrites { scene.toldOfWrites.withLock { $0 += 1 } }
            defer {
                authors.cancel()
                writes.cancel()
            }
            try await body(scene)
        }
    }

    @Test(arguments: ["", "CREATE TABLE \"odd \"\"name\"\"\" (x);"])
    func anObservationHearsOfAnotherConnection(sql: String) async throws {
        try await withScene(sql) { scene in
            var found = try await scene.store.foldOthersWrites(since: nil)
            try scene.insert(1)
            // The store takes in the write, which is one of its own.
            var told = try await scene.told {
                found = try await scene.store.foldOthersWrites(since: found.version)
            }
            #expect(told[1] == 1)
            #expect(found.hasChanged && found.hasFolded)
            told = try await scene.told { try await scene.store.tellOthersWrites() }
            #expect(told == [1, 0])
            // To tell of it writes nothing.
            found = try await scene.store.foldOthersWrites(since: found.version)
            #expect(!found.hasChanged)
        }
    }

    // MARK: Connections that only read

    @Test func aConnectionThatOnlyReadsOpensWhatIsUpToDate() async throws {
        try await withScene { scene in
            try scene.insert(1)
            try await scene.store.foldPendingChanges()
            var configuration = Configuration()
            configuration.readonly = true
            let database = try DatabaseQueue(path: scene.path, configuration: configuration)
            let store = try RecordStore(database, schema: Library.schema(), replica: ReplicaID(rawValue: 1))
            #expect(try await database.read { try store.status($0) }.records["Author"] == 1)
        }
    }
}

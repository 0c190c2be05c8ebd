import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import TestSupport
import Testing

@testable import PeerSync

/// Being told to end is no error, at whatever moment.
struct WatchEndTests {
    @Test func aWatchThatIsCancelledBeforeItBeginsJustEnds() async throws {
        let engine = try LoopbackMachine("kitchen").engine
        let watch = Task {
            while !Task.isCancelled { await Task.yield() }
            try await engine.watchStore()
        }
        watch.cancel()
        try await watch.value
    }

    /// It would take what the new version writes out of the journal, without what it does not know.
    @Test func aWatchEndsWhenAnotherVersionOpensTheDatabase() async throws {
        try await withTemporaryDirectory { url in
            let path = url.appendingPathComponent("items.sqlite").path
            let identity = Identity.generate()
            func open(_ fields: [String]) throws -> RecordStore {
                let database = try DatabasePool(path: path)
                try database.write { db in
                    try db.execute(
                        sql: "CREATE TABLE IF NOT EXISTS Item (id TEXT NOT NULL PRIMARY KEY, title, amount)")
                }
                return try RecordStore(
                    database, schema: RecordSchema([RecordType("Item", fields.map { FieldDefinition($0) })]),
                    replica: identity.replicaID)
            }
            let engine = SyncEngine(
                app: .scorebook, store: try open(["title"]), identity: identity, displayName: "kitchen",
                discovery: .off)
            let watch = Task { try await engine.watchStore() }
            let new = try open(["title", "amount"])
            let error = await #expect(throws: PeerSyncError.self) { try await watch.value }
            #expect(error?.code == .storeUnusable)
            _ = new
        }
    }
}

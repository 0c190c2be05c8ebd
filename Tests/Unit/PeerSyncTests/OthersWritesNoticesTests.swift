import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Synchronization
import TestSupport
import Testing

@testable import PeerSync

/// Each observer hears once of what another program has written, however many watches find it, and of nothing else.
struct OthersWritesNoticesTests {
    @Test(.timeLimit(.minutes(5))) func whatAnotherProgramWroteIsToldOnce() async throws {
        try await withTemporaryDirectory { folder in
            let path = folder.appendingPathComponent("app.db").path
            let (database, other) = (try DatabaseQueue(path: path), try DatabaseQueue(path: path))
            try await database.write {
                try $0.execute(sql: "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY)")
            }
            let store = try RecordStore(database, tables: ["Item"], replica: ReplicaID(rawValue: 1))
            let told = Mutex(0)
            let observation = DatabaseRegionObservation(tracking: Table("Item")).start(
                in: database, onError: { _ in }, onChange: { _ in told.withLock { $0 += 1 } })
            defer { observation.cancel() }
            let notices = OthersWritesNotices(store)
            // Somebody may have observed since before the store was opened.
            var version = try await store.foldOthersWrites(since: nil).version
            #expect(notices.areDue(at: version))
            try await notices.tell()
            #expect(told.withLock { $0 } == 1)
            for number in 2...3 {
                try await other.write {
                    try $0.execute(sql: "INSERT INTO Item VALUES (?)", arguments: ["\(number)"])
                }
                version = try await store.foldOthersWrites(since: version).version
                #expect(notices.areDue(at: version))
                // Two watches.
                for _ in 0..<2 { try await notices.tell() }
                #expect(told.withLock { $0 } == number)
                // What a watch has found before, and says only now, is no news.
                #expect(!notices.areDue(at: version) && !notices.areDue(at: version - 1))
            }
        }
    }

    /// The next watch tells what the one that was cancelled has found.
    @Test(.timeLimit(.minutes(5))) func aNoticeThatWasCancelledIsStillDue() async throws {
        try await withTemporaryDirectory { folder in
            let database = try DatabaseQueue(path: folder.appendingPathComponent("app.db").path)
            try await database.write {
                try $0.execute(sql: "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY)")
            }
            let store = try RecordStore(database, tables: ["Item"], replica: ReplicaID(rawValue: 1))
            let notices = OthersWritesNotices(store)
            let version: Int64 = 7
            #expect(notices.areDue(at: version))
            let telling = Task {
                while !Task.isCancelled { await Task.yield() }
                try await notices.tell()
            }
            telling.cancel()
            await #expect(throws: CancellationError.self) { try await telling.value }
            #expect(notices.areDue(at: version))
            try await notices.tell()
            #expect(!notices.areDue(at: version))
        }
    }
}

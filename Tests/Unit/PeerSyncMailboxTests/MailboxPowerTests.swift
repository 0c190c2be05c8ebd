import DiskSimulator
import GRDB
import MailboxSupport
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

@testable import PeerSyncMailbox

/// A loss of power makes no machine a stranger to what it has put.
struct MailboxPowerTests {
    /// Otherwise the machine would take its head for that of another one with its key.
    @Test func theCounterOfAHeadOutlastsALossOfPower() async throws {
        try await withTemporaryDirectory { url in
            let disk = try FaultyDisk(at: url)
            let path = url.appendingPathComponent("store").path
            // As the program does, which lets commits reach the disk later.
            var configuration = Configuration()
            configuration.prepareDatabase { db in
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            let database = try DatabaseQueue(path: path, configuration: configuration)
            let identity = Identity.generate()
            let store = try RecordStore(
                database, schema: RecordSchema([]), replica: identity.replicaID)
            let entry = try await store.mailboxes.add("shelf", location: "nowhere")
            _ = try await database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            let engine = SyncEngine(
                app: "org.example.items", store: store, identity: identity, displayName: "kitchen",
                discovery: .off)
            let shelf = MemoryDisk()
            let storage = HookedStorage(MemoryStorage(shelf), hasPut: { _ in disk.plan(.powerCut, at: 1) })
            await #expect(throws: (any Error).self) {
                _ = try await Mailbox(engine, entry, in: storage).syncOnce()
            }
            let heads = shelf.objects.keys.compactMap { AuthorID.parse($0)?.counter }
            let head = try #require(heads.max())
            // As long as nothing reaches the disk: closing would make everything durable.
            try? database.close()
            try disk.settle(seed: 0)
            disk.plan(nil)
            let counter = try await DatabaseQueue(path: path).read { db in
                try Int64.fetchOne(db, sql: "SELECT counter FROM grdb_sync_mailbox")
            }
            #expect(counter == Int64(head))
        }
    }

    /// macOS leaves what is only synced in the cache of the drive.
    @Test(arguments: [false, true]) func aDurableWriteReachesTheDriveItself(isUsual: Bool) async throws {
        try await withTemporaryDirectory { url in
            var configuration = Configuration()
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA fullfsync = \(isUsual ? 1 : 0)") }
            let database = try DatabaseQueue(
                path: url.appendingPathComponent("store").path, configuration: configuration)
            let store = try RecordStore(
                database, schema: RecordSchema([]), replica: Identity.generate().replicaID)
            let during = try await store.writeDurably { try Bool.fetchOne($0, sql: "PRAGMA fullfsync") }
            let after = try await database.read { try Bool.fetchOne($0, sql: "PRAGMA fullfsync") }
            #expect(during == true && after == isUsual)
        }
    }
}

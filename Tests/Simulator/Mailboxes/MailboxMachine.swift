import Foundation
import GRDB
import MailboxSupport
import PeerSync
import PeerSyncMailbox
import PeerSyncModel
import PeerSyncStore
import Synchronization
import TestSupport

/// A machine of the tests: items in a database, and one mailbox.
package final class MailboxMachine: MailboxUser {
    package let name: String
    package let identity: Identity
    package let engine: SyncEngine
    package let database: DatabaseQueue
    package let storage: MemoryStorage
    package let mailbox: Mailbox
    private let log = EventLog()

    private final class EventLog: Sendable {
        let events = Mutex<[MailboxEvent]>([])
    }

    /// - Parameters:
    ///   - path: where its database is; in memory if none is given.
    ///   - identity: another one than a new one.
    ///   - assets: where its files are.
    package init(
        _ name: String, _ disk: MemoryDisk, path: String? = nil, identity: Identity = .generate(),
        assets: URL? = nil,
        clock: SetClock = SetClock(1_700_000_000_000)
    ) async throws {
        self.name = name
        self.identity = identity
        var configuration = Configuration()
        // Programs end here, and systems do not: nothing has to reach the disk.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") }
        database =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) } ?? DatabaseQueue()
        try await database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS Item (
                        id TEXT NOT NULL PRIMARY KEY, title TEXT, number INTEGER, photo TEXT);
                    """)
        }
        let store = try RecordStore(
            database, tables: [SyncedTable("Item", files: ["photo"])], replica: identity.replicaID,
            assetDirectory: assets.map { AssetDirectory(at: $0) }, now: { clock.milliseconds })
        engine = SyncEngine(
            app: "org.example.items", store: store, identity: identity, displayName: name, discovery: .off)
        storage = MemoryStorage(disk)
        let known = try await store.mailboxes.all().first
        let entry =
            if let known { known } else { try await store.mailboxes.add("shelf", location: "nowhere") }
        mailbox = Mailbox(engine, entry, in: storage) { [log] event in
            log.events.withLock { $0.append(event) }
        }
    }

    /// Makes machines that are all paired with each other, and have not used their mailbox yet.
    package static func paired(
        _ names: [String], _ disk: MemoryDisk, clock: SetClock = SetClock(1_700_000_000_000)
    ) async throws -> [MailboxMachine] {
        var machines: [MailboxMachine] = []
        for name in names { machines.append(try await MailboxMachine(name, disk, clock: clock)) }
        try await pair(machines)
        return machines
    }

    package var store: RecordStore { engine.store }
    package var key: [UInt8] { identity.publicKey.bytes }
    package var events: [MailboxEvent] { log.events.withLock { $0 } }
    /// The machines of which it was told that what they have put cannot be read on.
    package var stops: [String] {
        events.compactMap { if case .stopped(let machine, _) = $0 { machine } else { nil } }
    }
    package var author: AuthorID { AuthorSecrets(identity.keyPair, app: engine.app).author.id }

    @discardableResult
    package func sync() async throws -> MailboxReport { try await mailbox.syncOnce() }

    package func write(_ sql: String) async throws {
        try await store.write { try $0.execute(sql: sql) }
    }

    package func add(_ ids: some Sequence<Int>) async throws {
        let ids = Array(ids)
        try await store.write { db in
            for id in ids {
                try db.execute(
                    sql: "INSERT INTO Item (id, title) VALUES (?, ?)",
                    arguments: ["\(id)", "Item number \(id)"])
            }
        }
    }

    package func titles() async throws -> [String] {
        try await database.read { try String.fetchAll($0, sql: "SELECT title FROM Item ORDER BY id") }
    }

    package func digest() async throws -> ZoneDigest {
        try await store.foldPendingChanges()
        return try await store.zones.all()[0].digest
    }

    package func peer(_ other: MailboxMachine) async throws -> Peer {
        guard let peer = try await store.peers.find(key: other.key) else {
            throw BrokenInvariant(description: "\(name) has no peer \(other.name)")
        }
        return peer
    }

    /// Checks that all machines hold the same.
    package static func expectEqual(_ machines: [MailboxMachine]) async throws {
        let first = try await machines[0].digest()
        let titles = try await machines[0].titles()
        for machine in machines.dropFirst() {
            let (digest, shown) = (try await machine.digest(), try await machine.titles())
            try expect(digest == first, "\(machine.name) holds something else than \(machines[0].name)")
            try expect(shown == titles, "\(machine.name) shows something else than \(machines[0].name)")
        }
    }
}

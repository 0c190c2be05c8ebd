import Foundation
import GRDB
import PeerSync
import PeerSyncModel
import PeerSyncStore
import TestSupport

/// A machine with lists and items, which refer to lists.
final class DiskMachine {
    let database: DatabaseQueue
    let engine: SyncEngine

    var store: RecordStore { engine.store }
    var key: [UInt8] { engine.identity.publicKey.bytes }

    /// Opens or makes it.
    ///
    /// - Parameters:
    ///   - path: the file of its database; nil for one in memory.
    ///   - version: of the app; the second one has a column more, with values.
    init(path: String?, _ identity: Identity, _ clock: SetClock, version: Int) async throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            if path != nil { _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") }
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        database =
            try path.map { try DatabaseQueue(path: $0, configuration: configuration) }
            ?? DatabaseQueue(configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE List (id TEXT NOT NULL PRIMARY KEY, title TEXT);
                    CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT, list TEXT REFERENCES List ON DELETE CASCADE);
                    """)
        }
        if version > 1 {
            migrator.registerMigration("2") { db in
                try db.execute(
                    sql: "ALTER TABLE Item ADD COLUMN note TEXT; UPDATE Item SET note = 'about ' || title")
            }
        }
        try migrator.migrate(database)
        let store = try RecordStore(
            database, tables: [SyncedTable("List"), SyncedTable("Item")], replica: identity.replicaID,
            now: { clock.milliseconds })
        engine = SyncEngine(
            app: "org.example.lists", store: store, identity: identity, displayName: "machine",
            discovery: .off)
        // Both sides wait for the same processors as all other tests, not for each other.
        for deadline in [\Deadlines.connecting, \.handshake, \.greeting, \.silence] {
            engine.deadlines[keyPath: deadline] = .seconds(300)
        }
    }

    /// Makes two machines peers of each other, with one zone, as a first session would.
    static func pair(_ one: DiskMachine, _ other: DiskMachine) async throws {
        let zone = try await one.store.zones.all()[0].id
        for (machine, peer) in [(one, other), (other, one)] {
            try await machine.database.write { [store = machine.store] db in
                if try store.zones.find(db, zone) == nil { try store.zones.adopt(db, zone) }
            }
            _ = try await machine.store.peers.add(key: peer.key, name: "peer", introducing: nil)
        }
    }

    func write(_ sql: String) async throws {
        try await store.write { try $0.execute(sql: sql) }
    }

    /// All rows, as text.
    func rows() async throws -> Set<String> {
        try await database.read { db in
            Set(
                try Row.fetchAll(
                    db, sql: "SELECT 'List' AS kind, * FROM List"
                ).map { $0.description }
                    + (try Row.fetchAll(db, sql: "SELECT 'Item' AS kind, id, title, list FROM Item").map {
                        $0.description
                    }))
        }
    }

    /// Whether SQLite finds nothing wrong.
    func expectSound() async throws {
        let found = try await database.read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check")
                + Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map(\.description)
        }
        try expect(found == ["ok"], "the database is damaged: \(found.prefix(3))")
    }
}

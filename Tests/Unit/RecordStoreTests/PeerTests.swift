import Foundation
import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// What a store says of the machines that it is paired with.
struct PeerTests {
    private let machine: Machine
    private let peer: Peer

    init() async throws {
        machine = try Machine("a", number: 1)
        peer = try await machine.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
    }

    private func isConnected() async throws -> Bool? {
        try await machine.store.peers.all().first?.isConnected
    }

    @Test func aSessionOfThisProcessIsOneUntilItEnds() async throws {
        #expect(try await isConnected() == false)
        try await machine.store.peers.noteConnected(with: peer) { true }
        #expect(try await isConnected() == true)
        try await machine.store.peers.noteConnected(with: peer) { false }
        #expect(try await isConnected() == false)
    }

    /// A process that was killed leaves its number, and the system gives it to another: here to the system's first
    /// process, which began in another clock tick than this one.
    @Test func aProcessWithTheNumberOfAnotherIsNotTheOther() async throws {
        try await machine.store.peers.noteConnected(with: peer) { true }
        try machine.shell("UPDATE grdb_sync_peerSession SET process = 1")
        #expect(try await isConnected() == false)
        try await machine.store.peers.noteConnected(with: peer) { true }
        #expect(try await isConnected() == true)
        #expect(try machine.rows("SELECT process FROM grdb_sync_peerSession") == ["\(getpid())"])
    }

    // MARK: The same machine, and what is said of it

    /// A selection in a list, or a key of a dictionary, outlives a session.
    @Test func aMachineHasOneIDWhateverIsKnownOfIt() async throws {
        let store = machine.store
        let status: () async throws -> StoreStatus = {
            try await store.database.read { try store.status($0) }
        }
        let before = try await status()
        #expect(try await status() == before)
        _ = try await store.peers.noteRefusal("it does not know this machine", code: "notPaired", by: peer)
        let now = try #require(try await store.peers.all().first)
        #expect(now != peer && now.id == peer.id)
        // A status says what has changed.
        #expect(try await status() != before)
    }

    // MARK: What waits

    /// It gets the records from whoever has introduced it.
    @Test func nothingWaitsForAMachineThatNobodyHereHasMet() async throws {
        let store = machine.store
        let name = try RecordName("Author|~|1")
        try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A')")
        try machine.shell("UPDATE grdb_sync_peer SET introducedBy = x'01'")
        try await store.foldPendingChanges()
        let pending: () async throws -> [Int] = {
            try await store.database.read { db in
                [try store.listing.isPending(db, name) ? 1 : 0, try store.status(db).pending]
            }
        }
        #expect(try await pending() == [0, 0])
        try await store.peers.noteConnected(with: peer) { false }
        #expect(try await pending() == [1, 1])
    }

    @Test func nothingWaitsWhereNobodyIsPaired() async throws {
        let alone = try Machine("c", number: 3)
        try alone.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A')")
        let isPending: () async throws -> Bool = {
            try await alone.store.database.read { [listing = alone.store.listing] in
                try listing.isPending($0, RecordName("Author|~|1"))
            }
        }
        #expect(try await !isPending())
        _ = try await alone.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
        #expect(try await isPending())
    }

    private struct Upper: TableRecord, EncodableRecord {
        static let databaseTableName = "Item"

        static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
            column == "id" ? .uppercaseString : .deferredToUUID
        }

        func encode(to container: inout PersistenceContainer) {}
    }

    private struct Bytes: TableRecord, EncodableRecord {
        static let databaseTableName = "Item"

        func encode(to container: inout PersistenceContainer) {}
    }

    /// As GRDB writes it: as text where the record type says so.
    @Test func aUUIDIsFoundInAKeyOfText() async throws {
        let database = try DatabaseQueue()
        try await database.write {
            try $0.execute(sql: "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT)")
        }
        let store = try RecordStore(database, tables: ["Item"], replica: ReplicaID(rawValue: 1))
        let id = UUID()
        try await store.write { db in
            try db.execute(sql: "INSERT INTO Item VALUES (?, 'Milk')", arguments: [id.uuidString])
        }
        #expect(try await !database.read { try store.listing.isPending($0, [id], of: Upper.self) })
        _ = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
        #expect(try await database.read { try store.listing.isPending($0, [id], of: Upper.self) })
        let error = await #expect(throws: RecordStoreError.self) {
            try await database.read { try store.listing.isPending($0, [id], of: Bytes.self) }
        }
        #expect(error?.code == .noSuchRecord)
    }
}

import Foundation
import GRDB
import PeerSync
import PeerSyncChannel
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore

/// One machine of the sessions in sessions.json: a real store in memory, under a clock that stands still.
package final class SessionMachine {
    /// Two types of a scorebook without references, so that an implementation without a schema gets the same results.
    private static let types = ["SBGame": ["name", "year"], "SBPerson": ["firstName"]]

    package let name: String
    let keyPair: KeyPair
    /// The program's instance, which the machine's hellos contain.
    let instance: UInt64
    /// Distinguishes the generations of this machine from those of others; see ``SessionTokens``.
    let tag: UInt8
    package let database: DatabaseQueue
    package private(set) var engine: SyncEngine
    private var backup: DatabaseQueue?
    /// The answer of the machine's user to a question about a union.
    private let answer: ZoneAnswer

    /// - Parameters:
    ///   - directory: the directory of the store; without it the store is in memory.
    ///   - answer: the answer of the machine's user to a question about a union.
    package init(
        _ name: String, _ keyPair: KeyPair, tag: UInt8, in directory: URL? = nil, answer: ZoneAnswer = .nobody
    ) throws {
        self.name = name
        self.tag = tag
        self.keyPair = keyPair
        self.answer = answer
        instance = UInt64(tag) << 56 | 1
        let file = directory.map { $0.appendingPathComponent("store.sqlite").path }
        database = try file.map { try DatabaseQueue(path: $0) } ?? DatabaseQueue()
        try database.write { db in
            for (type, fields) in Self.types {
                let columns = fields.map { ", \($0)" }.joined()
                try db.execute(
                    sql: """
                        CREATE TABLE \(type) (recordName TEXT NOT NULL PRIMARY KEY, modificationDate TEXT \(columns))
                        """)
            }
        }
        engine = try Self.engine(database, keyPair, name, answer)
    }

    private static func engine(
        _ database: DatabaseQueue, _ keyPair: KeyPair, _ name: String, _ answer: ZoneAnswer
    ) throws -> SyncEngine {
        let identity = Identity(keyPair: keyPair)
        let types = types.sorted { $0.key < $1.key }.map { type, fields in
            RecordType(type, fields.map { FieldDefinition($0) })
        }
        let store = try RecordStore(
            database, schema: RecordSchema(types), replica: identity.replicaID,
            now: { VectorFile.sessionClock })
        // The caller's user has decided in advance.
        return SyncEngine(
            app: VectorKeys.app, store: store, identity: identity, displayName: name, discovery: .off,
            decide: { question in question.proposal == nil ? .nobody : answer })
    }

    package var store: RecordStore { engine.store }

    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.read(body)
    }

    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.write(body)
    }

    /// Returns this machine's peer for another machine. The first call pairs the two.
    package func peer(_ other: SessionMachine) throws -> Peer {
        try write { try store.peers.add($0, key: other.keyPair.publicKey.bytes, name: other.name) }
    }

    package func zones() throws -> [Zone] { try read { try store.zones.all($0) } }

    // MARK: Events

    /// Writes records in one step, with the stamps that they carry.
    package func write(_ states: [RecordState]) throws {
        _ = try write { try store.merge($0, states) }
    }

    /// Changes another machine's rights in the default zone.
    package func grant(_ rights: ZoneRights, to other: SessionMachine) throws {
        let peer = try peer(other)
        let zone = try zones()[0]
        try write { try store.zones.setRights($0, rights, to: peer, in: zone) }
    }

    /// Forgets the deletions that all peers have acknowledged, however new they are.
    package func forgetDeletions() throws {
        _ = try write { try store.upkeep.purge($0, retention: 0) }
    }

    func makeBackup() throws {
        let copy = try DatabaseQueue()
        try database.backup(to: copy)
        backup = copy
    }

    /// Replaces the store by the backup, and starts the program again.
    func restoreBackup() throws {
        try backup?.backup(to: database)
        try restart()
    }

    /// Starts the program again.
    package func restart() throws {
        engine = try Self.engine(database, keyPair, name, answer)
    }

    /// Removes a record from the tables, the engine's included, and corrects the digest.
    func lose(_ record: String) throws {
        try write { db in
            let name = Samples.name(record)
            guard let state = try store.state(db, of: name), let zone = try store.zones.find(db, of: name)
            else {
                preconditionFailure("there is no record \(record)")
            }
            var digest = zone.digest
            digest.remove(RecordID(state))
            try db.execute(
                sql: "DELETE FROM \(name.recordType) WHERE recordName = ?", arguments: [record])
            try db.execute(
                sql: "DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?", arguments: [record])
            try db.execute(sql: "DELETE FROM grdb_sync_pendingChange")
            try db.execute(
                sql: "UPDATE grdb_sync_recordZone SET recordCount = ?, digestSum = ? WHERE id = 1",
                arguments: [Int64(bitPattern: digest.count), Data(digest.sumBytes)])
        }
    }
}

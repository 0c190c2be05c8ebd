import Foundation
import GRDB
import PeerSync
import RecordStore
import SecureChannel
import SyncModel
import SyncProtocol

/// One machine of the conversations in sessions.json: a real store in memory, under a clock that stands still.
package final class SessionMachine {
    /// Two types of a scorebook that refer to nothing, so that a peer without a schema comes to the same.
    private static let types = ["SBGame": ["name", "year"], "SBPerson": ["firstName"]]

    package let name: String
    let keyPair: KeyPair
    /// What the hellos of this machine's program say.
    let instance: UInt64
    /// Tells the generations of this machine from those of others; see ``SessionTokens``.
    let tag: UInt8
    package let database: DatabaseQueue
    package private(set) var engine: SyncEngine
    private var backup: DatabaseQueue?
    /// What the machine's user says when they are asked whether a union may be.
    private let answer: ZoneAnswer

    /// - Parameters:
    ///   - directory: where the store is kept; in memory if none is given.
    ///   - answer: what the machine's user says when they are asked whether a union may be.
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
        // The caller's user has said beforehand what they want.
        return SyncEngine(
            app: VectorKeys.app, store: store, identity: identity, displayName: name,
            decide: { question in question.proposal == nil ? .nobody : answer })
    }

    package var store: RecordStore { engine.store }

    package func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.read(body)
    }

    package func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.write(body)
    }

    /// Another machine, as this one knows it. The two are paired from the first time on that one asks.
    package func peer(_ other: SessionMachine) throws -> Peer {
        try write { try store.peers.add($0, key: other.keyPair.publicKey.bytes, name: other.name) }
    }

    package func zones() throws -> [Zone] { try read { try store.zones.all($0) } }

    // MARK: What happens to a machine

    /// Writes records, under the stamps that they carry, in one step.
    package func write(_ states: [RecordState]) throws {
        _ = try write { try store.merge($0, states) }
    }

    /// Lets another machine do more or less in the default zone.
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

    /// Puts the backup in place of the store, and starts the program again.
    func restoreBackup() throws {
        try backup?.backup(to: database)
        try restart()
    }

    /// Starts the program again.
    package func restart() throws {
        engine = try Self.engine(database, keyPair, name, answer)
    }

    /// Somebody takes a record out of the tables, the engine's included, and mends the digest.
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
            try db.execute(sql: "DELETE FROM remoteRecord WHERE remoteRecordID = ?", arguments: [record])
            try db.execute(sql: "DELETE FROM pendingChange")
            try db.execute(
                sql: "UPDATE recordZone SET recordCount = ?, digestSum = ? WHERE id = 1",
                arguments: [Int64(bitPattern: digest.count), Data(digest.sumBytes)])
        }
    }
}

import Foundation
import GRDB
import SyncModel

/// What a session notes of a peer.
extension RecordStore {
    /// Keeps that both sides found their digests equal just now.
    package func noteInSync(with peer: Peer) async throws {
        let time = ISO8601.text(milliseconds: now(), fraction: .ifNeeded)
        try await database.write { db in
            try db.execute(
                sql: "UPDATE peer SET lastSync = ?, lastError = NULL WHERE id = ?",
                arguments: [time, peer.id])
        }
        try await purgeIfDue()
    }

    /// Keeps whether this process has live sessions with a peer.
    ///
    /// - Parameters:
    ///   - error: what went wrong with the peer, for `status`; nil leaves what is there.
    ///   - isConnected: asked when the store is written to, so that of several sessions that begin and end the last word
    ///     is true.
    package func noteConnected(
        with peer: Peer, error: String? = nil, _ isConnected: @escaping @Sendable () -> Bool
    ) async throws {
        let time = ISO8601.text(milliseconds: now(), fraction: .ifNeeded)
        try await database.write { db in
            try db.execute(
                sql: "UPDATE peer SET lastSeen = ?, lastError = COALESCE(?, lastError) WHERE id = ?",
                arguments: [time, error, peer.id])
            try PeerTable.setConnected(db, peer: peer.id, isConnected())
        }
    }

    /// Keeps where a peer was reached.
    package func noteAddress(_ address: String, of peer: Peer) async throws {
        try await database.write { db in
            try db.execute(sql: "UPDATE peer SET address = ? WHERE id = ?", arguments: [address, peer.id])
        }
    }
}

extension RecordStore {
    /// The machines this one is paired with, by name.
    public func peers() async throws -> [Peer] {
        try await database.read { try PeerTable.all($0) }
    }

    /// The machines this one is paired with, by name.
    public func peers(_ db: Database) throws -> [Peer] { try PeerTable.all(db) }

    /// How many records have changed that a peer has not acknowledged. Fold first. Counts each of them.
    public func behind(_ db: Database, _ peer: Peer) throws -> Int { try PeerTable.behind(db, peer) }

    /// The peer with that static key, if it is paired.
    package func peer(key: [UInt8]) async throws -> Peer? {
        try await database.read { try PeerTable.find($0, key: key) }
    }

    /// Pairs with a key. A key that is paired already stays as it is.
    package func addPeer(key: [UInt8], name: String) async throws -> Peer {
        try await database.write { [self] db in try addPeer(db, key: key, name: name) }
    }

    /// Pairs with a key in the transaction that is open.
    package func addPeer(_ db: Database, key: [UInt8], name: String) throws -> Peer {
        try PeerTable.insert(db, key: key, name: name, now: now())
    }

    /// Ends the pairing with the peer of that name, or whose key begins so. Records stay.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`.
    @discardableResult
    public func forgetPeer(_ nameOrKey: String) async throws -> Peer {
        try await database.write { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            try endPairing(db, with: peer)
            try Self.noteSettingsChanged(db)
            return peer
        }
    }

    /// Ends the pairing with a peer in the transaction that is open.
    package func endPairing(_ db: Database, with peer: Peer) throws {
        try PeerTable.remove(db, peer)
    }

    /// Gives a peer another name on this machine.
    ///
    /// - Throws: `noSuchPeer`; `ambiguous` when the name is taken.
    public func renamePeer(_ nameOrKey: String, to newName: String) async throws {
        try await database.write { db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            let others = try PeerTable.all(db).filter { $0.id != peer.id }
            guard !others.contains(where: { $0.name == newName }) else {
                throw RecordStoreError(.ambiguous, "another machine is called “\(newName)” already")
            }
            try db.execute(sql: "UPDATE peer SET name = ? WHERE id = ?", arguments: [newName, peer.id])
        }
    }
}

extension RecordStore {
    /// Hands over every live record of a zone, held ones included, in order of name; not those that go with a deleted one.
    public func forEachLiveState(
        _ db: Database, zone: Zone? = nil, _ body: (RecordState) throws -> Void
    ) throws {
        try forEachState(db, zone: zone, where: "status <> \(RecordStatus.hidden.rawValue)") { state in
            if state.isLive { try body(state) }
        }
    }

    /// Hands over every record of a zone, deleted ones included, in order of name.
    package func forEachState(
        _ db: Database, zone: Zone? = nil, where condition: String = "TRUE",
        _ body: (RecordState) throws -> Void
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT remoteRecordID, status, remoteRecord FROM remoteRecord
                WHERE zone = ? AND \(condition) ORDER BY remoteRecordID
                """)
        let rows = try Row.fetchCursor(statement, arguments: [zone?.row ?? Zones.defaultID])
        let shapes = ShapeTable(db)
        while let row = try rows.next() {
            try body(StoredRecord(RecordName(row[0]), row, db: db, tables: tables, shapes: shapes).state)
        }
    }
}

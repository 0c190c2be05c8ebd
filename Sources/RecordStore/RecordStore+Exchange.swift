import Foundation
import GRDB
import SyncModel

/// What a session with a peer needs of the store. All of it works on one zone.
extension RecordStore {
    /// The zones that this store holds.
    package func zones() async throws -> [ZoneName] {
        try await database.read { try Zones.all($0) }
    }

    /// Folds what is pending, then tells where the exchange with `peer` stands.
    package func summary(zone: ZoneName, peer: Peer) async throws -> ZoneSummary {
        try await foldPendingChanges()
        return try await database.read { db in
            let zoneID = try Self.zoneID(db, zone)
            return ZoneSummary(
                current: try ChangeLog.current(db),
                received: try PeerTable.progress(db, peer: peer.id, zone: zoneID).received,
                digest: try Zones.digest(db, zoneID))
        }
    }

    /// Where to begin sending: the token that the peer holds, if this store gave it out; otherwise a token for a
    /// whole copy from the first name on.
    package func startingToken(for held: ChangeToken?) async throws -> ChangeToken {
        try await database.read { db in
            if let held, try ChangeLog.isValid(db, held) { return held }
            var token = try ChangeLog.current(db)
            token.cursor = .beforeAll
            return token
        }
    }

    /// Whether this store gave out a token that a peer holds of it.
    package func gaveOut(_ token: ChangeToken) async throws -> Bool {
        try await database.read { try ChangeLog.isValid($0, token) }
    }

    /// The next batch after `token`. The batch's token is the one to go on from.
    ///
    /// - Parameter isEcho: also what the peer itself sent; for a peer that may have lost it.
    package func nextBatch(
        zone: ZoneName, after token: ChangeToken, for peer: Peer, includingEcho isEcho: Bool
    ) async throws -> ChangeBatch {
        try await database.read { [tables] db in
            let zoneID = try Self.zoneID(db, zone)
            let log = ChangeLog(tables: tables)
            let excluded = isEcho ? nil : peer.id
            guard token.cursor == nil else {
                return try log.copy(db, zone: zoneID, from: token, excluding: excluded, limit: .bulk)
            }
            return try log.changes(db, zone: zoneID, after: token, excluding: excluded, limit: .changes)
        }
    }

    /// Merges a peer's batch and keeps its token, in one transaction. When this returns, the batch is durable.
    package func apply(_ states: [RecordState], token: ChangeToken, zone: ZoneName, from peer: Peer)
        async throws
        -> StoreChanges
    {
        try await database.write { [self] db in
            var changes = try fold(db)
            let zoneID = try Self.zoneID(db, zone)
            changes += try merge(db, states, zoneID: zoneID, from: peer.id)
            try PeerTable.setReceived(db, peer: peer.id, zone: zoneID, token)
            return changes
        }
    }

    /// Keeps that the peer has made everything up to `token` durable. A token in the middle of a whole copy says
    /// nothing yet about the sequence.
    package func acknowledge(_ token: ChangeToken, zone: ZoneName, by peer: Peer) async throws {
        guard token.cursor == nil else { return }
        try await database.write { db in
            let zoneID = try Self.zoneID(db, zone)
            try PeerTable.setAcknowledged(db, peer: peer.id, zone: zoneID, token.sequence)
        }
    }

    /// Forgets what is held of the peer's changes, so that it sends a whole copy.
    package func voidReceived(zone: ZoneName, peer: Peer) async throws {
        try await database.write { db in
            try PeerTable.setReceived(db, peer: peer.id, zone: try Self.zoneID(db, zone), nil)
        }
    }

    /// Keeps that both sides found their digests equal just now.
    package func noteInSync(with peer: Peer) async throws {
        let time = ISO8601.text(milliseconds: now(), fraction: .ifNeeded)
        try await database.write { db in
            try db.execute(
                sql: "UPDATE peer SET lastSync = ?, lastError = NULL WHERE id = ?",
                arguments: [time, peer.id])
        }
    }

    /// Keeps what went wrong with a peer, for `status`.
    package func noteError(_ message: String, with peer: Peer) async throws {
        try await database.write { db in
            try db.execute(sql: "UPDATE peer SET lastError = ? WHERE id = ?", arguments: [message, peer.id])
        }
    }

    /// Keeps where a peer was reached.
    package func noteAddress(_ address: String, of peer: Peer) async throws {
        try await database.write { db in
            try db.execute(sql: "UPDATE peer SET address = ? WHERE id = ?", arguments: [address, peer.id])
        }
    }

    private static func zoneID(_ db: Database, _ zone: ZoneName) throws -> Int64 {
        guard let id = try Zones.id(db, zone) else {
            throw RecordStoreError(.invalidRecord, "this store has no zone “\(zone)”")
        }
        return id
    }
}

extension RecordStore {
    /// The machines this one is paired with, by name.
    public func peers() async throws -> [Peer] {
        try await database.read { try PeerTable.all($0) }
    }

    /// The peer with that static key, if it is paired.
    package func peer(key: [UInt8]) async throws -> Peer? {
        try await database.read { try PeerTable.find($0, key: key) }
    }

    /// Pairs with a key. A key that is paired already stays as it is.
    package func addPeer(key: [UInt8], name: String) async throws -> Peer {
        let time = now()
        return try await database.write { try PeerTable.insert($0, key: key, name: name, now: time) }
    }

    /// Ends the pairing with the peer of that name, or whose key begins so. Records stay.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`.
    @discardableResult
    public func forgetPeer(_ nameOrKey: String) async throws -> Peer {
        try await database.write { db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            try db.execute(
                sql: "UPDATE remoteRecord SET sourcePeer = NULL WHERE sourcePeer = ?", arguments: [peer.id])
            try db.execute(sql: "DELETE FROM peerZone WHERE peer = ?", arguments: [peer.id])
            try db.execute(sql: "DELETE FROM peer WHERE id = ?", arguments: [peer.id])
            return peer
        }
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
    /// Hands over every live record of a zone, held ones included, in order of name.
    public func forEachLiveState(
        _ db: Database, zone: ZoneName = .scorebookData, _ body: (RecordState) throws -> Void
    ) throws {
        let log = ChangeLog(tables: tables)
        let zoneID = try Self.zoneID(db, zone)
        var token = ChangeToken(generation: [], sequence: 0, cursor: .beforeAll)
        while true {
            let batch = try log.copy(db, zone: zoneID, from: token, excluding: nil, limit: .bulk)
            for state in batch.records where state.isLive { try body(state) }
            guard !batch.isLast else { return }
            token = batch.token
        }
    }
}

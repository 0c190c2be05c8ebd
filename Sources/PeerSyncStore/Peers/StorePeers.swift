import Foundation
import GRDB
import PeerSyncModel

/// The machines that a store is paired with: ``RecordStore/peers``.
public struct StorePeers: Sendable {
    let store: RecordStore

    /// Whether a database is paired, under the identity with which it was opened last. Only reads.
    package static func isAny(_ db: Database) throws -> Bool {
        try isAny(db, in: "grdb_sync_peer") || (FormatOne.isPresent(db) && isAny(db, in: "peer"))
    }

    private static func isAny(_ db: Database, in table: String) throws -> Bool {
        try db.hasTable(table) && db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM main.\(table))")
    }

    /// The machines this one is paired with, by name.
    public func all() async throws -> [Peer] {
        try await store.database.read { try PeerTable.all($0) }
    }

    /// The machines this one is paired with, by name.
    public func all(_ db: Database) throws -> [Peer] { try PeerTable.all(db) }

    /// How it stands with a peer in each zone of this store, the default zone first. Fold first. Reads an index entry for
    /// each change that the peer has not acknowledged.
    public func zones(_ db: Database, of peer: Peer) throws -> [PeerZoneStatus] {
        try PeerTable.zones(db, peer)
    }

    /// The peer with that static key, if it is paired.
    package func find(key: [UInt8]) async throws -> Peer? {
        try await store.database.read { try find($0, key: key) }
    }

    /// The peer with that static key, if it is paired.
    package func find(_ db: Database, key: [UInt8]) throws -> Peer? { try PeerTable.find(db, key: key) }

    /// The peer with that static key, or the error for a machine that is none: `noSuchPeer`, `removed`.
    package func identify(key: [UInt8]) async throws -> (peer: Peer?, refusal: RecordStoreError?) {
        try await store.database.read { [self] db in
            let peer = try PeerTable.find(db, key: key)
            return (peer, peer == nil ? try store.household.refusal(db, of: key) : nil)
        }
    }

    /// Pairs with a key. A paired key stays as it is.
    ///
    /// - Parameters:
    ///   - own: what this machine itself is called, so that the peer gets another name here.
    ///   - introduction: introduces the machine to the household; nil to introduce it to nobody.
    ///   - isDue: whether ``StoreHousehold/introduceIfDue(_:sharesDefault:by:)`` has to introduce it later.
    package func add(
        key: [UInt8], name: String, besides own: String? = nil,
        introducing introduction: Introduction? = nil, introductionIsDue isDue: Bool = false
    ) async throws -> Peer {
        try await store.database.write { [self] db in
            // Also for a paired key: the peer may have ended the pairing before.
            try SyncSettings.noteChanged(db)
            let peer = try add(db, key: key, name: name, besides: own)
            if let introduction { try store.household.add(db, introduction) }
            if isDue { try HouseholdTable.setDue(peer.id, true, db) }
            return peer
        }
    }

    /// Pairs with a key in the open transaction.
    package func add(_ db: Database, key: [UInt8], name: String, besides own: String? = nil) throws -> Peer {
        try PeerTable.insert(db, key: key, name: name, besides: own, now: store.now())
    }

    /// Ends the pairing with the peer of that name, or with a key that begins with that text. Records stay.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`.
    @discardableResult
    public func forget(_ nameOrKey: String) async throws -> Peer {
        try await store.database.write { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            try remove(db, peer)
            return peer
        }
    }

    /// Ends the pairing with a peer in the open transaction.
    package func remove(_ db: Database, _ peer: Peer) throws {
        try PeerTable.remove(db, peer)
    }

    /// Gives a peer another name on this machine.
    ///
    /// - Throws: `noSuchPeer`; `ambiguous` when the name is taken.
    public func rename(_ nameOrKey: String, to newName: String) async throws {
        try await store.database.write { db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            let others = try PeerTable.all(db).filter { $0.id != peer.id }
            guard !others.contains(where: { $0.name == newName }) else {
                throw RecordStoreError(.ambiguous, "another machine is called “\(newName)” already")
            }
            try db.execute(
                sql: "UPDATE grdb_sync_peer SET name = ? WHERE id = ?", arguments: [newName, peer.id])
            try SyncSettings.noteChanged(db)
        }
    }

    // MARK: Leaving

    /// The zones to erase if the user forgets a peer with all that the two share.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`; `sharedZone` when another peer shares one of the zones, because that peer
    ///   would bring everything back.
    public func zonesToErase(whenForgetting nameOrKey: String) async throws -> [Zone] {
        try await store.database.read { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            let zones = try store.zones.granted(db, to: peer).map(\.zone)
            for other in try PeerTable.all(db) where other.id != peer.id {
                let granted = try Set(store.zones.granted(db, to: other).map(\.zone.row))
                guard let zone = zones.first(where: { granted.contains($0.row) }) else { continue }
                throw RecordStoreError(
                    .sharedZone,
                    "the zone “\(zone.name)” is shared with \(other.name) as well, which would bring it back")
            }
            return zones
        }
    }

    /// Ends a pairing, and removes zones from this store, with the files that nothing else needs.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`.
    @discardableResult
    public func forget(_ nameOrKey: String, erasing zones: [Zone]) async throws -> Peer {
        let begin = Date()
        let (peer, hashes) = try await store.database.write { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            try remove(db, peer)
            let hashes = try AssetTable.hashes(db, in: zones)
            for zone in zones {
                try store.zones.erase(db, zone)
                if zone.isDefault {
                    try store.zones.reclaim(db, zone)
                    // Who has left a household does not bring it into the next one.
                    try HouseholdTable.removeAll(db)
                } else {
                    try store.zones.remove(db, zone)
                }
            }
            return (peer, hashes)
        }
        // Only now is it certain that no record has the files. It removes no other files, because somebody may be
        // adding them.
        try await store.zones.removeFiles(hashes, untouchedSince: begin)
        return peer
    }

    // MARK: Pairing

    /// Checks whether an address may try to pair with this machine. It writes nothing, so that refused attempts cost
    /// little.
    ///
    /// - Throws: `tooManyAttempts`.
    package func checkPairingAttempt(from address: String) async throws {
        try await store.database.read { [self] db in
            try PairingAttempts.check(db, from: address, now: store.now())
        }
    }

    /// Pairs with a key that has proved to know the code. A paired key stays as it is.
    ///
    /// - Parameters:
    ///   - own: what this machine itself is called, so that the peer gets another name here.
    ///   - address: the origin of the attempts, which the store then forgets.
    ///   - code: the number of the code, which says what the machine gets; nil for what every paired machine gets.
    ///   - introducer: the static key of this machine, to introduce the new one to the household, unless the code gives it a
    ///     single zone; nil to introduce it to nobody.
    package func add(
        key: [UInt8], name: String, besides own: String? = nil, from address: String, code: Int64? = nil,
        introducedBy introducer: [UInt8]? = nil
    ) async throws -> Peer {
        try await store.database.write { [self] db in
            try PairingAttempts.succeeded(db, from: address)
            try SyncSettings.noteChanged(db)
            let peer = try add(db, key: key, name: name, besides: own)
            let welcome = try code.flatMap { try PairingCodes.welcome(db, peer, with: $0) }
            // A machine that was a guest before, and pairs anew, keeps the rights that it has.
            let rights = try Zones.rights(db, peer: peer.id, zone: Zones.defaultID)
            if let introducer, welcome?.zone == nil, rights != .none,
                let introduction = Introduction(
                    of: key, name: name, rights: rights == .write ? .all : .read, by: introducer,
                    time: store.now())
            {
                try store.household.add(db, introduction)
            }
            return peer
        }
    }

    // MARK: Notes of sessions

    /// Notes that both sides have just found their digests of a zone equal.
    ///
    /// - Throws: `zonesChanged` when the zone is gone.
    package func noteInSync(with peer: Peer, in zone: ZoneTarget = .default) async throws {
        let time = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded)
        try await PeerZone(store: store, zone: zone, peer: peer).write { exchange, db in
            try db.execute(
                sql: """
                    UPDATE grdb_sync_peer SET lastSync = ?, lastError = NULL, lastErrorCode = NULL WHERE id = ?
                    """, arguments: [time, peer.id])
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_peerZone (peer, zone, lastSync) VALUES (?, ?, ?)
                    ON CONFLICT (peer, zone) DO UPDATE SET lastSync = excluded.lastSync
                    """, arguments: [peer.id, exchange.zoneID, time])
            try AwaitedCopy.noteWhole(db, from: peer, zone: exchange.zoneID)
        }
        try await store.upkeep.purgeIfDue()
    }

    /// Notes whether this process has live sessions with a peer.
    ///
    /// - Parameters:
    ///   - error: the last error with the peer, for `status`; nil keeps the noted one.
    ///   - code: a stable name of the kind of that error.
    ///   - isConnected: called in the transaction, so that the last write is true when several sessions begin and end.
    package func noteConnected(
        with peer: Peer, error: String? = nil, code: String? = nil,
        _ isConnected: @escaping @Sendable () -> Bool
    ) async throws {
        let time = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded)
        try await store.database.write { db in
            try db.execute(
                sql: """
                    UPDATE grdb_sync_peer SET lastSeen = ?1, lastError = COALESCE(?2, lastError),
                        lastErrorCode = CASE WHEN ?2 IS NULL THEN lastErrorCode ELSE ?3 END
                    WHERE id = ?4
                    """, arguments: [time, error, code, peer.id])
            try PeerTable.setConnected(db, peer: peer.id, isConnected())
        }
    }

    /// Notes why a peer takes this machine for none.
    ///
    /// - Returns: whether that is news.
    package func noteRefusal(_ error: String, code: String, by peer: Peer) async throws -> Bool {
        let sql = "SELECT 1 FROM grdb_sync_peer WHERE id = ? AND lastErrorCode IS NOT ?"
        let isNews = try await store.database.read {
            try Bool.fetchOne($0, sql: sql, arguments: [peer.id, code])
        }
        guard isNews == true else { return false }
        try await store.database.write { db in
            try db.execute(
                sql: "UPDATE grdb_sync_peer SET lastError = ?, lastErrorCode = ? WHERE id = ?",
                arguments: [error, code, peer.id])
        }
        return true
    }

    /// Notes the address at which this machine reached a peer.
    package func noteAddress(_ address: String, of peer: Peer) async throws {
        try await store.database.write { db in
            try db.execute(
                sql: "UPDATE grdb_sync_peer SET address = ?1 WHERE id = ?2 AND address IS NOT ?1",
                arguments: [address, peer.id])
            if db.changesCount > 0 { try SyncSettings.noteChanged(db) }
        }
    }
}

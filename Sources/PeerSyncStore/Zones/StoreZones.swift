import Foundation
import GRDB
import PeerSyncModel

/// The zones of a store, and the rights of peers in them: ``RecordStore/zones``.
public struct StoreZones: Sendable {
    /// The most zones in a store: one session can carry no more.
    public static let maximumCount = ZoneID.maximumCount

    let store: RecordStore

    /// The zones of this store, the default one first.
    public func all() async throws -> [Zone] {
        try await store.database.read { try Zones.all($0) }
    }

    /// The zones of this store, the default one first.
    ///
    /// - Throws: `noSuchZone` when the zone of the scope is gone, or another store's.
    public func all(_ db: Database, in scope: ZoneScope = .all) throws -> [Zone] {
        let row = try scope.row(db)
        return try Zones.all(db).filter { row == nil || $0.row == row }
    }

    /// The zone of that name.
    ///
    /// - Throws: `noSuchZone`.
    public func find(named name: String) async throws -> Zone {
        try await store.database.read { try Zones.find($0, named: name) }
    }

    /// The zone of that name.
    ///
    /// - Throws: `noSuchZone`.
    public func find(_ db: Database, named name: String) throws -> Zone { try Zones.find(db, named: name) }

    /// Returns a zone as it is now, with its digest.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    public func current(_ db: Database, _ zone: ZoneTarget) throws -> Zone {
        let row = try Zones.row(db, of: zone)
        guard let current = try Zones.all(db).first(where: { $0.row == row }) else {
            throw RecordStoreError(.corrupt, "the store has lost its default zone")
        }
        return current
    }

    /// The zone that a record is in; nil when sync does not know the record. Fold first.
    public func find(_ db: Database, of name: RecordName) throws -> Zone? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT place.* FROM grdb_sync_remoteRecord JOIN grdb_sync_recordZone AS place ON place.id = zone
                WHERE remoteRecordID = ?
                """, arguments: [name.description]
        ).map(Zone.init)
    }

    /// Makes a zone, which is another one than any that had its name before. Other machines only get it after a grant.
    ///
    /// - Parameter name: 1 to 255 bytes of printable ASCII, without blanks at its ends.
    /// - Throws: `invalidValue`; `ambiguous` when the name is taken.
    @discardableResult
    public func create(_ name: String) async throws -> Zone {
        try await store.database.write { [replica = store.replica] db in
            let zoneName = try Self.zoneName(name)
            let zones = try Zones.all(db)
            guard zones.count < Self.maximumCount else {
                throw RecordStoreError(.invalidValue, "a store has at most \(Self.maximumCount) zones")
            }
            guard !zones.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw RecordStoreError(.ambiguous, "there is a zone “\(name)” already")
            }
            // Other machines may still have a zone of that id, with records that nobody wants in this one.
            let taken = Set(zones.map(\.id) + (try DeclinedZones.all(db)).map(\.id))
            return try Zones.insert(db, Self.freeID(zoneName, owner: replica, taken), called: name)
        }
    }

    /// Gives a zone another name, on this machine only.
    ///
    /// - Throws: `noSuchZone`, `invalidValue`; `ambiguous` when the name is taken.
    public func rename(_ name: String, to newName: String) async throws {
        try await store.database.write { db in
            let zone = try Zones.find(db, named: name)
            _ = try Self.zoneName(newName)
            let others = try Zones.all(db).filter { $0.row != zone.row }
            guard !others.contains(where: { $0.name.lowercased() == newName.lowercased() }) else {
                throw RecordStoreError(.ambiguous, "there is a zone “\(newName)” already")
            }
            try db.execute(
                sql: "UPDATE grdb_sync_recordZone SET name = ? WHERE id = ?", arguments: [newName, zone.row])
            try SyncSettings.noteChanged(db)
        }
    }

    /// The id of a new zone: with a number, if the owner has made one of that name before.
    private static func freeID(_ name: ZoneName, owner: ReplicaID, _ taken: Set<ZoneID>) -> ZoneID {
        var id = ZoneID(name: name, owner: owner)
        var number = 2
        while taken.contains(id) {
            let suffix = " \(number)"
            let text = name.description.prefix(ZoneName.maximumLength - suffix.count) + suffix
            if let name = ZoneName(String(text)) { id = ZoneID(name: name, owner: owner) }
            number += 1
        }
        return id
    }

    private static func zoneName(_ name: String) throws -> ZoneName {
        guard let zoneName = ZoneName(name), !name.hasPrefix(" "), !name.hasSuffix(" ") else {
            throw RecordStoreError(
                .invalidValue,
                "“\(name)” cannot name a zone: 1 to 255 printable ASCII characters, without blanks at the ends"
            )
        }
        return zoneName
    }

    /// Changes the rights of a peer in a zone, from now on. The peer keeps what it already has.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`, `noSuchZone`.
    /// - Returns: the peer and the zone that the names stand for.
    @discardableResult
    public func grant(_ rights: ZoneRights, to peer: String, in zone: String) async throws -> (Peer, Zone) {
        try await store.database.write { db in
            let peer = try PeerTable.find(db, nameOrKey: peer)
            let zone = try Zones.find(db, named: zone)
            try Zones.setRights(db, peer: peer.id, zone: zone.row, rights)
            return (peer, zone)
        }
    }

    /// The rights of a peer, zone by zone.
    public func grants(_ db: Database, to peer: Peer) throws -> [ZoneGrant] {
        try Zones.all(db).map {
            ZoneGrant(zone: $0.name, rights: try Zones.rights(db, peer: peer.id, zone: $0.row))
        }
    }

    /// The paired machines that take no write of this machine in a zone, by name. Empty if one of them takes it, because that one
    /// passes it on, and as long as no machine has said anything.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    public func machinesRefusingWrites(_ db: Database, in zone: Zone) throws -> [String] {
        let row = try Zones.row(db, of: .one(zone))
        let rights = try PeerTable.all(db).map { peer in
            (peer.name, try Zones.ownRights(db, peer: peer.id, zone: row))
        }
        guard !rights.contains(where: { $0.1 == .write }) else { return [] }
        return rights.filter { $0.1 == .read }.map(\.0)
    }

    // MARK: For sessions

    /// The zones that a peer may have, with its rights in each.
    package func granted(_ db: Database, to peer: Peer) throws -> [(zone: Zone, rights: ZoneRights)] {
        try Zones.all(db).compactMap { zone in
            let rights = try Zones.rights(db, peer: peer.id, zone: zone.row)
            return rights == .none ? nil : (zone, rights)
        }
    }

    /// The zones that a peer may have, with its rights in each.
    package func granted(to peer: Peer) async throws -> [(zone: Zone, rights: ZoneRights)] {
        try await store.database.read { [self] db in try granted(db, to: peer) }
    }

    /// The zones with these ids that this store has, in the order of the ids.
    package func find(_ ids: [ZoneID]) async throws -> [Zone] {
        try await store.database.read { db in try ids.compactMap { try Zones.find(db, $0) } }
    }

    package func find(_ db: Database, _ id: ZoneID) throws -> Zone? { try Zones.find(db, id) }

    /// Takes up a zone that a peer offers, beside the zones of this store. The peer may write in it, other peers have
    /// no rights.
    ///
    /// - Throws: `notPermitted` when there are too many zones.
    package func takeUp(_ db: Database, _ id: ZoneID, called name: String, from peer: Peer) throws -> Zone {
        guard try Zones.all(db).count < Self.maximumCount else {
            throw RecordStoreError(.notPermitted, "a store has at most \(Self.maximumCount) zones")
        }
        let zone = try Zones.insert(db, id, called: ZoneName(name) == nil ? id.name.description : name)
        try Zones.setRights(db, peer: peer.id, zone: zone.row, .write)
        return zone
    }

    /// Gives the default zone the identity of another zone. Its records stay.
    package func adopt(_ db: Database, _ id: ZoneID) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_recordZone SET zoneName = ?, owner = ? WHERE id = ?",
            arguments: [id.name.description, id.owner.description, Zones.defaultID])
        // Its user wants it here after all.
        try DeclinedZones.remove(db, id)
        try SyncSettings.noteChanged(db)
    }

    package func setRights(_ db: Database, _ rights: ZoneRights, to peer: Peer, in zone: Zone) throws {
        try Zones.setRights(db, peer: peer.id, zone: zone.row, rights)
    }
}

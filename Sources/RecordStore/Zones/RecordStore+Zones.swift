import Foundation
import GRDB
import SyncModel

/// The zones of a store, and what peers may do in them.
extension RecordStore {
    /// The most zones that a store may have: what one session can carry.
    public static let maximumZones = 64

    /// The zones of this store, the default one first.
    public func zones() async throws -> [Zone] {
        try await database.read { try Zones.all($0) }
    }

    /// The zones of this store, the default one first.
    public func zones(_ db: Database) throws -> [Zone] { try Zones.all(db) }

    /// The zone of that name.
    ///
    /// - Throws: `noSuchZone`.
    public func zone(named name: String) async throws -> Zone {
        try await database.read { try Zones.find($0, named: name) }
    }

    /// The zone of that name.
    ///
    /// - Throws: `noSuchZone`.
    public func zone(_ db: Database, named name: String) throws -> Zone { try Zones.find(db, named: name) }

    /// A zone as it is now, with its digest; the default zone for nil.
    public func current(_ db: Database, _ zone: Zone?) throws -> Zone {
        let row = zone?.row ?? Zones.defaultID
        guard let current = try Zones.all(db).first(where: { $0.row == row }) else {
            throw RecordStoreError(.noSuchZone, "the zone “\(zone?.name ?? "")” is gone")
        }
        return current
    }

    /// The zone that a record is in; nil when sync does not know the record. Fold first.
    public func zone(_ db: Database, of name: RecordName) throws -> Zone? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT recordZone.* FROM remoteRecord JOIN recordZone ON recordZone.id = zone
                WHERE remoteRecordID = ?
                """, arguments: [name.description]
        ).map(Zone.init)
    }

    /// Makes a zone. No other machine has it before it is granted.
    ///
    /// - Parameter name: 1 to 255 bytes of printable ASCII, without blanks at its ends.
    /// - Throws: `invalidValue`; `ambiguous` when there is one of that name.
    @discardableResult
    public func createZone(_ name: String) async throws -> Zone {
        try await database.write { [replica] db in
            let zoneName = try Self.zoneName(name)
            let zones = try Zones.all(db)
            guard zones.count < Self.maximumZones else {
                throw RecordStoreError(.invalidValue, "a store has at most \(Self.maximumZones) zones")
            }
            let id = ZoneID(name: zoneName, owner: replica)
            guard !zones.contains(where: { $0.name.lowercased() == name.lowercased() || $0.id == id }) else {
                throw RecordStoreError(.ambiguous, "there is a zone “\(name)” already")
            }
            return try Zones.insert(db, id, called: name)
        }
    }

    /// Calls a zone something else, here only.
    ///
    /// - Throws: `noSuchZone`, `invalidValue`; `ambiguous` when the name is taken.
    public func renameZone(_ name: String, to newName: String) async throws {
        try await database.write { db in
            let zone = try Zones.find(db, named: name)
            _ = try Self.zoneName(newName)
            let others = try Zones.all(db).filter { $0.row != zone.row }
            guard !others.contains(where: { $0.name.lowercased() == newName.lowercased() }) else {
                throw RecordStoreError(.ambiguous, "there is a zone “\(newName)” already")
            }
            try db.execute(
                sql: "UPDATE recordZone SET name = ? WHERE id = ?", arguments: [newName, zone.row])
        }
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

    /// Lets a peer do more or less in a zone, from now on. What it already has stays with it.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`, `noSuchZone`.
    /// - Returns: the peer and the zone that were meant.
    @discardableResult
    public func grant(_ rights: ZoneRights, to peer: String, in zone: String) async throws -> (Peer, Zone) {
        try await database.write { db in
            let peer = try PeerTable.find(db, nameOrKey: peer)
            let zone = try Zones.find(db, named: zone)
            try Zones.setRights(db, peer: peer.id, zone: zone.row, rights)
            try Self.noteSettingsChanged(db)
            return (peer, zone)
        }
    }

    /// What a peer may do, zone by zone.
    public func grants(_ db: Database, to peer: Peer) throws -> [ZoneGrant] {
        try Zones.all(db).map {
            ZoneGrant(zone: $0.name, rights: try Zones.rights(db, peer: peer.id, zone: $0.row))
        }
    }

    // MARK: For sessions

    /// The zones that a peer may have, with what it may do in each.
    package func zonesGranted(_ db: Database, to peer: Peer) throws -> [(zone: Zone, rights: ZoneRights)] {
        try Zones.all(db).compactMap { zone in
            let rights = try Zones.rights(db, peer: peer.id, zone: zone.row)
            return rights == .none ? nil : (zone, rights)
        }
    }

    package func zone(_ db: Database, _ id: ZoneID) throws -> Zone? { try Zones.find(db, id) }

    /// Takes up a zone that a peer offers, beside those that are here. The peer may write in it, others have nothing of it.
    ///
    /// - Throws: `notPermitted` when there are too many zones.
    package func takeUpZone(_ db: Database, _ id: ZoneID, called name: String, from peer: Peer) throws -> Zone
    {
        guard try Zones.all(db).count < Self.maximumZones else {
            throw RecordStoreError(.notPermitted, "a store has at most \(Self.maximumZones) zones")
        }
        let zone = try Zones.insert(db, id, called: ZoneName(name) == nil ? id.name.description : name)
        try Zones.setRights(db, peer: peer.id, zone: zone.row, .write)
        return zone
    }

    /// Makes the default zone the one that this is. What is in it stays.
    package func adopt(_ db: Database, _ id: ZoneID) throws {
        try db.execute(
            sql: "UPDATE recordZone SET zoneName = ?, owner = ? WHERE id = ?",
            arguments: [id.name.description, id.owner.description, Zones.defaultID])
        try Self.noteSettingsChanged(db)
    }

    package func setRights(_ db: Database, _ rights: ZoneRights, to peer: Peer, in zone: Zone) throws {
        try Zones.setRights(db, peer: peer.id, zone: zone.row, rights)
    }
}

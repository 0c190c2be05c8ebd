import GRDB
import PeerSyncModel

/// A zone that a user has deleted on this machine, and that other machines may still have.
public struct DeclinedZone: Sendable, Hashable {
    /// The identity of the zone, the same on every machine.
    public let id: ZoneID
    /// The name that it had here.
    public let name: String
}

/// The table `grdb_sync_declinedZone`.
enum DeclinedZones {
    /// Stores of format 2 got this table before the first release, so an opening makes it where it is missing.
    static let create = """
        -- The zones that a user has deleted here. This store does not take them up when a peer offers them.
        -- name: what it was called here. zoneName and owner: which zone it is.
        CREATE TABLE IF NOT EXISTS grdb_sync_declinedZone (
            zoneName TEXT NOT NULL,
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (zoneName, owner)
        ) WITHOUT ROWID;
        """

    static func all(_ db: Database) throws -> [DeclinedZone] {
        try Row.fetchAll(
            db, sql: "SELECT zoneName, owner, name FROM grdb_sync_declinedZone ORDER BY name, zoneName, owner"
        ).compactMap { row in
            guard let name = ZoneName(row[0]), let owner = UInt64(row[1] as String, radix: 16) else {
                return nil
            }
            return DeclinedZone(id: ZoneID(name: name, owner: ReplicaID(rawValue: owner)), name: row[2])
        }
    }

    static func insert(_ db: Database, _ zone: Zone) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO grdb_sync_declinedZone (zoneName, owner, name) VALUES (?, ?, ?)",
            arguments: [zone.id.name.description, zone.id.owner.description, zone.name])
        try notify(db)
        try SyncSettings.noteChanged(db)
    }

    static func remove(_ db: Database, _ id: ZoneID) throws {
        try db.execute(
            sql: "DELETE FROM grdb_sync_declinedZone WHERE zoneName = ? AND owner = ?",
            arguments: [id.name.description, id.owner.description])
        try notify(db)
    }

    /// Tells those who observe the table what the last statement has changed.
    private static func notify(_ db: Database) throws { try db.notifyIfChanged("grdb_sync_declinedZone") }
}

extension StoreZones {
    /// The zones that a user has deleted here, and that do not come back from other machines, by name.
    public func declined() async throws -> [DeclinedZone] {
        try await store.database.read { try declined($0) }
    }

    /// The zones that a user has deleted here, and that do not come back from other machines, by name.
    public func declined(_ db: Database) throws -> [DeclinedZone] { try DeclinedZones.all(db) }

    /// Lets a zone that was deleted here come back with the next session of a machine that lets this one have it.
    ///
    /// - Parameter name: what the zone was called here, or its name and owner.
    /// - Throws: `noSuchZone` when no such zone was deleted here.
    @discardableResult
    public func accept(_ name: String) async throws -> DeclinedZone {
        try await store.database.write { db in
            let zones = try DeclinedZones.all(db)
            let found =
                zones.first { $0.id.description == name }
                ?? zones.first { $0.name.lowercased() == name.lowercased() }
            guard let found else {
                throw RecordStoreError(.noSuchZone, "no zone “\(name)” was deleted on this machine")
            }
            try DeclinedZones.remove(db, found.id)
            try SyncSettings.noteChanged(db)
            return found
        }
    }

    /// The paired machines that let this one have a zone, as they said last, by name.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    public func machinesSharing(_ db: Database, _ zone: Zone) throws -> [String] {
        let row = try Zones.row(db, of: .one(zone))
        return try PeerTable.all(db).filter {
            try Zones.ownRights(db, peer: $0.id, zone: row).map { $0 != .none } ?? false
        }.map(\.name)
    }
}

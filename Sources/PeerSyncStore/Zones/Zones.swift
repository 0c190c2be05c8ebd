import Foundation
import GRDB
import PeerSyncModel

/// The table `grdb_sync_recordZone`.
enum Zones {
    /// The row of the zone that every store has.
    static let defaultID: Int64 = 1

    /// Writes the zone's owner into zones that were made before the owner was known.
    static func claim(_ db: Database, for replica: ReplicaID) throws {
        let isAnyUnowned = "SELECT EXISTS (SELECT 1 FROM grdb_sync_recordZone WHERE owner = '')"
        // Where nothing is to be written, a connection will do that only reads.
        guard try Bool.fetchOne(db, sql: isAnyUnowned) == true else { return }
        try db.execute(
            sql: "UPDATE grdb_sync_recordZone SET owner = ? WHERE owner = ''",
            arguments: [replica.description])
    }

    /// All zones: the default one first, the others in the order in which they came.
    static func all(_ db: Database) throws -> [Zone] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT * FROM grdb_sync_recordZone ORDER BY id")).map(
            Zone.init)
    }

    static func find(_ db: Database, _ id: ZoneID) throws -> Zone? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT * FROM grdb_sync_recordZone WHERE zoneName = ? AND owner = ?"),
            arguments: [id.name.description, id.owner.description]
        ).map(Zone.init)
    }

    /// The row that a zone has now; nil if this store has no such zone.
    static func row(_ db: Database, of id: ZoneID) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT id FROM grdb_sync_recordZone WHERE zoneName = ? AND owner = ?"),
            arguments: [id.name.description, id.owner.description])
    }

    /// The row of the zone that a caller names. The default zone is that of this store: it gets another identity when it joins another one.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    static func row(_ db: Database, of target: ZoneTarget) throws -> Int64 {
        guard case .one(let zone) = target, !zone.isDefault else { return defaultID }
        guard try row(db, of: zone.id) == zone.row else {
            throw RecordStoreError(.noSuchZone, "the zone “\(zone.name)” is gone")
        }
        return zone.row
    }

    /// Checks that a zone is still in the row in which the caller has found it. A session and a pass over a mailbox know their zones for long,
    /// and meanwhile another program may give the row to another zone: one of strangers, whose records must not meet these.
    ///
    /// - Throws: `zonesChanged`.
    static func check(_ db: Database, _ id: ZoneID, in row: Int64) throws {
        guard try self.row(db, of: id) == row else { throw RecordStoreError.zonesChanged }
    }

    /// Finds a zone by its name on this machine, in upper or lower case, or by its name and owner.
    ///
    /// - Throws: `noSuchZone`.
    static func find(_ db: Database, named text: String) throws -> Zone {
        let zones = try all(db)
        let found =
            zones.first { $0.name == text } ?? zones.first { $0.name.lowercased() == text.lowercased() }
            ?? zones.first { $0.id.description == text }
        guard let found else {
            throw RecordStoreError(.noSuchZone, "this store has no zone “\(text)”")
        }
        return found
    }

    /// The row of the zone that a record is in, if sync knows it.
    static func row(_ db: Database, of recordName: String) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT zone FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?"),
            arguments: [recordName])
    }

    /// The zone of a row, for new records.
    static func target(_ db: Database, _ row: Int64) throws -> ZoneTarget {
        try row == defaultID ? .default : all(db).first { $0.row == row }.map(ZoneTarget.one) ?? .default
    }

    /// The identity of a zone, for messages to other machines: each may have another name for it.
    static func identity(_ db: Database, _ row: Int64) throws -> String {
        let sql = "SELECT zoneName || '@' || owner FROM grdb_sync_recordZone WHERE id = ?"
        return try String.fetchOne(db, sql: sql, arguments: [row]) ?? ""
    }

    /// Makes a zone. If the name is taken, it appends a number.
    static func insert(_ db: Database, _ id: ZoneID, called name: String) throws -> Zone {
        let taken = Set(try all(db).map { $0.name.lowercased() })
        var unique = name
        var number = 2
        while taken.contains(unique.lowercased()) {
            let suffix = " \(number)"
            unique = name.prefix(ZoneName.maximumLength - suffix.count) + suffix
            number += 1
        }
        try db.execute(
            sql: "INSERT INTO grdb_sync_recordZone (name, zoneName, owner) VALUES (?, ?, ?)",
            arguments: [unique, id.name.description, id.owner.description])
        try DeclinedZones.remove(db, id)
        return try find(db, id)!
    }

    static func noteShared(_ db: Database, _ row: Int64) throws {
        try db.executeCached(
            "UPDATE grdb_sync_recordZone SET isShared = 1 WHERE id = ? AND isShared = 0", [row])
    }

    // MARK: Rights

    /// SQL for the rights of a peer in a zone: those that a person has set; otherwise everything in the default zone
    /// and nothing in other zones.
    ///
    /// - Parameters:
    ///   - said: SQL for the rights that were set; NULL if there are none.
    ///   - zone: SQL for the row of the zone.
    static func rights(_ said: String, in zone: String) -> String {
        """
        COALESCE(\(said), CASE \(zone) WHEN \(defaultID) THEN \(ZoneRights.write.rawValue)
            ELSE \(ZoneRights.none.rawValue) END)
        """
    }

    /// SQL for whether a row of `grdb_sync_peerZone` says what the peer may do: in the default zone all may write unless somebody says
    /// otherwise.
    static let isDecided = "(rights IS NOT NULL OR zone = \(defaultID))"

    /// Whether nobody has said what a peer may do in a zone, so that it may do nothing.
    static func isUndecided(_ db: Database, peer: Int64, zone: Int64) throws -> Bool {
        guard zone != defaultID else { return false }
        let statement = try db.cachedStatement(
            sql: "SELECT rights FROM grdb_sync_peerZone WHERE peer = ? AND zone = ?")
        return try Int64.fetchOne(statement, arguments: [peer, zone]) == nil
    }

    /// What sorts zones alike on all machines that have them: the default zone first, then by name and owner.
    static func order(_ db: Database, _ zone: Int64) throws -> [String] {
        guard zone != defaultID else { return [] }
        let statement = try db.cachedStatement(
            sql: "SELECT zoneName, owner FROM grdb_sync_recordZone WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [zone]).map { [$0[0], $0[1]] } ?? []
    }

    static func rights(_ db: Database, peer: Int64, zone: Int64) throws -> ZoneRights {
        let said = "(SELECT rights FROM grdb_sync_peerZone WHERE peer = ?1 AND zone = ?2)"
        let statement = try db.cachedStatement(sql: "SELECT \(rights(said, in: "?2"))")
        return try Int64.fetchOne(statement, arguments: [peer, zone]).flatMap(ZoneRights.init) ?? .none
    }

    static func setRights(_ db: Database, peer: Int64, zone: Int64, _ rights: ZoneRights) throws {
        try db.execute(
            sql: """
                INSERT INTO grdb_sync_peerZone (peer, zone, rights) VALUES (?, ?, ?)
                ON CONFLICT (peer, zone) DO UPDATE SET rights = excluded.rights
                """, arguments: [peer, zone, rights.rawValue])
        try notifyRights(db)
        try SyncSettings.noteChanged(db)
    }

    /// Tells those who observe rights what the last statement has changed.
    private static func notifyRights(_ db: Database) throws { try db.notifyIfChanged("grdb_sync_peerZone") }

    /// The rights of this machine in a zone at a peer; nil if the peer never said.
    static func ownRights(_ db: Database, peer: Int64, zone: Int64) throws -> ZoneRights? {
        let statement = try db.cachedStatement(
            sql: "SELECT ownRights FROM grdb_sync_peerZone WHERE peer = ? AND zone = ?")
        return try Int64.fetchOne(statement, arguments: [peer, zone]).flatMap(ZoneRights.init)
    }

    /// Whether a peer lets this machine have other zones, and not its default one.
    static func areOthersShared(_ db: Database, with peer: Int64) throws -> Bool {
        let shared =
            "SELECT 1 FROM grdb_sync_peerZone WHERE peer = ?1 AND ownRights <> \(ZoneRights.none.rawValue)"
        return try db.fetchBoolCached(
            """
            SELECT EXISTS (\(shared) AND zone <> \(defaultID)) AND NOT EXISTS (\(shared) AND zone = \(defaultID))
            """, [peer])
    }

    static func setOwnRights(_ db: Database, peer: Int64, zone: Int64, _ rights: ZoneRights) throws {
        try db.execute(
            sql: """
                INSERT INTO grdb_sync_peerZone (peer, zone, ownRights) VALUES (?, ?, ?)
                ON CONFLICT (peer, zone) DO UPDATE SET ownRights = excluded.ownRights
                """, arguments: [peer, zone, rights.rawValue])
        try notifyRights(db)
    }

    /// Notes that this machine may do nothing at a peer, apart from some zones, whatever the peer let it do before. Zones that nobody here
    /// shares with the peer stay as the last session has noted them.
    ///
    /// - Returns: the zones in which that is news.
    static func endOwnRights(_ db: Database, peer: Int64, but zones: [Int64]) throws -> [Int64] {
        let none = ZoneRights.none.rawValue
        let kept = zones.map(String.init).joined(separator: ", ")
        let ended = try Int64.fetchAll(
            db,
            sql: """
                UPDATE grdb_sync_peerZone SET ownRights = \(none)
                WHERE peer = ? AND ownRights <> \(none) AND zone NOT IN (\(kept)) AND \(isDecided) RETURNING zone
                """, arguments: [peer])
        try notifyRights(db)
        return ended
    }

    // MARK: Digests

    static func digest(_ db: Database, _ id: Int64) throws -> ZoneDigest {
        let statement = try db.cachedStatement(
            sql: "SELECT recordCount, digestSum FROM grdb_sync_recordZone WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id]),
            let digest = ZoneDigest(
                count: UInt64(bitPattern: row[0] as Int64), sumBytes: row.bytes("digestSum"))
        else { throw RecordStoreError(.corrupt, "the digest of zone \(id) is damaged") }
        return digest
    }

    /// The greatest number of a forgotten deletion; 0 before the first.
    static func purgedSequence(_ db: Database, _ id: Int64) throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT purgedSequence FROM grdb_sync_recordZone WHERE id = ?"),
            arguments: [id]) ?? 0
    }

    static func raisePurgedSequence(_ db: Database, _ id: Int64, to sequence: Int64) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_recordZone SET purgedSequence = ? WHERE id = ? AND purgedSequence < ?",
            arguments: [sequence, id, sequence])
    }

    /// Rewrites a zone's row without a change, so that the observers of this process see a write.
    static func touch(_ db: Database, _ id: Int64) throws {
        try db.executeCached("UPDATE grdb_sync_recordZone SET recordCount = recordCount WHERE id = ?", [id])
    }

    static func setDigest(_ db: Database, _ id: Int64, _ digest: ZoneDigest) throws {
        try db.executeCached(
            "UPDATE grdb_sync_recordZone SET recordCount = ?, digestSum = ? WHERE id = ?",
            [Int64(bitPattern: digest.count), Data(digest.sumBytes), id])
    }
}

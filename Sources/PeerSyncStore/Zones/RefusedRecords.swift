import GRDB
import PeerSyncModel

/// The records of a peer that this store did not take, by reason.
typealias RefusedNames = [Refusal.Reason: [RecordName]]

/// The table `grdb_sync_refusedRecord`.
enum RefusedRecords {
    /// Tells those who observe the table what the last statement has changed.
    static func notify(_ db: Database) throws { try db.notifyIfChanged("grdb_sync_refusedRecord") }

    /// All refused records, by peer, zone and name.
    static func all(_ db: Database) throws -> [RefusedRecord] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT recordName, machine.name, place.name, reason FROM grdb_sync_refusedRecord
                JOIN grdb_sync_peer AS machine ON machine.id = peer
                JOIN grdb_sync_recordZone AS place ON place.id = zone ORDER BY 2, 3, 1
                """
        ).compactMap { row in
            guard let reason = Refusal.Reason(rawValue: row[3])?.reason else { return nil }
            return RefusedRecord(name: try RecordName(row[0]), peer: row[1], zone: row[2], reason: reason)
        }
    }

    static func count(_ db: Database, peer: Int64, zone: Int64) throws -> Int {
        try db.fetchCountCached(
            "SELECT COUNT(*) FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ?", [peer, zone])
    }

    /// Whether the peer has refused any record for a reason.
    static func isAny(_ db: Database, peer: Int64, zone: Int64, reason: Refusal.Reason) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? AND reason = ?)",
            [peer, zone, reason.rawValue])
    }

    /// Whether a peer can have refused what this store has of a record. It was only sent what is in the zone; and what was too large
    /// and has changed since is on its way.
    ///
    /// - Parameter sequence: the number of this store up to which the peer was sent the changes.
    static func counts(
        _ db: Database, _ name: RecordName, _ reason: Refusal.Reason, upTo sequence: Int64, zone: Int64
    ) throws -> Bool {
        let number = try Int64.fetchOne(
            db.cachedStatement(
                sql: "SELECT changeSequence FROM grdb_sync_remoteRecord WHERE remoteRecordID = ? AND zone = ?"
            ),
            arguments: [name.description, zone])
        guard let number else { return false }
        return reason != .tooLarge || number <= sequence
    }

    /// Notes what a peer has refused.
    ///
    /// - Parameter sequence: see ``counts(_:_:_:upTo:zone:)``.
    static func insert(
        _ db: Database, _ refusal: Refusal, upTo sequence: Int64, peer: Int64, zone: Int64
    ) throws {
        for name in refusal.names where try counts(db, name, refusal.reason, upTo: sequence, zone: zone) {
            try db.executeCached(
                "INSERT OR REPLACE INTO grdb_sync_refusedRecord (peer, zone, recordName, reason) VALUES (?, ?, ?, ?)",
                [peer, zone, name.description, refusal.reason.rawValue])
            try notify(db)
        }
    }

    static func names(_ db: Database, peer: Int64, zone: Int64) throws -> [RecordName] {
        try String.fetchAll(
            db.cachedStatement(
                sql:
                    "SELECT recordName FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? ORDER BY recordName"
            ),
            arguments: [peer, zone]
        ).map { try RecordName($0) }
    }

    /// Removes the records that the peer refused for a reason, and returns them.
    static func take(_ db: Database, peer: Int64, zone: Int64, reason: Refusal.Reason) throws -> [RecordName]
    {
        let names = try String.fetchAll(
            db,
            sql: """
                DELETE FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? AND reason = ? RETURNING recordName
                """, arguments: [peer, zone, reason.rawValue])
        try notify(db)
        return try names.map { try RecordName($0) }
    }

    /// Whether any peer has found a record too large.
    static func isAnyTooLarge(_ db: Database) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_refusedRecord WHERE reason = ?)",
            [Refusal.Reason.tooLarge.rawValue])
    }

    /// Ends the refusals of a record that was too large for peers: it has another state now, which the store sends.
    static func removeTooLarge(_ db: Database, _ name: RecordName) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_refusedRecord WHERE recordName = ? AND reason = ?",
            [name.description, Refusal.Reason.tooLarge.rawValue])
        try notify(db)
    }

    static func remove(_ db: Database, _ name: RecordName, peer: Int64, zone: Int64) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? AND recordName = ?",
            [peer, zone, name.description])
        try notify(db)
    }
}

import Foundation
import GRDB
import SyncModel

/// Deletions are remembered as long as a machine may come that does not know of them.
extension RecordStore {
    /// How long a deletion is remembered at least, in milliseconds: 180 days.
    public static let defaultRetention: Int64 = 180 * 86_400_000

    private static let purgeInterval: Int64 = 86_400_000

    /// Forgets the deletions that every paired machine has acknowledged and that are older than the retention time.
    /// Part of the transaction that is open.
    ///
    /// A machine that comes with an older token later, because its store was restored from a backup or its pairing
    /// had been ended, is refused with `changeTokenExpired`: it may hold records whose deletion nobody remembers.
    ///
    /// - Parameter retention: in milliseconds.
    /// - Returns: how many deletions were forgotten.
    @discardableResult
    public func purgeTombstones(_ db: Database, retention: Int64 = RecordStore.defaultRetention) throws -> Int
    {
        let limit = now() - retention
        let shapes = ShapeTable(db)
        var count = 0
        for zone in try Int64.fetchAll(db, sql: "SELECT id FROM recordZone") {
            let acknowledged = try Self.acknowledgedByAll(db, zone: zone)
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT remoteRecordID, changeSequence, remoteRecord FROM remoteRecord
                    WHERE zone = ? AND status = 1 AND status <> 0 AND +changeSequence <= ?
                    """, arguments: [zone, acknowledged])
            var last: Int64 = 0
            for row in rows {
                let name: String = row[0]
                let metadata = try RecordMetadata(row.bytes("remoteRecord"), shapes: shapes, name: name)
                guard let deletion = metadata.deletion, deletion.time.milliseconds <= limit else { continue }
                try db.cachedStatement(sql: "DELETE FROM remoteRecord WHERE remoteRecordID = ?")
                    .execute(arguments: [name])
                last = max(last, row[1])
                count += 1
            }
            try Zones.raisePurgedSequence(db, zone, to: last)
        }
        return count
    }

    /// Purges once a day.
    func purgeIfDue(_ db: Database) throws {
        let last = try SyncState.integer(db, .lastPurge) ?? 0
        guard now() - last >= Self.purgeInterval || now() < last else { return }
        try purgeTombstones(db)
        try removeUnreferredAssets(db)
        try SyncState.set(db, .lastPurge, now())
    }

    /// The number up to which every paired machine has acknowledged the changes of a zone.
    static func acknowledgedByAll(_ db: Database, zone: Int64) throws -> Int64 {
        let least = try Int64.fetchOne(
            db,
            sql: """
                SELECT MIN(COALESCE(acknowledgedSequence, 0))
                FROM peer LEFT JOIN peerZone ON peerZone.peer = peer.id AND peerZone.zone = ?1
                WHERE \(Zones.rights("rights", in: "?1")) > 0
                """, arguments: [zone])
        return try least ?? SyncState.integer(db, .lastSequence) ?? 0
    }
}

/// What a machine does that was away for too long.
extension RecordStore {
    /// Forgets what a peer has, so that the next session takes the peer's records over; what the peer has not seen stays,
    /// with the records it refers to. Part of the transaction that is open.
    ///
    /// Nothing is deleted by this for other machines: the records just are not known here any more.
    ///
    /// - Parameter zones: those that the two share, and in which the peer may write: in others it could not bring
    ///   anything back. With each the token of this store's that the peer holds, as its open says.
    /// - Returns: how many records were forgotten.
    @discardableResult
    package func startOver(
        _ db: Database, with peer: Peer, in zones: [(zone: Zone, heldByPeer: ChangeToken?)]
    ) throws -> Int {
        _ = try fold(db)
        var count = 0
        for (zone, held) in zones {
            let seen = try conditionForSeen(db, by: peer, zone: zone.row, held: held)
            let kept = try namesKept(db, zone: zone.row, unless: seen)
            let names = try String.fetchAll(
                db, sql: "SELECT remoteRecordID FROM remoteRecord WHERE zone = ? AND (\(seen))",
                arguments: [zone.row])
            let forgotten = try names.map { try RecordName($0) }.filter { !kept.contains($0) }
            try forget(db, forgotten, zone: zone.row)
            count += forgotten.count
            try PeerTable.setReceived(db, peer: peer.id, zone: zone.row, .start)
        }
        try Generations.startOver(db)
        return count
    }

    /// SQL for whether the peer has seen the state of a row of `remoteRecord`: it has acknowledged it, or holds it, or has
    /// sent it. An acknowledgement can be lost on its way, so it is not enough.
    private func conditionForSeen(
        _ db: Database, by peer: Peer, zone: Int64, held: ChangeToken?
    ) throws -> String {
        let acknowledged = try PeerTable.progress(db, peer: peer.id, zone: zone).acknowledgedSequence
        guard let held, CopyPosition(held) == nil,
            try ChangeLog(tables: tables).isValid(db, zone: zone, held)
        else { return "changeSequence <= \(acknowledged) OR sourcePeer = \(peer.id)" }
        // A peer that has lost what it had acknowledged may have lost also what it had sent.
        guard held.sequence >= acknowledged else { return "changeSequence <= \(held.sequence)" }
        return "changeSequence <= \(held.sequence) OR sourcePeer = \(peer.id)"
    }

    /// The records that the peer has not seen, and what they need.
    private func namesKept(_ db: Database, zone: Int64, unless seen: String) throws -> Set<RecordName> {
        let working = try WorkingSet(db, tables)
        var queue = try String.fetchAll(
            db, sql: "SELECT remoteRecordID FROM remoteRecord WHERE zone = ? AND (\(seen)) IS NOT TRUE",
            arguments: [zone]
        ).map { try RecordName($0) }
        // What a peer has refused is acknowledged, and nowhere else.
        queue += try String.fetchAll(
            db, sql: "SELECT DISTINCT recordName FROM refusedRecord WHERE zone = ?", arguments: [zone]
        ).map { try RecordName($0) }
        var kept = Set(queue)
        while let name = queue.popLast() {
            for field in try working.known(name)?.state.fields ?? [] {
                guard case .reference(let target) = field.value, kept.insert(target).inserted else {
                    continue
                }
                queue.append(target)
            }
        }
        return kept
    }

    /// Holds the records that refer to some that are about to be forgotten, and are not forgotten with them: SQLite would
    /// delete their rows along with those, and nobody would know.
    func holdReferrers(_ db: Database, to isForgotten: (RecordName) -> Bool, _ names: [RecordName]) throws {
        let set = try WorkingSet(db, tables)
        for name in names {
            guard let record = try set.known(name) else { continue }
            for referrer in try set.referrers(of: record, includingHeld: false)
            where !isForgotten(referrer.name) {
                referrer.isRefused = true
            }
        }
        _ = try set.save(generation: generation)
    }

    func forget(_ db: Database, _ names: [RecordName], zone: Int64) throws {
        let forgotten = Set(names)
        try holdReferrers(db, to: forgotten.contains, names)
        let working = try WorkingSet(db, tables)
        var digest = try Zones.digest(db, zone)
        try CaptureTriggers.paused(db) {
            try tables.deferForeignKeys(db)
            for name in names {
                if let id = try working.known(name)?.original?.countedID { digest.remove(id) }
                try tables[name.recordType]?.delete(db, name.description)
                for sql in [
                    "DELETE FROM remoteRecord WHERE remoteRecordID = ?",
                    "DELETE FROM heldReference WHERE recordName = ?",
                    "DELETE FROM unsettledRecord WHERE recordName = ?",
                    "DELETE FROM assetReference WHERE recordName = ?",
                    "DELETE FROM unsyncedRecord WHERE recordName = ?",
                ] {
                    try db.cachedStatement(sql: sql).execute(arguments: [name.description])
                }
            }
        }
        try Zones.setDigest(db, zone, digest)
    }
}

import Foundation
import GRDB
import SyncModel

/// What a machine does that leaves: it gives up what it shared.
extension RecordStore {
    /// The zones that would be erased if a peer were forgotten with all that the two share.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`; `sharedZone` when one of the zones is shared with another peer as well, which
    ///   would bring everything back.
    public func eraseAfterForgetting(_ nameOrKey: String) async throws -> [Zone] {
        try await database.read { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            let zones = try zonesGranted(db, to: peer).map(\.zone)
            for other in try PeerTable.all(db) where other.id != peer.id {
                let granted = try Set(zonesGranted(db, to: other).map(\.zone.row))
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
    public func forgetPeer(_ nameOrKey: String, erasing zones: [Zone]) async throws -> Peer {
        let (peer, hashes) = try await database.write { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            try endPairing(db, with: peer)
            let hashes = try AssetTable.hashes(db, in: zones)
            for zone in zones {
                try erase(db, zone)
                if zone.isDefault {
                    try reclaim(db, zone)
                } else {
                    try removeZone(db, zone)
                }
            }
            try Self.noteSettingsChanged(db)
            return (peer, hashes)
        }
        // Not before it is certain that no record has them; and no others, which somebody may be adding just now.
        try await removeFiles(hashes)
        return peer
    }

    private func removeFiles(_ hashes: Set<AssetHash>) async throws {
        guard let assets else { return }
        let left = try await database.read { db in
            hashes.subtracting(try AssetTable.references(db).list.map(\.hash))
        }
        try await blocking {
            for hash in left { _ = try assets.remove(hash, untouchedSince: .distantFuture) }
        }
    }

    private func removeZone(_ db: Database, _ zone: Zone) throws {
        try db.execute(sql: "DELETE FROM peerZone WHERE zone = ?", arguments: [zone.row])
        try db.execute(sql: "DELETE FROM recordZone WHERE id = ?", arguments: [zone.row])
    }
}

/// Giving up what a zone holds.
extension RecordStore {
    /// Removes everything that a zone holds, here only: to others it is not deleted. With nobody is anything left that was
    /// exchanged. Part of the transaction that is open.
    ///
    /// - Returns: how many records were live.
    @discardableResult
    public func erase(_ db: Database, _ zone: Zone) throws -> Int {
        _ = try fold(db)
        let count = try Zones.digest(db, zone.row).count
        // By name, because the rules see to what refers to them from elsewhere. Nobody cares for what refers to the others.
        try forget(db, namesReferredTo(fromOutside: zone, db))
        try CaptureTriggers.paused(db) {
            try tables.deferForeignKeys(db)
            for type in schema.types.reversed() {
                try db.execute(
                    sql: """
                        DELETE FROM \(type.name) WHERE recordName IN (
                            SELECT remoteRecordID FROM remoteRecord WHERE zone = ? AND status = 0)
                        """, arguments: [zone.row])
            }
            for sql in [
                """
                DELETE FROM heldReference WHERE recordName IN (
                    SELECT remoteRecordID FROM remoteRecord WHERE zone = ?)
                """,
                "DELETE FROM remoteRecord WHERE zone = ?",
                "DELETE FROM assetReference WHERE zone = ?",
                "DELETE FROM assetLeftover WHERE zone = ?",
                "DELETE FROM refusedRecord WHERE zone = ?",
                "DELETE FROM unsyncedRecord WHERE zone = ?",
                "UPDATE recordZone SET purgedSequence = 0 WHERE id = ?",
                """
                UPDATE peerZone SET receivedGeneration = NULL, receivedSequence = 0, receivedHorizon = 0,
                    acknowledgedSequence = 0 WHERE zone = ?
                """,
            ] {
                try db.execute(sql: sql, arguments: [zone.row])
            }
        }
        try Zones.setDigest(db, zone.row, ZoneDigest())
        try Generations.startOver(db)
        try SyncState.set(db, .erasures, (SyncState.integer(db, .erasures) ?? 0) + 1)
        try Self.noteSettingsChanged(db)
        return Int(count)
    }

    /// The records of a zone that records of other zones refer to.
    private func namesReferredTo(fromOutside zone: Zone, _ db: Database) throws -> [RecordName] {
        try schema.relationships.flatMap { relationship in
            try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT other.remoteRecordID FROM \(relationship.recordType)
                    JOIN remoteRecord AS own ON own.remoteRecordID = recordName
                    JOIN remoteRecord AS other ON other.remoteRecordID = \(relationship.field)
                    WHERE own.zone <> ?1 AND other.zone = ?1
                    """, arguments: [zone.row])
        }.map { try RecordName($0) }
    }

    /// Makes a zone that nobody shares any more one of this store alone again, so that it can be another's.
    package func reclaim(_ db: Database, _ zone: Zone) throws {
        try db.execute(
            sql: "UPDATE recordZone SET isShared = 0, owner = ? WHERE id = ?",
            arguments: [replica.description, zone.row])
    }
}

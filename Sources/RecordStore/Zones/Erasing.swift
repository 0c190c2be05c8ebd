import Foundation
import GRDB
import SyncModel

/// What a machine does that leaves: it gives up what it shared.
extension RecordStore {
    /// The zones that would be erased if a peer were forgotten with all that the two share.
    ///
    /// - Throws: `noSuchPeer`, `ambiguous`; `notPermitted` when one of the zones is shared with another peer as well, which
    ///   would bring everything back.
    public func eraseAfterForgetting(_ nameOrKey: String) async throws -> [Zone] {
        try await database.read { [self] db in
            let peer = try PeerTable.find(db, nameOrKey: nameOrKey)
            let zones = try zonesGranted(db, to: peer).map(\.zone)
            for other in try PeerTable.all(db) where other.id != peer.id {
                let granted = try Set(zonesGranted(db, to: other).map(\.zone.row))
                guard let zone = zones.first(where: { granted.contains($0.row) }) else { continue }
                throw RecordStoreError(
                    .notPermitted,
                    "the zone “\(zone.name)” is shared with \(other.name) as well, which would bring it back; run "
                        + "`scorebook-peer peers forget` for that machine first")
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
        for hash in left { _ = try assets.remove(hash, untouchedSince: .distantFuture) }
    }

    private func removeZone(_ db: Database, _ zone: Zone) throws {
        for table in ["peerZone", "formerPeer"] {
            try db.execute(sql: "DELETE FROM \(table) WHERE zone = ?", arguments: [zone.row])
        }
        try db.execute(sql: "DELETE FROM recordZone WHERE id = ?", arguments: [zone.row])
    }
}

import Foundation
import GRDB
import PeerSyncModel

extension StoreZones {
    /// Removes a zone with all that it holds, and the files that nothing else needs, on this machine only: for others it is no
    /// deletion. A machine that still lets this one have the zone does not bring it back before ``accept(_:)``.
    ///
    /// - Throws: `noSuchZone`; `notPermitted` for the default zone, which every store has; `sharedZone` when a paired machine
    ///   has rights in the zone.
    /// - Returns: the zone as it was.
    @discardableResult
    public func delete(_ name: String) async throws -> Zone {
        let begin = Date()
        let (zone, hashes) = try await store.database.write { [self] db in
            _ = try store.fold(db)
            let zone = try current(db, .one(Zones.find(db, named: name)))
            try checkMayGo(db, zone)
            let hashes = try AssetTable.hashes(db, in: [zone])
            try erase(db, zone)
            try remove(db, zone)
            try DeclinedZones.insert(db, zone)
            return (zone, hashes)
        }
        try await removeFiles(hashes, untouchedSince: begin)
        return zone
    }

    private func checkMayGo(_ db: Database, _ zone: Zone) throws {
        guard !zone.isDefault else {
            throw RecordStoreError(
                .notPermitted, "“\(zone.name)” is the zone that every store has, so it stays")
        }
        let peers = try PeerTable.all(db).filter {
            try Zones.rights(db, peer: $0.id, zone: zone.row) != .none
        }
        guard peers.isEmpty else {
            throw RecordStoreError(
                .sharedZone,
                "the zone “\(zone.name)” is shared with \(peers.map(\.name).joined(separator: ", "))"
            )
        }
    }

    /// Removes those of the files that no record has any more.
    ///
    /// - Parameter date: a time before the transaction that took the records away. What somebody has touched since then stays: whoever adds a
    ///   file touches it, and waits for that transaction with the record. ``StoreAssets/removeUnreferred(retention:)`` removes it if no record comes.
    func removeFiles(_ hashes: Set<AssetHash>, untouchedSince date: Date) async throws {
        guard let directory = store.assetDirectory else { return }
        let left = try await store.database.read { db in
            hashes.subtracting(try AssetTable.references(db).list.map(\.hash))
        }
        try await blocking {
            for hash in left { _ = try directory.remove(hash, untouchedSince: date) }
        }
    }

    /// Removes everything that a zone holds, on this machine only: for others it is no deletion. It also resets the
    /// exchange of the zone with every peer. Part of the open transaction.
    ///
    /// - Returns: the number of live records.
    @discardableResult
    package func erase(_ db: Database, _ zone: Zone) throws -> Int {
        _ = try store.fold(db)
        let count = try Zones.digest(db, zone.row).count
        // Forgets these by name, because the merge rules have to treat the records of other zones that refer to them.
        // Only records of this zone refer to the rest.
        try store.forget(db, namesReferredTo(fromOutside: zone, db))
        try CaptureTriggers.paused(db) {
            try store.tables.deferForeignKeys(db)
            let writer = RecordWriter(db, store.tables)
            let names = try String.fetchAll(
                db, sql: "SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE zone = ? AND status = 0",
                arguments: [zone.row])
            try LeavesFirst(names.map { try RecordName($0) }) { try targets(db, of: $0) }.run { name in
                if let table = store.tables[name.recordType] { try writer.deleteRow(name, in: table) }
            }
            try RecordTraces.removeAll(db, in: zone.row)
            for sql in [
                "UPDATE grdb_sync_recordZone SET purgedSequence = 0 WHERE id = ?",
                "UPDATE grdb_sync_peerZone SET acknowledgedSequence = 0 WHERE zone = ?",
            ] {
                try db.execute(sql: sql, arguments: [zone.row])
            }
        }
        try Zones.setDigest(db, zone.row, ZoneDigest())
        try store.tryHeldAgain(db)
        try PeerTable.startOver(db, in: zone.row)
        try SyncState.set(db, .erasures, (SyncState.integer(db, .erasures) ?? 0) + 1)
        try SyncSettings.noteChanged(db)
        return Int(count)
    }

    /// The records of a zone that are targets of records in other zones.
    private func namesReferredTo(fromOutside zone: Zone, _ db: Database) throws -> [RecordName] {
        var names: Set<RecordName> = []
        for table in store.tables.all where !table.type.references.isEmpty {
            try table.forEachName(db) { name in
                guard try Zones.row(db, of: name.description) != zone.row else { return }
                for target in try targets(db, of: name)
                where try Zones.row(db, of: target.description) == zone.row {
                    names.insert(target)
                }
            }
        }
        return names.sorted()
    }

    /// The records that a record's row refers to.
    private func targets(_ db: Database, of name: RecordName) throws -> Set<RecordName> {
        guard let table = store.tables[name.recordType], !table.type.references.isEmpty else { return [] }
        let values = try table.values(db, name) ?? []
        return Set(values.compactMap { if case .reference(let target) = $0 { target } else { nil } })
    }

    /// Gives a zone that nobody shares any more back to this store alone, so that it can take the identity of another
    /// zone.
    package func reclaim(_ db: Database, _ zone: Zone) throws {
        try AwaitedCopy.end(db)
        try db.execute(
            sql: "UPDATE grdb_sync_recordZone SET isShared = 0, owner = ? WHERE id = ?",
            arguments: [store.replica.description, zone.row])
    }

    /// Removes a zone that holds no records any more.
    func remove(_ db: Database, _ zone: Zone) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_peerZone WHERE zone = ?", arguments: [zone.row])
        try db.execute(sql: "DELETE FROM grdb_sync_recordZone WHERE id = ?", arguments: [zone.row])
    }
}

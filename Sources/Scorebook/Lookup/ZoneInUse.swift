import GRDB
import PeerSync

/// The zone that the person at this machine uses, kept in a table of this machine alone.
///
/// The table has the identity of the zone: its name here may change.
extension ScorebookStore {
    /// The zone in use; nil if that is the default zone, or if the zone is gone.
    public func zoneInUse() async throws -> Zone? {
        try await records.database.read { [records] db in
            guard try db.tableExists("scorebook_zoneInUse"),
                let id = try String.fetchOne(db, sql: "SELECT zone FROM scorebook_zoneInUse")
            else { return nil }
            return try records.zones.all(db).first { "\($0.id)" == id && !$0.isDefault }
        }
    }

    /// Uses a zone from now on, on this machine.
    ///
    /// - Throws: ``RecordStoreError`` `noSuchZone`.
    public func useZone(named name: String) async throws -> Zone {
        try await records.write { [records] db in
            let zone = try records.zones.find(db, named: name)
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS scorebook_zoneInUse (zone TEXT NOT NULL)")
            try db.execute(sql: "DELETE FROM scorebook_zoneInUse")
            if !zone.isDefault {
                try db.execute(
                    sql: "INSERT INTO scorebook_zoneInUse (zone) VALUES (?)", arguments: ["\(zone.id)"])
            }
            return zone
        }
    }

    /// Deletes a zone on this machine, with what it holds and with what ``undo()`` keeps of it.
    ///
    /// - Throws: what ``StoreZones/delete(_:)`` throws.
    public func deleteZone(named name: String) async throws {
        try await records.zones.delete(name)
        try await records.write { [records] db in
            for name in try UndoJournal.names(db) where try records.state(db, of: name) == nil {
                try UndoJournal.forget(db, changesOf: name.description)
            }
        }
    }
}

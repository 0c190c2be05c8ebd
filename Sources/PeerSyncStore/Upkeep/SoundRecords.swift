import GRDB
import GRDBSQLite
import PeerSyncModel

/// Finds out whether records are sound: in their tables, and never deleted. A record that refers to a sound one does
/// not go with it and need not bring it back, so the store need not load the sound one.
///
/// It remembers the sound records until a write may change them: call ``forget()`` then. If ``StoreSoundness`` knows
/// that all records are sound, a writer need not ask; it checks ``isTargetMissing`` after each written row then.
final class SoundRecords {
    /// The most records that it remembers.
    private static let limit = 16_384

    private let db: Database
    private let tables: RecordTables
    /// The query for each type.
    private var statements: [String: Statement] = [:]
    /// The zones of the sound records that it has found.
    private var zones: [RecordName: Int64] = [:]
    private var last: (name: RecordName, zone: Int64)?
    private var bindings = Bindings()
    /// The source that knows that all records are sound, with their zone; nil once that may have changed.
    private var knowledge: (soundness: StoreSoundness, zone: Int64)?

    init(_ db: Database, _ tables: RecordTables) {
        self.db = db
        self.tables = tables
    }

    /// Forgets what it has found, because something else was written in this transaction.
    func forget() {
        zones.removeAll(keepingCapacity: true)
        last = nil
        knowledge = nil
    }

    /// Relies from now on upon the knowledge that all records of the store are sound, if it is known. Only records of
    /// `zone` may then be written.
    func rely(on soundness: StoreSoundness, in zone: Int64) throws {
        guard try soundness.holds(db, in: zone) else { return }
        knowledge = (soundness, zone)
    }

    /// Whether every record with a row is known to be sound, and in the zone of the writes.
    var areAllSound: Bool { knowledge != nil }

    /// Whether all other records are sound, and the row just written refers to a missing row.
    var isTargetMissing: Bool { areAllSound && db.hasForeignKeyViolation }

    /// Ends the transaction: if all records are still known to be sound, they are so from its commit on.
    func end() throws {
        if let knowledge { try knowledge.soundness.holdsFromCommit(db, in: knowledge.zone) }
    }

    /// - Parameter zone: the only zone that counts; nil for all zones.
    func contains(_ name: RecordName, in zone: Int64? = nil) throws -> Bool {
        guard let found = try self.zone(of: name) else { return false }
        return zone == nil || found == zone
    }

    /// The zone of a sound record; nil if the record is not sound.
    private func zone(of name: RecordName) throws -> Int64? {
        // Records with the same target often come one after the other.
        if let last, last.name == name { return last.zone }
        if let known = zones[name] { return known }
        guard let statement = try statement(for: name.recordType) else { return nil }
        bindings.begin()
        bindings.append(name.description)
        tables[name.recordType]?.appendKey(of: name, to: &bindings)
        var found: Int64?
        try bindings.read(statement) { row in
            found = sqlite3_column_int64(row, 0)
            return false
        }
        guard let found else { return nil }
        if zones.count >= Self.limit { zones.removeAll(keepingCapacity: true) }
        zones[name] = found
        last = (name, found)
        return found
    }

    /// Returns the query for a type; nil if the type has no table.
    private func statement(for type: String) throws -> Statement? {
        if let statement = statements[type] { return statement }
        guard let table = tables[type] else { return nil }
        let statement = try db.statementToBind(
            """
            SELECT zone FROM grdb_sync_remoteRecord AS known
            WHERE known.remoteRecordID = ? AND known.status = 0
                AND \(RecordMetadata.wasNeverDeleted(in: "known"))
                AND EXISTS (SELECT 1 FROM \(table.sqlName) WHERE \(table.key.condition))
            """)
        statements[type] = statement
        return statement
    }
}

import GRDB
import PeerSyncModel

/// Finds out whether records are sound: in their tables, and never deleted. A record that refers to a sound one does
/// not go with it and need not bring it back, so the store need not load the sound one.
///
/// It remembers the sound records until a write may change them: call ``forget()`` then. If ``StoreSoundness`` knows
/// that all records are sound, it checks none of them; check ``isTargetMissing`` after each written row then.
final class SoundRecords {
    /// The most records that it remembers.
    private static let limit = 16_384

    private let db: Database
    private let tables: RecordTables
    private let zone: Int64?
    /// The query for each type.
    private var statements: [String: Statement] = [:]
    private var found: Set<RecordName> = []
    private var last: RecordName?
    private var bindings = Bindings()
    /// The source that knows that all records are sound, with their zone; nil once that may have changed.
    private var knowledge: (soundness: StoreSoundness, zone: Int64)?

    /// - Parameter zone: the only zone that counts; nil for all zones.
    init(_ db: Database, _ tables: RecordTables, in zone: Int64?) {
        self.db = db
        self.tables = tables
        self.zone = zone
    }

    /// Forgets what it has found, because something else was written in this transaction.
    func forget() {
        found.removeAll(keepingCapacity: true)
        last = nil
        knowledge = nil
    }

    /// Skips the checks from now on if all records of the store are known to be sound.
    func rely(on soundness: StoreSoundness) throws {
        guard let zone, try soundness.holds(db, in: zone) else { return }
        knowledge = (soundness, zone)
    }

    /// Whether it skipped the check, and the row just written refers to a missing row.
    var isTargetMissing: Bool { knowledge != nil && db.hasForeignKeyViolation }

    /// Ends the transaction: if all records are still known to be sound, they are so from its commit on.
    func end() throws {
        if let knowledge { try knowledge.soundness.holdsFromCommit(db, in: knowledge.zone) }
    }

    func contains(_ name: RecordName) throws -> Bool {
        // Records with the same target often come one after the other.
        if knowledge != nil || name == last || found.contains(name) { return true }
        guard let statement = try statement(for: name.recordType) else { return false }
        bindings.begin()
        bindings.append(name.description)
        bindings.append(zone)
        tables[name.recordType]?.appendKey(of: name, to: &bindings)
        guard try bindings.findsRow(statement) else { return false }
        if found.count >= Self.limit { found.removeAll(keepingCapacity: true) }
        found.insert(name)
        last = name
        return true
    }

    /// Returns the query for a type; nil if the type has no table.
    private func statement(for type: String) throws -> Statement? {
        if let statement = statements[type] { return statement }
        guard let table = tables[type] else { return nil }
        let statement = try db.statementToBind(
            """
            SELECT 1 FROM grdb_sync_remoteRecord AS known
            WHERE known.remoteRecordID = ?1 AND (?2 IS NULL OR known.zone = ?2) AND known.status = 0
                AND \(RecordMetadata.wasNeverDeleted(in: "known"))
                AND EXISTS (SELECT 1 FROM \(table.sqlName) WHERE \(table.key.condition))
            """)
        statements[type] = statement
        return statement
    }
}

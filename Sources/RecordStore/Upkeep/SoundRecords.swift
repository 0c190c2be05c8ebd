import GRDB
import SyncModel

/// Finds out of records whether they are sound: in their table, and never deleted. A record that refers to a sound one is
/// neither taken along by it nor has to bring it back, so there is no need to load it.
///
/// What was found is remembered, until something is written that may change it: then ``forget()``. Where ``StoreSoundness``
/// knows that all records are sound, nobody looks at each; whoever wrote a row then asks ``isTargetMissing``.
final class SoundRecords {
    /// More are not kept in memory.
    private static let limit = 16_384

    private let db: Database
    private let tables: RecordTables
    private let zone: Int64?
    /// By type, how to look.
    private var statements: [String: Statement] = [:]
    private var found: Set<RecordName> = []
    private var last: RecordName?
    private var bindings = Bindings()
    /// Who knows that all records are sound, and in which zone they are, while that is so.
    private var knowledge: (soundness: StoreSoundness, zone: Int64)?

    /// - Parameter zone: only records in this one are found; nil for any.
    init(_ db: Database, _ tables: RecordTables, in zone: Int64?) {
        self.db = db
        self.tables = tables
        self.zone = zone
    }

    /// Something else was written in this transaction.
    func forget() {
        found.removeAll(keepingCapacity: true)
        last = nil
        knowledge = nil
    }

    /// Spares the looks from now on if all records of the store are known to be sound.
    func rely(on soundness: StoreSoundness) throws {
        guard let zone, try soundness.holds(db, in: zone) else { return }
        knowledge = (soundness, zone)
    }

    /// Whether no look was made, and the row that was just written refers to a record that is not there.
    var isTargetMissing: Bool { knowledge != nil && db.hasForeignKeyViolation }

    /// The transaction ends: from its commit on all records are known to be sound if they still are.
    func end() throws {
        if let knowledge { try knowledge.soundness.holdsFromCommit(db, in: knowledge.zone) }
    }

    func contains(_ name: RecordName) throws -> Bool {
        // Those that refer to one record often come one behind the other.
        if knowledge != nil || name == last || found.contains(name) { return true }
        guard let statement = try statement(for: name.recordType) else { return false }
        bindings.begin()
        bindings.append(name.description)
        bindings.append(zone)
        guard try bindings.findsRow(statement) else { return false }
        if found.count >= Self.limit { found.removeAll(keepingCapacity: true) }
        found.insert(name)
        last = name
        return true
    }

    /// nil for a type without a table.
    private func statement(for type: String) throws -> Statement? {
        if let statement = statements[type] { return statement }
        guard tables[type] != nil else { return nil }
        let statement = try db.statementToBind(
            """
            SELECT 1 FROM remoteRecord AS known JOIN \(type) AS row ON row.recordName = known.remoteRecordID
            WHERE known.remoteRecordID = ?1 AND (?2 IS NULL OR known.zone = ?2) AND known.status = 0
                AND \(RecordMetadata.wasNeverDeleted(in: "known"))
            """)
        statements[type] = statement
        return statement
    }
}

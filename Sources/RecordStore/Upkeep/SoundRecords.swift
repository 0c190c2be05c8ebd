import GRDB
import SyncModel

/// Finds out of records whether they are sound: in their table, and never deleted. A record that refers to a sound one is
/// neither taken along by it nor has to bring it back, so there is no need to load it.
///
/// What was found is remembered, until something is written that may change it: then ``forget()``.
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

    /// - Parameter zone: only records in this one are found; nil for any.
    init(_ db: Database, _ tables: RecordTables, in zone: Int64?) {
        self.db = db
        self.tables = tables
        self.zone = zone
    }

    func forget() {
        found.removeAll(keepingCapacity: true)
        last = nil
    }

    func contains(_ name: RecordName) throws -> Bool {
        // Those that refer to one record often come one behind the other.
        if name == last || found.contains(name) { return true }
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

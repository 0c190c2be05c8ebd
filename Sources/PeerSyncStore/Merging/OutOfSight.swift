import GRDB
import PeerSyncModel

/// The records that are deleted, and those that deletions hide.
struct OutOfSight {
    let deleted: [WorkingRecord]
    let set: WorkingSet
    private let rules: RuleApplication

    /// The records that cannot be shown without a record.
    func below(_ record: WorkingRecord) throws -> [RecordName] {
        var rules = rules
        return try Array(rules.below(record.name).dropFirst())
    }

    init(_ db: Database, _ tables: RecordTables, zone: Int64? = nil) throws {
        let set = WorkingSet(db, tables)
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM grdb_sync_remoteRecord
                WHERE status IN (1, 3) AND status <> 0 AND (?1 IS NULL OR zone = ?1) ORDER BY remoteRecordID
                """, arguments: [zone])
        let records = try names.compactMap { try set.known(RecordName($0)) }
        let rules = try RuleApplication(set)
        deleted = records.filter { $0.original?.status == .deleted }
        self.set = set
        self.rules = rules
    }
}

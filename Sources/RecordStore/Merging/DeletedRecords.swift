import GRDB
import MergeRules
import SyncModel

/// A record that somebody has deleted, and that can be restored.
public struct DeletedRecord: Sendable, Hashable {
    public let name: RecordName
    /// What its zone is called here.
    public let zone: String
    /// When it was deleted, in milliseconds since 1970, by the clock of the machine where that was.
    public let time: Int64
    /// The machine where it was deleted.
    public let replica: ReplicaID
    /// How many records went with it, and come back with it.
    public let count: Int
}

/// Deleted records, and how they come back.
extension RecordStore {
    /// The deleted records that can be restored, the last one first. Fold first. Reads all that is deleted or hidden.
    ///
    /// - Parameters:
    ///   - type: nil for all types.
    ///   - zone: nil for all zones.
    public func deletedRecords(_ db: Database, type: String? = nil, zone: Zone? = nil) throws
        -> [DeletedRecord]
    {
        let outOfSight = try OutOfSight(db, tables)
        let names = try ZoneNames(db)
        return try outOfSight.deleted.compactMap { record in
            guard let deletion = record.state.deletion, !record.state.fields.isEmpty,
                type == nil || record.name.recordType == type, zone == nil || record.zone == zone?.row
            else { return nil }
            return DeletedRecord(
                name: record.name, zone: try names.name(db, of: record.name.description),
                time: deletion.time.milliseconds, replica: deletion.replica,
                count: outOfSight.hidden[record.name]?.count ?? 0)
        }.sorted { ($1.time, $0.name) < ($0.time, $1.name) }
    }
}

/// The records that are deleted, or hidden by deletions.
struct OutOfSight {
    let deleted: [WorkingRecord]
    /// By the deleted record that hides them.
    let hidden: [RecordName: [WorkingRecord]]
    let set: WorkingSet
    private let rules: RuleApplication

    /// The records that cannot be there without one.
    func below(_ record: WorkingRecord) throws -> [RecordName] {
        var rules = rules
        return try Array(rules.below(record.name).dropFirst())
    }

    init(_ db: Database, _ tables: RecordTables, zone: Int64? = nil) throws {
        let set = try WorkingSet(db, tables)
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM remoteRecord
                WHERE status IN (1, 3) AND status <> 0 AND (?1 IS NULL OR zone = ?1) ORDER BY remoteRecordID
                """, arguments: [zone])
        let records = try names.compactMap { try set.known(RecordName($0)) }
        let rules = try RuleApplication(set)
        var hidden: [RecordName: [WorkingRecord]] = [:]
        for (name, seen) in try rules.visibility(of: records) {
            guard case .hidden(let by, _) = seen, let record = set.loaded(name) else { continue }
            hidden[by, default: []].append(record)
        }
        deleted = records.filter { $0.original?.status == .deleted }
        self.hidden = hidden
        self.set = set
        self.rules = rules
    }
}

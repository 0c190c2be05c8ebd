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
    /// How many records come back with it: those that went with it, and those that it needs.
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
        let returns = try Returns(outOfSight)
        let names = try ZoneNames(db)
        return try outOfSight.deleted.compactMap { record in
            guard let deletion = record.state.deletion, let count = returns.count(with: record.name),
                type == nil || record.name.recordType == type, zone == nil || record.zone == zone?.row
            else { return nil }
            return DeletedRecord(
                name: record.name, zone: try names.name(db, of: record.name.description),
                time: deletion.time.milliseconds, replica: deletion.replica, count: count)
        }.sorted { ($1.time, $0.name) < ($0.time, $1.name) }
    }
}

/// What comes back with each deleted record.
private struct Returns {
    /// The records that cannot be there without a deleted one, and this one first.
    private var below: [RecordName: [RecordName]] = [:]
    /// The deleted records that keep one out of sight, itself included.
    private var deletions: [RecordName: Set<RecordName>] = [:]
    /// The deleted records whose fields nobody has here.
    private var hollow: Set<RecordName> = []

    init(_ outOfSight: OutOfSight) throws {
        for record in outOfSight.deleted {
            let below = [record.name] + (try outOfSight.below(record))
            self.below[record.name] = below
            for name in below { deletions[name, default: []].insert(record.name) }
            if record.state.fields.isEmpty { hollow.insert(record.name) }
        }
    }

    /// How many records come back with a deleted one, besides itself. A restoring takes back the deletions of all that the
    /// record needs, and what nothing else keeps out of sight is shown again. nil for a record that cannot be restored.
    func count(with name: RecordName) -> Int? {
        guard let taken = deletions[name], taken.isDisjoint(with: hollow) else { return nil }
        let candidates = Set(taken.flatMap { below[$0] ?? [] })
        return candidates.count { deletions[$0]?.isSubset(of: taken) == true } - 1
    }
}

/// The records that are deleted, or hidden by deletions.
struct OutOfSight {
    let deleted: [WorkingRecord]
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
        deleted = records.filter { $0.original?.status == .deleted }
        self.set = set
        self.rules = rules
    }
}

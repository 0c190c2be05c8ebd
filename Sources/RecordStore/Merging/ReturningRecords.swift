import SyncModel

/// The records that come back with each deleted one.
struct ReturningRecords {
    /// Each deleted record, followed by the records that cannot be shown without it.
    private var below: [RecordName: [RecordName]] = [:]
    /// The deleted records that keep a record out of sight, including the record itself.
    private var deletions: [RecordName: Set<RecordName>] = [:]
    /// The deleted records without fields in this store.
    private var hollow: Set<RecordName> = []

    init(_ outOfSight: OutOfSight) throws {
        for record in outOfSight.deleted {
            let below = [record.name] + (try outOfSight.below(record))
            self.below[record.name] = below
            for name in below { deletions[name, default: []].insert(record.name) }
            if record.state.fields.isEmpty { hollow.insert(record.name) }
        }
    }

    /// Returns the number of records that come back with a deleted one, besides itself; nil if nobody can restore it here.
    ///
    /// A restore takes back the deletions of all records that this one needs. It shows every record again that no other
    /// deletion keeps out of sight.
    func count(with name: RecordName) -> Int? {
        guard let taken = deletions[name], taken.isDisjoint(with: hollow) else { return nil }
        let candidates = Set(taken.flatMap { below[$0] ?? [] })
        return candidates.count { deletions[$0]?.isSubset(of: taken) == true } - 1
    }
}

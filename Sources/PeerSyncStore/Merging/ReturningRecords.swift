import PeerSyncModel

/// The records that come back with each deleted one.
struct ReturningRecords {
    /// The deleted records that keep each deleted one out of sight, itself included.
    private var deletions: [RecordName: Set<RecordName>] = [:]
    /// The number of records that the same deleted records keep out of sight.
    private var counts: [Set<RecordName>: Int] = [:]
    /// The deleted records whose fields this store does not have.
    private var hollow: Set<RecordName> = []

    /// For so few records it takes less time to look up each subset than to look at all of ``counts``.
    private static let fewDeletions = 8

    init(_ outOfSight: OutOfSight) throws {
        for record in outOfSight.deleted {
            deletions[record.name, default: []].insert(record.name)
            for name in try outOfSight.below(record) { deletions[name, default: []].insert(record.name) }
            if record.state.fields.isEmpty { hollow.insert(record.name) }
        }
        for taken in deletions.values { counts[taken, default: 0] += 1 }
    }

    /// Returns the number of records that come back with a deleted one, besides itself; nil if nobody can restore it here.
    ///
    /// A restore takes back the deletions of all records that this one needs. Each record that no other deletion keeps out of
    /// sight is shown again.
    func count(with name: RecordName) -> Int? {
        guard let taken = deletions[name], taken.isDisjoint(with: hollow) else { return nil }
        guard taken.count <= Self.fewDeletions else {
            return counts.filter { $0.key.isSubset(of: taken) }.values.reduce(0, +) - 1
        }
        var subsets: [Set<RecordName>] = [[]]
        for deletion in taken { subsets += subsets.map { $0.union([deletion]) } }
        return subsets.compactMap { counts[$0] }.reduce(0, +) - 1
    }
}

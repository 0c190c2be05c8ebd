import GRDB
import PeerSyncModel

/// The searches of a working set for the rows that refer to records by one reference.
///
/// Where the app has no index on the column, SQLite reads the whole table for each record: a table that comes as a whole would
/// take time in proportion to its square. So after some searches it reads all references at once. It sees nothing that is written
/// after that: the set knows what it writes itself.
struct ReferrerSearch {
    /// How many searches cost less than to keep all references of a table.
    static let fewSearches = 10

    private let table: RecordTable
    private let field: String
    private var count = 0
    private var isIndexed = false
    private var byTarget: [RecordName: [RecordName]]?

    init(_ table: RecordTable, by field: String) {
        self.table = table
        self.field = field
    }

    mutating func referrers(_ db: Database, to target: RecordName) throws -> [RecordName] {
        if let byTarget { return byTarget[target] ?? [] }
        count += 1
        if count == Self.fewSearches { isIndexed = try table.isIndexed(db, by: field) }
        guard count > Self.fewSearches, !isIndexed else {
            return try table.referrers(db, by: field, to: target)
        }
        let all = try table.referrersByTarget(db, by: field)
        byTarget = all
        return all[target] ?? []
    }
}

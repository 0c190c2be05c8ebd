import GRDB
import RecordStore
import SyncModel

/// Counts what merging states into a store did, record by record.
///
/// It looks at the store before and after, so that what goes with a deletion, or comes back with a child, is
/// counted as well.
struct ImportCounting {
    private let states: [RecordState]
    private let lastChange: Int64
    private var liveBefore: Set<String> = []

    /// Looks at the store before the states are merged. What is pending must have been folded.
    init(_ db: Database, before states: [RecordState]) throws {
        self.states = states
        lastChange = try Int64.fetchOne(db, sql: "SELECT MAX(changeSequence) FROM remoteRecord") ?? 0
        let names = try String.fetchCursor(
            db, sql: "SELECT remoteRecordID FROM remoteRecord WHERE status <> 1")
        while let name = try names.next() { liveBefore.insert(name) }
    }

    /// Looks at the store after the states were merged.
    func counts(_ db: Database) throws -> [String: ImportReport.Counts] {
        var counts: [String: ImportReport.Counts] = [:]
        var touched: Set<String> = []
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, status FROM remoteRecord WHERE changeSequence > ?",
            arguments: [lastChange])
        while let row = try rows.next() {
            let name: String = row[0]
            let isLive = (row[1] as Int64) != 1
            let type = try RecordName(name).recordType
            switch (liveBefore.contains(name), isLive) {
            case (false, true): counts[type, default: .init()].new += 1
            case (true, true): counts[type, default: .init()].changed += 1
            case (true, false): counts[type, default: .init()].deleted += 1
            case (false, false): continue
            }
            touched.insert(name)
        }
        for state in states where state.isLive && !touched.contains(state.name.description) {
            counts[state.name.recordType, default: .init()].unchanged += 1
        }
        return counts
    }
}

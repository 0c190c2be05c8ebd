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
    /// The records that are there: in their table, or held.
    private var live: Set<String> = []
    /// Those that are deleted, or hidden with a deleted one.
    private var gone: Set<String> = []

    /// Looks at the store before the states are merged. What is pending must have been folded.
    init(_ db: Database, before states: [RecordState]) throws {
        self.states = states
        lastChange = try Int64.fetchOne(db, sql: "SELECT MAX(changeSequence) FROM remoteRecord") ?? 0
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, \(Self.isGone) FROM remoteRecord")
        while let row = try rows.next() {
            if row[1] { gone.insert(row[0]) } else { live.insert(row[0]) }
        }
    }

    /// SQL for whether a record is deleted or hidden.
    private static let isGone = "status IN (1, 3)"

    /// Looks at the store after the states were merged.
    func report(_ db: Database, _ format: ImportReport.Format) throws -> ImportReport {
        var counts: [String: ImportReport.Counts] = [:]
        var (restored, stillDeleted) = (0, 0)
        var touched: Set<String> = []
        // A record that is hidden, or comes back, with another one has not changed itself.
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, \(Self.isGone), changeSequence > ? FROM remoteRecord",
            arguments: [lastChange])
        while let row = try rows.next() {
            let name: String = row[0]
            let (isGone, hasChanged): (Bool, Bool) = (row[1], row[2])
            guard hasChanged || isGone != gone.contains(name) else { continue }
            let type = try RecordName(name).recordType
            switch (live.contains(name), !isGone) {
            case (false, true): counts[type, default: .init()].new += 1
            case (true, true): counts[type, default: .init()].changed += 1
            case (true, false): counts[type, default: .init()].deleted += 1
            case (false, false): continue
            }
            if !isGone, gone.contains(name) { restored += 1 }
            touched.insert(name)
        }
        for state in states where state.isLive && !touched.contains(state.name.description) {
            if gone.contains(state.name.description) {
                stillDeleted += 1
            } else {
                counts[state.name.recordType, default: .init()].unchanged += 1
            }
        }
        return ImportReport(
            format: format, types: counts, restored: restored, stillDeleted: stillDeleted)
    }
}

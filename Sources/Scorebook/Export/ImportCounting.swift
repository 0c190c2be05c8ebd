import GRDB
import PeerSyncModel
import PeerSyncStore

/// A counter of the changes that a merge of states makes in a store, record by record.
///
/// It compares the store before and after. So it also counts records that go with a deletion, or come back with a
/// child.
struct ImportCounting {
    private let states: [RecordState]
    private let lastChange: Int64
    /// The live records: in their table, or held.
    private var live: Set<String> = []
    /// The records that are deleted, or hidden with a deleted one.
    private var gone: Set<String> = []

    /// Notes the state of the store before the merge. The caller must have folded pending changes.
    init(_ db: Database, before states: [RecordState]) throws {
        self.states = states
        lastChange =
            try Int64.fetchOne(db, sql: "SELECT MAX(changeSequence) FROM grdb_sync_remoteRecord") ?? 0
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, \(Self.isGone) FROM grdb_sync_remoteRecord")
        while let row = try rows.next() {
            if row[1] { gone.insert(row[0]) } else { live.insert(row[0]) }
        }
    }

    /// SQL that is true for deleted and hidden records.
    private static let isGone = "status IN (1, 3)"

    /// Compares the store after the merge, and reports the counts.
    func report(_ db: Database, _ format: ImportReport.Format) throws -> ImportReport {
        var counts: [String: ImportReport.Counts] = [:]
        var (restored, stillDeleted) = (0, 0)
        var touched: Set<String> = []
        // A record that goes or comes back with another one has no new change number, so this looks at all records.
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, \(Self.isGone), changeSequence > ? FROM grdb_sync_remoteRecord",
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

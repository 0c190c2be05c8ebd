import GRDB
import PeerSync

/// A counter of the changes that a merge of states makes in a store, record by record.
///
/// It compares the store before and after. So it also counts records that go with a deletion, or come back with a
/// child.
struct ImportCounting {
    private let records: RecordStore
    private let states: [RecordState]
    private let before: [RecordName: RecordMark]

    /// Notes the state of the store before the merge. The caller must have folded pending changes.
    init(_ db: Database, _ records: RecordStore, before states: [RecordState]) throws {
        self.records = records
        self.states = states
        before = try records.listing.marks(db)
    }

    /// Returns whether the store knew nothing of a record before.
    func isNew(_ name: RecordName) -> Bool { before[name] == nil }

    /// Compares the store after the merge, and reports the counts.
    ///
    /// Records that became one with others earlier do not count if the one that is left has changed, and otherwise as unchanged: nobody
    /// sees them.
    ///
    /// - Parameter joined: records that the import has made, and that became one with others. They count as unchanged.
    func report(_ db: Database, _ file: ImportFile, joined: [RecordName: String]) throws -> ImportReport {
        var counts: [String: ImportReport.Counts] = [:]
        var (restored, stillDeleted) = (0, 0)
        var touched: Set<RecordName> = []
        let merged = try [RecordKind.person, .game].map { try MergedRecords(db, $0) }
        func survivor(_ name: RecordName) throws -> RecordName? {
            let text = name.description
            return try merged.first { $0.contains(text) }.map { try RecordName($0.survivor(of: text)) }
        }
        let after = try records.listing.marks(db)
        for (name, mark) in after where mark != before[name] && joined[name] == nil {
            if before[name] != nil, try survivor(name) != nil { continue }
            let type = name.recordType
            switch (before[name]?.isOutOfSight == false, !mark.isOutOfSight) {
            case (false, true): counts[type, default: .init()].new += 1
            case (true, true): counts[type, default: .init()].changed += 1
            case (true, false): counts[type, default: .init()].deleted += 1
            case (false, false): continue
            }
            if !mark.isOutOfSight, before[name]?.isOutOfSight == true { restored += 1 }
            touched.insert(name)
        }
        for state in states where state.isLive && !touched.contains(state.name) {
            if joined[state.name] == nil, let survivor = try survivor(state.name), touched.contains(survivor)
            {
                continue
            }
            if before[state.name]?.isOutOfSight == true, after[state.name]?.isOutOfSight == true {
                stillDeleted += 1
            } else {
                counts[state.name.recordType, default: .init()].unchanged += 1
            }
        }
        return ImportReport(
            format: file.format, types: counts, restored: restored, stillDeleted: stillDeleted,
            joined: joined.count, joinedNames: Set(joined.values).sorted(), leftOut: file.wishes)
    }
}

extension ImportFile {
    fileprivate var format: ImportReport.Format {
        switch self {
        case .bgStats: .bgStats
        case .scorebook: .scorebook
        case .boardGameGeek(.collection): .bggCollection
        case .boardGameGeek(.plays): .bggPlays
        }
    }

    fileprivate var wishes: Int {
        if case .boardGameGeek(let file) = self { file.wishes } else { 0 }
    }
}

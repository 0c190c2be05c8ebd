import GRDB
import PeerSync

/// What the records of a file hold that became one with others. Nobody sees such a record, so what a file changes in it goes to the one
/// that is left: where that one has no value, or the same as the record of the file had.
struct MergedValues {
    private struct Entry {
        let kind: RecordKind
        let name: String
        let survivor: String
        /// The columns as SQL.
        let before: [String: String]
    }

    private let entries: [Entry]

    /// Notes the values before the file is merged.
    init(_ db: Database, of states: [RecordState]) throws {
        entries = try [RecordKind.person, .game].flatMap { kind in
            let merged = try MergedRecords(db, kind)
            return try states.map(\.name.description).filter(merged.contains).compactMap { name in
                try UndoJournal.values(db, name).map {
                    Entry(kind: kind, name: name, survivor: merged.survivor(of: name), before: $0)
                }
            }
        }
    }

    /// Passes on what the file has changed. A name stays: two records that are one may well have two.
    func passOn(_ db: Database) throws {
        for entry in entries {
            let new = try UndoJournal.values(db, entry.name) ?? [:]
            for (column, old) in entry.before.sorted(by: { $0.key < $1.key })
            where !["name", "firstName", "lastName", "mergedInto"].contains(column) {
                guard let value = new[column], value != old, value != "NULL" else { continue }
                try db.execute(
                    sql: """
                        UPDATE \(entry.kind.recordType) SET \(column) = \(value)
                        WHERE recordName = ? AND (\(column) IS NULL OR \(column) IS \(old))
                        """, arguments: [entry.survivor])
            }
        }
    }
}

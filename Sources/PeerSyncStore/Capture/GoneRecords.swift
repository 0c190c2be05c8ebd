import GRDB
import GRDBSQLite
import PeerSyncModel
import PeerSyncRules

/// The records that programs have deleted since the last fold, if sync knew them.
///
/// Some of these nobody deleted: a foreign key's action took them along. SQLite does that while it deletes the record that they go
/// with, so they stand between the two entries of that one: it leaves, and it is gone. A long journal may have the two in different
/// parts, so this type reads the whole journal before the first part is folded.
struct GoneRecords {
    private struct Gone {
        /// The id of the entry in the journal.
        let id: Int64
        let time: Int64
        /// The id of the entry that says that it leaves; nil if triggers of before have written the journal.
        let leaving: Int64?
        let zone: Int64
    }

    private var all: [RecordName: Gone] = [:]

    /// Reads the journal.
    init(_ db: Database, _ tables: RecordTables) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT time, recordType, recordName, id, changedColumns FROM grdb_sync_pendingChange
                WHERE changedColumns IN (0, \(CaptureTriggers.leaving)) ORDER BY id
                """)
        let findZone = try db.statementToBind(
            "SELECT zone FROM grdb_sync_remoteRecord WHERE remoteRecordID = ? AND status = 0")
        var bindings = Bindings()
        let rows = try Row.fetchCursor(statement)
        var leaving: [RecordName: Int64] = [:]
        while let row = try rows.next() {
            guard let (table, name) = tables.record(journal: statement.sqliteStatement, type: 1, key: 2)
            else { continue }
            guard row[4] != CaptureTriggers.leaving else {
                leaving[name] = row[3]
                continue
            }
            let left = leaving.removeValue(forKey: name)
            bindings.begin()
            bindings.append(name.description)
            var zone: Int64?
            try bindings.read(findZone) { row in
                zone = sqlite3_column_int64(row, 0)
                return false
            }
            guard let zone, try !table.exists(db, name) else { continue }
            all[name] = Gone(id: row[3], time: row[0], leaving: left, zone: zone)
        }
    }

    /// Whether the journal has a record's deletion only after an entry.
    func isLater(_ name: RecordName, than id: Int64) -> Bool { all[name].map { $0.id > id } ?? false }

    /// Whether an entry is a consequence of the deletion of a record.
    private func contains(_ name: RecordName, sinceEntry id: Int64, at time: Int64) -> Bool {
        guard let gone = all[name], gone.id > id else { return false }
        // SQLite does both in one statement, which has one time.
        return gone.leaving.map { $0 < id } ?? (gone.time == time)
    }

    /// Whether a deleted record went only because SQLite deleted a record that it refers to.
    func isTakenAlong(_ change: FormerChange) -> Bool {
        guard let gone = all[change.name] else { return false }
        return change.type.references.contains { relationship in
            guard relationship.rule == .cascade,
                case .reference(let target)? = change.values[relationship.field]
            else { return false }
            return contains(target, sinceEntry: gone.id, at: gone.time) && all[target]?.zone == gone.zone
        }
    }

    /// The references that are empty only because SQLite deleted their targets, by bit, with their former values.
    func emptied(_ change: FormerChange, _ capturedFields: [String]) -> [Int: FieldValue] {
        var emptied: [Int: FieldValue] = [:]
        for relationship in change.type.references where !relationship.rule.needsTarget {
            guard let bit = capturedFields.firstIndex(of: relationship.field),
                change.mask & (1 << Int64(bit)) != 0,
                case .reference(let target)? = change.values[relationship.field],
                contains(target, sinceEntry: change.id, at: change.time)
            else { continue }
            emptied[bit] = .reference(target)
        }
        return emptied
    }
}

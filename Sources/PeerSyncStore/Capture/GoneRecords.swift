import GRDB
import PeerSyncModel
import PeerSyncRules

/// The records that programs have deleted since the last fold, if sync knew them.
///
/// Some of these nobody deleted: a foreign key's action took them along. SQLite deletes such a record in the same
/// statement as the record that it goes with, and before that record. So in the journal both have the same time, and
/// the record that was taken along comes first. A long journal may have the two in different parts, so this type reads
/// the whole journal before the first part is folded.
struct GoneRecords {
    private struct Gone {
        /// The id of the entry in the journal.
        let id: Int64
        let time: Int64
        let zone: Int64
    }

    private var all: [RecordName: Gone] = [:]

    /// Reads the journal.
    init(_ db: Database, _ tables: RecordTables) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT time, recordType, recordName, id FROM grdb_sync_pendingChange
                WHERE changedColumns = 0 ORDER BY id
                """)
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            guard let (table, name) = tables.record(journal: statement.sqliteStatement, type: 1, key: 2),
                let known = try Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT zone FROM grdb_sync_remoteRecord WHERE remoteRecordID = ? AND status = 0"
                    ),
                    arguments: [name.description]),
                try !table.exists(db, name)
            else { continue }
            all[name] = Gone(id: row[3], time: row[0], zone: known[0])
        }
    }

    /// Whether the journal has a record's deletion only after an entry.
    func isLater(_ name: RecordName, than id: Int64) -> Bool { all[name].map { $0.id > id } ?? false }

    /// Whether the statement that made an entry also deleted a record: SQLite does the consequences of a deletion
    /// first.
    func contains(_ name: RecordName, sinceEntry id: Int64, at time: Int64) -> Bool {
        all[name].map { $0.time == time && $0.id > id } ?? false
    }

    /// Whether a record went only because SQLite deleted a record that it refers to.
    ///
    /// - Parameter former: the record's values before.
    func isTakenAlong(_ name: RecordName, _ former: [String: FieldValue], _ type: RecordType) -> Bool {
        guard let gone = all[name] else { return false }
        return type.references.contains { relationship in
            guard relationship.rule == .cascade, case .reference(let target)? = former[relationship.field]
            else { return false }
            return contains(target, sinceEntry: gone.id, at: gone.time) && all[target]?.zone == gone.zone
        }
    }
}

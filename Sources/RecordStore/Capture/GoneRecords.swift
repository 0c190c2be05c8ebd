import GRDB
import MergeRules
import SyncModel

/// The records that programs have deleted since the last look, as far as sync knew them.
///
/// Of these nobody has deleted those that a foreign key's action took along. SQLite deletes them in the statement that
/// deletes the record that they go with, and before that one: so the journal has the same time for both, and what was taken
/// along first. The two may be in different parts of a long journal, so all of it is looked at before any is taken in.
struct GoneRecords {
    private struct Gone {
        /// The number of the entry in the journal.
        let id: Int64
        let time: Int64
        let zone: Int64
    }

    private var all: [RecordName: Gone] = [:]

    /// Reads the journal.
    init(_ db: Database, _ tables: RecordTables) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT time, recordType, recordName, id FROM pendingChange
                WHERE changedColumns = 0 ORDER BY id
                """)
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            guard let text = RecordTable.text(statement.sqliteStatement, 2), let name = try? RecordName(text),
                let table = tables[name.recordType], row[1] ?? name.recordType == name.recordType,
                let known = try Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT zone FROM remoteRecord WHERE remoteRecordID = ? AND status = 0"),
                    arguments: [text]),
                try !table.exists(db, text)
            else { continue }
            all[name] = Gone(id: row[3], time: row[0], zone: known[0])
        }
    }

    /// Whether the journal says only behind an entry that a record is gone.
    func isLater(_ name: RecordName, than id: Int64) -> Bool { all[name].map { $0.id > id } ?? false }

    /// Whether a record was deleted by the statement that made an entry: SQLite does what follows from a deletion first.
    func contains(_ name: RecordName, sinceEntry id: Int64, at time: Int64) -> Bool {
        all[name].map { $0.time == time && $0.id > id } ?? false
    }

    /// Whether a record went only because of another one that it refers to.
    ///
    /// - Parameter former: the values that it had.
    func isTakenAlong(_ name: RecordName, _ former: [String: FieldValue], _ type: RecordType) -> Bool {
        guard let gone = all[name] else { return false }
        return type.references.contains { relationship in
            guard relationship.rule == .cascade, case .reference(let target)? = former[relationship.field]
            else { return false }
            return contains(target, sinceEntry: gone.id, at: gone.time) && all[target]?.zone == gone.zone
        }
    }
}

import Foundation
import GRDB
import GRDBSQLite
import PeerSyncModel

/// A row of a synced table that sync does not know: a program wrote it without the triggers, its metadata is lost, or
/// its key has no name.
struct UnknownRow {
    /// The name of the row's record; nil when its key has none.
    let name: RecordName?
    private let statement: SQLiteStatement
    private let row: Row

    /// Reads the rows of a table that sync does not know, in the order of their keys. A row is valid only within
    /// `body`.
    static func forEach(_ db: Database, of table: RecordTable, _ body: (UnknownRow) throws -> Void) throws {
        let key = table.key.journalSQL()
        let statement = try db.makeStatement(
            sql:
                "SELECT \(key), CAST(\(key) AS BLOB), typeof(\(key)) FROM \(table.sqlName) ORDER BY \(table.key.sql)"
        )
        let isKnown = try db.statementToBind("SELECT 1 FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?")
        let rows = try Row.fetchCursor(statement)
        var bindings = Bindings()
        while let row = try rows.next() {
            let name = table.key.name(journal: statement.sqliteStatement, 0)
            if let name {
                bindings.begin()
                bindings.append(name.description)
                if try bindings.findsRow(isKnown) { continue }
            }
            try body(UnknownRow(name: name, statement: statement.sqliteStatement, row: row))
        }
    }

    /// The row's key, for people.
    var shownKey: String { UnsyncedRecords.shownName(row[1], type: row[2]) }

    /// Binds the row's key to an argument of another statement, in the form in which the journal holds it. It keeps
    /// every byte, which GRDB does not do of a text that contains NUL.
    func bindKey(to other: Statement, at index: Int32) {
        sqlite3_reset(other.sqliteStatement)
        sqlite3_bind_value(other.sqliteStatement, index, sqlite3_column_value(statement, 0))
    }
}

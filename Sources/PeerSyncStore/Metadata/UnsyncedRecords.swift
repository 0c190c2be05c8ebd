import Foundation
import GRDB
import PeerSyncModel

/// The table `grdb_sync_unsyncedRecord`.
enum UnsyncedRecords {
    /// The numbers in the column `reason`.
    enum ReasonNumber: Int64 {
        case name = 1
        /// The record is too large to travel.
        case size = 2
        /// The row keeps the bytes of a file.
        case file = 3
        /// The row has a text that is no UTF-8.
        case text = 4

        var reason: UnsyncedRecord.Reason {
            switch self {
            case .name: .name
            case .size: .size
            case .file: .file
            case .text: .text
            }
        }
    }

    /// Tells those who observe the table what the last statement has changed.
    private static func notify(_ db: Database) throws { try db.notifyIfChanged("grdb_sync_unsyncedRecord") }

    /// All entries by table and name, at most `limit` of them.
    ///
    /// - Parameter tables: those of the schema.
    static func all(_ db: Database, limit: Int, in tables: RecordTables) throws -> [UnsyncedRecord] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT recordType, CAST(recordName AS BLOB), typeof(recordName), reason FROM grdb_sync_unsyncedRecord
                ORDER BY recordType, recordName LIMIT ?
                """, arguments: [limit]
        ).compactMap { row in
            ReasonNumber(rawValue: row[3]).map {
                UnsyncedRecord(
                    table: tables[row[0]]?.type.table ?? NameEncoding.name(of: row[0]),
                    name: shownName(row[1], type: row[2]),
                    reason: $0.reason)
            }
        }
    }

    static func count(_ db: Database) throws -> Int {
        try db.fetchCountCached("SELECT COUNT(*) FROM grdb_sync_unsyncedRecord")
    }

    /// The number of records of a zone that stay here, although peers may know an older state of them.
    static func count(_ db: Database, zone: Int64) throws -> Int {
        try db.fetchCountCached(
            "SELECT COUNT(*) FROM grdb_sync_unsyncedRecord WHERE zone = ? AND reason = ?",
            [zone, ReasonNumber.size.rawValue])
    }

    /// Notes the rows whose keys have no names, or removes the notes of those that are gone.
    ///
    /// All at once: SQLite cannot search for the key of several columns as the journal has it, so it reads the whole table.
    ///
    /// - Parameters:
    ///   - entries: the ids of the journal entries of the rows. SQL compares the keys, because only SQL knows their bytes.
    ///   - table: the table of the rows.
    static func noteKeys(_ db: Database, journalEntries entries: [Int64], in table: RecordTable) throws {
        let ids = "[\(entries.map(String.init).joined(separator: ","))]"
        let are = "id IN (SELECT value FROM json_each(?))"
        let key = table.key.journalSQL()
        // The journal's column turns numbers into texts.
        let isNumber = "typeof(\(key)) IN ('integer', 'real')"
        let journaled = "CASE WHEN \(isNumber) THEN CAST(\(key) AS TEXT) ELSE \(key) END"
        try db.executeCached(
            """
            DELETE FROM grdb_sync_unsyncedRecord WHERE (recordType, recordName) IN (
                SELECT recordType, recordName FROM grdb_sync_pendingChange WHERE \(are))
            """, [ids])
        try notify(db)
        try db.executeCached(
            """
            INSERT INTO grdb_sync_unsyncedRecord (recordType, recordName, reason)
            SELECT DISTINCT recordType, recordName, \(ReasonNumber.name.rawValue) FROM grdb_sync_pendingChange
            WHERE \(are) AND recordName IN (SELECT \(journaled) FROM \(table.sqlName))
            """, [ids])
        try notify(db)
    }

    /// Whether anything is noted of a record.
    static func isAnyOfRecord(_ db: Database) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_unsyncedRecord WHERE zone IS NOT NULL)")
    }

    /// Notes why a record stays here, or does not travel as its row has it.
    static func note(_ db: Database, _ reason: ReasonNumber, of name: RecordName, zone: Int64) throws {
        try db.executeCached(
            """
            INSERT OR REPLACE INTO grdb_sync_unsyncedRecord (recordType, recordName, zone, reason) VALUES (?, ?, ?, ?)
            """, [name.recordType, name.description, zone, reason.rawValue])
        try notify(db)
    }

    /// Removes what is noted of a record.
    static func remove(_ db: Database, _ name: RecordName) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_unsyncedRecord WHERE recordType = ? AND recordName = ?",
            [name.recordType, name.description])
        try notify(db)
    }

    /// The name of a row, for people.
    ///
    /// - Parameters:
    ///   - bytes: the result of `CAST(recordName AS BLOB)`.
    ///   - type: the result of `typeof(recordName)`.
    static func shownName(_ bytes: Data, type: String) -> String {
        guard type != "blob" else { return "x'\(Array(bytes).hexadecimal)'" }
        return String(decoding: bytes, as: UTF8.self).unicodeScalars.reduce(into: "") { shown, scalar in
            if scalar.properties.generalCategory == .control {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
    }
}

extension RecordState {
    /// Whether a text has U+FFFD, as one has that is read from bytes that are no UTF-8.
    var hasReplacementCharacter: Bool {
        fields.contains { field in
            guard case .text(let text) = field.value else { return false }
            // To look for the first byte of the character takes less time, and few texts have it.
            return text.utf8.contains(0xEF) && text.unicodeScalars.contains("\u{FFFD}")
        }
    }
}

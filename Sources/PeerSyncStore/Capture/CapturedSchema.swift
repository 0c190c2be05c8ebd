import GRDB
import Synchronization

/// What the triggers of a database cover, as this store has opened it.
///
/// Another version of a program, or one that syncs fewer tables, may open the database meanwhile, and change that. Whoever went on with the
/// fields of before would take writes out of the journal without the fields that it does not know, and nobody would ever sync these; or
/// would rely on triggers that are gone.
final class CapturedSchema: Sendable {
    private struct Known {
        let covered: [String: DatabaseValue]
        /// SQLite's number of the schema when this was true last.
        var schemaVersion: Int64?
    }

    private let known = Mutex<Known?>(nil)

    /// Notes what the triggers cover now, at the end of an opening.
    func note(_ db: Database) throws {
        let now = Known(covered: try Self.covered(db), schemaVersion: try Self.schemaVersion(db))
        known.withLock { $0 = now }
    }

    /// - Parameter isThorough: whether to look even if no table and no trigger has changed: a version may give a field another meaning alone.
    /// - Throws: `newerFormat` when a program that syncs other tables or fields has opened the database since ``note(_:)``.
    func check(_ db: Database, isThorough: Bool = false) throws {
        guard let last = known.withLock({ $0 }) else { return }
        let version = try Self.schemaVersion(db)
        guard isThorough || version != last.schemaVersion else { return }
        guard try Self.covered(db) == last.covered else {
            throw RecordStoreError(
                .newerFormat,
                "another program, or another version of this one, has opened the database and syncs other tables or fields, so this "
                    + "one has ended; start it again, and let every program sync the same tables"
            )
        }
        known.withLock { $0?.schemaVersion = version }
    }

    /// SQLite's number of the schema. It grows with each change of a table, a trigger or an index.
    static func schemaVersion(_ db: Database) throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    }

    private static func covered(_ db: Database) throws -> [String: DatabaseValue] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, value FROM grdb_sync_syncState WHERE name = 'formatVersion'
                    OR name GLOB 'captured:*' OR name GLOB 'fieldKinds:*' OR name GLOB 'table:*'
                """)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }
}

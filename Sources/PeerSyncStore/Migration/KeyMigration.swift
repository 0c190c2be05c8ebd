import Foundation
import GRDB

/// Gives the tables of an app keys that can be synced, within a migration.
///
/// Two machines that are offline give out the same number to different rows, so sync refuses numbers that SQLite gives out.
/// One line makes UUIDs of them. Another gives rows a key that follows from their values, so that a tag that two machines
/// make is one tag:
///
/// ```swift
/// migrator.registerMigration("keys that sync") { db in
///     try KeyMigration.numbersToUUIDs(db, in: ["TodoList", "Item"])
///     try KeyMigration.deriveKey(db, in: "Tag", from: ["name"])
/// }
/// ```
///
/// All references follow: their values, their types and their defaults, in every table with a foreign key that leads there.
/// Columns without a foreign key do not. The tables keep everything else: their declarations as they are written, indexes,
/// triggers, views, and rowids. If anything is in the way, an error says what, and the database is as it was.
///
/// Foreign keys must be off, as they are in a migration that is registered without `foreignKeyChecks: .immediate`.
///
/// If a table is under sync already, a new key is a deletion and a new record for the other machines. Both helpers give the
/// same keys everywhere, ``numbersToUUIDs(_:in:as:sharedBy:)`` if you pass a name; so the machines agree on one record for
/// each row once all are migrated.
public enum KeyMigration {
    /// How a UUID stands in a column.
    public enum Form: Sendable, Hashable {
        /// A BLOB of 16 bytes, as GRDB stores a `UUID`.
        case blob
        /// A TEXT with small letters, as with GRDB's `.lowercaseString`.
        case text
    }

    /// Replaces the numbers in the keys of tables by UUIDs. A row that is inserted without a key gets a random one, as it
    /// got a number before.
    ///
    /// A table whose key is a TEXT or a BLOB already stays as it is. So does the part of a foreign key in the key of another
    /// table; it follows the table to which it leads.
    ///
    /// - Parameters:
    ///   - db: the connection of the migration.
    ///   - tables: names of tables, in any order.
    ///   - form: how the UUIDs stand in the columns.
    ///   - name: If nil, the UUIDs are random. Otherwise they follow from this name, the name of the table and the number, as
    ///     `UUID(derivedFrom: name, table, number)`. Use it if several machines have copies of one database: then they all have
    ///     the same keys.
    /// - Throws: ``RecordStoreError`` `tableMismatch`, also when a generated column follows from a key, or a CHECK refuses UUIDs;
    ///   errors of SQLite.
    public static func numbersToUUIDs(
        _ db: Database, in tables: [String], as form: Form = .blob, sharedBy name: String? = nil
    ) throws {
        try run(db) {
            for table in tables {
                var change = try KeyChange(db, table, as: form)
                let affinity = ColumnAffinity(declaredType: try change.keyType())
                guard affinity != .text, affinity != .blob else { continue }
                guard affinity == .integer else {
                    throw error("the key \(change.table).\(change.key) is not declared as an INTEGER")
                }
                try checkIsNoReference(db, change)
                change.isRandom = true
                let declared = change.table
                try change.run(from: [change.key]) { values in
                    guard let name else { return UUID() }
                    return UUID(derivedFrom: [name.databaseValue, declared.databaseValue, values[0]])
                }
            }
        }
    }

    /// Replaces the keys of a table by UUIDs that follow from other columns: `UUID(derivedFrom:)` with their values, in
    /// this order. So rows with the same values are one record on all machines. The app computes the keys of new rows:
    ///
    /// ```swift
    /// try Tag(id: UUID(derivedFrom: "work"), name: "work").insert(db, onConflict: .ignore)
    /// ```
    ///
    /// UNIQUE on exactly these columns goes, because sync refuses it beside the key, and the key now does its work. A unique
    /// index becomes a plain one. `ON CONFLICT (name)` then has to become `ON CONFLICT (id)` in your statements.
    ///
    /// A key stays when its row changes later. So derive keys only from columns that say what the row is; to change them, insert
    /// another row. If one of them is a reference, change the key of its table before.
    ///
    /// - Parameters:
    ///   - db: the connection of the migration.
    ///   - table: the name of a table.
    ///   - form: how the UUIDs stand in the columns.
    ///   - columns: columns that are UNIQUE together, without NULL.
    ///   - keepsUnique: whether UNIQUE stays.
    /// - Throws: ``RecordStoreError`` `tableMismatch`, also when two rows would have one key; errors of SQLite.
    public static func deriveKey(
        _ db: Database, in table: String, from columns: [String], as form: Form = .blob,
        keepsUnique: Bool = false
    ) throws {
        try run(db) {
            var change = try KeyChange(db, table, as: form)
            try checkIsNoReference(db, change)
            let columns = try declaredNames(of: columns, db, change)
            for column in columns {
                let isNull = "\(column.sqlName) IS NULL"
                let count = try Int.fetchOne(
                    db,
                    sql: "SELECT count(*) FROM main.\(change.table.sqlName) WHERE \(isNull)")
                guard count == 0 else {
                    throw error(
                        "\(count ?? 0) rows of \(change.table) have no \(column), from which the key shall follow"
                    )
                }
            }
            if !keepsUnique {
                try checkIsNoTarget(db, change, columns)
                change.formerlyUnique = columns
            }
            try change.run(from: columns) { UUID(derivedFrom: $0) }
        }
    }

    /// The columns from which a key shall follow, as they are declared.
    private static func declaredNames(of columns: [String], _ db: Database, _ change: KeyChange) throws
        -> [String]
    {
        guard !columns.isEmpty else {
            throw error("the key of \(change.table) needs columns from which it follows")
        }
        return try columns.map { column in
            let name = try String.fetchOne(
                db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE name = ? COLLATE NOCASE",
                arguments: [change.table, column])
            guard let name else { throw error("the table \(change.table) has no column \(column)") }
            let isOwn = try Bool.fetchOne(
                db,
                sql: """
                    SELECT :name = :key OR EXISTS (
                        SELECT 1 FROM pragma_foreign_key_list(:table, 'main')
                        WHERE "from" = :name AND "table" = :table COLLATE NOCASE)
                    """, arguments: ["name": name, "key": change.key, "table": change.table])
            guard isOwn != true else {
                throw error(
                    "\(change.table).\(name) holds keys of the same table, so no key can follow from it")
            }
            return name
        }
    }

    /// Refuses a key that holds the keys of another table: it changes with those.
    private static func checkIsNoReference(_ db: Database, _ change: KeyChange) throws {
        let target = try String.fetchOne(
            db, sql: "SELECT \"table\" FROM pragma_foreign_key_list(?, 'main') WHERE \"from\" = ?",
            arguments: [change.table, change.key])
        if let target {
            throw error(
                "the key \(change.table).\(change.key) refers to \(target): change the key of \(target), and it follows"
            )
        }
    }

    /// Refuses to take UNIQUE from columns to which a foreign key leads.
    private static func checkIsNoTarget(_ db: Database, _ change: KeyChange, _ columns: [String]) throws {
        let references = try Row.fetchAll(
            db,
            sql: """
                SELECT own.name, list."from", list."to"
                FROM main.sqlite_master AS own, pragma_foreign_key_list(own.name, 'main') AS list
                WHERE own.type = 'table' AND list."table" = ? COLLATE NOCASE AND list."to" IS NOT NULL
                """, arguments: [change.table])
        for row in references {
            guard let column = columns.first(where: { $0.isSameName(as: row[2]) })
            else { continue }
            throw error(
                "\(row[0] as String).\(row[1] as String) refers to \(change.table).\(column), which UNIQUE has to keep: let it refer to the key, "
                    + "or keep UNIQUE")
        }
    }

    /// Runs `body`, and takes back all of it when it fails.
    private static func run(_ db: Database, _ body: () throws -> Void) throws {
        guard try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == false else {
            throw error(
                "foreign keys are on, and would delete rows while their table is made anew: call this in a migration that is "
                    + "registered with foreignKeyChecks: .deferred")
        }
        try db.inSavepoint {
            try body()
            return .commit
        }
    }

    static func error(_ message: String) -> RecordStoreError { .tableMismatch(message) }
}

extension KeyMigration.Form {
    var type: String {
        switch self {
        case .blob: "BLOB"
        case .text: "TEXT"
        }
    }

    func value(_ uuid: UUID) -> any DatabaseValueConvertible {
        switch self {
        case .blob: uuid
        case .text: uuid.uuidString.lowercased()
        }
    }

    /// SQL for a random UUID; as a BLOB without the bits of version 4, which SQL cannot set.
    var randomSQL: String {
        switch self {
        case .blob: "(randomblob(16))"
        case .text:
            "(lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' "
                + "|| substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6))))"
        }
    }
}

import GRDB

@testable import PeerSyncStore

/// An app's database, which migrations change.
final class MigratedApp {
    let database: DatabaseQueue
    private var migrations = 0

    init() throws { database = try DatabaseQueue() }

    /// Runs a migration, as an app registers it.
    func migrate(
        _ foreignKeyChecks: DatabaseMigrator.ForeignKeyChecks = .deferred, _ body: (Database) throws -> Void
    ) throws {
        migrations += 1
        try withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) let body = body
            // The tests check the foreign keys themselves.
            var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
            // A migrator refuses to forget those that it has run before.
            for number in 1..<migrations { migrator.registerMigration("\(number)") { _ in } }
            migrator.registerMigration("\(migrations)", foreignKeyChecks: foreignKeyChecks) { try body($0) }
            try migrator.migrate(database)
        }
    }

    func write(_ body: (Database) throws -> Void) throws { try database.write(body) }

    func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try database.read(body) }

    func execute(_ sql: String) throws { try write { try $0.execute(sql: sql) } }

    /// For statements that have no effect in a transaction.
    func executeOutsideTransaction(_ sql: String) throws {
        try database.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// The rows of a query, with `|` between the values and `-` for NULL.
    func rows(_ sql: String) throws -> [String] { try read { try Self.rows($0, sql) } }

    private static func rows(_ db: Database, _ sql: String) throws -> [String] {
        try Row.fetchAll(db, sql: sql).map { row in
            row.databaseValues.map { $0.isNull ? "-" : "\($0.storage.value!)" }.joined(separator: "|")
        }
    }

    func declarations() throws -> [String: String] {
        try read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        }
    }

    func declaration(_ table: String) throws -> String { try declarations()[table] ?? "" }

    /// All declarations and all rows, but for the notes of the migrator.
    func content() throws -> [String] { try read(content) }

    func content(_ db: Database) throws -> [String] {
        let tables = try String.fetchAll(
            db,
            sql:
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'grdb_migrations' ORDER BY 1"
        )
        return try Self.rows(
            db,
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE '%grdb_migrations%' ORDER BY name"
        )
            + tables.filter { $0 != "sqlite_schema" }.flatMap { table in
                [table] + (try Self.rows(db, "SELECT * FROM \(table.sqlName) ORDER BY 1"))
            }
    }
}

import Foundation
import GRDB

/// The machine's database as any other program sees it, with nothing of the project's code in between.
extension Machine {
    static let tables = [
        "SBPerson", "SBGame", "SBMatch", "SBMatchLocation", "SBPlayer", "SBScore", "SBMatchImage",
    ]

    /// Writes with plain SQL and foreign keys off, as the `sqlite3` shell does.
    func write(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database().writeWithoutTransaction { try $0.execute(sql: sql, arguments: arguments) }
    }

    /// Runs `body` while a transaction of this program keeps all others from writing.
    ///
    /// - Parameter sql: is committed right before.
    func holdingTheDatabase(after sql: String = "", _ body: () async throws -> Void) async throws {
        let database = try database()
        try await database.writeWithoutTransaction {
            try $0.execute(sql: "BEGIN IMMEDIATE; \(sql); COMMIT; BEGIN IMMEDIATE")
        }
        defer { try? database.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") } }
        try await body()
    }

    /// The rows of a query, each as its values joined with `|`.
    func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [String] {
        try database().read { db in
            try Row.fetchAll(db, sql: sql, arguments: arguments).map { row in
                row.databaseValues.map { $0.isNull ? "-" : String.fromDatabaseValue($0) ?? "\($0)" }
                    .joined(separator: "|")
            }
        }
    }

    /// Every row of the seven tables, with all its columns but one.
    func contents(without leftOut: String? = nil) throws -> [String: [String]] {
        try Dictionary(
            uniqueKeysWithValues: Self.tables.map { table in
                let columns = try rows("SELECT name FROM pragma_table_info('\(table)')")
                    .filter { $0 != leftOut }
                    .map { "quote(\($0))" }.joined(separator: ", ")
                return (table, try rows("SELECT \(columns) FROM \(table) ORDER BY recordName"))
            })
    }

    /// Whether SQLite finds the file and its references in order.
    func isSound() throws -> Bool {
        try rows("PRAGMA integrity_check") == ["ok"] && rows("PRAGMA foreign_key_check").isEmpty
    }

    /// The database file itself.
    var databaseFile: URL { store.appendingPathComponent("scorebook.sqlite") }

    private func database() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(30)
        return try DatabaseQueue(path: databaseFile.path, configuration: configuration)
    }
}

import GRDB

/// Makes a table anew with another declaration, and copies its rows. Indexes and triggers of the table come back as they were.
///
/// The table moves aside under another name, not the new one into its place: so `CREATE TABLE` stands in the database as its
/// author wrote it. Foreign keys must be off, because SQLite would otherwise let them follow the name, and DROP TABLE would
/// delete the rows that refer to the table.
struct TableRebuild {
    private static let former = MetadataTables.prefix + "formerTable"

    let table: String
    private let db: Database
    var declaration: TableDeclaration
    /// SQL for the values of the columns that change, by column. `former` is the table with the rows.
    private var values: [String: String] = [:]
    /// The columns that are no longer UNIQUE.
    private var formerlyUnique: [String]?

    init(_ db: Database, _ table: String) throws {
        self.db = db
        self.table = table
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = ?",
            arguments: [table])
        guard let declaration = sql.flatMap(TableDeclaration.init) else { throw Self.unreadable(table) }
        self.declaration = declaration
    }

    private static func unreadable(_ table: String) -> RecordStoreError {
        RecordStoreError.tableMismatch(
            "the declaration of the table \(table) cannot be changed with certainty: make the table anew yourself"
        )
    }

    // MARK: What changes

    /// - Parameters:
    ///   - type: the column's type, and constraints to stand behind it.
    ///   - value: SQL for the values.
    ///   - defaultSQL: replaces the value of the column's DEFAULT, if it has one.
    mutating func change(_ column: String, to type: String, value: String, defaultSQL: String?) throws {
        guard declaration.setType(of: column, to: type, defaultSQL: defaultSQL) else {
            throw Self.unreadable(table)
        }
        values[column] = value
    }

    mutating func removeUnique(on columns: [String]) {
        declaration.removeUnique(on: columns)
        formerlyUnique = columns
    }

    // MARK: Doing it

    func run() throws {
        let shape = try shape()
        let indexesAndTriggers = try indexesAndTriggers()
        let highest = try highestNumber()
        try moveAside()
        try db.execute(sql: declaration.sql)
        try copyRows()
        try db.execute(sql: "DROP TABLE main.\(Self.former)")
        for sql in indexesAndTriggers { try db.execute(sql: sql) }
        if let highest { try setHighestNumber(highest) }
        guard try self.shape() == shape else { throw Self.unreadable(table) }
    }

    /// Renames the table, and leaves views, triggers and references as they are.
    private func moveAside() throws {
        let isLegacy = try Bool.fetchOne(db, sql: "PRAGMA legacy_alter_table") ?? false
        try db.execute(sql: "PRAGMA legacy_alter_table = ON")
        defer { if !isLegacy { try? db.execute(sql: "PRAGMA legacy_alter_table = OFF") } }
        try db.execute(sql: "ALTER TABLE main.\(table.sqlName) RENAME TO \(Self.former)")
    }

    private func copyRows() throws {
        let columns = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [table])
        var names = columns.map(\.sqlName)
        var sources = zip(columns, names).map { values[$0] ?? "former.\($1)" }
        // An index for full-text search knows the rows by this number.
        if let rowID = try db.hiddenRowID(of: table) {
            names.append(rowID)
            sources.append("former.\(rowID)")
        }
        do {
            // ABORT: no ON CONFLICT of the table may leave out a row.
            try db.execute(
                sql: """
                    INSERT OR ABORT INTO main.\(table.sqlName) (\(names.joined(separator: ", ")))
                    SELECT \(sources.joined(separator: ", ")) FROM main.\(Self.former) AS former
                    """)
        } catch let error as DatabaseError
            where error.extendedResultCode == .SQLITE_CONSTRAINT_CHECK
        {
            throw KeyMigration.error(
                "a CHECK of the table \(table) refuses the new keys, so drop it before: \(error.message ?? "")"
            )
        }
    }

    /// What must not change: the names and kinds of all columns, the declarations of those that stay, and the foreign keys.
    private func shape() throws -> [String] {
        let columns = try Row.fetchAll(
            db,
            sql: "SELECT name, hidden, pk, type, \"notnull\", dflt_value FROM pragma_table_xinfo(?, 'main')",
            arguments: [table])
        let keys = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?, 'main')", arguments: [table])
        return columns.map { row in
            let isChanged = values[row["name"]] != nil
            return row.databaseValues.prefix(isChanged ? 3 : 6).map(\.description).joined(separator: " ")
        } + keys.map(\.description)
    }

    // MARK: Around the table

    /// The statements of the indexes, and then of the triggers, in the order in which they were made.
    private func indexesAndTriggers() throws -> [String] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT name, sql FROM main.sqlite_master
                WHERE type IN ('index', 'trigger') AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL
                ORDER BY type, rowid
                """, arguments: [table])
        let unique = try uniqueIndexesToOpen()
        return rows.map { row in
            let sql: String = row["sql"]
            let bytes = Array(sql.utf8)
            guard unique.contains(row["name"]), let word = SQLToken.tokens(of: bytes)?.dropFirst().first,
                word.isWord("UNIQUE")
            else { return sql }
            // The index stays, for the queries that use it.
            return String(
                decoding: bytes[..<word.range.lowerBound] + bytes[word.range.upperBound...], as: UTF8.self)
        }
    }

    private func uniqueIndexesToOpen() throws -> Set<String> {
        guard let formerlyUnique else { return [] }
        return try Set(
            db.declaredUniqueIndexes(of: table).filter { index in
                index.isStatement && index.columns.count == formerlyUnique.count
                    && formerlyUnique.allSatisfy(index.columns.contains)
            }.map(\.name))
    }

    /// The highest number that an AUTOINCREMENT has given out, also to rows that are gone.
    private func highestNumber() throws -> Int64? {
        guard try db.hasTable("sqlite_sequence") else { return nil }
        return try Int64.fetchOne(
            db, sql: "SELECT seq FROM main.sqlite_sequence WHERE name = ?", arguments: [table])
    }

    private func setHighestNumber(_ number: Int64) throws {
        guard
            SQLToken.tokens(of: Array(declaration.sql.utf8))?.contains(where: { $0.isWord("AUTOINCREMENT") })
                == true
        else { return }
        try db.execute(
            sql: """
                DELETE FROM main.sqlite_sequence WHERE name = :table;
                INSERT INTO main.sqlite_sequence (name, seq) VALUES (:table, :seq)
                """, arguments: ["table": table, "seq": number])
    }
}

import GRDB
import GRDBSQLite

extension Database {
    /// The columns that a table of the app's database itself declares, in their order; empty when there is no such table.
    ///
    /// GRDB's own list fails for a table whose name has quotation marks.
    ///
    /// - Throws: `tableMismatch` when Swift takes two columns for one: they differ only in how their letters are composed.
    func declaredColumns(of table: String) throws -> [ColumnInfo] {
        let columns = try ColumnInfo.fetchAll(
            cachedStatement(
                sql: "SELECT * FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1 ORDER BY cid"),
            arguments: [table])
        var names: Set<String> = []
        if let twin = columns.first(where: { !names.insert($0.name).inserted }) {
            throw RecordStoreError.tableMismatch(
                "the table \(table) has two columns “\(twin.name)”, which differ only in how their letters are composed of "
                    + "Unicode's characters: rename one")
        }
        return columns
    }

    /// Whether a table is declared STRICT.
    func isStrict(_ table: String) throws -> Bool {
        try fetchBoolCached(
            "SELECT strict FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table])
    }

    /// Whether a table is not declared WITHOUT ROWID.
    func hasRowID(_ table: String) throws -> Bool {
        try !fetchBoolCached(
            "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table])
    }

    /// The name by which SQL reads and writes the number of a table's rows; nil when it has none, when a column of the key is that
    /// number, or when other columns have all its names.
    func hiddenRowID(of table: String) throws -> String? {
        guard try hasRowID(table) else { return nil }
        let isHidden = try fetchBoolCached(
            """
            SELECT (SELECT count(*) FROM pragma_table_info(:table, 'main') WHERE pk > 0) <> 1
                OR EXISTS (SELECT 1 FROM pragma_index_list(:table, 'main') WHERE origin = 'pk')
            """, ["table": table])
        guard isHidden else { return nil }
        let columns = try declaredColumns(of: table).map(\.name)
        return ["rowid", "_rowid_", "oid"].first { name in !columns.contains { $0.isSameName(as: name) } }
    }

    /// The collation of a column, by which `=` compares its values.
    func collation(of column: String, in table: String) -> String {
        var collation: UnsafePointer<CChar>?
        sqlite3_table_column_metadata(
            sqliteConnection, "main", table, column, nil, &collation, nil, nil, nil)
        return collation.map { String(cString: $0) } ?? "BINARY"
    }

    /// The statement that created a table: SQLite shows some of what it says nowhere else. Empty when it cannot be read.
    func declaration(of table: String) throws -> [SQLToken] {
        let sql = try String.fetchOne(
            cachedStatement(
                sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"),
            arguments: [table])
        return SQLToken.tokens(of: Array((sql ?? "").utf8)) ?? []
    }

    /// The triggers on a table, also those of the engine.
    func triggers(onTable table: String) throws -> [(name: String, sql: String)] {
        try Row.fetchAll(
            cachedStatement(
                sql:
                    "SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"
            ), arguments: [table]
        ).map { ($0[0], $0[1]) }
    }

    /// Whether a table has an index with a WHERE, an expression or a column that SQLite computes.
    func computesIndexes(of table: String) throws -> Bool {
        try fetchBoolCached(
            """
            SELECT EXISTS (
                SELECT 1 FROM pragma_index_list(:table, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS part
                WHERE list.partial OR part.cid = -2
                    OR part.name IN (SELECT name FROM pragma_table_xinfo(:table, 'main') WHERE hidden = 2))
            """, ["table": table])
    }

    /// The UNIQUE indexes and constraints that a table has beside its key.
    func declaredUniqueIndexes(of table: String) throws -> [DeclaredIndex] {
        let indexes = try Row.fetchAll(
            cachedStatement(
                sql: """
                    SELECT name, partial, origin FROM pragma_index_list(?, 'main') WHERE "unique" AND origin <> 'pk' ORDER BY name
                    """), arguments: [table])
        return try indexes.map { index in
            let parts = try Row.fetchAll(
                cachedStatement(
                    sql: "SELECT name, coll FROM pragma_index_xinfo(?, 'main') WHERE key = 1"),
                arguments: [index["name"] as String])
            return DeclaredIndex(
                name: index["name"], columns: parts.map { $0["name"] }, collations: parts.map { $0["coll"] },
                isPartial: index["partial"], isStatement: index["origin"] == "c")
        }
    }
}

/// A UNIQUE index as SQLite has it.
struct DeclaredIndex {
    let name: String
    /// The names of its columns; nil for an expression.
    let columns: [String?]
    /// The collation of each of ``columns``.
    let collations: [String]
    /// Whether it has a WHERE.
    let isPartial: Bool
    /// Whether `CREATE INDEX` made it, and not a constraint of the table.
    let isStatement: Bool

    /// Whether it has all columns of a key, each text byte for byte: whoever shares these is the same record.
    func covers(_ key: RecordKey) -> Bool {
        key.columns.allSatisfy { part in
            zip(columns, collations).contains {
                $0 == part.name && (part.kind != .text || $1.isSameName(as: "BINARY"))
            }
        }
    }

    /// SQL for whether a row has given values in the columns, none of which may be an expression.
    ///
    /// - Parameters:
    ///   - row: what stands before a column, such as `NEW.`, or nothing.
    ///   - value: SQL for the value to find in a column.
    func condition(on row: String = "", _ value: (String) -> String) -> String {
        zip(columns.compactMap(\.self), collations).map { column, collation in
            "\(row)\(column.sqlName) = \(value(column)) COLLATE \(collation.sqlName)"
        }.joined(separator: " AND ")
    }
}

extension Database {
    /// Tells those who observe a table that the last statement has changed it: SQLite reports no changes of a table WITHOUT ROWID.
    func notifyIfChanged(_ table: String) throws {
        if changesCount > 0 { try notifyChanges(in: Table(table)) }
    }

    /// Tells those who observe the records that sync knows that some have changed. Once for many: it costs as much as writing one.
    func notifyRecords() throws { try notifyChanges(in: Table("grdb_sync_remoteRecord")) }
}

extension String {
    /// Whether SQLite takes two names of tables, columns or the like for one. It takes a–z and A–Z for the same, but no other
    /// letters, however these are composed.
    func isSameName(as other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercase == $1.asciiLowercase }
    }

    /// The name of a table, a column or a trigger as SQL takes it, whatever characters it has. GRDB's
    /// `quotedDatabaseIdentifier` leaves quotation marks in it as they are.
    var sqlName: String {
        // Goes by scalars: a quotation mark may be one character with what follows it.
        var quoted = "\"".unicodeScalars
        for scalar in unicodeScalars {
            quoted.append(scalar)
            if scalar == "\"" { quoted.append(scalar) }
        }
        quoted.append("\"")
        return String(quoted)
    }
}

extension UInt8 {
    fileprivate var asciiLowercase: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

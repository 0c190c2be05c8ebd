import Foundation
import GRDB

/// Gives the rows of one table new keys. Everything that refers to them follows.
struct KeyChange {
    /// A column that holds keys of the table: the key itself, or a reference to it.
    private struct Holder: Hashable {
        let table: String
        let column: String
    }

    private static let function = MetadataTables.prefix + "newKey"
    /// The new key of each row, by its key of before.
    private static let map = "temp.grdb_sync_keyMap"

    private let db: Database
    /// The table and its key, as they are declared.
    let table: String
    let key: String
    private let form: KeyMigration.Form
    /// The columns that are no longer UNIQUE.
    var formerlyUnique: [String] = []
    /// Whether a row gets a random key if nobody gives it one.
    var isRandom = false

    /// - Throws: `tableMismatch` when the table has no key that can change.
    init(_ db: Database, _ table: String, as form: KeyMigration.Form) throws {
        self.db = db
        self.form = form
        let row = try Row.fetchOne(
            db,
            sql:
                "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
            arguments: [table])
        guard let row else { throw KeyMigration.error("the database has no table \(table)") }
        self.table = row["name"]
        guard row["type"] == "table", !self.table.hasPrefix(MetadataTables.prefix) else {
            throw KeyMigration.error(
                "\(table) is a view, a virtual table or one of the engine's, so its key cannot change")
        }
        let keys = try RecordKey.columnNames(db, self.table)
        guard keys.count == 1 else {
            throw KeyMigration.error(
                "the key of the table \(table) has \(keys.count) columns, and only a key of one column can change"
            )
        }
        key = keys[0]
    }

    private func declaration(of holder: Holder) throws -> ColumnInfo {
        try db.declaredColumns(of: holder.table).first { $0.name == holder.column }!
    }

    func keyType() throws -> String { try declaration(of: Holder(table: table, column: key)).type }

    // MARK: The change

    /// - Parameters:
    ///   - columns: those whose values go to `newKey`.
    ///   - newKey: returns the new key of a row.
    func run(from columns: [String], _ newKey: @escaping @Sendable ([DatabaseValue]) -> UUID) throws {
        let holders = try holders()
        for holder in holders { try SearchTables.check(db, holder.table, holder.column) }
        try fillMap(from: columns, newKey)
        for holder in holders.dropFirst() { try checkReferences(holder) }
        for (table, holders) in Dictionary(grouping: holders, by: \.table).sorted(by: { $0.key < $1.key }) {
            try RecordStore.stopCapturing(db, of: table)
            try rebuild(table, holders.map(\.column))
        }
        try db.execute(sql: "DROP TABLE \(Self.map)")
    }

    private func fillMap(from columns: [String], _ newKey: @escaping @Sendable ([DatabaseValue]) -> UUID)
        throws
    {
        let (source, column) = (table.sqlName, key.sqlName)
        let empty =
            try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(source) WHERE \(column) IS NULL") ?? 0
        guard empty == 0 else {
            throw KeyMigration.error("\(empty) rows of \(table) have no \(key): give them one before")
        }
        let form = form
        // All values as one text: GRDB would read each text only up to U+0000.
        let function = DatabaseFunction(Self.function, argumentCount: 1) { arguments in
            guard let values = String.fromDatabaseValue(arguments[0]).flatMap({ FormerValues.values($0) })
            else {
                return nil
            }
            return form.value(newKey(values.map(DatabaseValue.init)))
        }
        db.add(function: function)
        defer { db.remove(function: function) }
        // The references are compared as SQLite compares them with the key.
        let collation = try String.fetchOne(
            db,
            sql: """
                SELECT part.coll FROM pragma_index_list(?, 'main') AS list, pragma_index_xinfo(list.name, 'main') AS part
                WHERE list.origin = 'pk' AND part.key = 1
                """, arguments: [table])
        let values = FormerValues.sql(columns.map(\.sqlName))
        try db.execute(
            sql: """
                CREATE TABLE \(Self.map) (
                    old \(try keyType()) COLLATE \((collation ?? "BINARY").sqlName) PRIMARY KEY,
                    new NOT NULL);
                INSERT INTO \(Self.map) (old, new) SELECT \(column), \(Self.function)(\(values)) FROM main.\(source);
                """)
        let twins = try Row.fetchOne(
            db,
            sql: """
                SELECT quote(min(old)), quote(max(old)) FROM \(Self.map)
                GROUP BY new HAVING count(*) > 1 ORDER BY min(old) LIMIT 1
                """)
        if let twins {
            throw KeyMigration.error(
                "the rows \(twins[0] as String) and \(twins[1] as String) of \(table) have the same \(columns.joined(separator: ", ")) "
                    + "and would have one key: make one row of them before")
        }
    }

    // MARK: References

    /// The key, and all columns that refer to it. A reference that is itself a key brings along those that refer to it.
    private func holders() throws -> [Holder] {
        var found = [Holder(table: table, column: key)]
        var index = 0
        while index < found.count {
            for holder in try references(to: found[index]) where !found.contains(holder) {
                found.append(holder)
            }
            index += 1
        }
        return found
    }

    private func references(to target: Holder) throws -> [Holder] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT own.name, list."from", (
                    SELECT count(*) FROM pragma_foreign_key_list(own.name, 'main') AS part
                    WHERE part.id = list.id OR part."from" = list."from") = 1 AND (
                    SELECT hidden FROM pragma_table_xinfo(own.name, 'main') WHERE name = list."from" COLLATE NOCASE) = 0
                FROM main.sqlite_master AS own, pragma_foreign_key_list(own.name, 'main') AS list
                WHERE own.type = 'table' AND list."table" = :table COLLATE NOCASE
                    AND (list."to" = :column COLLATE NOCASE OR list."to" IS NULL AND :isKey)
                ORDER BY own.name, list.id
                """,
            arguments: [
                "table": target.table, "column": target.column,
                "isKey": try RecordKey.columnNames(db, target.table) == [target.column],
            ])
        return try rows.map { row in
            let holder = Holder(table: row[0], column: row[1])
            guard row[2] else {
                throw KeyMigration.error(
                    "\(holder.table).\(holder.column) cannot follow \(target.table).\(target.column), because it is generated, or belongs "
                        + "to another foreign key or to one of several columns: change that before")
            }
            return holder
        }
    }

    /// SQL for the new key in place of a value. The `+` takes the column's affinity away, so that SQLite compares with that
    /// of the key, as it does for foreign keys.
    private func newKey(of value: String) -> String {
        "(SELECT map.new FROM \(Self.map) AS map WHERE map.old = +\(value))"
    }

    private func checkReferences(_ holder: Holder) throws {
        let column = "former.\(holder.column.sqlName)"
        let count =
            try Int.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM main.\(holder.table.sqlName) AS former
                    WHERE \(column) IS NOT NULL AND \(newKey(of: column)) IS NULL
                    """) ?? 0
        guard count == 0 else {
            throw KeyMigration.error(
                "\(count) rows of \(holder.table) have a \(holder.column) that is the key of no row of \(table): delete or mend them "
                    + "before")
        }
    }

    // MARK: Tables

    private func rebuild(_ table: String, _ columns: [String]) throws {
        var rebuild = try TableRebuild(db, table)
        let keys = try RecordKey.columnNames(db, table)
        for column in columns {
            let isKey = keys == [column]
            let isOwnKey = table == self.table && column == key
            let holder = Holder(table: table, column: column)
            let declared = try declaration(of: holder)
            var type = form.type
            // Only INTEGER PRIMARY KEY keeps NULL out by itself.
            if isKey, !declared.isNotNull { type += " NOT NULL" }
            let hasDefault = rebuild.declaration.hasDefault(column)
            var defaultSQL: String?
            try checkGenerated(rebuild.declaration, from: holder)
            if isOwnKey {
                defaultSQL = isRandom ? form.randomSQL : "NULL"
                if isRandom, !hasDefault { type += " DEFAULT \(form.randomSQL)" }
            } else if hasDefault {
                defaultSQL = try newDefault(declared.defaultValueSQL ?? "NULL", of: holder)
            }
            let value = newKey(of: "former.\(column.sqlName)")
            try rebuild.change(column, to: type, value: value, defaultSQL: defaultSQL)
            if isKey { rebuild.declaration.removeAutoincrement() }
        }
        if table == self.table { rebuild.removeUnique(on: formerlyUnique) }
        try rebuild.run()
    }

    /// Refuses a generated column that follows from keys that change: it would have other values.
    private func checkGenerated(_ declaration: TableDeclaration, from holder: Holder) throws {
        guard let generated = declaration.generatedColumn(from: holder.column) else { return }
        throw KeyMigration.error(
            "the generated column \(holder.table).\(generated) follows from \(holder.column), which gets new keys: drop it before, and "
                + "add it after as it is to follow from a UUID")
    }

    /// The new key in place of the key of before that a reference has as its default.
    private func newDefault(_ sql: String, of holder: Holder) throws -> String {
        let row = try Row.fetchOne(db, sql: "SELECT (\(sql)) IS NULL, quote(\(newKey(of: "(\(sql))")))")!
        guard row[0] || row[1] != "NULL" else {
            throw KeyMigration.error(
                "the default \(sql) of \(holder.table).\(holder.column) is the key of no row of \(table): drop it before"
            )
        }
        return row[1]
    }
}

import GRDB
import SyncModel

/// Compares a table with the schema, before the store puts any trigger on it.
enum TableCheck {
    static func check(_ db: Database, _ type: RecordType, in schema: RecordSchema) throws {
        guard try db.tableExists(type.name) else {
            throw RecordStoreError(.tableMismatch, "the database has no table \(type.name)")
        }
        let columns = Dictionary(uniqueKeysWithValues: try db.columns(in: type.name).map { ($0.name, $0) })
        for name in ["recordName", "modificationDate"] + type.fieldNames where columns[name] == nil {
            throw RecordStoreError(.tableMismatch, "the table \(type.name) has no column \(name)")
        }
        guard try db.primaryKey(type.name).columns == ["recordName"] else {
            throw RecordStoreError(
                .tableMismatch, "the primary key of \(type.name) must be the column recordName")
        }
        try checkKey(db, type, columns["recordName"])
        try checkLocalColumns(db, type, columns)
        do {
            let fields = type.fieldNames.map { "\($0) = ?" }.joined(separator: ", ")
            _ = try db.makeStatement(sql: "UPDATE \(type.name) SET \(fields)")
        } catch let error as DatabaseError {
            throw RecordStoreError(
                .invalidSchema,
                "\(type.name) or one of its fields has a name that means something in SQL (\(error.message ?? "")); "
                    + "choose another one")
        }
        try checkUniqueIndexes(db, type)
        let foreignKeys = try Row.fetchAll(db, sql: "PRAGMA foreign_key_list(\(type.name))")
        for relationship in type.references {
            let column = "\(type.name).\(relationship.field)"
            guard columns[relationship.field]?.isNotNull == relationship.isRequired else {
                let needed = relationship.isRequired ? "NOT NULL" : "without NOT NULL"
                throw RecordStoreError(
                    .tableMismatch, "the column \(column) must be \(needed), as the schema says")
            }
            let declared = foreignKeys.first { $0["from"] == relationship.field }
            guard let declared, declared["table"] == relationship.target,
                declared["on_delete"] == relationship.rule.foreignKeyAction
            else {
                throw RecordStoreError(
                    .tableMismatch,
                    "the column \(column) must be declared REFERENCES \(relationship.target) (recordName) "
                        + "ON DELETE \(relationship.rule.foreignKeyAction)")
            }
        }
    }

    /// Refuses a key that cannot hold a text: the alias of a rowid, and a column of another type in a STRICT table.
    private static func checkKey(_ db: Database, _ type: RecordType, _ key: ColumnInfo?) throws {
        let declared = key?.type ?? ""
        let table = try Row.fetchOne(db, sql: "PRAGMA table_list(\(type.name))")
        let isRowID = declared.uppercased() == "INTEGER" && table?["wr"] != 1
        let isOfOtherType = table?["strict"] == 1 && !["TEXT", "ANY"].contains(declared.uppercased())
        guard !isRowID, !isOfOtherType else {
            throw RecordStoreError(
                .tableMismatch,
                "the column \(type.name).recordName must be TEXT, not \(declared): it holds names such as "
                    + "“\(type.name)\(RecordName.separator)1”")
        }
    }

    /// Refuses a local column that needs a value: other machines send none for it, so the table would refuse every row
    /// of theirs.
    private static func checkLocalColumns(
        _ db: Database, _ type: RecordType, _ columns: [String: ColumnInfo]
    ) throws {
        let synced = Set(["recordName", "modificationDate"] + type.fieldNames)
        let generated = try String.fetchSet(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden IN (2, 3)", arguments: [type.name])
        let needy = columns.values.filter {
            $0.isNotNull && ($0.defaultValueSQL ?? "NULL").uppercased() == "NULL" && !synced.contains($0.name)
                && !generated.contains($0.name)
        }.map(\.name).sorted()
        guard let name = needy.first else { return }
        throw RecordStoreError(
            .tableMismatch,
            "the column \(type.name).\(name) is NOT NULL, has no DEFAULT and is not synced, so no record of another machine "
                + "could be written: sync it, give it a DEFAULT, or allow NULL")
    }

    /// Refuses a UNIQUE column: two machines that are offline may choose the same value.
    private static func checkUniqueIndexes(_ db: Database, _ type: RecordType) throws {
        let fields = Set(type.fieldNames)
        let indexes = try Row.fetchAll(
            db, sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND origin <> 'pk'",
            arguments: [type.name])
        for index in indexes {
            // An expression has no column name.
            let columns = try (String?).fetchAll(
                db, sql: "SELECT name FROM pragma_index_info(?)", arguments: [index["name"] as String])
            let column = columns.first { $0.map(fields.contains) ?? true }
            guard let column else { continue }
            let field = column ?? "(expression)"
            throw RecordStoreError(
                .invalidSchema,
                "\(type.name).\(field) is UNIQUE, which cannot be synced: two machines that are offline may both "
                    + "choose the same value, and neither could then take the other's record")
        }
    }
}

import GRDB
import SyncModel

/// Holds a table against the schema, before any trigger is put on it.
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
        do {
            let fields = type.fieldNames.map { "\($0) = ?" }.joined(separator: ", ")
            _ = try db.makeStatement(
                sql: "UPDATE \(type.name) SET \(fields.isEmpty ? "recordName = ?" : fields)")
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

    /// No replica can keep a UNIQUE column alone: two machines, both offline, may choose the same value.
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

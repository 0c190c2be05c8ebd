import GRDB
import PeerSyncModel

/// The columns of a table that were fields when the store was opened last, as the database has them now.
struct FormerColumns: Sendable {
    /// The names of all fields of then.
    let names: [String]
    /// A table with the fields of then whose columns are still there; nil when there is none.
    let table: RecordTable?
    /// A table with those of them that are no fields any more; nil when there is none.
    private let left: RecordTable?
    /// Whether a field's column is gone, or the table to which it refers, and its values with it.
    let areAnyGone: Bool
    /// Whether the fields, or what they mean, are others now.
    let hasOtherFields: Bool

    /// - Parameters:
    ///   - type: the name of the record type.
    ///   - formerTable: the name that its table had then.
    ///   - current: the table in the schema of now; nil when it has left.
    ///   - keys: the keys of all tables, by type; without one, the table is gone.
    init(
        _ db: Database, ofType type: String, in formerTable: String, now current: RecordTable?,
        _ keys: [String: RecordKey]
    ) throws {
        names = try SyncState.text(db, .captured(type))?.split(separator: " ").map(String.init) ?? []
        let kinds = try SyncState.text(db, .fieldKinds(type))?.split(separator: " ")
        let fields = names.indices.map { [names] index in
            // A column that has another name now is the same field.
            let known = current?.column(names[index])?.field
            guard let kinds, kinds.indices.contains(index) else {
                return known ?? FieldDefinition(former: names[index], noted: nil, column: nil)
            }
            return FieldDefinition(former: names[index], noted: kinds[index], column: known?.column)
        }
        hasOtherFields = fields != current?.type.fields
        guard hasOtherFields else {
            (table, left, areAnyGone) = (current, nil, false)
            return
        }
        let table = current?.type.table ?? formerTable
        let columns = Set(keys[type] == nil ? [] : try db.declaredColumns(of: table).map(\.name))
        let there = fields.filter { field in
            guard columns.contains(field.column) else { return false }
            // Without the key of its target, a reference cannot be told from other values.
            guard let reference = Relationship(recordType: type, field: field) else { return true }
            return keys[reference.target] != nil
        }
        areAnyGone = there.count < fields.count
        func makeTable(_ fields: [FieldDefinition]) throws -> RecordTable? {
            guard !fields.isEmpty else { return nil }
            return try RecordTable(
                RecordType(table, fields, formerName: NameEncoding.name(of: type)), keys, [], db)
        }
        self.table = try makeTable(there)
        left = try makeTable(there.filter { current?.hasColumn($0.name) != true })
    }

    /// The values of a record's row in the columns that are no fields any more; nil without such a row.
    func values(_ db: Database, of name: RecordName) throws -> [String: FieldValue]? {
        guard let left, let values = try left.values(db, name) else { return nil }
        return Dictionary(uniqueKeysWithValues: zip(left.fieldNames, values))
    }
}

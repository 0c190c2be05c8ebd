import GRDB
import PeerSyncModel

/// The way to write some fields of records of one type to the rows of their table.
///
/// Peers choose the fields of a record and which of them change. So each list of fields of a type may need statements of
/// its own, and the database's cache never drops one. That cache only gets statements whose number the schema bounds,
/// which are nearly all in use. A layout keeps the others, as long as it lives.
final class RowLayout {
    let table: RecordTable
    let fieldNames: [String]
    let mayHaveAssets: Bool
    /// The references of the type; `index` is the position of the field in ``fieldNames``.
    let references: [(relationship: Relationship, index: Int?)]
    private let db: Database
    /// The columns of the fields, in the same order.
    private let columns: [RecordColumn]
    private var bindings = Bindings()
    private var shape: Int64?
    private lazy var insertStatement = Result { try statement(insertSQL) }
    private lazy var upsertStatement = Result { try statement(upsertSQL) }
    private lazy var updateStatement = Result { try statement(updateSQL, isOneOfFew: columns.count <= 1) }

    /// - Parameter fieldNames: names of fields that all have a column.
    init(_ db: Database, _ table: RecordTable, _ fieldNames: [String]) {
        self.db = db
        self.table = table
        self.fieldNames = fieldNames
        columns = fieldNames.map { table.column($0)! }
        mayHaveAssets = columns.contains { $0.field.kind == .asset }
        references = table.type.references.map { ($0, fieldNames.firstIndex(of: $0.field)) }
    }

    func isLayout(of name: RecordName, _ fields: [RecordField]) -> Bool {
        fields.count == fieldNames.count && name.isOfType(table.type.name)
            && fields.indices.allSatisfy { fields[$0].name == fieldNames[$0] }
    }

    /// The number of ``fieldNames`` in the store.
    func shapeID(_ shapes: ShapeTable) throws -> Int64 {
        if let shape { return shape }
        let id = try shapes.id(fieldNames)
        shape = id
        return id
    }

    /// Whether the table can have the row, and each column returns its value unchanged.
    func takes(_ state: RecordState) -> Bool {
        let fields = state.fields
        return table.canHold(state)
            && columns.indices.allSatisfy { columns[$0].surelyKeeps(fields[$0].value) }
    }

    /// Whether a program has written the bytes of a file into a field that should hold a reference to the file.
    func hasUnstoredAssets(_ state: RecordState) -> Bool {
        mayHaveAssets
            && zip(state.fields, columns).contains { field, column in
                if case .blob = field.value { column.field.kind == .asset } else { false }
            }
    }

    // MARK: Writing

    /// Inserts a row. The columns of other fields take their defaults.
    ///
    /// - Parameter modificationDate: the text for the column of that name, if the table has one.
    func insert(_ name: RecordName, _ fields: [RecordField], _ modificationDate: String?) throws {
        bindings.begin()
        table.appendKey(of: name, to: &bindings)
        append(fields, modificationDate)
        try bindings.execute(insertStatement.get())
    }

    /// Inserts a row, or updates the row of that name. The columns of other fields keep their values.
    func upsert(_ name: RecordName, _ fields: [RecordField], _ modificationDate: String?) throws {
        bindings.begin()
        table.appendKey(of: name, to: &bindings)
        append(fields, modificationDate)
        try bindings.execute(upsertStatement.get())
    }

    /// Updates the row of that name. SQLite leaves the indexes of other columns alone.
    ///
    /// - Returns: false when there is no row.
    func update(_ name: RecordName, _ fields: [RecordField], _ modificationDate: String?) throws -> Bool {
        guard !writtenColumns.isEmpty else { return try table.exists(db, name) }
        bindings.begin()
        append(fields, modificationDate)
        table.appendKey(of: name, to: &bindings)
        try bindings.execute(updateStatement.get())
        return db.changesCount > 0
    }

    private func append(_ fields: [RecordField], _ modificationDate: String?) {
        for index in columns.indices where columns[index].indexInKey == nil {
            if columns[index].holdsKeys {
                bindings.append(columns[index].stored(fields[index].value))
            } else {
                bindings.append(fields[index].value)
            }
        }
        if table.modificationDate != nil { bindings.append(modificationDate) }
    }

    // MARK: SQL

    /// The columns that sync writes into a row beside its key, for SQL.
    private var writtenColumns: [String] {
        columns.filter { $0.indexInKey == nil }.map(\.sqlName) + (table.modificationDate.map { [$0] } ?? [])
    }

    private var insertSQL: String {
        let names = table.key.columns.map(\.name.sqlName) + writtenColumns
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        // An alias, because `excluded` in an upsert would be a table of that name.
        return """
            INSERT \(table.conflictClause)INTO \(table.sqlName) AS grdb_sync_row (\(names.joined(separator: ", "))) VALUES (\(marks))
            """
    }

    private var upsertSQL: String {
        let updates = writtenColumns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return
            "\(insertSQL) ON CONFLICT (\(table.key.sql)) DO \(updates.isEmpty ? "NOTHING" : "UPDATE SET \(updates)")"
    }

    private var updateSQL: String {
        let updates = writtenColumns.map { "\($0) = ?" }.joined(separator: ", ")
        return "UPDATE \(table.conflictClause)\(table.sqlName) SET \(updates) WHERE \(table.key.condition)"
    }

    /// - Parameter isOneOfFew: whether the schema bounds the number of such statements, even if the layout lacks columns.
    private func statement(_ sql: String, isOneOfFew: Bool = false) throws -> Statement {
        isOneOfFew || columns.count == table.columns.count
            ? try db.statementToBind(sql) : try db.makeStatementToBind(sql)
    }
}

import Foundation
import GRDB
import GRDBSQLite
import PeerSyncModel

/// Reads and writes the rows of one record type. A class, because everybody who works on a record passes it on.
final class RecordTable: Sendable {
    let type: RecordType
    let key: RecordKey
    /// The table's name for SQL outside of triggers: a temporary table or view may have it, too.
    let sqlName: String
    /// The columns of ``type``'s fields, in the order of its fields.
    let columns: [RecordColumn]
    /// The names of the fields of ``type``, sorted.
    let fieldNames: [String]
    /// Whether the table is not declared WITHOUT ROWID.
    let hasRowID: Bool
    /// See ``GRDB/Database/hiddenRowID(of:)``. Because of it, too, `INSERT OR REPLACE` may remove another row than the one with its key.
    let hiddenRowID: String?
    /// Whether a foreign key's action deletes records, or empties references, when a row of the table goes.
    let hasFollowers: Bool
    /// The UNIQUE indexes that may refuse a record because of another one.
    let uniqueIndexes: [UniqueIndex]
    /// The UNIQUE indexes because of which `INSERT OR REPLACE` may remove another row than the one with its key. They may be on
    /// columns that are not synced.
    let replacingIndexes: [DeclaredIndex]
    /// Whether SQLite computes with the values of a row to take it out of an index. Where that fails, and no trigger fires, SQLite leaves the
    /// row in some of the indexes alone.
    let computesIndexes: Bool
    /// Whether every foreign key of the table is `DEFERRABLE INITIALLY DEFERRED`.
    let defersForeignKeys: Bool
    /// For SQL: what a statement of the engine's says so that no `ON CONFLICT` of the declaration decides what becomes of a row.
    /// Empty for a table without: SQLite would put it in the place of what the statements of triggers say.
    let conflictClause: String
    private let columnsByField: [String: RecordColumn]
    /// The column that the engine fills with the time of the newest write; nil for a table without it.
    let modificationDate: String?
    private let selectSQL: String
    private let existsSQL: String
    private let deleteSQL: String

    /// Reads the table's declarations of columns.
    ///
    /// - Parameters:
    ///   - keys: the keys of all types.
    ///   - relationships: the references of all types to this one.
    init(
        _ type: RecordType, _ keys: [String: RecordKey], _ relationships: [Relationship], _ db: Database
    ) throws {
        let declared = try db.declaredColumns(of: type.table)
        let declarations = Dictionary(uniqueKeysWithValues: declared.map { ($0.name, $0.type) })
        guard let key = keys[type.name] else {
            throw RecordStoreError.tableMismatch("the table \(type.table) has no key")
        }
        self.type = type
        self.key = key
        hasFollowers = relationships.contains { $0.rule == .cascade || !$0.rule.needsTarget }
        sqlName = "main.\(type.table.sqlName)"
        fieldNames = type.fieldNames
        hasRowID = try db.hasRowID(type.table)
        hiddenRowID = try db.hiddenRowID(of: type.table)
        let isStrict = try db.isStrict(type.table)
        columns = type.fields.map { field in
            let target = Relationship(recordType: type.name, field: field).flatMap { keys[$0.target] }
            return RecordColumn(
                field, ColumnAffinity(declaredType: declarations[field.column] ?? "", isStrict: isStrict),
                target: target,
                indexInKey: key.columns.firstIndex { $0.name == field.column })
        }
        columnsByField = Dictionary(uniqueKeysWithValues: columns.map { ($0.field.name, $0) })
        let nullable = Set(declared.filter { !$0.isNotNull }.map(\.name))
        let indexes = try db.declaredUniqueIndexes(of: type.table)
        let declaration = try db.declaration(of: type.table)
        conflictClause = declaration.places(of: ["ON", "CONFLICT"]).isEmpty ? "" : "OR ABORT "
        defersForeignKeys = try Self.defersForeignKeys(type.table, declaration, db)
        uniqueIndexes =
            type.holdsDuplicates
            ? UniqueIndex.all(
                indexes, of: sqlName, key, columns, nullable: nullable, conflictClause: conflictClause)
            : []
        replacingIndexes = indexes.filter { !$0.columns.contains(nil) && !$0.covers(key) }
        computesIndexes = try db.computesIndexes(of: type.table)
        let generated = try TableCheck.generatedColumns(db, type.table)
        let isDated = declared.contains { Self.isModificationDate($0) && !generated.contains($0.name) }
        modificationDate = isDated ? Self.modificationDate : nil
        selectSQL = """
            SELECT \(columns.map(\.sqlName).joined(separator: ", ")), \(modificationDate ?? "NULL") FROM \(sqlName) WHERE \(key.condition)
            """
        existsSQL = "SELECT 1 FROM \(sqlName) WHERE \(key.condition)"
        deleteSQL = "DELETE FROM \(sqlName) WHERE \(key.condition)"
    }

    private static func defersForeignKeys(
        _ table: String, _ declaration: [SQLToken], _ db: Database
    ) throws -> Bool {
        let deferred = declaration.places(of: ["DEFERRABLE", "INITIALLY", "DEFERRED"]).count { index in
            index == 0 || !declaration[index - 1].isWord("NOT")
        }
        let keys = try Int.fetchOne(
            db.cachedStatement(sql: "SELECT COUNT(DISTINCT id) FROM pragma_foreign_key_list(?, 'main')"),
            arguments: [table])
        return deferred == keys || keys == 0
    }

    /// The column of text that a table may have for the time of a record's newest write.
    static let modificationDate = "modificationDate"

    /// Whether the engine fills a column, if it is not generated.
    static func isModificationDate(_ column: ColumnInfo) -> Bool {
        column.name == modificationDate && column.primaryKeyIndex == 0
            && ColumnAffinity(declaredType: column.type) == .text
    }

    func hasColumn(_ field: String) -> Bool { columnsByField[field] != nil }

    /// Whether a record has the fields of this type and no others, as most do: then those stand in the order of ``columns``.
    func hasExactly(_ fields: [RecordField]) -> Bool {
        fields.count == fieldNames.count && fields.indices.allSatisfy { fields[$0].name == fieldNames[$0] }
    }

    /// The column of a field; nil for a field without a column.
    func column(_ field: String) -> RecordColumn? { columnsByField[field] }

    /// The fields of ``uniqueIndexes``, with their collations; nil if there are none.
    var contested: String? {
        uniqueIndexes.isEmpty ? nil : uniqueIndexes.map(\.text).joined(separator: ", ")
    }

    /// Whether two states of a record differ in what decides who has a row.
    func isContestedAnew(_ state: RecordState, since former: RecordState) -> Bool {
        uniqueIndexes.flatMap(\.fieldNames).contains { state.field($0) != former.field($0) }
    }

    // MARK: Reading

    /// The values of a record's row in order of ``RecordType/fields``, or nil when there is no row.
    func values(_ db: Database, _ name: RecordName) throws -> [FieldValue]? { try row(db, name)?.values }

    /// The values of a record's row in order of ``RecordType/fields``, and its `modificationDate`; nil when there is no row.
    func row(_ db: Database, _ name: RecordName) throws -> (values: [FieldValue], modificationDate: String?)?
    {
        var found: (values: [FieldValue], modificationDate: String?)?
        try search(db, selectSQL, name) { row in
            // Other programs may have written any value into `modificationDate`.
            found = (values(row, from: 0), Self.text(row, Int32(columns.count)))
        }
        return found
    }

    /// Reads the values of a row in order of ``RecordType/fields`` from the columns of a statement, beginning at
    /// `first`.
    func values(_ row: SQLiteStatement, from first: Int32) -> [FieldValue] {
        var values: [FieldValue] = []
        values.reserveCapacity(columns.count)
        var index = first
        for column in columns {
            values.append(column.value(row, index))
            index += 1
        }
        return values
    }

    /// Whether a record's row has a text that is no UTF-8, in place of which its state has another.
    func hasOtherText(_ db: Database, than state: RecordState) throws -> Bool {
        guard state.hasReplacementCharacter else { return false }
        var isOther = false
        try search(db, selectSQL, state.name) { row in
            isOther = columns.indices.contains { RecordColumn.isNoUTF8(row, Int32($0)) }
        }
        return isOther
    }

    func exists(_ db: Database, _ name: RecordName) throws -> Bool {
        var isFound = false
        try search(db, existsSQL, name) { _ in isFound = true }
        return isFound
    }

    /// Whether there is a row with a key of one column that is no name.
    func hasRow(_ db: Database, key value: FieldValue) throws -> Bool {
        guard key.columns.count == 1 else { return false }
        var bindings = Bindings()
        bindings.append(value)
        return try bindings.findsRow(db.statementToBind(existsSQL))
    }

    /// Runs a query for the row of a record.
    private func search(
        _ db: Database, _ sql: String, _ name: RecordName, _ body: (SQLiteStatement) throws -> Void
    ) throws {
        var bindings = Bindings()
        appendKey(of: name, to: &bindings)
        try bindings.read(db.statementToBind(sql)) { row in
            try body(row)
            return false
        }
    }

    /// The number of rows.
    func count(_ db: Database) throws -> Int {
        try db.fetchCountCached("SELECT COUNT(*) FROM \(sqlName)")
    }

    /// Passes the name of each row to `body`, in the order of the keys. Leaves out rows whose key has no name.
    func forEachName(_ db: Database, _ body: (RecordName) throws -> Void) throws {
        let statement = try db.makeStatement(sql: "SELECT \(key.sql) FROM \(sqlName) ORDER BY \(key.sql)")
        let rows = try Row.fetchCursor(statement)
        while try rows.next() != nil {
            if let name = key.name(statement.sqliteStatement, from: 0) { try body(name) }
        }
    }

    // MARK: Writing

    /// Whether the table can have the row of a state: the state's name is that of a key, and its fields agree with the
    /// key.
    func canHold(_ state: RecordState) -> Bool {
        guard !key.holdsNames else { return true }
        guard let values = key.values(of: state.name) else { return false }
        return columns.allSatisfy { column in
            guard let index = column.indexInKey else { return true }
            // Another version of the app may have no field for this column: its value is in the name. But only the field
            // says to which record a reference leads.
            guard let field = state.field(column.field.name) else { return !column.isReference }
            return column.stored(field.value) == values[index]
        }
    }

    /// Appends the arguments of ``RecordKey/condition``; nothing matches them when no row can have that name.
    func appendKey(of name: RecordName, to bindings: inout Bindings) {
        if key.holdsNames { return bindings.append(name.description) }
        let values = key.values(of: name) ?? key.columns.map { _ in .null }
        for value in values { bindings.append(value) }
    }

    /// Writes a row's `modificationDate` where it differs; sync does not cover this column, so no trigger of its own fires. An app
    /// that lets nobody change the row keeps it from getting its date.
    ///
    /// - Parameter written: what the row has there.
    func setModificationDate(
        _ db: Database, of name: RecordName, to date: String?, from written: String?
    ) throws {
        guard let modificationDate, date != written else { return }
        var bindings = Bindings()
        bindings.append(date)
        appendKey(of: name, to: &bindings)
        let sql = "UPDATE \(sqlName) SET \(modificationDate) = ? WHERE \(key.condition)"
        _ = try db.catchingConstraint(in: self) { try bindings.execute(db.statementToBind(sql)) }
    }

    /// The fields of a row just written whose columns return another value. For example, a peer whose table has other
    /// column types sends a text of digits for a column of integers. The store keeps such values beside the row, so
    /// that it passes on exactly what it has received.
    ///
    /// - Parameter isTriggered: whether a trigger of the app's may have written into the row as well.
    /// - Returns: nil when there is no row: such a trigger has kept it away.
    func alteredFields(_ db: Database, _ state: RecordState, isTriggered: Bool) throws -> Set<String>? {
        let isSuspicious =
            if isTriggered {
                true
            } else if hasExactly(state.fields) {
                columns.indices.contains { !columns[$0].surelyKeeps(state.fields[$0].value) }
            } else {
                state.fields.contains { field in
                    column(field.name).map { !$0.surelyKeeps(field.value) } ?? false
                }
            }
        guard isSuspicious else { return [] }
        guard let values = try values(db, state.name) else { return nil }
        var altered: Set<String> = []
        for (field, value) in zip(type.fields, values) {
            if let written = state.field(field.name), written.value != value { altered.insert(field.name) }
        }
        return altered
    }

    func delete(_ db: Database, _ name: RecordName) throws {
        var bindings = Bindings()
        appendKey(of: name, to: &bindings)
        try bindings.execute(db.statementToBind(deleteSQL))
    }

    // MARK: Text

    /// Reads the text of a column by its length: SQLite text may contain NUL, and GRDB reads only up to it. nil when
    /// the column holds no text.
    static func text(_ statement: SQLiteStatement, _ index: Int32) -> String? {
        guard sqlite3_column_type(statement, index) == SQLITE_TEXT else { return nil }
        let text = sqlite3_column_text(statement, index)
        let length = Int(sqlite3_column_bytes(statement, index))
        return String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }
}

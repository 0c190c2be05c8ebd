import GRDB
import PeerSyncModel

/// A table of an app that sync covers, and what its declaration cannot say. Everything else follows from the declaration:
/// the key, the columns, and the references with what becomes of them.
///
/// ```swift
/// let tables: [SyncedTable] = ["TodoList", SyncedTable("Item", dates: ["due"], local: ["isExpanded"])]
/// ```
public struct SyncedTable: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The table's name in the database, which names the record type on all machines.
    public let name: String
    /// The columns whose texts are moments in ISO 8601, such as `2026-11-23T10:00:00Z`. They travel in a shorter form. Other
    /// texts, such as those of a `Date` of GRDB, travel as they are, with or without this.
    public let dates: Set<String>
    /// The columns that hold files; see ``FieldDefinition/Kind/asset``.
    public let files: Set<String>
    /// The columns that stay on this machine.
    public let local: Set<String>
    /// See ``RecordType/areNumbersShared``.
    public let areNumbersShared: Bool
    /// See ``RecordType/holdsDuplicates``.
    public let holdsDuplicates: Bool
    /// See ``RecordType/formerName``.
    public let formerName: String?
    /// The columns that migrations have renamed, each with the name that it had when sync first knew it. Records keep that
    /// name, so machines with an older version of the app see what is written there, and the other way round. Say it from the
    /// version on whose migration renames the column, and for good.
    public let formerColumns: [String: String]

    /// Names a table, and says what its declaration cannot.
    ///
    /// - Parameters:
    ///   - name: the table's name in the database.
    ///   - dates: see ``dates``.
    ///   - files: see ``files``.
    ///   - local: see ``local``.
    ///   - areNumbersShared: see ``RecordType/areNumbersShared``.
    ///   - holdsDuplicates: see ``RecordType/holdsDuplicates``.
    ///   - formerName: see ``RecordType/formerName``.
    ///   - formerColumns: see ``formerColumns``.
    public init(
        _ name: String, dates: Set<String> = [], files: Set<String> = [], local: Set<String> = [],
        areNumbersShared: Bool = false, holdsDuplicates: Bool = false,
        formerName: String? = nil, formerColumns: [String: String] = [:]
    ) {
        self.name = name
        self.dates = dates
        self.files = files
        self.local = local
        self.areNumbersShared = areNumbersShared
        self.holdsDuplicates = holdsDuplicates
        self.formerName = formerName
        self.formerColumns = formerColumns
    }

    /// Names the table of a GRDB record type, and says what its declaration cannot.
    public init(
        _ record: any TableRecord.Type, dates: Set<String> = [], files: Set<String> = [],
        local: Set<String> = [],
        areNumbersShared: Bool = false, holdsDuplicates: Bool = false,
        formerName: String? = nil, formerColumns: [String: String] = [:]
    ) {
        self.init(
            record.databaseTableName, dates: dates, files: files, local: local,
            areNumbersShared: areNumbersShared, holdsDuplicates: holdsDuplicates,
            formerName: formerName, formerColumns: formerColumns)
    }

    public init(stringLiteral name: String) { self.init(name) }
}

extension RecordSchema {
    /// Reads the record types from the declarations of an app's tables.
    ///
    /// A column is a field if it is not generated, not ``SyncedTable/local``, not `modificationDate`, and not a part of the
    /// key. A foreign key is a reference, also in the key; it is required if it is NOT NULL or in the key. Of a table that
    /// has nothing but a key, the key is the field.
    ///
    /// - Parameters:
    ///   - db: a connection to the app's database.
    ///   - tables: in the order in which a deletion follows references, see ``relationships``. Within a table, the order
    ///     is that of the columns.
    /// - Throws: ``RecordStoreError``: `invalidSchema`; `tableMismatch` when a table or a column that is listed is not
    ///   there, or when a foreign key leads to a table that is not listed.
    public init(_ db: Database, tables: [SyncedTable]) throws {
        let declared = try tables.map { try DeclaredTable($0, db) }
        try self.init(declared.map { try $0.recordType(among: declared) })
    }
}

/// A table as SQLite has it.
private struct DeclaredTable {
    private struct ForeignKey {
        let id: Int64
        let column: String
        let target: String
        let action: String
    }

    private let table: SyncedTable
    /// As it is declared: SQLite takes other capitals, too, but records have one name everywhere.
    private let name: String
    private let columns: [ColumnInfo]
    private let key: [String]
    private let foreignKeys: [ForeignKey]

    init(_ table: SyncedTable, _ db: Database) throws {
        self.table = table
        let name = try String.fetchOne(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            arguments: [table.name])
        guard let name else {
            throw RecordStoreError.tableMismatch("the database has no table \(table.name)")
        }
        self.name = name
        let generated = try TableCheck.generatedColumns(db, name)
        columns = try db.declaredColumns(of: name).filter { !generated.contains($0.name) }
        key = try RecordKey.columnNames(db, name)
        foreignKeys = try Row.fetchAll(
            db, sql: "SELECT id, \"from\", \"table\", on_delete FROM pragma_foreign_key_list(?, 'main')",
            arguments: [name]
        ).map { ForeignKey(id: $0[0], column: $0[1], target: $0[2], action: $0[3]) }
        let missing = table.dates.union(table.files).union(table.local).union(table.formerColumns.keys)
            .subtracting(columns.map(\.name))
        if let column = missing.min() {
            throw RecordStoreError.tableMismatch("the table \(name) has no column \(column)")
        }
        try checkOptions()
    }

    /// Refuses options that would have no effect.
    private func checkOptions() throws {
        let listed = Array(table.dates) + table.files + table.local
        let kept = Set(key + columns.filter(RecordTable.isModificationDate).map(\.name))
        let references = Set(foreignKeys.map(\.column))
        for column in listed.sorted() {
            let reason: String? =
                if kept.contains(column) {
                    "it is in the key, or the engine fills it"
                } else if listed.count(where: { $0 == column }) > 1 {
                    "it is listed twice"
                } else if references.contains(column), !table.local.contains(column) {
                    "it is a reference"
                } else {
                    nil
                }
            if let reason {
                throw RecordStoreError.invalidSchema(
                    "\(name).\(column) cannot be listed as a date, a file or local: \(reason)"
                )
            }
        }
        let renamed = table.formerColumns.keys.sorted()
        if let column = renamed.first(where: {
            table.local.contains($0) || kept.subtracting(references).contains($0)
        }) {
            throw RecordStoreError.invalidSchema(
                "\(name).\(column) cannot be listed with a former name: its name is in no record, so nothing depends on it"
            )
        }
        let date = columns.first { $0.name == RecordTable.modificationDate }
        if let date, !kept.contains(date.name), !table.local.contains(date.name) {
            throw RecordStoreError.tableMismatch(
                "\(name).modificationDate is declared \(date.type), and sync keeps a text in a column of that name: declare it "
                    + "TEXT, or list it as local")
        }
    }

    /// - Parameter tables: those that are synced.
    func recordType(among tables: [DeclaredTable]) throws -> RecordType {
        var fields: [FieldDefinition] = []
        for column in columns where !table.local.contains(column.name) {
            let reference = try reference(of: column, among: tables)
            let isKept = RecordTable.isModificationDate(column) || key.contains(column.name)
            guard reference != nil || !isKept else { continue }
            fields.append(
                FieldDefinition(
                    column.name, reference ?? kind(of: column), formerName: table.formerColumns[column.name]))
        }
        // Of a table that has nothing but a key, the key is the field.
        if fields.isEmpty, key != [RecordKey.nameColumn] { fields = key.map { FieldDefinition($0) } }
        return RecordType(
            name, fields, areNumbersShared: table.areNumbersShared, holdsDuplicates: table.holdsDuplicates,
            formerName: table.formerName)
    }

    private func kind(of column: ColumnInfo) -> FieldDefinition.Kind {
        if table.dates.contains(column.name) { return .date }
        return table.files.contains(column.name) ? .asset : .value
    }

    /// The reference that a column is; nil if it is none.
    private func reference(of column: ColumnInfo, among tables: [DeclaredTable]) throws
        -> FieldDefinition.Kind?
    {
        let keys = foreignKeys.filter { $0.column == column.name }
        guard let foreignKey = keys.first else { return nil }
        let place = "\(name).\(column.name)"
        guard keys.count == 1, foreignKeys.count(where: { $0.id == foreignKey.id }) == 1 else {
            throw RecordStoreError.tableMismatch(
                "\(place) belongs to several foreign keys, or to one of several columns: sync follows references of one column, "
                    + "so give the table \(foreignKey.target) a key of one column, or declare it ON DELETE SET NULL and keep it local"
            )
        }
        let target = tables.first { $0.name.isSameName(as: foreignKey.target) }
        guard let target else {
            throw RecordStoreError.tableMismatch(
                "\(place) refers to the table \(foreignKey.target), which is not synced: list that table, too, or keep the "
                    + "column local")
        }
        guard let rule = DeleteRule(foreignKeyAction: foreignKey.action) else {
            throw RecordStoreError.tableMismatch(
                "\(place) is declared ON DELETE \(foreignKey.action), which sync does not have: declare it CASCADE, SET NULL "
                    + "or NO ACTION")
        }
        let isRequired = column.isNotNull || key.contains(column.name)
        return .reference(to: target.table.formerName ?? target.name, rule: rule, isRequired: isRequired)
    }
}

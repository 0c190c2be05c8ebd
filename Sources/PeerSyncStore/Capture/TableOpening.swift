import GRDB
import PeerSyncModel

/// Puts the triggers on one table, and takes in what its rows have that sync does not know.
///
/// A value that differs becomes a write of its own: otherwise one stamp would name two values, and the machines would
/// never agree on one. Its stamp comes right after that of the value before. So it beats nothing that somebody wrote
/// later.
struct TableOpening {
    private let store: RecordStore
    private let table: RecordTable
    private let tables: RecordTables
    private let former: FormerColumns?
    private let db: Database
    private let difference: CaptureTriggers.Difference
    /// The number of rows that a migration has left, before the store holds back any of them.
    private let rowCount: Int
    /// The number of the last change when the type left the schema; nil if it did not.
    private let left: Int64?
    /// Whether other values than before refuse a record a row.
    private let isContestedAnew: Bool

    /// - Parameters:
    ///   - tables: those of the schema, with the columns of former fields.
    ///   - former: the fields of when the store was opened last; nil for a new table.
    init(
        _ store: RecordStore, _ table: RecordTable, _ tables: RecordTables, _ former: FormerColumns?,
        _ db: Database
    ) throws {
        self.store = store
        self.table = table
        self.tables = tables
        self.former = former
        self.db = db
        difference = try CaptureTriggers.difference(db, for: table)
        rowCount = difference.isDeleteMissing ? try table.count(db) : 0
        left = try SyncState.integer(db, .left(table.type.name))
        isContestedAnew = try SyncState.text(db, .contested(table.type.name)) != table.contested
    }

    private var hasOtherFields: Bool { former?.hasOtherFields ?? true }

    /// Whether the table was under sync before, and is not as it was.
    var hasChanged: Bool { former != nil && (hasOtherFields || difference.isAny) }

    /// - Parameters:
    ///   - journaled: the records of which the journal had entries.
    ///   - areRulesNew: whether the store was last written under other rules between records.
    /// - Returns: false when rows are lost, which a repair gives back.
    func run(journaled: Set<RecordName>, areRulesNew: Bool) throws -> Bool {
        try CaptureTriggers.install(db, for: table)
        if difference.isAny { try CaptureTriggers.adoptRows(db, of: table) }
        var isComplete = true
        if hasChanged || left != nil { isComplete = try holdRows(journaled) }
        if difference.areAllMissing || hasOtherFields || areRulesNew || isContestedAnew {
            try StoreOpening.relearn(table.type.name, store, tables, db)
        }
        if isContestedAnew { try SyncState.set(db, .contested(table.type.name), table.contested) }
        if left != nil { try SyncState.remove(db, .left(table.type.name)) }
        return isComplete
    }

    // MARK: Rows

    /// - Returns: false when rows are lost.
    private func holdRows(_ journaled: Set<RecordName>) throws -> Bool {
        let shapes = ShapeTable(db)
        let defaults = try newFields()
        var hasher = RecordHasher()
        var missing: [TakenRow] = []
        try StoreOpening.forEachPart(of: table.type.name, db) { names in
            var changed: [TakenRow] = []
            for name in names {
                guard let (stored, sequence) = try stored(name, shapes) else { continue }
                if stored.isRowPresent {
                    let writes: [TakenRow.Write]
                    if stored.status != .inTable {
                        writes = try isWrittenOutOfSync(stored, sequence) ? [(Int64(-1), next(stored))] : []
                    } else if difference.isUpdateMissing && journaled.contains(name)
                        || !StoreUpkeep.areValuesIntact(stored, hasher.hashes(of: stored.state))
                    {
                        // A fold has put what it found in a journaled row under the stamps of before.
                        writes = written(stored)
                    } else {
                        writes = try filled(defaults, in: stored)
                    }
                    if !writes.isEmpty { changed.append(TakenRow(name, writes)) }
                } else if stored.status == .inTable {
                    missing.append(TakenRow(name, at: next(stored), isPresent: false))
                }
            }
            _ = try store.folding(Zones.defaultID, in: tables).take(db, changed)
        }
        guard !missing.isEmpty else { return true }
        // A migration that makes a table anew, and leaves out some rows, deletes them. If it leaves hardly any, they are
        // lost, and so are rows that vanished under the eyes of a trigger. A record whose name is no key of the table any
        // more is not lost: its row has another key.
        let lost = missing.count { table.key.values(of: $0.name) != nil }
        guard difference.isDeleteMissing, rowCount >= lost else { return false }
        _ = try store.folding(Zones.defaultID, in: tables).take(db, missing)
        return true
    }

    /// A record with its row, and the number of its last change; nil for one whose metadata is damaged, which
    /// ``StoreUpkeep/check(_:progress:)`` names.
    private func stored(_ name: RecordName, _ shapes: ShapeTable) throws -> (StoredRecord, sequence: Int64)? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql:
                    "SELECT status, remoteRecord, changeSequence FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?"
            ),
            arguments: [name.description])
        do {
            return try row.map {
                (try StoredRecord(name, $0, tables: tables, shapes: shapes), $0["changeSequence"])
            }
        } catch let error as RecordStoreError where error.code == .damagedRecord {
            return nil
        }
    }

    /// The stamp right after the newest of a record, also of one whose values have gone with its row.
    private func next(_ stored: StoredRecord) -> Stamp {
        let last = stored.metadata.allStamps.max()
        return (last ?? Stamp(time: HybridTime(rawValue: 0), replica: store.replica)).next(by: store.replica)
    }

    /// All fields that the row has, each right after its own stamp: nobody knows which of them has changed.
    private func written(_ stored: StoredRecord) -> [TakenRow.Write] {
        table.fieldNames.enumerated().compactMap { bit, name in
            // The metadata has the value of this field, because the row cannot have it or must not show it.
            guard stored.metadata.storedValues[name] == nil else { return nil }
            let stamp = stored.state.field(name)?.stamp.next(by: store.replica) ?? next(stored)
            return (1 << Int64(bit), stamp)
        }
    }

    // MARK: New fields

    private struct NewField {
        let bit: Int
        let name: String
        let defaultValue: FieldValue
    }

    private func newFields() throws -> [NewField] {
        guard let former else { return [] }
        return try table.fieldNames.enumerated().filter { !former.names.contains($0.element) }.map {
            bit, name in
            NewField(bit: bit, name: name, defaultValue: try defaultValue(of: table.columns[bit]))
        }
    }

    /// The new fields in which a row has another value than the column's default, and of which sync knows nothing yet.
    /// What sync knows came from a machine that had the field earlier, and is shown in place of what the migration wrote.
    private func filled(_ fields: [NewField], in stored: StoredRecord) throws -> [TakenRow.Write] {
        let unknown = fields.filter { !stored.metadata.fieldNames.contains($0.name) }
        guard !unknown.isEmpty, let values = try table.values(db, stored.state.name) else { return [] }
        return unknown.filter { !values[$0.bit].isSame(as: $0.defaultValue) }.map {
            (1 << Int64($0.bit), next(stored))
        }
    }

    /// The default of a column, as SQLite evaluates it. A word that SQLite takes for a text is one here.
    private func defaultValue(of column: RecordColumn) throws -> FieldValue {
        guard
            let sql = try db.declaredColumns(of: table.type.table)
                .first(where: { $0.name == column.field.column })?.defaultValueSQL
        else { return .null }
        do {
            var value = FieldValue.null
            try Bindings().read(db.makeStatementToBind("SELECT \(sql)")) { row in
                value = column.value(row, 0)
                return false
            }
            return value
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            let isQuoted = sql.utf8.first == UInt8(ascii: "\"")
            return .text(isQuoted ? String(sql.unicodeScalars.dropFirst().dropLast()) : sql)
        }
    }

    // MARK: Types that come back

    /// Whether a program has written to the row of a record that is not shown. If the type was out of the schema, the row
    /// may be only older than the record, which is then shown in its place, or goes.
    private func isWrittenOutOfSync(_ stored: StoredRecord, _ sequence: Int64) throws -> Bool {
        guard let left else { return stored.status != .held }
        guard sequence <= left else { return false }
        let values = try table.values(db, stored.state.name) ?? []
        return zip(table.columns, values).contains { column, value in
            guard let known = stored.state.field(column.field.name)?.value, known != value else {
                return false
            }
            return value != .null || !column.field.isNullified
        }
    }
}

extension FieldValue {
    /// Whether two values are the same for a column, whatever its affinity makes of them.
    fileprivate func isSame(as other: FieldValue) -> Bool {
        if self == other { return true }
        guard let left = comparable, let right = other.comparable else { return false }
        return left == right || Double(left).map { $0 == Double(right) } == true
    }

    private var comparable: String? {
        switch self {
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let text): text
        case .null, .blob, .date, .reference, .asset: nil
        }
    }
}

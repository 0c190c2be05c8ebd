import GRDB
import SyncModel

/// Brings a table under sync when the store is opened: its triggers, and what happened to the table while they did not
/// watch, as in a migration.
///
/// A migration may fill a column that it adds, rebuild a table, rename a column, or drop one. The triggers see nothing
/// of it, or not all. So whenever the columns or the triggers are not those of before, this type holds every row against
/// what sync knows of it. A value that differs becomes a write of its own: otherwise one stamp would name two values,
/// and the machines would never agree on one.
struct TableOpening {
    private let store: RecordStore
    private let table: RecordTable
    private let db: Database

    init(_ store: RecordStore, _ table: RecordTable, _ db: Database) {
        self.store = store
        self.table = table
        self.db = db
    }

    /// - Parameter areRulesNew: whether the store was last written under other rules between records.
    func run(areRulesNew: Bool) throws {
        var captured = CapturedFields()
        let before = try captured.fields(of: table.type.name, db)
        let kinds = try SyncState.text(db, .fieldKinds(table.type.name))?.split(separator: " ")
        let hasNewFields =
            before != table.fieldNames
            || kinds.map { $0.map(String.init) != table.type.fields.map(\.kindText) } ?? false
        let difference = try CaptureTriggers.difference(db, for: table)
        let hasChanged = !before.isEmpty && (hasNewFields || difference != .none)
        // The old triggers wrote the masks in the journal, so the store folds it before it replaces them.
        if hasChanged { _ = try store.fold(db) }
        try CaptureTriggers.install(db, for: table)
        if difference != .none { try CaptureTriggers.adoptRows(db, of: table) }
        let former = try FormerColumns(db, table, in: store.tables, before: before, kinds: kinds ?? [])
        if hasNewFields || difference != .none { try holdRows(against: before, former) }
        if difference == .all || hasNewFields || areRulesNew { try relearn(former) }
        if before.isEmpty { try SyncState.remove(db, .left(table.type.name)) }
        // Others still have the values that went with a column.
        if former.areAnyGone { try store.upkeep.startOver(db) }
    }

    // MARK: What happened without triggers

    /// Takes in rows that have other values than sync knows, and values of new columns that others do not have.
    private func holdRows(against before: [String], _ former: FormerColumns) throws {
        let learnt = table.fieldNames.filter { !before.contains($0) }
        let defaults = try learnt.map { try (name: $0, value: defaultValue(of: $0)) }
        var changed: [(name: RecordName, mask: Int64, stamp: Stamp)] = []
        var missing: [(name: RecordName, stamp: Stamp)] = []
        var presentCount = 0
        var hasher = RecordHasher()
        try forEachRecord(former) { stored in
            let stamp = { try store.upkeep.stampForRepair(db, stored.state.name, stored.state) }
            guard stored.isRowPresent else {
                if stored.status == .inTable { missing.append((stored.state.name, try stamp())) }
                return
            }
            presentCount += 1
            let mask: Int64 =
                switch stored.status {
                case .inTable where StoreUpkeep.areValuesIntact(stored, hasher.hashes(of: stored.state)):
                    try self.mask(of: defaults, filledIn: stored)
                case .held where try !isChangedSinceTypeLeft(stored): 0
                case .inTable, .held, .hidden, .deleted: -1
                }
            if mask != 0 { changed.append((stored.state.name, mask, try stamp())) }
        }
        _ = try store.folding(Zones.defaultID).take(db, changed)
        guard !missing.isEmpty else { return }
        // A migration that leaves out some rows deletes them. One that leaves hardly any has lost them: the others give
        // them back.
        if presentCount >= missing.count {
            _ = try store.folding(Zones.defaultID).take(db, missing.map { ($0.name, 0, $0.stamp) })
        } else {
            try store.upkeep.repair(db)
        }
    }

    private func forEachRecord(_ former: FormerColumns, _ body: (StoredRecord) throws -> Void) throws {
        let shapes = ShapeTable(db)
        let prefix = table.type.name + RecordName.separator
        _ = try RecordScan(db, store.tables).read(table.type.name, after: prefix) { record in
            do {
                try body(record.stored(shapes, formerValues: former.values(of: RecordName(record.name))))
            } catch let error as RecordStoreError where error.code == .damagedRecord {
                // `status --check` names it.
            }
            return true
        }
    }

    /// The bits of the new columns in which a row has another value than the column's default, and of which sync knows
    /// nothing yet. What sync knows came from a machine that had the column earlier, and is shown in place of what the
    /// migration wrote.
    private func mask(of defaults: [(name: String, value: FieldValue)], filledIn stored: StoredRecord) throws
        -> Int64
    {
        let unknown = defaults.filter { !stored.metadata.fieldNames.contains($0.name) }
        guard !unknown.isEmpty, let values = try table.values(db, stored.state.name) else { return 0 }
        return unknown.reduce(0) { mask, field in
            guard let index = table.fieldNames.firstIndex(of: field.name), values[index] != field.value else {
                return mask
            }
            return mask | 1 << Int64(index)
        }
    }

    /// Whether a program has written to the row of a held record since its type left the schema, and nobody else to the
    /// record. Otherwise the row may be older than the record, which is then shown in its place.
    private func isChangedSinceTypeLeft(_ stored: StoredRecord) throws -> Bool {
        guard let left = try SyncState.integer(db, .left(table.type.name)),
            let last = try Int64.fetchOne(
                db, sql: "SELECT changeSequence FROM remoteRecord WHERE remoteRecordID = ?",
                arguments: [stored.state.name.description]),
            last <= left
        else { return false }
        return try zip(table.fieldNames, table.values(db, stored.state.name) ?? []).contains { field, value in
            stored.state.field(field).map { $0.value != value } ?? false
        }
    }

    private func defaultValue(of field: String) throws -> FieldValue {
        let sql = try db.columns(in: table.type.name).first { $0.name == field }?.defaultValueSQL
        let statement = try db.makeStatement(sql: "SELECT \(sql ?? "NULL")")
        let rows = try Row.fetchCursor(statement)
        _ = try rows.next()
        return table.column(field)?.value(statement.sqliteStatement, 0) ?? .null
    }

    // MARK: What is to be shown now

    /// Shows what the store kept of the type, or of fields, before this version of the schema knew them, and keeps the
    /// values of fields that are in it no longer.
    private func relearn(_ former: FormerColumns) throws {
        try Self.forEachPart(of: table.type.name, db) { names in
            let set = try WorkingSet(db, store.tables)
            for name in names {
                set.formerValues[name] = try former.values(of: name)
                try set.known(name)?.isRelearnt = true
            }
            _ = try set.save(generation: store.generation)
        }
    }
}

extension TableOpening {
    // MARK: Types that leave the schema

    /// Takes the tables out of sync whose types have left the schema, before the other tables are opened. The store keeps
    /// their records for other machines, and shows them again once the type is back. A table that is gone has taken its
    /// values along: the others still have them.
    static func leaveFormerTypes(_ store: RecordStore, _ db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT substr(name, 10) FROM syncState WHERE name GLOB 'captured:*' ORDER BY name"
        ).filter { store.tables[$0] == nil }
        guard !names.isEmpty else { return }
        var types: [RecordType] = []
        for name in names where try db.tableExists(name) {
            let kinds = try SyncState.text(db, .fieldKinds(name))?.split(separator: " ") ?? []
            let fields = try SyncState.text(db, .captured(name))?.split(separator: " ").map(String.init) ?? []
            let columns = Set(try db.columns(in: name).map(\.name))
            types.append(
                RecordType(
                    name,
                    fields.indices.filter { columns.contains(fields[$0]) }.map { index in
                        FieldDefinition(
                            former: fields[index],
                            kindText: kinds.indices.contains(index) ? kinds[index] : nil)
                    }, areNumbersShared: true))
        }
        let all = try RecordTables(RecordSchema(store.schema.types + types), db)
        _ = try store.folding(Zones.defaultID, in: all).fold(db)
        for name in names {
            if let table = all[name] {
                try CaptureTriggers.remove(db, from: name)
                try keepRows(of: table, store, db)
            } else {
                try forgetRows(of: name, store, db)
            }
            for state in [SyncState.captured(name), .fieldKinds(name)] { try SyncState.remove(db, state) }
            try SyncState.set(db, .left(name), SyncState.integer(db, .lastSequence))
        }
    }

    /// Lets the store keep the values of the rows of a former type.
    private static func keepRows(of table: RecordTable, _ store: RecordStore, _ db: Database) throws {
        try forEachPart(of: table.type.name, db) { names in
            let set = try WorkingSet(db, store.tables)
            for name in names {
                set.formerValues[name] = try table.row(db, name).map {
                    Dictionary(uniqueKeysWithValues: zip(table.fieldNames, $0.values))
                }
                try set.known(name)?.isRelearnt = true
            }
            _ = try set.save(generation: store.generation)
        }
    }

    private static func forgetRows(of type: String, _ store: RecordStore, _ db: Database) throws {
        try forEachPart(of: type, db) { names in
            for name in names {
                let isInTable = try Bool.fetchOne(
                    db, sql: "SELECT status = 0 FROM remoteRecord WHERE remoteRecordID = ?",
                    arguments: [name.description])
                if isInTable == true { try RecordTraces.remove(db, of: name) }
            }
        }
        try store.upkeep.repair(db)
    }

    /// Passes the names of all records of a type that sync knows to `body`, in parts.
    static func forEachPart(of type: String, _ db: Database, _ body: ([RecordName]) throws -> Void) throws {
        var last = type + RecordName.separator
        while true {
            // `~` follows the last character of the separator, so this bound ends the range of names with that prefix.
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT remoteRecordID FROM remoteRecord
                    WHERE remoteRecordID > ? AND remoteRecordID < ? ORDER BY remoteRecordID LIMIT 5000
                    """, arguments: [last, type + "|~}"])
            guard let end = names.last else { return }
            try body(names.map { try RecordName($0) })
            last = end
        }
    }
}

/// The columns of a table that were fields under the last version of the schema and are none now.
private struct FormerColumns {
    private let db: Database
    /// A table with these columns as fields; nil when the database has none of them.
    private let table: RecordTable?
    /// Whether the database has lost one of them, and its values with it.
    let areAnyGone: Bool

    /// - Parameters:
    ///   - before: the fields of then.
    ///   - kinds: their kinds; empty if the store did not note them.
    init(
        _ db: Database, _ table: RecordTable, in tables: RecordTables, before: [String], kinds: [Substring]
    ) throws {
        self.db = db
        let left = before.indices.filter { !table.hasColumn(before[$0]) }.map { index in
            FieldDefinition(
                former: before[index], kindText: kinds.indices.contains(index) ? kinds[index] : nil)
        }
        let columns = Set(try db.columns(in: table.type.name).map(\.name))
        let there = left.filter { columns.contains($0.name) }
        areAnyGone = there.count < left.count
        self.table =
            there.isEmpty ? nil : try RecordTable(RecordType(table.type.name, there), tables.keys, db)
    }

    /// The values of a record's row in these columns; nil without a row.
    func values(of name: RecordName) throws -> [String: FieldValue]? {
        guard let table, let values = try table.values(db, name) else { return nil }
        return Dictionary(uniqueKeysWithValues: zip(table.fieldNames, values))
    }
}

import Foundation
import GRDB
import PeerSyncModel

/// Turns the journal that the triggers wrote into stamped record states.
///
/// All entries of one record become one new state of it: the row as it is now, with each changed field under the stamp
/// of its last change. So a deletion followed by an insertion of the same name is an update.
struct ChangeFolding {
    /// The number of journal entries in one part.
    private static let chunk = 10_000

    let tables: RecordTables
    let replica: ReplicaID
    let generation: [UInt8]
    /// Whether the store keeps files; a store without files passes on what the rows hold.
    let hasAssets: Bool
    /// The zone of new records that refer to no other record.
    let zone: Int64
    /// Judges what others than the app's own code wrote; nil if the app itself did.
    var fuse: ((Database, [WorkingRecord]) throws -> Void)?

    /// Folds the whole journal, in the open transaction.
    func fold(_ db: Database) throws -> StoreChanges {
        var total = StoreChanges()
        guard try RecordStore.hasPendingChanges(db) else { return total }
        var captured = CapturedFields()
        // This comes before the first part: a record in one part may have gone with a record in another.
        let gone = try GoneRecords(db, tables)
        var entries = Entries()
        while let lastID = try readChunk(db, into: &entries, gone, &captured) {
            // A record whose deletion comes in a later part is folded with that part.
            let later = entries.split { gone.isLater($0, than: lastID) }
            total += try fold(db, entries, &captured) { gone.isLater($0, than: lastID) }
            try db.executeCached("DELETE FROM grdb_sync_pendingChange WHERE id <= ?", [lastID])
            entries = later
        }
        return total
    }

    /// Takes rows in as they are now, each as if a program had written it under the given stamps.
    func take(_ db: Database, _ rows: [TakenRow]) throws -> StoreChanges {
        var total = StoreChanges()
        for start in stride(from: 0, to: rows.count, by: Self.chunk) {
            var clock = try StoredClock.load(db)
            var entries = Entries()
            for row in rows[start..<min(start + Self.chunk, rows.count)] {
                for write in row.writes {
                    clock.observe(write.stamp.time)
                    entries.note(write.mask, write.stamp, of: row.name)
                }
            }
            try StoredClock.save(db, clock)
            var captured = CapturedFields()
            total += try fold(db, entries, &captured)
        }
        return total
    }

    /// The changes of one record in the journal.
    private struct Entry {
        var stampsByBit: [Int: Stamp] = [:]
        var allFields: Stamp?
        var last: Stamp
        /// The values of the row at its last deletion.
        var formerValues: [String: FieldValue]?
        /// Whether the row went only because SQLite deleted a record that it refers to.
        var isTakenAlong = false
        /// The references that became empty because their target went, by bit, with their former values.
        var emptiedByBit: [Int: FieldValue] = [:]

        /// The stamp of the last change of a field, if the journal has one.
        ///
        /// - Parameter bit: that of the field; nil if the triggers do not cover it.
        func stamp(of bit: Int?) -> Stamp? {
            guard !stampsByBit.isEmpty, let bit else { return allFields }
            return stampsByBit[bit] ?? allFields
        }

        /// Notes a change; the mask is that of `grdb_sync_pendingChange.changedColumns`.
        mutating func note(_ mask: Int64, _ stamp: Stamp) {
            last = stamp
            if mask < 0 {
                allFields = stamp
                stampsByBit.removeAll()
                emptiedByBit.removeAll()
            }
            guard mask > 0 else { return }
            var rest = mask
            while rest != 0 {
                let bit = rest.trailingZeroBitCount
                rest &= rest - 1
                guard bit < RecordType.maximumFieldCount else { continue }
                stampsByBit[bit] = stamp
                if hasEmptied { emptiedByBit[bit] = nil }
            }
        }

        var hasEmptied: Bool { !emptiedByBit.isEmpty }

        /// The emptied references, by field.
        func emptied(_ capturedFields: [String]) -> [String: FieldValue] {
            Dictionary(uniqueKeysWithValues: emptiedByBit.map { (capturedFields[$0], $1) })
        }

        /// The values of the row at its last deletion, or before its references became empty.
        func former(_ capturedFields: [String]) -> [String: FieldValue]? {
            hasEmptied
                ? formerValues?.merging(emptied(capturedFields)) { $0 == .null ? $1 : $0 } : formerValues
        }
    }

    /// The changes in the journal, by record.
    private struct Entries {
        private var byName: [RecordName: Entry] = [:]
        private var names: [RecordName] = []

        /// The entries in the order of each record's first change.
        var inOrder: some Sequence<(RecordName, Entry)> { names.lazy.map { ($0, byName[$0]!) } }

        mutating func note(
            _ mask: Int64, _ stamp: Stamp, of name: RecordName, _ change: (inout Entry) -> Void = { _ in }
        ) {
            if byName[name] == nil { names.append(name) }
            byName[name, default: Entry(last: stamp)].note(mask, stamp)
            change(&byName[name]!)
        }

        /// Removes some records from these entries, and returns their entries.
        mutating func split(_ isTakenOut: (RecordName) -> Bool) -> Entries {
            var out = Entries()
            out.names = names.filter(isTakenOut)
            guard !out.names.isEmpty else { return out }
            for name in out.names { out.byName[name] = byName.removeValue(forKey: name) }
            names.removeAll { byName[$0] == nil }
            return out
        }
    }

    /// Reads the oldest part of the journal, and gives its entries their stamps.
    ///
    /// - Returns: the number of the last entry; nil when the journal is empty.
    private func readChunk(
        _ db: Database, into entries: inout Entries, _ gone: GoneRecords, _ captured: inout CapturedFields
    ) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, recordType, changedColumns, time, recordName, formerValues FROM grdb_sync_pendingChange
                ORDER BY id LIMIT ?
                """)
        let rows = try Row.fetchCursor(statement, arguments: [Self.chunk])
        var clock = try StoredClock.load(db)
        var unnamed: [String: [Int64]] = [:]
        var lastID: Int64?
        while let row = try rows.next() {
            lastID = row[0]
            guard row[2] != CaptureTriggers.leaving else { continue }
            guard let (table, name) = tables.record(journal: statement.sqliteStatement, type: 1, key: 4)
            else {
                if let type = row[1] as String? { unnamed[type, default: []].append(row[0]) }
                continue
            }
            let stamp = Stamp(time: clock.tick(milliseconds: row[3]), replica: replica)
            let former = try captured.values(RecordTable.text(statement.sqliteStatement, 5), of: table, db)
            guard let former else {
                entries.note(row[2], stamp, of: name)
                continue
            }
            let change = FormerChange(
                id: row[0], time: row[3], mask: row[2], name: name, type: table.type, values: former)
            try note(change, stamp, gone, captured.fields(of: table.type.name, db), in: &entries)
        }
        guard let lastID else { return nil }
        try StoredClock.save(db, clock)
        for (type, ids) in unnamed {
            if let table = tables[type] { try UnsyncedRecords.noteKeys(db, journalEntries: ids, in: table) }
        }
        return lastID
    }

    /// Notes an entry with the values from before it.
    private func note(
        _ change: FormerChange, _ stamp: Stamp, _ gone: GoneRecords, _ capturedFields: [String],
        in entries: inout Entries
    ) {
        guard change.mask > 0 else {
            return entries.note(change.mask, stamp, of: change.name) { entry in
                entry.formerValues = change.values
                entry.isTakenAlong = gone.isTakenAlong(change)
            }
        }
        // A foreign key's action emptied these fields; no program wrote them.
        let emptied = gone.emptied(change, capturedFields)
        let written = emptied.keys.reduce(change.mask) { $0 & ~(1 << Int64($1)) }
        entries.note(written, stamp, of: change.name) { $0.emptiedByBit.merge(emptied) { _, new in new } }
    }

    /// Folds the entries of some records.
    ///
    /// - Parameter isLater: whether a record's row is gone, while the journal has its deletion in a later part.
    private func fold(
        _ db: Database, _ entries: Entries, _ captured: inout CapturedFields,
        isLater: @escaping (RecordName) -> Bool = { _ in false }
    ) throws -> StoreChanges {
        let writer = RecordWriter(db, tables)
        let set = WorkingSet(writer, writeStamp: entries.inOrder.lazy.map(\.1.last).max())
        set.isLater = isLater
        for (name, entry) in entries.inOrder where entry.formerValues != nil || entry.hasEmptied {
            let isRowPresent = try tables[name.recordType]?.exists(db, name) ?? false
            let fields = try captured.fields(of: name.recordType, db)
            set.formerValues[name] = isRowPresent ? entry.emptied(fields) : entry.former(fields)
        }
        var numbering = try ChangeNumbering(db)
        for (name, entry) in entries.inOrder {
            guard let table = tables[name.recordType] else { continue }
            let bits = try captured.bits(of: table, db)
            if let (state, date) = try newState(db, entry, name, table, bits),
                try writer.adoptIfNew(state, modificationDate: date, zone: zone, &numbering)
            {
                continue
            }
            let fields = try captured.fields(of: table.type.name, db)
            try fold(entry, name, table, bits, capturedFields: fields, into: set)
        }
        var changes = StoreChanges()
        changes.changed = numbering.count
        changes += try set.save(&numbering)
        try numbering.save(db, generation: generation)
        try fuse?(db, set.order)
        return changes
    }

    /// Returns the state and the `modificationDate` of an inserted row, if its record may be simply new.
    private func newState(
        _ db: Database, _ entry: Entry, _ name: RecordName, _ table: RecordTable, _ bits: [Int?]
    ) throws -> (RecordState, modificationDate: String?)? {
        guard entry.allFields != nil, !entry.hasEmptied, let row = try table.row(db, name) else {
            return nil
        }
        var fields: [RecordField] = []
        fields.reserveCapacity(row.values.count)
        for (index, field) in table.fieldNames.enumerated() {
            let stamp = entry.stamp(of: bits[index]) ?? entry.last
            fields.append(RecordField(name: field, value: row.values[index], stamp: stamp))
        }
        let state = RecordState(name: name, sortedFields: fields, deletion: nil, revival: nil)
        return (state, row.modificationDate)
    }

    /// Finds the zone of a new record: the zone of the first record that it refers to, and so on up to the root.
    private func homeZone(of name: RecordName, _ values: [FieldValue], in set: WorkingSet) throws -> Int64 {
        var (name, values) = (name, values)
        var visited: Set<RecordName> = []
        while visited.insert(name).inserted {
            if let record = try set.known(name) { return record.zone }
            guard let table = tables[name.recordType] else { break }
            let parent = table.type.declaredReferences.lazy.compactMap { field -> RecordName? in
                let index = table.type.fields.firstIndex { $0.name == field }
                guard let index, case .reference(let target) = values[index] else { return nil }
                return target
            }.first
            guard let parent else { break }
            if let record = try set.known(parent) { return record.zone }
            guard let row = try tables[parent.recordType]?.values(set.db, parent) else { break }
            (name, values) = (parent, row)
        }
        return zone
    }

    /// The synced form of a value: the bytes that a program wrote into a column of files become a file. If they are the text of
    /// an asset, as an app writes back that reads the column as bytes, they name its file.
    private func kept(_ value: FieldValue, _ field: FieldDefinition, _ db: Database) throws -> FieldValue {
        guard field.kind == .asset, case .blob(let bytes) = value else { return value }
        let asset = try Asset(jsonBytes: bytes) ?? (hasAssets ? UnstoredAssets.keep(db, bytes) : nil)
        return asset.map(FieldValue.asset) ?? value
    }

    private func fold(
        _ entry: Entry, _ name: RecordName, _ table: RecordTable, _ bits: [Int?], capturedFields: [String],
        into set: WorkingSet
    ) throws {
        guard let row = try StoredRecord.Present(table, name, set.db) else {
            return try foldDeletion(entry, name, table, bits, capturedFields: capturedFields, into: set)
        }
        let values = row.values
        let record = try set.known(name, row) ?? set.record(name, newIn: homeZone(of: name, values, in: set))
        record.writtenFields = zip(table.fieldNames, values).map {
            RecordField(name: $0, value: $1, stamp: entry.last)
        }
        let emptied = entry.emptied(capturedFields)
        record.noteEmptied(emptied.keys)
        let isNew = record.original?.status != .inTable
        for (index, field) in table.type.fields.enumerated() {
            let value = values[index]
            // The row has lost this reference because its target went; the record keeps it.
            let lost = emptied.isEmpty ? nil : emptied[field.name]
            let before = value == .null ? lost : nil
            let isNew = isNew || (value != .null && lost != nil)
            let stamp = entry.stamp(of: bits[index]) ?? (isNew ? entry.last : nil)
            guard let stamp else { continue }
            record.state.write(
                RecordField(name: field.name, value: try before ?? kept(value, field, set.db), stamp: stamp))
        }
        // The row exists although its last entry is a deletion: somebody wrote it without the triggers.
        if record.state.isDeleted {
            for (field, value) in zip(table.type.fields, values) {
                record.state.write(
                    RecordField(name: field.name, value: try kept(value, field, set.db), stamp: entry.last))
            }
        }
    }

    /// Folds the deletion of a row.
    private func foldDeletion(
        _ entry: Entry, _ name: RecordName, _ table: RecordTable, _ bits: [Int?], capturedFields: [String],
        into set: WorkingSet
    ) throws {
        let fields = table.type.fields
        // Keeps what a program wrote before the deletion, so that a restore brings this back too.
        let former = entry.former(capturedFields)
        let record: WorkingRecord
        if let known = try set.known(name), let original = known.original {
            guard ![.deleted, .hidden].contains(original.status) else { return }
            record = known
        } else {
            // It came and went between two folds. If this store came back from a backup, others may have it all the same.
            let values = fields.map { former?[$0.name] ?? .null }
            record = try set.record(name, newIn: homeZone(of: name, values, in: set))
        }
        for (index, field) in fields.enumerated() {
            guard let stamp = entry.stamp(of: bits[index]), let value = former?[field.name] else { continue }
            record.state.write(
                RecordField(name: field.name, value: try kept(value, field, set.db), stamp: stamp))
        }
        if !entry.isTakenAlong { record.state.raise(\.deletion, to: entry.last) }
    }
}

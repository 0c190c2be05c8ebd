import Foundation
import GRDB
import SyncModel

/// Turns the journal that the triggers wrote into stamped record states.
///
/// All entries of one record come out as one new state of it: the row as it is now, each changed field under the
/// stamp of its last change. So a deletion followed by an insertion of the same name is an update.
struct ChangeFolding {
    /// How many journal entries are worked on at once; it bounds memory, not what is folded.
    private static let chunk = 10_000

    let tables: RecordTables
    let replica: ReplicaID
    let generation: [UInt8]
    let assets: AssetDirectory?
    /// Where new records go that refer to no other.
    let zone: Int64

    /// Folds everything that the journal holds, in the transaction that is open.
    func fold(_ db: Database) throws -> StoreChanges {
        var total = StoreChanges()
        while let changes = try foldChunk(db) {
            total += changes
        }
        return total
    }

    /// Takes rows in as they are now, each as if it was written whole under a stamp that is given.
    func take(_ db: Database, _ rows: [(name: RecordName, stamp: Stamp)]) throws -> StoreChanges {
        var clock = try StoredClock.load(db)
        var entries = Entries()
        for row in rows {
            clock.observe(row.stamp.time)
            entries.note(-1, row.stamp, of: row.name)
        }
        try StoredClock.save(db, clock)
        return try fold(db, entries)
    }

    /// What the journal says of one record.
    private struct Entry {
        var stampsByBit: [Int: Stamp] = [:]
        var allFields: Stamp?
        var last: Stamp

        /// The stamp of the last change of a field, if it was changed.
        func stamp(of field: String, _ capturedFields: [String]) -> Stamp? {
            guard !stampsByBit.isEmpty, let bit = capturedFields.firstIndex(of: field) else {
                return allFields
            }
            return stampsByBit[bit] ?? allFields
        }

        /// Takes in a change: the mask is that of `pendingChange.changedColumns`.
        mutating func note(_ mask: Int64, _ stamp: Stamp) {
            last = stamp
            if mask < 0 {
                allFields = stamp
                stampsByBit.removeAll()
            }
            guard mask > 0 else { return }
            for bit in 0..<RecordType.maximumFieldCount where mask & (1 << Int64(bit)) != 0 {
                stampsByBit[bit] = stamp
            }
        }
    }

    /// What the journal says, by record.
    private struct Entries {
        private var byName: [RecordName: Entry] = [:]
        private var names: [RecordName] = []

        /// In the order of the first change of each.
        var inOrder: some Sequence<(RecordName, Entry)> { names.lazy.map { ($0, byName[$0]!) } }

        mutating func note(_ mask: Int64, _ stamp: Stamp, of name: RecordName) {
            if byName[name] == nil { names.append(name) }
            byName[name, default: Entry(last: stamp)].note(mask, stamp)
        }
    }

    private func foldChunk(_ db: Database) throws -> StoreChanges? {
        guard let chunk = try readChunk(db) else { return nil }
        let changes = try fold(db, chunk.entries)
        try db.cachedStatement(sql: "DELETE FROM pendingChange WHERE id <= ?")
            .execute(arguments: [chunk.lastID])
        return changes
    }

    /// Reads the oldest entries of the journal, and gives them their stamps.
    ///
    /// - Returns: nil when the journal is empty.
    private func readChunk(_ db: Database) throws -> (entries: Entries, lastID: Int64)? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, recordType, changedColumns, time, recordName FROM pendingChange ORDER BY id LIMIT ?
                """)
        let rows = try Row.fetchCursor(statement, arguments: [Self.chunk])
        var clock = try StoredClock.load(db)
        var entries = Entries()
        var unnamed: [(id: Int64, type: String)] = []
        var lastID: Int64?
        while let row = try rows.next() {
            lastID = row[0]
            let type: String? = row[1]
            // The whole text: up to a NUL it may be the name of another record.
            let text = RecordTable.text(statement.sqliteStatement, 4)
            guard let name = text.flatMap({ try? RecordName($0) }), type.map(name.isOfType) != false else {
                if let type { unnamed.append((row[0], type)) }
                continue
            }
            let stamp = Stamp(time: clock.tick(milliseconds: row[3]), replica: replica)
            entries.note(row[2], stamp, of: name)
        }
        guard let lastID else { return nil }
        try StoredClock.save(db, clock)
        for (id, type) in unnamed {
            if let table = tables[type] { try UnsyncedRecords.noteName(db, journalEntry: id, in: table) }
        }
        return (entries, lastID)
    }

    /// Folds what is said of some records.
    private func fold(_ db: Database, _ entries: Entries) throws -> StoreChanges {
        let set = try WorkingSet(db, tables)
        var numbering = try ChangeNumbering(db)
        let new = try NewRecords(db, tables, zone: zone, peer: nil)
        var captured: [String: [String]] = [:]
        var emptied: [EmptiedReference] = []
        for (name, entry) in entries.inOrder {
            if captured[name.recordType] == nil {
                captured[name.recordType] =
                    try SyncState.text(db, .captured(name.recordType))?.split(separator: " ").map(String.init)
                    ?? []
            }
            let fields = captured[name.recordType]!
            guard try !adopt(db, entry, name, capturedFields: fields, new, &numbering) else { continue }
            try fold(entry, name, capturedFields: fields, into: set, &emptied)
        }
        for reference in emptied { try fold(reference, in: set) }
        var changes = StoreChanges()
        changes.changed = numbering.count
        changes += try set.save(&numbering)
        try numbering.save(db, generation: generation)
        return changes
    }

    /// Takes in a record that is simply new.
    private func adopt(
        _ db: Database, _ entry: Entry, _ name: RecordName, capturedFields: [String], _ new: NewRecords,
        _ numbering: inout ChangeNumbering
    ) throws -> Bool {
        guard entry.allFields != nil, let table = tables[name.recordType],
            let row = try table.row(db, name.description)
        else { return false }
        var fields: [RecordField] = []
        fields.reserveCapacity(row.values.count)
        for (field, value) in zip(table.fieldNames, row.values) {
            let stamp = entry.stamp(of: field, capturedFields) ?? entry.last
            fields.append(RecordField(name: field, value: value, stamp: stamp))
        }
        let state = RecordState(name: name, sortedFields: fields, deletion: nil, revival: nil)
        return try new.adopt(state, modificationDate: row.modificationDate, &numbering)
    }

    /// The zone of a record: that of the first record it refers to, and so on to the one at the root.
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
            guard let row = try tables[parent.recordType]?.values(set.db, parent.description) else { break }
            (name, values) = (parent, row)
        }
        return zone
    }

    /// What is synced of a value: a picture that a program wrote into the column itself is put into a file.
    private func kept(_ value: FieldValue, _ field: FieldDefinition, _ db: Database) throws -> FieldValue {
        guard field.kind == .asset, let assets, case .blob(let bytes) = value else { return value }
        do {
            return .asset(try assets.add(bytes))
        } catch let error as RecordStoreError where error.code.isAboutAssetFiles {
            // Where no file can be written, a small one stays what it is. A record that is too large does not travel, so
            // the bytes of a large one wait in the store itself.
            return bytes.count > UnstoredAssets.limit ? .asset(try UnstoredAssets.keep(db, bytes)) : value
        }
    }

    /// Writes the files of pictures that the journal has, so that a transaction need not last as long as that takes: to put
    /// a file there that is there already costs little. What fails here is met again in ``kept(_:_:_:)``.
    func prepareFiles(_ db: Database) throws {
        guard let assets else { return }
        try UnstoredAssets.store(db, in: assets)
        for type in tables.schema.types {
            for field in type.fields where field.kind == .asset {
                let blobs = try Data.fetchCursor(
                    db.cachedStatement(
                        sql: """
                            SELECT \(field.name) FROM \(type.name) WHERE typeof(\(field.name)) = 'blob'
                                AND recordName IN (SELECT recordName FROM pendingChange)
                            """))
                while let blob = try blobs.next() {
                    do {
                        _ = try assets.add([UInt8](blob))
                    } catch let error as RecordStoreError where error.code.isAboutAssetFiles {
                        // The fold meets the same error, and keeps the bytes elsewhere.
                        return
                    }
                }
            }
        }
    }

    private func fold(
        _ entry: Entry, _ name: RecordName, capturedFields: [String], into set: WorkingSet,
        _ emptied: inout [EmptiedReference]
    ) throws {
        guard let table = tables[name.recordType] else { return }
        guard let values = try table.values(set.db, name.description) else {
            // Gone. What came and went between two looks was never anybody's, and needs no tombstone.
            guard let record = try set.known(name), record.original?.status != .deleted else { return }
            record.state.raise(\.deletion, to: entry.last)
            return
        }
        let record = try set.record(name, newIn: homeZone(of: name, values, in: set))
        record.isRowPresent = true
        record.writtenFields = zip(table.fieldNames, values).map {
            RecordField(name: $0, value: $1, stamp: entry.last)
        }
        let isNew = record.original == nil || record.original?.status != .inTable
        for (field, value) in zip(table.type.fields, values) {
            let stamp = entry.stamp(of: field.name, capturedFields) ?? (isNew ? entry.last : nil)
            guard let stamp else { continue }
            let written = RecordField(name: field.name, value: try kept(value, field, set.db), stamp: stamp)
            if field.isNullified, value == .null, let before = record.state.field(field.name),
                case .reference(let target) = before.value
            {
                emptied.append(
                    EmptiedReference(record: record, target: target, before: before.stamp, written: written))
            } else {
                record.state.write(written)
            }
        }
        // A row that is there although its last entry is a deletion was put back without the triggers' knowing.
        if record.state.isDeleted {
            for (field, value) in zip(table.type.fields, values) {
                record.state.write(
                    RecordField(name: field.name, value: try kept(value, field, set.db), stamp: entry.last))
            }
        }
    }
}

/// A reference with the rule nullify that a row does not have any more.
private struct EmptiedReference {
    let record: WorkingRecord
    let target: RecordName
    let before: Stamp
    let written: RecordField
}

extension ChangeFolding {
    /// Takes in that a reference was emptied, once all deletions of the journal are known: when its target was
    /// deleted, that was the foreign key's action, and the merge rules do the same without calling it a write.
    fileprivate func fold(_ reference: EmptiedReference, in set: WorkingSet) throws {
        if let deletion = try set.known(reference.target)?.state.deletion, reference.before <= deletion {
            return
        }
        reference.record.state.write(reference.written)
    }
}

extension FieldDefinition {
    /// Whether the deletion of what the field refers to empties it.
    fileprivate var isNullified: Bool {
        guard case .reference(_, .nullify, _) = kind else { return false }
        return true
    }
}

/// The hybrid logical clock, kept in the store.
enum StoredClock {
    static func load(_ db: Database) throws -> HybridLogicalClock {
        let last = try SyncState.integer(db, .clock) ?? 0
        return HybridLogicalClock(last: HybridTime(rawValue: UInt64(bitPattern: last)))
    }

    static func save(_ db: Database, _ clock: HybridLogicalClock) throws {
        try SyncState.set(db, .clock, Int64(bitPattern: clock.last.rawValue))
    }
}

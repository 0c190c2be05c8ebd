import Foundation
import GRDB
import PeerSyncModel

/// The number of records that a transaction changed, for reports.
public struct StoreChanges: Sendable, Equatable {
    /// The records with a new state.
    public internal(set) var changed = 0
    /// Those of them that are now deleted and were not before.
    public internal(set) var deleted = 0
    /// Those of them that are now held and were not before.
    public internal(set) var held = 0

    /// Makes the count of a transaction that changed nothing.
    public init() {}

    static func += (left: inout StoreChanges, right: StoreChanges) {
        left.changed += right.changed
        left.deleted += right.deleted
        left.held += right.held
    }
}

extension WorkingSet {
    /// Applies the rules and writes everything: rows, metadata, digests, sequence numbers.
    ///
    /// It writes rows before it removes rows. Otherwise a foreign key action of SQLite would act on a record that still
    /// refers to a removed one.
    func save(generation: [UInt8]) throws -> StoreChanges {
        var numbering = try ChangeNumbering(db)
        let changes = try save(&numbering)
        try numbering.save(db, generation: generation)
        return changes
    }

    /// Does the same as part of a step; the caller saves the numbers.
    func save(_ numbering: inout ChangeNumbering) throws -> StoreChanges {
        var rules = try RuleApplication(self)
        try rules.run()
        try CaptureTriggers.paused(db) {
            try tables.deferForeignKeys(db)
            var contest = UniqueContest(self)
            var next = order[...]
            while !next.isEmpty {
                let written = order.count
                // Holds all refused records of a pass together: each hold covers everything that has changed.
                try rules.hold(next.filter { try !writeRow($0, &contest) } + contest.takeBeaten())
                // References to a newly refused record must become empty, also in rows that this loop has already
                // written.
                func outdated() -> ArraySlice<WorkingRecord> {
                    order[..<written].filter(\.isRowOutdated) + order[written...]
                }
                next = outdated()
                if next.isEmpty {
                    try rules.release(contest.takeFreed())
                    next = outdated()
                }
            }
            try removeRows()
        }
        reviveReturning()
        let changes = try saveMetadata(&numbering)
        writer.forget()
        return changes
    }

    /// Revives each record that comes back with what somebody writes here. Another machine, which has not heard of it, may forget the
    /// deletion that has hidden the record, and then gives the record a deletion of its own: see ``StoreUpkeep/purge(_:retention:)``.
    private func reviveReturning() {
        guard let writeStamp else { return }
        for record in order where record.original?.status == .hidden {
            guard record.placement == .inTable || record.placement == .held else { continue }
            record.state.raise(\.revival, to: writeStamp)
        }
    }

    /// Writes the row of a record whose place is in its table.
    ///
    /// - Returns: false when a constraint of the table, or a trigger of the app's, refused it.
    private func writeRow(_ record: WorkingRecord, _ contest: inout UniqueContest) throws -> Bool {
        guard record.placement == .inTable, let table = tables[record.name.recordType] else { return true }
        guard
            record.isRowOutdated || record.isStateChanged || record.treatment == .saveAnew
                || record.isEmptiedAnew
        else { return true }
        guard try table.canHold(record.shown) && contest.makeRoom(for: record, in: table) else {
            return false
        }
        let shown = record.shown
        var altered = try write(shown, of: record, in: table)
        if altered == nil, let (state, fields) = try keepingBytes(shown, in: table) {
            altered = try write(state, of: record, in: table)?.union(fields)
        }
        guard let altered else { return false }
        record.alteredFields = altered.union(record.emptiedFields)
        record.row = .written
        record.emptiedInRow = record.emptiedFields
        return true
    }

    /// Writes a record's row.
    ///
    /// - Returns: the fields whose columns return another value than was written; nil when a constraint of the table, or a trigger of
    ///   the app's, refused the row.
    private func write(
        _ shown: RecordState, of record: WorkingRecord, in table: RecordTable
    ) throws -> Set<String>? {
        var altered: Set<String>?
        let isWritten = try db.catchingConstraint(in: table) {
            if let present = record.treatment == .saveAnew ? nil : record.fieldsOfRow {
                try writer.writeRow(shown, in: table, from: present)
            } else {
                try writer.writeRow(shown, in: table, asFound: record.row == .found)
            }
            altered = try table.alteredFields(db, shown, isTriggered: writer.hasTriggersOfOthers(table))
        }
        return isWritten ? altered : nil
    }

    /// A state with the bytes of a file in place of its name, where the row has these bytes, and the fields with them: a table may refuse
    /// the text that names it. No row goes with what a program wrote into it because of a text that only sync writes. nil when the row has
    /// the bytes of no such file.
    private func keepingBytes(
        _ state: RecordState, in table: RecordTable
    ) throws -> (state: RecordState, fields: Set<String>)? {
        guard table.type.fields.contains(where: { $0.kind == .asset }),
            let values = try table.values(db, state.name)
        else { return nil }
        var bytes: [String: FieldValue] = [:]
        for (field, value) in zip(table.type.fields, values) where field.kind == .asset {
            guard case .blob(let content) = value, case .asset(let asset)? = state.field(field.name)?.value,
                Asset(describing: content).hash == asset.hash
            else { continue }
            bytes[field.name] = value
        }
        guard !bytes.isEmpty else { return nil }
        let fields = state.fields.map { field in
            RecordField(name: field.name, value: bytes[field.name] ?? field.value, stamp: field.stamp)
        }
        let kept = RecordState(
            name: state.name, sortedFields: fields, deletion: state.deletion, revival: state.revival)
        return (kept, Set(bytes.keys))
    }

    /// Removes the rows of records that are now deleted, hidden or held.
    private func removeRows() throws {
        let leaving = order.filter(isLeaving).map(\.name)
        try LeavesFirst(leaving) { loaded($0).map(references(ofRow:)) ?? [] }.run { name in
            if let table = tables[name.recordType] { try writer.deleteRow(name, in: table) }
            loaded(name)?.row = .absent
        }
    }

    private func isLeaving(_ record: WorkingRecord) -> Bool {
        record.isRowPresent && record.placement != .inTable && record.placement != nil
    }

    /// The targets of a record's row. A record that leaves still has its row as the store had it.
    private func references(ofRow record: WorkingRecord) -> Set<RecordName> {
        let fields = tables.schema.type(record.name.recordType)?.references.map(\.field) ?? []
        return Set(
            fields.compactMap { field in
                guard case .reference(let target)? = record.original?.state.field(field)?.value else {
                    return nil
                }
                return target
            })
    }

    private func saveMetadata(_ numbering: inout ChangeNumbering) throws -> StoreChanges {
        var changes = StoreChanges()
        for record in order {
            guard let placement = record.placement else { continue }
            guard record.treatment != .forget else {
                try forget(record, &numbering)
                continue
            }
            guard
                record.isNumbered || placement != record.original?.status
                    || record.treatment == .saveAnew || record.isEmptiedAnew
            else { continue }
            if record.isStateChanged {
                changes.changed += 1
                if placement == .deleted, record.original?.status != .deleted { changes.deleted += 1 }
            }
            if placement == .held, record.original?.status != .held { changes.held += 1 }
            try save(record, placement, &numbering)
        }
        return changes
    }

    private func forget(_ record: WorkingRecord, _ numbering: inout ChangeNumbering) throws {
        if let id = record.original?.stored.countedID(&writer.hasher) {
            try numbering.change(record.zone, db) { $0.remove(id) }
        }
        try RecordTraces.remove(db, of: record.name)
        numbering.hasForgotten = true
    }

    private func save(
        _ record: WorkingRecord, _ placement: RecordStatus, _ numbering: inout ChangeNumbering
    ) throws {
        let id = record.original?.stored.countedID(&writer.hasher)
        let hashes = writer.hasher.hashes(of: record.state)
        try numbering.change(record.zone, db) { digest in
            if let id { digest.remove(id) }
            if record.state.isLive { digest.insert(hashes.id) }
        }
        let sequence = record.isNumbered ? numbering.next() : numbering.last
        let note = RecordWriter.Note(
            zone: record.zone, status: placement,
            sequence: record.isNumbered ? sequence : record.original?.changeSequence ?? sequence,
            group: record.isNumbered ? numbering.group : record.original?.changeGroup ?? numbering.group,
            source: source(of: record))
        try encode(record, placement, hashes.valueHash)
        try writer.writeMetadata(record.name, note, writer.blob, replacing: true)
        if record.state.erasure != record.original?.state.erasure {
            try HistoryTable.remove(db, of: record.name)
            try WithheldRecords.removeErased(db, record.state, writer.shapes)
        }
        try noteUnsynced(record, placement)
        try saveHeldReferences(record, placement)
        try AssetTable.note(
            db, record.state, zone: record.zone, sequence: sequence, hadAny: hasAssetReferences.get())
    }

    /// Puts the metadata of a record into the writer's `blob`.
    private func encode(
        _ record: WorkingRecord, _ placement: RecordStatus, _ valueHash: ValueHash
    ) throws {
        let state = record.state
        let table = tables[record.name.recordType]
        let hasExactly = writer.takesShortWays && table?.hasExactly(state.fields) == true
        let shape = try writer.shapes.id(hasExactly ? table?.fieldNames ?? [] : state.fields.map(\.name))
        writer.blob.removeAll(keepingCapacity: true)
        guard placement != .inTable || !hasExactly || !record.alteredFields.isEmpty else {
            return RecordMetadata.append(state, shapeID: shape, valueHash: valueHash, to: &writer.blob)
        }
        RecordMetadata.append(
            state, shapeID: shape, valueHash: valueHash,
            storing: { field in
                placement != .inTable || table?.hasColumn(field) != true
                    || record.alteredFields.contains(field)
            }, to: &writer.blob)
    }

    /// Notes whether a record is too large to travel, or its row has something else than travels: the bytes of a file, or a text that is
    /// no UTF-8. Notes about its former state are no longer valid.
    private func noteUnsynced(_ record: WorkingRecord, _ placement: RecordStatus) throws {
        let keepsBytes = placement == .inTable && hasOtherThanFile(record)
        if try areAnyNoted.get() {
            try UnsyncedRecords.remove(db, record.name)
            if record.isStateChanged { try RefusedRecords.removeTooLarge(db, record.name) }
        } else if !record.isStateChanged, !keepsBytes {
            return
        }
        if record.state.isTooLarge {
            try UnsyncedRecords.note(db, .size, of: record.name, zone: record.zone)
        } else if keepsBytes {
            try UnsyncedRecords.note(db, .file, of: record.name, zone: record.zone)
        } else if placement == .inTable,
            try tables[record.name.recordType]?.hasOtherText(db, than: record.state) == true
        {
            try UnsyncedRecords.note(db, .text, of: record.name, zone: record.zone)
        }
    }

    /// Whether a record's row has something else in the place of a text that names a file.
    private func hasOtherThanFile(_ record: WorkingRecord) -> Bool {
        guard !record.alteredFields.isEmpty, let table = tables[record.name.recordType] else { return false }
        return record.alteredFields.contains { field in
            guard case .asset? = record.state.field(field)?.value else { return false }
            return table.column(field)?.field.kind == .asset
        }
    }

    /// The peer that already has this state because it sent exactly this one; the store need not send it back.
    private func source(of record: WorkingRecord) -> Int64? {
        guard record.isNumbered else { return record.original?.sourcePeer }
        guard let received = record.receivedState, received == record.state.transferred else { return nil }
        return record.sourcePeer
    }

    /// Keeps the references that no row shows.
    private func saveHeldReferences(_ record: WorkingRecord, _ placement: RecordStatus) throws {
        // A reference that was empty in the row may have another value by now.
        if record.original?.mayHaveHeldReferences == true {
            try HeldReferenceTable.remove(db, of: record.name.description)
        }
        let targets = HeldReferenceTable.targets(
            record.state, placement, emptied: record.emptiedFields, tables[record.name.recordType])
        try HeldReferenceTable.insert(db, record.name, targets)
    }
}

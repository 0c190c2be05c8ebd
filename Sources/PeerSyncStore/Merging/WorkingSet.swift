import GRDB
import GRDBSQLite
import PeerSyncModel

/// The records that one transaction works on, each loaded when it is first needed.
///
/// It lives only for the transaction. Its size is bounded by the records that a batch and its deletions touch.
final class WorkingSet {
    let writer: RecordWriter
    var db: Database { writer.db }
    var tables: RecordTables { writer.tables }
    private(set) var records: [RecordName: WorkingRecord] = [:]
    /// The records in the order in which they came into the set, which is the order of their numbers.
    private(set) var order: [WorkingRecord] = []
    private var bindings = Bindings()
    private lazy var findKnown = Result {
        try db.statementToBind(
            """
            SELECT zone, status, sourcePeer, changeSequence, changeGroup, remoteRecord
            FROM grdb_sync_remoteRecord WHERE remoteRecordID = ?
            """)
    }
    /// The searches of ``referrers(of:includingHeld:)``.
    private var searches: [Relationship: ReferrerSearch] = [:]
    /// The types of which ``rivals(of:)`` has been asked.
    private var typesWithRivals: Set<String> = []
    /// The values of records that only the journal has, by field.
    var formerValues: [RecordName: [String: FieldValue]] = [:]
    /// The stamp of what somebody writes here with this set; nil for the states of others.
    let writeStamp: Stamp?
    /// Whether a record's row is gone although sync takes in its deletion only later.
    var isLater: (RecordName) -> Bool = { _ in false }

    /// - Parameter writer: the writer of the transaction.
    init(_ writer: RecordWriter, writeStamp: Stamp? = nil) {
        self.writer = writer
        self.writeStamp = writeStamp
    }

    convenience init(_ db: Database, _ tables: RecordTables, writeStamp: Stamp? = nil) {
        self.init(RecordWriter(db, tables), writeStamp: writeStamp)
    }

    /// The record, if it is already in the set.
    func loaded(_ name: RecordName) -> WorkingRecord? { records[name] }

    /// The record, if sync knows it.
    func known(_ name: RecordName) throws -> WorkingRecord? {
        if let record = records[name] { return record }
        return try load(name) { table in try StoredRecord.Present(table, name, db) }
    }

    /// The record, if sync knows it, with a row that the caller has read.
    func known(_ name: RecordName, _ present: StoredRecord.Present) throws -> WorkingRecord? {
        if let record = records[name] { return record }
        return try load(name) { _ in present }
    }

    /// The record; a new one, without fields, if sync does not know it.
    func record(_ name: RecordName, newIn zone: Int64) throws -> WorkingRecord {
        if let record = try known(name) { return record }
        return try add(
            WorkingRecord(
                name: name, zone: zone, original: nil, state: RecordState(name: name),
                isRowPresent: hasRow(name)))
    }

    private func add(_ record: WorkingRecord) -> WorkingRecord {
        records[record.name] = record
        order.append(record)
        return record
    }

    /// Whether a record is sound in the store, and not in the set, which writes nothing before it has applied the rules.
    func isSound(_ name: RecordName) throws -> Bool {
        try records[name] == nil && writer.sound.contains(name)
    }

    /// Whether the table of a record's type has a row of it.
    func hasRow(_ name: RecordName) throws -> Bool {
        try tables[name.recordType]?.exists(db, name) ?? false
    }

    /// Whether any record of the store refers to a file; the set looks it up once.
    private(set) lazy var hasAssetReferences = Result { try AssetTable.isAnyReferred(db) }

    /// Whether this store has noted anything of a record, or a peer has found any too large; the set looks it up once.
    private(set) lazy var areAnyNoted: Result<Bool, any Error> = Result {
        try UnsyncedRecords.isAnyOfRecord(db) || RefusedRecords.isAnyTooLarge(db)
    }

    /// The records in the store that refer to a record.
    func referrers(of name: RecordName, includingHeld: Bool) throws -> [RecordName] {
        let record = records[name]
        var names: [RecordName] = []
        // No row can refer to a record without a row, unless a program wrote with foreign keys off. The journal has
        // such a row, which then comes into the set by itself.
        if record == nil || record?.original != nil || record?.isRowPresent == true {
            for relationship in tables.schema.relationships(to: name.recordType) {
                guard let table = tables[relationship.recordType] else { continue }
                let search = ReferrerSearch(table, by: relationship.field)
                names += try searches[relationship, default: search].referrers(db, to: name)
            }
        }
        if includingHeld {
            names += try HeldReferenceTable.referrers(db, of: name.description)
        }
        return names
    }

    /// The held records that may get a row when a record gives up values that only one row can have, or has a row that
    /// nobody has compared with theirs; once for each type.
    func rivals(of record: WorkingRecord) throws -> [RecordName] {
        let type = record.name.recordType
        guard record.original?.status == .inTable || record.original == nil && record.isRowPresent,
            tables[type]?.uniqueIndexes.isEmpty == false,
            typesWithRivals.insert(type).inserted
        else { return [] }
        return try HeldReferenceTable.referrers(db, of: type)
    }

    /// - Parameter present: finds the record's row.
    private func load(
        _ name: RecordName, _ present: (RecordTable) throws -> StoredRecord.Present?
    ) throws -> WorkingRecord? {
        guard let row = try findRow(name) else { return nil }
        let stored = try StoredRecord(
            name, status: row.status, row.blob, tables[name.recordType].flatMap(present), tables: tables,
            shapes: writer.shapes, formerValues: formerValues.isEmpty ? nil : formerValues[name])
        // The journal has the values of this record: the rules decide nothing about it before they are folded.
        defer { if isLater(name) { records[name]?.placement = nil } }
        return add(
            WorkingRecord(
                name: name,
                zone: row.zone,
                original: WorkingRecord.Original(
                    stored: stored,
                    mayHaveHeldReferences: stored.status != .inTable || stored.hasStoredValues,
                    sourcePeer: row.sourcePeer,
                    changeSequence: row.sequence,
                    changeGroup: row.group),
                state: stored.state,
                isRowPresent: stored.isRowPresent))
    }

    /// What the store notes of a record.
    private struct KnownRow {
        let zone: Int64
        let status: Int64
        let sourcePeer: Int64?
        let sequence: Int64
        let group: Int64
        let blob: [UInt8]

        init(_ row: SQLiteStatement) {
            zone = sqlite3_column_int64(row, 0)
            status = sqlite3_column_int64(row, 1)
            sourcePeer = sqlite3_column_type(row, 2) == SQLITE_NULL ? nil : sqlite3_column_int64(row, 2)
            sequence = sqlite3_column_int64(row, 3)
            group = sqlite3_column_int64(row, 4)
            // Whatever else stands there is none of our encodings.
            blob = if case .blob(let bytes) = RecordColumn.storedValue(row, 5) { bytes } else { [] }
        }
    }

    private func findRow(_ name: RecordName) throws -> KnownRow? {
        bindings.begin()
        bindings.append(name.description)
        var found: KnownRow?
        try bindings.read(findKnown.get()) { row in
            found = KnownRow(row)
            return false
        }
        return found
    }
}

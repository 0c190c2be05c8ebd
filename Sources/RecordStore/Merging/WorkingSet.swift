import GRDB
import SyncModel

/// Where a record is, as the column `remoteRecord.status` says.
enum RecordStatus: Int64 {
    /// In the table of its type.
    case inTable = 0
    /// Deleted: a tombstone.
    case deleted = 1
    /// Kept aside: its type is unknown, or a record that it needs is not there.
    case held = 2
}

/// One record while a transaction works on it.
final class WorkingRecord {
    let name: RecordName
    let zone: Int64
    /// nil for a record that sync does not know yet.
    let original: Original?
    var state: RecordState
    /// Whether the record's table has a row of it now.
    var isRowPresent: Bool
    /// The fields as the row has them that another program has written, if one has.
    var writtenFields: [RecordField]?
    /// The fields as the row has them; nil when there is none, or it may have anything.
    var fieldsOfRow: [RecordField]? {
        guard isRowPresent else { return nil }
        return writtenFields ?? (original?.status == .inTable ? original?.state.fields : nil)
    }
    /// Where the record is to be, once the transaction is through.
    var placement: RecordStatus?
    /// The row was refused by a constraint of the table, so the record is held whatever else speaks for it.
    var isRefused = false
    /// The schema has learnt the type or a field of it, so the row is written whatever else happens.
    var isRelearnt = false
    /// The fields whose column gives back another value than was written to it.
    var alteredFields: Set<String> = []
    /// The peer whose state was taken over as it is.
    var sourcePeer: Int64?
    /// The state that ``sourcePeer`` sent, to see whether ours is still the same at the end.
    var receivedState: RecordState?

    /// The peer is behind although it has acknowledged our state, or had sent it: it is told once more.
    var isAnswer = false

    /// What the records that refer to this one go by.
    struct Fate: Equatable {
        var deletion: Stamp?
        var isDeleted = false

        init(_ state: RecordState?) {
            deletion = state?.deletion
            isDeleted = state?.isDeleted ?? false
        }
    }

    /// The fate that referring records were last looked at under.
    var announced: Fate

    struct Original {
        let state: RecordState
        let status: RecordStatus
        /// Under which id the record counts in the digest; nil when it does not count.
        let countedID: RecordID?
        let sourcePeer: Int64?
        let changeSequence: Int64
        let changeGroup: Int64
    }

    init(name: RecordName, zone: Int64, original: Original?, state: RecordState, isRowPresent: Bool) {
        self.name = name
        self.zone = zone
        self.original = original
        self.state = state
        self.isRowPresent = isRowPresent
        // A row that vanished behind the triggers' back can carry no reference any more.
        self.placement = original?.status == .inTable && !isRowPresent ? .held : original?.status
        self.announced = Fate(original?.state)
    }

    var isStateChanged: Bool { original.map { $0.state != state } ?? true }

    /// Whether the record gets a new number, under which it is sent to peers.
    var isNumbered: Bool { isStateChanged || isAnswer }
}

/// The records that one transaction works on, loaded when they are first asked for.
///
/// Not kept beyond the transaction, and bounded by what a batch and the deletions it causes touch.
final class WorkingSet {
    let db: Database
    let tables: RecordTables
    let shapes: ShapeTable
    let statements: RowStatements
    private(set) var records: [RecordName: WorkingRecord] = [:]
    /// The order in which the records came into the set: the order in which they are numbered.
    private(set) var order: [WorkingRecord] = []
    private var hadAssetReferences: Bool?
    /// By zone. Nothing is written before all are settled and placed.
    private var sound: [Int64: SoundRecords] = [:]

    init(_ db: Database, _ tables: RecordTables) throws {
        self.db = db
        self.tables = tables
        self.shapes = ShapeTable(db)
        self.statements = RowStatements(db)
    }

    /// The record, if it is in the set already.
    func loaded(_ name: RecordName) -> WorkingRecord? { records[name] }

    /// The record, if sync knows it.
    func known(_ name: RecordName) throws -> WorkingRecord? {
        if let record = records[name] { return record }
        return try load(name)
    }

    /// The record; a new one, without fields, if sync does not know it.
    func record(_ name: RecordName, newIn zone: Int64) throws -> WorkingRecord {
        if let record = try known(name) { return record }
        let isRowPresent = try tables[name.recordType]?.exists(db, name.description) ?? false
        return add(
            WorkingRecord(
                name: name, zone: zone, original: nil, state: RecordState(name: name),
                isRowPresent: isRowPresent))
    }

    /// Takes in a record that sync is known not to know and whose table has no row of it.
    func addNew(_ record: WorkingRecord) { add(record) }

    @discardableResult
    private func add(_ record: WorkingRecord) -> WorkingRecord {
        records[record.name] = record
        order.append(record)
        return record
    }

    /// Whether a record is sound, and not in the set.
    func isSound(_ name: RecordName, in zone: Int64) throws -> Bool {
        guard records[name] == nil else { return false }
        let known = sound[zone] ?? SoundRecords(db, tables, in: zone)
        sound[zone] = known
        return try known.contains(name)
    }

    /// Whether the table of a record's type has a row of it.
    func hasRow(_ name: RecordName) throws -> Bool {
        try tables[name.recordType]?.exists(db, name.description) ?? false
    }

    /// Whether any record of the store refers to a file; looked up once.
    func hasAssetReferences() throws -> Bool {
        if let known = hadAssetReferences { return known }
        let any = try AssetTable.isAnyReferred(db)
        hadAssetReferences = any
        return any
    }

    /// Whether records are noted as too large, here or at a peer; looked up once.
    private(set) lazy var areAnyTooLarge: Result<Bool, any Error> = Result {
        try UnsyncedRecords.isAnyTooLarge(db) || RefusedRecords.isAnyTooLarge(db)
    }

    /// Whether any record is held because of a reference.
    static func hasHeldRecords(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM heldReference)")) ?? false
    }

    /// The stored records that refer to a record, along the relationships in their priority order.
    func referrers(of record: WorkingRecord, includingHeld: Bool) throws -> [WorkingRecord] {
        var names: [String] = []
        // No row can refer to a record whose table had none of it, unless somebody wrote past the foreign keys; such
        // a row is in the journal, and comes into the set by itself.
        if record.original != nil || record.isRowPresent {
            for relationship in tables.schema.relationships(to: record.name.recordType) {
                let sql = "SELECT recordName FROM \(relationship.recordType) WHERE \(relationship.field) = ?"
                names += try String.fetchAll(
                    db.cachedStatement(sql: sql), arguments: [record.name.description])
            }
        }
        if includingHeld {
            let statement = try db.cachedStatement(
                sql: "SELECT recordName FROM heldReference WHERE target = ?")
            names += try String.fetchAll(statement, arguments: [record.name.description])
        }
        return try names.compactMap { text in
            guard let name = try? RecordName(text) else { return nil }
            return try known(name)
        }
    }

    private func load(_ name: RecordName) throws -> WorkingRecord? {
        let statement = try db.cachedStatement(
            sql:
                """
                SELECT zone, status, sourcePeer, changeSequence, changeGroup, remoteRecord
                FROM remoteRecord WHERE remoteRecordID = ?
                """
        )
        guard let row = try Row.fetchOne(statement, arguments: [name.description]) else { return nil }
        let stored = try StoredRecord(name, row, db: db, tables: tables, shapes: shapes)
        let countsInDigest = stored.status != .deleted && !stored.metadata.fieldNames.isEmpty
        return add(
            WorkingRecord(
                name: name,
                zone: row[0],
                original: WorkingRecord.Original(
                    state: stored.state,
                    status: stored.status,
                    countedID: countsInDigest ? stored.metadata.recordID(name) : nil,
                    sourcePeer: row[2],
                    changeSequence: row[3],
                    changeGroup: row[4]),
                state: stored.state,
                isRowPresent: stored.isRowPresent))
    }
}

/// A record as the store has it: its metadata, with the values of its row.
struct StoredRecord {
    let status: RecordStatus
    let metadata: RecordMetadata
    let state: RecordState
    let isRowPresent: Bool

    /// Puts a record together.
    ///
    /// - Parameter row: has the columns `status` and `remoteRecord`.
    init(_ name: RecordName, _ row: Row, db: Database, tables: RecordTables, shapes: ShapeTable) throws {
        let table = tables[name.recordType]
        try self.init(
            name, row, values: table?.values(db, name.description), table: table, shapes: shapes)
    }

    /// Puts a record together whose row was read already.
    ///
    /// - Parameters:
    ///   - row: has the columns `status` and `remoteRecord`.
    ///   - values: those of the record's row in order of ``RecordType/fields``; nil when there is no row.
    init(
        _ name: RecordName, _ row: Row, values: [FieldValue]?, table: RecordTable?, shapes: ShapeTable
    ) throws {
        guard let status = RecordStatus(rawValue: row["status"]) else {
            throw RecordStoreError(.corrupt, "the status of \(name) is none that exists")
        }
        self.status = status
        metadata = try RecordMetadata(row.bytes("remoteRecord"), shapes: shapes, name: name.description)
        isRowPresent = values != nil
        state = RecordState(
            name: name, sortedFields: Self.fields(metadata, values ?? [], table), deletion: metadata.deletion,
            revival: metadata.revival)
    }

    private static func fields(
        _ metadata: RecordMetadata, _ values: [FieldValue], _ table: RecordTable?
    ) -> [RecordField] {
        var fields: [RecordField] = []
        fields.reserveCapacity(metadata.fieldNames.count)
        let names = metadata.fieldNames
        // Mostly the record has the fields of its table, and the table has all values.
        if metadata.storedValues.isEmpty, let table, values.count == names.count, table.fieldNames == names {
            for index in names.indices {
                fields.append(
                    RecordField(name: names[index], value: values[index], stamp: metadata.stamps[index]))
            }
            return fields
        }
        var valuesByField = metadata.storedValues
        if let table {
            for (field, value) in zip(table.fieldNames, values) where valuesByField[field] == nil {
                valuesByField[field] = value
            }
        }
        // A row that vanished behind the triggers' back leaves stamps without values: those fields are not known.
        for (field, stamp) in zip(names, metadata.stamps) {
            guard let value = valuesByField[field] else { continue }
            fields.append(RecordField(name: field, value: value, stamp: stamp))
        }
        return fields
    }
}

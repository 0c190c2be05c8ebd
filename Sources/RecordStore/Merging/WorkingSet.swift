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
    /// Out of sight: a record that it goes with is deleted. Nobody has deleted this one, and it comes back with the other.
    case hidden = 3
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
        return writtenFields ?? (original?.status == .inTable ? original?.fieldsOfRow : nil)
    }
    /// Where the record is to be, once the transaction is through.
    var placement: RecordStatus?
    /// The row was refused by a constraint of the table, so the record is held whatever else speaks for it.
    var isRefused = false
    /// Nothing is to be known of the record any more.
    private(set) var isForgotten = false
    /// The schema has learnt the type or a field of it, so the row is written whatever else happens.
    var isRelearnt = false
    /// The fields whose column gives back another value than was written to it.
    var alteredFields: Set<String> = []
    /// The references that are empty in the row, because the record that they lead to is out of sight.
    var emptiedFields: Set<String> = []
    /// Those that the row has empty now.
    var emptiedInRow: Set<String> = []
    /// The peer whose state was taken over as it is.
    var sourcePeer: Int64?
    /// The state that ``sourcePeer`` sent, to see whether ours is still the same at the end.
    var receivedState: RecordState?

    /// The peer is behind although it has acknowledged our state, or had sent it: it is told once more.
    var isAnswer = false

    struct Original {
        let state: RecordState
        let status: RecordStatus
        /// The fields as the row has them, if there is one.
        let fieldsOfRow: [RecordField]
        /// The fields of which the row has another value than the record.
        let alteredFields: Set<String>
        /// Of these, the references that the row has not.
        let emptiedFields: Set<String>
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
        self.alteredFields = original?.alteredFields ?? []
        self.emptiedFields = original?.emptiedFields ?? []
        self.emptiedInRow = emptiedFields
    }

    /// Makes the record one that is not known.
    func forget() {
        state = RecordState(name: name)
        isForgotten = true
    }

    /// Whether the row has a reference that is to be empty, or the other way round.
    var isRowOutdated: Bool { placement == .inTable && isRowPresent && emptiedFields != emptiedInRow }

    /// Whether a reference is to be empty that is not so in the row or in what the store knows, or the other way round.
    var isEmptiedAnew: Bool {
        emptiedFields != emptiedInRow || emptiedFields != original?.emptiedFields ?? []
    }

    /// Takes in that a program's deletion has emptied references, of which the store does not know yet.
    func noteEmptied(_ fields: some Sequence<String>) {
        emptiedFields.formUnion(fields)
        emptiedInRow = emptiedFields
    }

    /// The state as the row shows it: without what is out of sight, and without what was deleted for ever.
    var shown: RecordState {
        let gone = state.erasure == nil ? [] : (fieldsOfRow ?? []).filter { state.field($0.name) == nil }
        guard !emptiedFields.isEmpty || !gone.isEmpty else { return state }
        let fields = (state.fields + gone).map { field in
            emptiedFields.contains(field.name) || gone.contains { $0.name == field.name }
                ? RecordField(name: field.name, value: .null, stamp: field.stamp) : field
        }.sorted { $0.name < $1.name }
        // The erasure would take away what is to be empty.
        return RecordState(
            name: name, sortedFields: fields, deletion: state.deletion, revival: state.revival)
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
    /// Nothing is written before the rules have been applied.
    private let sound: SoundRecords
    /// The values that rows had which somebody has deleted, by field.
    var formerValues: [RecordName: [String: FieldValue]] = [:]
    /// Whether a record's row is gone, of which sync takes in later that it is.
    var isLater: (RecordName) -> Bool = { _ in false }

    init(_ db: Database, _ tables: RecordTables) throws {
        self.db = db
        self.tables = tables
        sound = SoundRecords(db, tables, in: nil)
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

    @discardableResult
    private func add(_ record: WorkingRecord) -> WorkingRecord {
        records[record.name] = record
        order.append(record)
        return record
    }

    /// Whether a record is sound, and not in the set.
    func isSound(_ name: RecordName) throws -> Bool {
        try records[name] == nil && sound.contains(name)
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

    /// Whether any record has a reference that no row shows.
    static func hasHeldRecords(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM heldReference)")) ?? false
    }

    /// The records that refer to one in the store.
    func referrers(of name: RecordName, includingHeld: Bool) throws -> [RecordName] {
        let record = records[name]
        var names: [String] = []
        // No row can refer to a record whose table had none of it, unless somebody wrote past the foreign keys; such
        // a row is in the journal, and comes into the set by itself.
        if record == nil || record?.original != nil || record?.isRowPresent == true {
            for relationship in tables.schema.relationships(to: name.recordType) {
                let sql = "SELECT recordName FROM \(relationship.recordType) WHERE \(relationship.field) = ?"
                names += try String.fetchAll(db.cachedStatement(sql: sql), arguments: [name.description])
            }
        }
        if includingHeld {
            let statement = try db.cachedStatement(
                sql: "SELECT recordName FROM heldReference WHERE target = ?")
            names += try String.fetchAll(statement, arguments: [name.description])
        }
        // A row may have any name; one that is none is not synced.
        return names.compactMap { try? RecordName($0) }
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
        let stored = try StoredRecord(
            name, row, tables: tables, shapes: shapes, formerValues: formerValues[name])
        // Nothing is decided about it before its values are there, which the journal has.
        defer { if isLater(name) { records[name]?.placement = nil } }
        let countsInDigest = stored.status != .deleted && !stored.metadata.fieldNames.isEmpty
        return add(
            WorkingRecord(
                name: name,
                zone: row[0],
                original: WorkingRecord.Original(
                    state: stored.state,
                    status: stored.status,
                    fieldsOfRow: stored.fieldsOfRow,
                    alteredFields: stored.alteredFields,
                    emptiedFields: stored.emptiedFields.subtracting(stored.addedFields),
                    countedID: countsInDigest ? stored.metadata.recordID(name) : nil,
                    sourcePeer: row[2],
                    changeSequence: row[3],
                    changeGroup: row[4]),
                state: stored.state,
                isRowPresent: stored.isRowPresent))
    }
}

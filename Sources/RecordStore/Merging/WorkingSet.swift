import GRDB
import SyncModel

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

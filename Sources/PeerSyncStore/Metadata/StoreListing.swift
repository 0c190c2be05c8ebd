import Foundation
import GRDB
import PeerSyncModel

/// Lists of a store's records: ``RecordStore/listing``.
public struct StoreListing: Sendable {
    let store: RecordStore

    /// The names of the records in the tables, in the schema's order of types. Fold first.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - type: nil for all types.
    ///   - scope: the zones to look at.
    /// - Throws: `noSuchZone` when the zone of the scope is gone, or another store's.
    public func names(
        _ db: Database, type: String? = nil, in scope: ZoneScope = .all
    ) throws -> [RecordListEntry] {
        let zones = try ZoneNames(db)
        let row = try scope.row(db)
        var entries: [RecordListEntry] = []
        for table in store.tables.all where type == nil || table.type.name == type {
            try table.forEachName(db) { name in
                if let row, try Zones.row(db, of: name.description) != row { return }
                entries.append(
                    RecordListEntry(
                        name: name.description, waitsFor: nil, zone: try zones.name(db, of: name.description))
                )
            }
        }
        return entries
    }

    /// The held records by name, and what each waits for.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - type: nil for all types.
    ///   - scope: the zones to look at.
    ///   - limit: the most records to list.
    /// - Throws: `noSuchZone` when the zone of the scope is gone, or another store's.
    public func held(
        _ db: Database, type: String? = nil, in scope: ZoneScope = .all, limit: Int = .max
    ) throws -> [RecordListEntry] {
        let zones = try ZoneNames(db)
        let row = try scope.row(db)
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM grdb_sync_remoteRecord
                WHERE status = \(RecordStatus.held.rawValue) AND status <> 0
                    AND \(row.map { "zone = \($0)" } ?? "TRUE")
                    AND (?1 IS NULL OR remoteRecordID > ?1 AND remoteRecordID < ?2)
                ORDER BY remoteRecordID LIMIT ?3
                """,
            arguments: [type.map { $0 + RecordName.separator }, type.map(RecordScan.end(of:)), limit])
        let set = WorkingSet(db, store.tables)
        var rules = try RuleApplication(set)
        return try names.map { text in
            RecordListEntry(
                name: text, waitsFor: try reason(RecordName(text), set, &rules),
                zone: try zones.name(db, of: text))
        }
    }

    /// Whether records are held that have no row. Those of a type that has left the schema may still have theirs.
    static func isAnyHeldWithoutRow(_ db: Database) throws -> Bool {
        guard try db.hasTable("grdb_sync_remoteRecord"), try db.hasTable("grdb_sync_syncState") else {
            return false
        }
        let type = "substr(remoteRecordID, 1, instr(remoteRecordID, '\(RecordName.separator)') - 1)"
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM grdb_sync_remoteRecord WHERE status = \(RecordStatus.held.rawValue) AND status <> 0
                        AND NOT EXISTS (SELECT 1 FROM grdb_sync_syncState WHERE name = '\(SyncState.left("").name)' || \(type)))
                """) == true
    }

    /// The deleted records that a person can restore, the last one first. Fold first. Reads all deleted and hidden
    /// records.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - type: nil for all types.
    ///   - scope: the zones to look at.
    /// - Throws: `noSuchZone` when the zone of the scope is gone, or another store's.
    public func deleted(
        _ db: Database, type: String? = nil, in scope: ZoneScope = .all
    ) throws -> [DeletedRecord] {
        let outOfSight = try OutOfSight(db, store.tables)
        let returns = try ReturningRecords(outOfSight)
        let names = try ZoneNames(db)
        let row = try scope.row(db)
        return try outOfSight.deleted.compactMap { record -> (Stamp, DeletedRecord)? in
            guard let deletion = record.state.deletion, let count = returns.count(with: record.name),
                type == nil || record.name.recordType == type, row == nil || record.zone == row
            else { return nil }
            let listed = DeletedRecord(
                name: record.name, zone: try names.name(db, of: record.name.description),
                time: deletion.time.milliseconds, replica: deletion.replica, count: count)
            return (deletion, listed)
            // Several deletions may have happened in one millisecond.
        }.sorted { ($1.0, $0.1.name) < ($0.0, $1.1.name) }.map(\.1)
    }

    /// The records of a type that are out of sight: deleted ones, and those that are hidden with a deleted one. By name. Fold
    /// first.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - recordType: the type, as in the beginning of the names.
    ///   - scope: the zones to look at.
    /// - Throws: `noSuchZone` when the zone of the scope is gone, or another store's.
    public func outOfSight(_ db: Database, of recordType: String, in scope: ZoneScope = .all) throws
        -> [RecordName]
    {
        let row = try scope.row(db)
        let statement = try db.cachedStatement(
            sql: """
                SELECT remoteRecordID FROM grdb_sync_remoteRecord
                WHERE remoteRecordID >= ?1 AND remoteRecordID < ?2 AND \(Self.isOutOfSight)
                    AND \(row.map { "zone = \($0)" } ?? "TRUE")
                ORDER BY remoteRecordID
                """)
        let (first, next) = (recordType + RecordName.separator, recordType + "|~}")
        return try RecordName.fetchAll(statement, arguments: [first, next])
    }

    /// The records that refer to a record, and that no row shows: held ones, and those out of sight. By name. Fold first.
    ///
    /// With the rows that refer to it, these are all records that do.
    public func withoutRow(_ db: Database, referringTo name: RecordName) throws -> [RecordName] {
        // Whoever changes what it reads changes a record, and only that is told to observers.
        try db.registerAccess(to: Table("grdb_sync_remoteRecord"))
        let statement = try db.cachedStatement(
            sql: "SELECT recordName FROM grdb_sync_heldReference WHERE target = ? ORDER BY recordName")
        return try RecordName.fetchAll(statement, arguments: [name])
    }

    /// Marks of all records that the store knows, deleted ones included. Fold first.
    ///
    /// An import counts with two of them what it has changed, including records that went or came back with others.
    public func marks(_ db: Database) throws -> [RecordName: RecordMark] {
        let rows = try Row.fetchCursor(
            db,
            sql: "SELECT remoteRecordID, \(Self.isOutOfSight), changeSequence FROM grdb_sync_remoteRecord")
        var marks: [RecordName: RecordMark] = [:]
        while let row = try rows.next() {
            marks[try RecordName(row[0])] = RecordMark(isOutOfSight: row[1], change: row[2])
        }
        return marks
    }

    private static let isOutOfSight =
        "status IN (\(RecordStatus.deleted.rawValue), \(RecordStatus.hidden.rawValue))"

    /// Whether a record is in its table. Fold first.
    public func isShown(_ db: Database, _ name: RecordName) throws -> Bool {
        try store.tables[name.recordType]?.exists(db, name) ?? false
    }

    /// Whether a record is out of sight only because of the deletion of another one. Fold first.
    public func isHidden(_ db: Database, _ name: RecordName) throws -> Bool {
        try db.fetchBoolCached(
            """
            SELECT EXISTS (
                SELECT 1 FROM grdb_sync_remoteRecord
                WHERE remoteRecordID = ? AND status = \(RecordStatus.hidden.rawValue))
            """, [name.description])
    }

    /// The name of the record of a row, whether the row is there or not: what the history, ``isShown(_:_:)`` and
    /// ``RecordStore/restore(_:_:)`` ask for.
    ///
    /// - Parameters:
    ///   - key: the values of the row's primary key, in its order, as the columns have them: a `UUID` counts as its 16 bytes.
    ///   - table: the name of its table.
    /// - Throws: ``RecordStoreError``: `tableMismatch` when the table is not synced; `noSuchRecord` when no row that is
    ///   synced can have this key.
    public func name(of key: [any DatabaseValueConvertible], in table: String) throws -> RecordName {
        try name(of: key, in: table) { _, value in value.databaseValue }
    }

    /// - Parameter encode: gives a value of the key as a column has it.
    private func name(
        of key: [any DatabaseValueConvertible], in table: String,
        as encode: (_ column: String, any DatabaseValueConvertible) -> DatabaseValue
    ) throws -> RecordName {
        guard let found = store.tables.all.first(where: { $0.type.table.isSameName(as: table) })
        else { throw RecordStoreError.tableMismatch("the table \(table) is not synced") }
        guard key.count == found.key.columns.count,
            let name = found.key.name(of: zip(found.key.columns, key).map { FieldValue(encode($0.name, $1)) })
        else { throw RecordStoreError(.noSuchRecord, "no row of \(table) that is synced has such a key") }
        return name
    }

    /// Whether a machine that this one is paired with still lacks what was last written to a row; see ``isPending(_:_:)``.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - key: the values of the row's primary key, in its order, as the columns have them: a `UUID` counts as its 16 bytes.
    ///   - table: the name of its table.
    /// - Throws: ``RecordStoreError``: `tableMismatch` when the table is not synced; `noSuchRecord` when no row that is
    ///   synced can have this key.
    public func isPending(
        _ db: Database, _ key: [any DatabaseValueConvertible], of table: String
    ) throws -> Bool {
        try isPending(db, name(of: key, in: table))
    }

    /// Whether a machine that this one is paired with still lacks what was last written to a row; see ``isPending(_:_:)``.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - key: the values of the row's primary key, in its order. A `UUID` counts as the record type writes it: see
    ///     `databaseUUIDEncodingStrategy(for:)`.
    ///   - record: the GRDB record type of its table.
    /// - Throws: see ``isPending(_:_:of:)``.
    package func isPending(
        _ db: Database, _ key: [any DatabaseValueConvertible], of record: any TableRecord.Type
    ) throws -> Bool {
        let name = try name(of: key, in: record.databaseTableName) { column, value in
            guard let uuid = value as? UUID, let record = record as? any EncodableRecord.Type else {
                return value.databaseValue
            }
            return switch record.databaseUUIDEncodingStrategy(for: column) {
            case .deferredToUUID: uuid.databaseValue
            case .uppercaseString: uuid.uuidString.databaseValue
            case .lowercaseString: uuid.uuidString.lowercased().databaseValue
            }
        }
        return try isPending(db, name)
    }

    /// Whether a machine that this one is paired with still lacks the last change of a record. Machines that others have introduced count
    /// when this one has met them, as in ``StoreStatus/pending``.
    public func isPending(_ db: Database, _ name: RecordName) throws -> Bool {
        let isMissing = try db.fetchBoolCached(
            """
            SELECT EXISTS (
                SELECT 1 FROM grdb_sync_remoteRecord AS known CROSS JOIN grdb_sync_peer AS machine
                WHERE remoteRecordID = ? AND \(PeerTable.isAwaiting)
                    AND \(PeerTable.lacks(peer: "machine.id", zone: "known.zone", orIf: PeerTable.hasPassedOver("machine.id"))))
            """, [name.description])
        if isMissing { return true }
        // What is not taken in yet waits, too, if anybody is there to get it.
        return try PeerTable.isAnyAwaiting(db) && store.tables.journaledNames(db).contains(name)
    }

    /// Passes every live record of a zone to `body`, held ones included, in order of name. It leaves out hidden
    /// records.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    public func forEachLiveState(
        _ db: Database, zone: ZoneTarget = .default, _ body: (RecordState) throws -> Void
    ) throws {
        try forEachState(db, zone: zone, where: "status <> \(RecordStatus.hidden.rawValue)") { state in
            if state.isLive { try body(state) }
        }
    }

    /// Passes every record of a zone to `body`, deleted ones included, in order of name.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    package func forEachState(
        _ db: Database, zone: ZoneTarget = .default, where condition: String = "TRUE",
        _ body: (RecordState) throws -> Void
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT remoteRecordID, status, remoteRecord FROM grdb_sync_remoteRecord
                WHERE zone = ? AND \(condition) ORDER BY remoteRecordID
                """)
        let rows = try Row.fetchCursor(statement, arguments: [Zones.row(db, of: zone)])
        let shapes = ShapeTable(db)
        while let row = try rows.next() {
            try body(StoredRecord(RecordName(row[0]), row, tables: store.tables, shapes: shapes).state)
        }
    }

    private func reason(
        _ name: RecordName, _ set: WorkingSet, _ rules: inout RuleApplication
    ) throws -> HeldReason {
        guard store.schema.type(name.recordType) != nil else { return .unknownType(name.recordType) }
        if let missing = try rules.needed(by: name).first(where: { try !set.hasRow($0) }) {
            return .record(missing)
        }
        if let column = try rules.columnWithoutTarget(of: name) { return .row(column: column) }
        if let record = try set.known(name), let table = store.tables[name.recordType] {
            for index in table.uniqueIndexes {
                guard let rival = try index.rows(set.db, like: record.state).first else { continue }
                return .values(columns: index.columns.map(\.field.column), holder: rival)
            }
        }
        let canHold = try set.known(name).flatMap { store.tables[name.recordType]?.canHold($0.shown) }
        return canHold == false ? .key : .fields
    }
}

extension FieldValue {
    /// A value of SQLite.
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let integer): .integer(integer)
            case .double(let real): .real(real)
            case .string(let text): .text(text)
            case .blob(let bytes): .blob(Array(bytes))
            }
    }
}

extension DatabaseValue {
    /// A value as a column has it.
    init(_ value: FieldValue) {
        self =
            switch value {
            case .null: .null
            case .integer(let integer): integer.databaseValue
            case .real(let real): real.databaseValue
            case .text(let text): text.databaseValue
            case .blob(let bytes): Data(bytes).databaseValue
            case .date, .reference, .asset: value.columnText.databaseValue
            }
    }
}

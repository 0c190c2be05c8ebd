import GRDB
import PeerSyncModel

/// A record in the store: its metadata, with the values of its row.
struct StoredRecord {
    let status: RecordStatus
    let metadata: RecordMetadata
    let state: RecordState
    let isRowPresent: Bool
    /// The fields whose value in the row differs from the record's.
    let alteredFields: Set<String>
    /// The fields whose value only the journal has.
    let addedFields: Set<String>
    /// Whether the metadata itself holds values, because the row does not.
    let hasStoredValues: Bool
    private let present: Present?

    /// The row of a record in the table of its type.
    struct Present {
        let table: RecordTable
        /// The values in the order of ``RecordType/fields``.
        let values: [FieldValue]
    }

    /// Composes a record from its metadata and its row, with the columns of the row that were fields before.
    ///
    /// - Parameters:
    ///   - row: a row with the columns `status` and `remoteRecord`.
    init(_ name: RecordName, _ row: Row, tables: RecordTables, shapes: ShapeTable) throws {
        try self.init(
            name, status: row["status"], row.bytes("remoteRecord"),
            tables[name.recordType].flatMap { try Present($0, name, shapes.db) }, tables: tables,
            shapes: shapes)
    }

    /// Composes a record whose row the caller has already looked for, with the columns of the row that were fields before.
    ///
    /// - Parameters:
    ///   - status: the column of that name.
    ///   - blob: the column `remoteRecord`.
    ///   - present: the record's own row, if it has one.
    ///   - formerValues: the values that only the journal has, if it has any.
    init(
        _ name: RecordName, status: Int64, _ blob: [UInt8], _ present: Present?, tables: RecordTables,
        shapes: ShapeTable, formerValues: [String: FieldValue]? = nil
    ) throws {
        // Only an opening knows former columns.
        let columns =
            tables.formerColumns.isEmpty
            ? nil : try tables.formerColumns[name.recordType]?.values(shapes.db, of: name)
        let former = formerValues?.merging(columns ?? [:]) { value, _ in value } ?? columns
        try self.init(name, status: status, blob, present, shapes: shapes, formerValues: former)
    }

    /// Composes a record whose row the caller has already read.
    ///
    /// - Parameters:
    ///   - row: a row with the columns `status` and `remoteRecord`.
    ///   - present: the record's own row, if it has one.
    init(_ name: RecordName, _ row: Row, _ present: Present?, shapes: ShapeTable) throws {
        try self.init(
            name, status: row["status"], row.bytes("remoteRecord"), present, shapes: shapes, formerValues: nil
        )
    }

    private init(
        _ name: RecordName, status: Int64, _ blob: [UInt8], _ present: Present?, shapes: ShapeTable,
        formerValues: [String: FieldValue]?
    ) throws {
        guard let status = RecordStatus(rawValue: status) else {
            throw RecordStoreError(.damagedRecord, "the status of \(name) is none that exists")
        }
        self.status = status
        var metadata = try RecordMetadata(blob, shapes: shapes, name: name.description)
        hasStoredValues = !metadata.storedValues.isEmpty
        if let formerValues {
            addedFields = Set(formerValues.keys).subtracting(metadata.storedValues.keys)
            metadata.storedValues.merge(formerValues) { stored, _ in stored }
        } else {
            addedFields = []
        }
        isRowPresent = present != nil
        self.present = present
        alteredFields =
            if let present, !metadata.storedValues.isEmpty {
                Set(metadata.storedValues.keys.filter(present.table.hasColumn))
            } else { [] }
        state = RecordState(
            name: name, sortedFields: Self.fields(metadata, present),
            deletion: metadata.deletion, revival: metadata.revival, erasure: metadata.erasure)
        // The state has all values of a record without a row. Lists of deleted records hold many of these at once.
        if present == nil { metadata.storedValues = [:] }
        self.metadata = metadata
    }

    /// The fields with the values of the row, if there is one.
    var fieldsOfRow: [RecordField] {
        guard !alteredFields.isEmpty, let present else { return state.fields }
        var valuesByField = Dictionary(uniqueKeysWithValues: zip(present.table.fieldNames, present.values))
        return state.fields.map { field in
            RecordField(
                name: field.name, value: valuesByField.removeValue(forKey: field.name) ?? field.value,
                stamp: field.stamp)
        }
    }

    /// The id of the record in the digest, by what sync knew when it last saved the record; nil when the digest does not count it.
    func countedID(_ hasher: inout RecordHasher) -> RecordID? {
        guard status != .deleted, !metadata.fieldNames.isEmpty else { return nil }
        return hasher.id(
            state.name, fieldNames: metadata.fieldNames, stamps: metadata.stamps,
            valueHash: metadata.valueHash)
    }

    /// The references that are empty in the row because their target is out of sight.
    var emptiedFields: Set<String> {
        guard !alteredFields.isEmpty, let present else { return [] }
        return Set(
            zip(present.table.type.fields, present.values).filter { field, value in
                guard value == .null, alteredFields.contains(field.name), field.isNullified,
                    case .reference? = metadata.storedValues[field.name]
                else { return false }
                return true
            }.map(\.0.name))
    }

    private static func fields(_ metadata: RecordMetadata, _ present: Present?) -> [RecordField] {
        var fields: [RecordField] = []
        fields.reserveCapacity(metadata.fieldNames.count)
        let names = metadata.fieldNames
        // The usual case: the record has the fields of its table, and the table holds all values.
        if metadata.storedValues.isEmpty, let present, present.table.fieldNames == names {
            for index in names.indices {
                fields.append(
                    RecordField(
                        name: names[index], value: present.values[index], stamp: metadata.stamps[index]))
            }
            return fields
        }
        var valuesByField = metadata.storedValues
        if let present {
            for (field, value) in zip(present.table.fieldNames, present.values)
            where valuesByField[field] == nil {
                valuesByField[field] = value
            }
        }
        // A row that vanished without a trigger leaves stamps without values: the store does not know those fields.
        for (field, stamp) in zip(names, metadata.stamps) {
            guard let value = valuesByField[field] else { continue }
            fields.append(RecordField(name: field, value: value, stamp: stamp))
        }
        return fields
    }
}

extension StoredRecord.Present {
    /// Looks for the row of a record; nil when there is none.
    init?(_ table: RecordTable, _ name: RecordName, _ db: Database) throws {
        guard let values = try table.values(db, name) else { return nil }
        self.init(table: table, values: values)
    }
}

import GRDB
import SyncModel

/// A record as the store has it: its metadata, with the values of its row.
struct StoredRecord {
    let status: RecordStatus
    let metadata: RecordMetadata
    let state: RecordState
    let isRowPresent: Bool
    /// The fields of which the row has another value than the record.
    let alteredFields: Set<String>
    /// The fields of which only the journal has the value.
    let addedFields: Set<String>
    private let values: [FieldValue]?
    private let table: RecordTable?

    /// Puts a record together.
    ///
    /// - Parameters:
    ///   - row: has the columns `status` and `remoteRecord`.
    ///   - formerValues: those of the row that somebody has deleted, if they are known.
    init(
        _ name: RecordName, _ row: Row, db: Database, tables: RecordTables, shapes: ShapeTable,
        formerValues: [String: FieldValue]? = nil
    ) throws {
        let table = tables[name.recordType]
        try self.init(
            name, row, values: table?.values(db, name.description), formerValues: formerValues, table: table,
            shapes: shapes)
    }

    /// Puts a record together whose row was read already.
    ///
    /// - Parameters:
    ///   - row: has the columns `status` and `remoteRecord`.
    ///   - values: those of the record's row in order of ``RecordType/fields``; nil when there is no row.
    init(
        _ name: RecordName, _ row: Row, values: [FieldValue]?, formerValues: [String: FieldValue]? = nil,
        table: RecordTable?, shapes: ShapeTable
    ) throws {
        guard let status = RecordStatus(rawValue: row["status"]) else {
            throw RecordStoreError(.damagedRecord, "the status of \(name) is none that exists")
        }
        self.status = status
        var metadata = try RecordMetadata(row.bytes("remoteRecord"), shapes: shapes, name: name.description)
        if let formerValues {
            addedFields = Set(formerValues.keys).subtracting(metadata.storedValues.keys)
            metadata.storedValues.merge(formerValues) { stored, _ in stored }
        } else {
            addedFields = []
        }
        self.metadata = metadata
        isRowPresent = values != nil
        self.values = values
        self.table = table
        alteredFields =
            values == nil || metadata.storedValues.isEmpty
            ? [] : Set(metadata.storedValues.keys.filter { table?.hasColumn($0) == true })
        state = RecordState(
            name: name, sortedFields: Self.fields(metadata, values ?? [], table),
            deletion: metadata.deletion, revival: metadata.revival, erasure: metadata.erasure)
    }

    /// The fields as the row has them, if there is one.
    var fieldsOfRow: [RecordField] {
        guard !alteredFields.isEmpty, let table, let values else { return state.fields }
        var valuesByField = Dictionary(uniqueKeysWithValues: zip(table.fieldNames, values))
        return state.fields.map { field in
            RecordField(
                name: field.name, value: valuesByField.removeValue(forKey: field.name) ?? field.value,
                stamp: field.stamp)
        }
    }

    /// The references that the row has not, because the record that they lead to is out of sight.
    var emptiedFields: Set<String> {
        guard !alteredFields.isEmpty, let table, let values else { return [] }
        return Set(
            zip(table.type.fields, values).filter { field, value in
                guard value == .null, alteredFields.contains(field.name), field.isNullified,
                    case .reference? = metadata.storedValues[field.name]
                else { return false }
                return true
            }.map(\.0.name))
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

import GRDB
import PeerSyncModel

/// The encoded metadata of a record: the BLOB of a `grdb_sync_remoteRecord` row.
///
/// It does not repeat the values that are in the record's own table, and holds only those that the table has no place
/// for. Protocol/ "Store format" is the normative text of the encoding.
package struct RecordMetadata {
    /// The sorted names of all fields that were ever written.
    package var fieldNames: [String]
    /// One stamp for each of ``fieldNames``.
    package var stamps: [Stamp]
    package var deletion: Stamp?
    package var revival: Stamp?
    package var erasure: Stamp?
    /// The hash of all values; empty when there are no fields.
    package var valueHash: [UInt8]
    /// The values that are not in the table, by field name: all of them when the record is not in its table.
    package var storedValues: [String: FieldValue]

    static let version: UInt8 = 1
    private static let hasDeletion: UInt8 = 1
    private static let hasRevival: UInt8 = 2
    private static let hasErasure: UInt8 = 4

    /// Makes the metadata of a record that is not in its table.
    package init(_ state: RecordState) {
        fieldNames = state.fields.map(\.name)
        stamps = state.fields.map(\.stamp)
        deletion = state.deletion
        revival = state.revival
        erasure = state.erasure
        valueHash = state.fields.isEmpty ? [] : RecordID.valueHash(of: state.fields)
        storedValues = [:]
        for field in state.fields { storedValues[field.name] = field.value }
    }

    /// The stamps of all that anybody has done to the record.
    var allStamps: [Stamp] { stamps + [deletion, revival, erasure].compactMap(\.self) }

    package func encoded(shapeID: Int64) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(64)
        output.append(Self.version)
        output.append(Self.flags(deletion, revival, erasure))
        VariableLengthInteger.append(UInt64(shapeID), to: &output)
        Self.append(stamps, valueHash: valueHash, to: &output)
        for case let stamp? in [deletion, revival, erasure] { output.append(stamp) }
        let stored = fieldNames.indices.filter { storedValues[fieldNames[$0]] != nil }
        VariableLengthInteger.append(UInt64(stored.count), to: &output)
        for index in stored {
            VariableLengthInteger.append(UInt64(index), to: &output)
            storedValues[fieldNames[index]]!.appendCanonical(to: &output)
        }
        return output
    }

    /// Appends the encoding of a record, as ``encoded(shapeID:)`` gives it.
    ///
    /// - Parameters:
    ///   - valueHash: the hash of the values; it does not matter if there are no fields.
    ///   - isStored: whether the table has no place for the value of a field; nil if all values are in the table.
    static func append(
        _ state: RecordState, shapeID: Int64, valueHash: ValueHash,
        storing isStored: ((String) -> Bool)? = nil,
        to output: inout [UInt8]
    ) {
        output.append(version)
        output.append(flags(state.deletion, state.revival, state.erasure))
        VariableLengthInteger.append(UInt64(shapeID), to: &output)
        if let stamp = state.soleStamp {
            output.append(stamp)
            // The number of fields with another stamp.
            output.append(0)
            valueHash.append(to: &output)
        } else {
            append(state.fields.map(\.stamp), valueHash: valueHash.bytes, to: &output)
        }
        if let stamp = state.deletion { output.append(stamp) }
        if let stamp = state.revival { output.append(stamp) }
        if let stamp = state.erasure { output.append(stamp) }
        guard let isStored else { return output.append(0) }
        let stored = state.fields.indices.filter { isStored(state.fields[$0].name) }
        VariableLengthInteger.append(UInt64(stored.count), to: &output)
        for index in stored {
            VariableLengthInteger.append(UInt64(index), to: &output)
            state.fields[index].value.appendCanonical(to: &output)
        }
    }

    private static func flags(_ deletion: Stamp?, _ revival: Stamp?, _ erasure: Stamp?) -> UInt8 {
        (deletion == nil ? 0 : hasDeletion) | (revival == nil ? 0 : hasRevival)
            | (erasure == nil ? 0 : hasErasure)
    }

    /// Appends the stamps of the fields and the hash of their values, if there are any fields.
    private static func append(_ stamps: [Stamp], valueHash: [UInt8], to output: inout [UInt8]) {
        let stamps = StampRun(stamps)
        guard let base = stamps.base else { return }
        output.append(base)
        stamps.appendExceptions(to: &output) { $1.append($0) }
        output.append(contentsOf: valueHash)
    }

    /// SQL for whether nobody ever deleted the record of a `grdb_sync_remoteRecord` row, as its BLOB says.
    static func wasNeverDeleted(in table: String) -> String {
        "substr(\(table).remoteRecord, 2, 1) IN (x'00', x'02')"
    }

    /// Reads a BLOB.
    ///
    /// - Throws: `damagedRecord` when the BLOB is not one of ours; also errors of SQLite and of a cancelled task, which
    ///   say nothing about the BLOB.
    init(_ blob: [UInt8], shapes: ShapeTable, name: String) throws {
        do {
            try self.init(blob, fieldNames: shapes.fieldNames)
        } catch let error where error is DatabaseError || error is CancellationError {
            throw error
        } catch {
            throw RecordStoreError(.damagedRecord, "the metadata of \(name) is damaged")
        }
    }

    /// Reads a BLOB.
    ///
    /// - Parameter namesOfShape: finds the names of a shape by its number.
    /// - Throws: an error of any kind when the BLOB is not one of ours.
    package init(_ blob: [UInt8], fieldNames namesOfShape: (Int64) throws -> [String]) throws {
        var reader = ByteReader(blob)
        guard try reader.byte() == Self.version else { throw ByteReader.Malformed(what: "version 1") }
        let flags = try reader.byte()
        fieldNames = try namesOfShape(Int64(try reader.count()))
        stamps = []
        valueHash = []
        if !fieldNames.isEmpty {
            stamps = [Stamp](repeating: try reader.stamp(), count: fieldNames.count)
            for _ in 0..<(try reader.count()) {
                let index = try reader.count()
                guard stamps.indices.contains(index) else { throw ByteReader.Malformed(what: "a field") }
                stamps[index] = try reader.stamp()
            }
            valueHash = Array(try reader.read(RecordID.valueHashLength))
        }
        deletion = flags & Self.hasDeletion != 0 ? try reader.stamp() : nil
        revival = flags & Self.hasRevival != 0 ? try reader.stamp() : nil
        erasure = flags & Self.hasErasure != 0 ? try reader.stamp() : nil
        storedValues = [:]
        for _ in 0..<(try reader.count()) {
            let index = try reader.count()
            guard fieldNames.indices.contains(index) else { throw ByteReader.Malformed(what: "a field") }
            storedValues[fieldNames[index]] = try reader.value()
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed(what: "the end") }
    }
}

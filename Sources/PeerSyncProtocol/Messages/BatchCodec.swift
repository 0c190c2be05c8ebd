import NIOCore
import PeerSyncModel

/// The encoding of a batch of records. A batch has the names of types and fields, and the replica ids, once, in
/// tables; records refer to them by number.
package enum BatchCodec {
    private static let isLast: UInt8 = 1
    private static let isLoose: UInt8 = 2

    private static let hasDeletion: UInt8 = 1
    private static let hasRevival: UInt8 = 2
    private static let hasExceptions: UInt8 = 4
    private static let hasErasure: UInt8 = 8

    private enum SuffixForm {
        static let text: UInt8 = 0
        static let lowercaseUUID: UInt8 = 1
        static let uppercaseUUID: UInt8 = 2
    }

    // MARK: Encoding

    package static func encode(_ batch: ChangeBatch, into buffer: inout ByteBuffer) {
        var records: [UInt8] = []
        var tables = Tables()
        for state in batch.records { encode(state, &records, &tables) }
        buffer.writeToken(batch.token)
        buffer.writeInteger((batch.isLast ? isLast : 0) | (batch.isLoose ? isLoose : 0))
        buffer.writeList(tables.replicas.list) { $0.writeInteger($1.rawValue) }
        buffer.writeList(tables.types.list) { $0.writeText($1) }
        buffer.writeList(tables.shapes.list) { buffer, shape in
            buffer.writeCount(shape.type)
            buffer.writeList(shape.fields) { $0.writeText($1) }
        }
        buffer.writeCount(batch.records.count)
        buffer.writeBytes(records)
    }

    /// Numbers elements in the order of their first use.
    private struct Numbering<Element: Hashable> {
        var list: [Element] = []
        private var numbers: [Element: Int] = [:]

        mutating func number(_ element: Element) -> Int {
            if let number = numbers[element] { return number }
            numbers[element] = list.count
            list.append(element)
            return list.count - 1
        }
    }

    private struct Shape: Hashable {
        var type: Int
        var fields: [String]
    }

    private struct Tables {
        var replicas = Numbering<ReplicaID>()
        var types = Numbering<String>()
        var shapes = Numbering<Shape>()
        private var lastShape: Int?
        private var lastReplica: (id: ReplicaID, number: Int)?

        /// Returns the number of a record's shape: mostly that of the previous record.
        mutating func number(ofShape state: RecordState) -> Int {
            if let lastShape, isShape(shapes.list[lastShape], of: state) { return lastShape }
            let type = types.number(state.name.recordType)
            let number = shapes.number(Shape(type: type, fields: state.fields.map(\.name)))
            lastShape = number
            return number
        }

        private func isShape(_ shape: Shape, of state: RecordState) -> Bool {
            shape.fields.count == state.fields.count && state.name.isOfType(types.list[shape.type])
                && shape.fields.indices.allSatisfy { shape.fields[$0] == state.fields[$0].name }
        }

        /// Returns the number of a replica: mostly that of the previous stamp.
        mutating func number(of replica: ReplicaID) -> Int {
            if let lastReplica, lastReplica.id == replica { return lastReplica.number }
            let number = replicas.number(replica)
            lastReplica = (replica, number)
            return number
        }

        /// Returns the number of a record's type. References mostly lead to few types, so this tries the first 16
        /// before it hashes.
        mutating func number(ofType name: RecordName) -> Int {
            types.list.prefix(16).firstIndex { name.isOfType($0) } ?? types.number(name.recordType)
        }
    }

    private static func encode(_ state: RecordState, _ output: inout [UInt8], _ tables: inout Tables) {
        VariableLengthInteger.append(UInt64(tables.number(ofShape: state)), to: &output)
        encodeSuffix(state.name, &output)
        let stamps = StampRun(state)
        var flags: UInt8 = 0
        if state.deletion != nil { flags |= hasDeletion }
        if state.revival != nil { flags |= hasRevival }
        if !stamps.exceptions.isEmpty { flags |= hasExceptions }
        if state.erasure != nil { flags |= hasErasure }
        output.append(flags)
        if let deletion = state.deletion { encode(deletion, &output, &tables) }
        if let revival = state.revival { encode(revival, &output, &tables) }
        if let erasure = state.erasure { encode(erasure, &output, &tables) }
        if let base = stamps.base { encode(base, &output, &tables) }
        if !stamps.exceptions.isEmpty {
            stamps.appendExceptions(to: &output) { encode($0, &$1, &tables) }
        }
        for field in state.fields { encode(field.value, &output, &tables) }
    }

    private static func encode(_ stamp: Stamp, _ output: inout [UInt8], _ tables: inout Tables) {
        output.append(bigEndian: stamp.time.rawValue)
        VariableLengthInteger.append(UInt64(tables.number(of: stamp.replica)), to: &output)
    }

    /// Encodes a value as the canonical encoding does, but a reference as the number of its type and its suffix.
    private static func encode(_ value: FieldValue, _ output: inout [UInt8], _ tables: inout Tables) {
        guard case .reference(let name) = value else { return value.appendCanonical(to: &output) }
        output.append(ValueTag.reference)
        VariableLengthInteger.append(UInt64(tables.number(ofType: name)), to: &output)
        encodeSuffix(name, &output)
    }

    private static func encodeSuffix(_ name: RecordName, _ output: inout [UInt8]) {
        let suffix = name.suffix.utf8
        output.append(SuffixForm.lowercaseUUID)
        if HexUUID.append(suffix, uppercase: false, to: &output) { return }
        output[output.count - 1] = SuffixForm.uppercaseUUID
        if HexUUID.append(suffix, uppercase: true, to: &output) { return }
        output[output.count - 1] = SuffixForm.text
        VariableLengthInteger.append(UInt64(suffix.count), to: &output)
        output.append(contentsOf: suffix)
    }

    // MARK: Decoding

    package static func decode(_ buffer: inout ByteBuffer) throws(ProtocolError) -> ChangeBatch {
        let token = try buffer.readToken()
        let flags = try buffer.readByte()
        let tables = try decodeTables(&buffer)
        // A record takes at least 4 bytes. So the decoder refuses a count that the rest cannot hold, before it
        // allocates for it.
        let limit = min(ProtocolLimits.maximumBatchRecords, buffer.readableBytes / 4)
        let count = try buffer.readCount(below: limit + 1, of: "the number of records")
        var records: [RecordState] = []
        var fieldCount = 0
        for _ in 0..<count {
            let record = try decodeRecord(&buffer, tables)
            fieldCount += record.fields.count
            guard fieldCount <= ProtocolLimits.maximumBatchFields else {
                throw .malformed("a batch of too many fields")
            }
            records.append(record)
        }
        return ChangeBatch(
            records: records, token: token, isLast: flags & isLast != 0, isLoose: flags & isLoose != 0)
    }

    private struct DecodedTables {
        let replicas: [ReplicaID]
        let types: [String]
        let shapes: [Shape]
    }

    private static func decodeTables(_ buffer: inout ByteBuffer) throws(ProtocolError) -> DecodedTables {
        let replicas = try decodeTable(&buffer, entrySize: 8) { buffer throws(ProtocolError) in
            ReplicaID(rawValue: try buffer.readUInt64())
        }
        let types = try decodeTable(&buffer, entrySize: 2) { buffer throws(ProtocolError) in
            try buffer.readIdentifier()
        }
        let shapes = try decodeTable(&buffer, entrySize: 2) { buffer throws(ProtocolError) in
            let type = try buffer.readCount(below: types.count, of: "a type's number")
            return Shape(type: type, fields: try decodeFieldNames(&buffer))
        }
        return DecodedTables(replicas: replicas, types: types, shapes: shapes)
    }

    private static func decodeTable<Entry>(
        _ buffer: inout ByteBuffer, entrySize: Int, _ read: (inout ByteBuffer) throws(ProtocolError) -> Entry
    ) throws(ProtocolError) -> [Entry] {
        let limit = min(ProtocolLimits.maximumTableEntries, buffer.readableBytes / entrySize)
        return try buffer.readList(limit: limit, of: "the size of a table", read)
    }

    private static func decodeFieldNames(_ buffer: inout ByteBuffer) throws(ProtocolError) -> [String] {
        let fields = try buffer.readList(limit: ProtocolLimits.maximumFields, of: "the number of fields") {
            buffer throws(ProtocolError) in try buffer.readIdentifier()
        }
        for (last, field) in zip(fields, fields.dropFirst()) where last >= field {
            throw .malformed("fields that are not in order")
        }
        return fields
    }

    private static func decodeRecord(_ buffer: inout ByteBuffer, _ tables: DecodedTables)
        throws(ProtocolError)
        -> RecordState
    {
        let shape = tables.shapes[try buffer.readCount(below: tables.shapes.count, of: "a shape's number")]
        let name = try decodeName(&buffer, type: tables.types[shape.type])
        let flags = try buffer.readByte()
        guard flags & ~(hasDeletion | hasRevival | hasExceptions | hasErasure) == 0 else {
            throw .malformed("unknown record flags")
        }
        let deletion = flags & hasDeletion != 0 ? try decodeStamp(&buffer, tables) : nil
        let revival = flags & hasRevival != 0 ? try decodeStamp(&buffer, tables) : nil
        let erasure = flags & hasErasure != 0 ? try decodeStamp(&buffer, tables) : nil
        if let erasure, deletion.map({ $0 < erasure }) ?? true {
            throw .malformed("a record that was deleted for ever, and not deleted")
        }
        var stamps: [Stamp] = []
        if !shape.fields.isEmpty {
            stamps = [Stamp](repeating: try decodeStamp(&buffer, tables), count: shape.fields.count)
        }
        if flags & hasExceptions != 0 {
            for _ in 0..<(try buffer.readCount(below: stamps.count + 1, of: "the number of stamps")) {
                let index = try buffer.readCount(below: stamps.count, of: "a field's number")
                stamps[index] = try decodeStamp(&buffer, tables)
            }
        }
        var fields: [RecordField] = []
        fields.reserveCapacity(stamps.count)
        for (field, stamp) in zip(shape.fields, stamps) {
            fields.append(RecordField(name: field, value: try decodeValue(&buffer, tables), stamp: stamp))
        }
        let state = RecordState(
            name: name, sortedFields: fields, deletion: deletion, revival: revival, erasure: erasure)
        guard !state.isEmpty else { throw .malformed("a record without content") }
        return state
    }

    private static func decodeName(_ buffer: inout ByteBuffer, type: String) throws(ProtocolError)
        -> RecordName
    {
        switch try buffer.readByte() {
        case SuffixForm.text:
            let suffix = try buffer.readText(limit: RecordName.maximumLength, of: "a record name")
            do {
                return try RecordName(recordType: type, suffix: suffix)
            } catch {
                throw .malformed("a record name that is none (\(error))")
            }
        case SuffixForm.lowercaseUUID: return try decodeUUIDName(&buffer, type: type, isUppercase: false)
        case SuffixForm.uppercaseUUID: return try decodeUUIDName(&buffer, type: type, isUppercase: true)
        default: throw .malformed("an unknown form of record name")
        }
    }

    /// - Parameter type: an identifier; ``decodeTables(_:)`` has checked it.
    private static func decodeUUIDName(_ buffer: inout ByteBuffer, type: String, isUppercase: Bool)
        throws(ProtocolError) -> RecordName
    {
        guard buffer.readableBytes >= HexUUID.byteCount else { throw .malformed("a message that ends early") }
        let name = buffer.withUnsafeReadableBytes {
            RecordName(recordType: type, uuid: $0, isUppercase: isUppercase)
        }
        buffer.moveReaderIndex(forwardBy: HexUUID.byteCount)
        return name
    }

    private static func decodeStamp(_ buffer: inout ByteBuffer, _ tables: DecodedTables) throws(ProtocolError)
        -> Stamp
    {
        let time = HybridTime(rawValue: try buffer.readUInt64())
        let replica = try buffer.readCount(below: tables.replicas.count, of: "a replica's number")
        return Stamp(time: time, replica: tables.replicas[replica])
    }

    private static func decodeValue(_ buffer: inout ByteBuffer, _ tables: DecodedTables) throws(ProtocolError)
        -> FieldValue
    {
        let tag = try buffer.readByte()
        switch tag {
        case ValueTag.null:
            return .null
        case ValueTag.real:
            let value = FieldValue.real(Double(bitPattern: try buffer.readUInt64()))
            guard value.canBeSent else { throw .malformed("a number that is none") }
            return value
        case ValueTag.text:
            return .text(try buffer.readText(limit: ProtocolLimits.maximumMessage, of: "a text"))
        case ValueTag.blob:
            return .blob(
                try buffer.readFixed(try buffer.readCount(below: buffer.readableBytes + 1, of: "a length")))
        case ValueTag.reference:
            let type = try buffer.readCount(below: tables.types.count, of: "a type's number")
            return .reference(try decodeName(&buffer, type: tables.types[type]))
        case ValueTag.asset:
            return .asset(try buffer.readAsset())
        case ValueTag.integer...ValueTag.integer + 8:
            return .integer(try decodeMinimal(&buffer, Int(tag - ValueTag.integer)))
        case ValueTag.date...ValueTag.date + 8:
            let value = FieldValue.date(try decodeMinimal(&buffer, Int(tag - ValueTag.date)))
            guard value.canBeSent else { throw .malformed("a date that cannot be written") }
            return value
        default:
            throw .malformed("an unknown kind of value")
        }
    }

    /// Decodes big-endian two's complement. It refuses more bytes than needed, so that a value has one encoding.
    private static func decodeMinimal(_ buffer: inout ByteBuffer, _ count: Int) throws(ProtocolError) -> Int64
    {
        guard buffer.readableBytes >= count else { throw .malformed("a message that ends early") }
        let value = buffer.withUnsafeReadableBytes { bytes in
            let sign: UInt64 = count > 0 && bytes[0] & 0x80 != 0 ? .max : 0
            return Int64(bitPattern: bytes.prefix(count).reduce(sign) { $0 << 8 | UInt64($1) })
        }
        buffer.moveReaderIndex(forwardBy: count)
        guard FieldValue.minimalByteCount(value) == count else {
            throw .malformed("an integer in too many bytes")
        }
        return value
    }
}

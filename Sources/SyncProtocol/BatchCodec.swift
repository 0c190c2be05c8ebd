import NIOCore
import SyncModel

/// The encoding of a batch of records. Names of types and fields, and replica ids, are written once per batch, in
/// tables; records refer to them by number.
package enum BatchCodec {
    private static let isLast: UInt8 = 1
    private static let isLoose: UInt8 = 2

    private static let hasDeletion: UInt8 = 1
    private static let hasRevival: UInt8 = 2
    private static let hasExceptions: UInt8 = 4

    private enum SuffixForm {
        static let text: UInt8 = 0
        static let lowercaseUUID: UInt8 = 1
        static let uppercaseUUID: UInt8 = 2
    }

    // MARK: Encoding

    package static func encode(_ batch: ChangeBatch, into buffer: inout ByteBuffer) {
        var records = ByteBuffer()
        var tables = Tables()
        for state in batch.records {
            encode(state, &records, &tables)
        }
        buffer.writeToken(batch.token)
        buffer.writeInteger((batch.isLast ? isLast : 0) | (batch.isLoose ? isLoose : 0))
        buffer.writeCount(tables.replicas.list.count)
        for replica in tables.replicas.list { buffer.writeInteger(replica.rawValue) }
        buffer.writeCount(tables.types.list.count)
        for type in tables.types.list { buffer.writeText(type) }
        buffer.writeCount(tables.shapes.list.count)
        for shape in tables.shapes.list {
            buffer.writeCount(shape.type)
            buffer.writeCount(shape.fields.count)
            for field in shape.fields { buffer.writeText(field) }
        }
        buffer.writeCount(batch.records.count)
        buffer.writeBuffer(&records)
    }

    /// Numbers things in the order in which they are first asked for.
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
    }

    private static func encode(_ state: RecordState, _ buffer: inout ByteBuffer, _ tables: inout Tables) {
        let type = tables.types.number(state.name.recordType)
        buffer.writeCount(tables.shapes.number(Shape(type: type, fields: state.fields.map(\.name))))
        encodeSuffix(state.name.suffix, &buffer)
        let stamps = state.fields.map(\.stamp)
        let base = StampRun.mostFrequent(stamps)
        let exceptions = stamps.indices.filter { stamps[$0] != base }
        var flags: UInt8 = 0
        if state.deletion != nil { flags |= hasDeletion }
        if state.revival != nil { flags |= hasRevival }
        if !exceptions.isEmpty { flags |= hasExceptions }
        buffer.writeInteger(flags)
        if let deletion = state.deletion { encode(deletion, &buffer, &tables) }
        if let revival = state.revival { encode(revival, &buffer, &tables) }
        if let base { encode(base, &buffer, &tables) }
        if !exceptions.isEmpty {
            buffer.writeCount(exceptions.count)
            for index in exceptions {
                buffer.writeCount(index)
                encode(stamps[index], &buffer, &tables)
            }
        }
        for field in state.fields {
            encode(field.value, &buffer, &tables)
        }
    }

    private static func encode(_ stamp: Stamp, _ buffer: inout ByteBuffer, _ tables: inout Tables) {
        buffer.writeInteger(stamp.time.rawValue)
        buffer.writeCount(tables.replicas.number(stamp.replica))
    }

    /// As in the canonical encoding, but a reference's name is its type's number and its suffix.
    private static func encode(_ value: FieldValue, _ buffer: inout ByteBuffer, _ tables: inout Tables) {
        guard case .reference(let name) = value else {
            buffer.writeBytes(value.canonicalBytes)
            return
        }
        buffer.writeInteger(ValueTag.reference)
        buffer.writeCount(tables.types.number(name.recordType))
        encodeSuffix(name.suffix, &buffer)
    }

    private static func encodeSuffix(_ suffix: Substring, _ buffer: inout ByteBuffer) {
        if let bytes = HexUUID.bytes(suffix, uppercase: false) {
            buffer.writeInteger(SuffixForm.lowercaseUUID)
            buffer.writeBytes(bytes)
        } else if let bytes = HexUUID.bytes(suffix, uppercase: true) {
            buffer.writeInteger(SuffixForm.uppercaseUUID)
            buffer.writeBytes(bytes)
        } else {
            buffer.writeInteger(SuffixForm.text)
            buffer.writeCount(suffix.utf8.count)
            buffer.writeSubstring(suffix)
        }
    }

    // MARK: Decoding

    package static func decode(_ buffer: inout ByteBuffer) throws(ProtocolError) -> ChangeBatch {
        let token = try buffer.readToken()
        let flags = try buffer.readByte()
        let tables = try decodeTables(&buffer)
        // A record takes at least 4 bytes, so a count that the rest cannot hold is refused before it is believed.
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
        var replicas: [ReplicaID] = []
        var types: [String] = []
        var shapes: [Shape] = []
    }

    private static func decodeTables(_ buffer: inout ByteBuffer) throws(ProtocolError) -> DecodedTables {
        var tables = DecodedTables()
        for _ in 0..<(try readTableCount(&buffer, entrySize: 8)) {
            tables.replicas.append(ReplicaID(rawValue: try buffer.readUInt64()))
        }
        for _ in 0..<(try readTableCount(&buffer, entrySize: 2)) {
            tables.types.append(try buffer.readIdentifier())
        }
        for _ in 0..<(try readTableCount(&buffer, entrySize: 2)) {
            let type = try buffer.readCount(below: tables.types.count, of: "a type's number")
            let count = try buffer.readCount(
                below: ProtocolLimits.maximumFields + 1, of: "the number of fields")
            var fields: [String] = []
            for _ in 0..<count {
                let field = try buffer.readIdentifier()
                if let last = fields.last, last >= field { throw .malformed("fields that are not in order") }
                fields.append(field)
            }
            tables.shapes.append(Shape(type: type, fields: fields))
        }
        return tables
    }

    private static func readTableCount(_ buffer: inout ByteBuffer, entrySize: Int) throws(ProtocolError)
        -> Int
    {
        let limit = min(ProtocolLimits.maximumTableEntries, buffer.readableBytes / entrySize)
        return try buffer.readCount(below: limit + 1, of: "the size of a table")
    }

    private static func decodeRecord(_ buffer: inout ByteBuffer, _ tables: DecodedTables)
        throws(ProtocolError)
        -> RecordState
    {
        let shape = tables.shapes[try buffer.readCount(below: tables.shapes.count, of: "a shape's number")]
        let name = try decodeName(&buffer, type: tables.types[shape.type])
        let flags = try buffer.readByte()
        guard flags & ~(hasDeletion | hasRevival | hasExceptions) == 0 else {
            throw .malformed("unknown record flags")
        }
        let deletion = flags & hasDeletion != 0 ? try decodeStamp(&buffer, tables) : nil
        let revival = flags & hasRevival != 0 ? try decodeStamp(&buffer, tables) : nil
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
        guard !fields.isEmpty || deletion != nil || revival != nil else {
            throw .malformed("a record without content")
        }
        return RecordState(name: name, sortedFields: fields, deletion: deletion, revival: revival)
    }

    private static func decodeName(_ buffer: inout ByteBuffer, type: String) throws(ProtocolError)
        -> RecordName
    {
        let suffix: String
        switch try buffer.readByte() {
        case SuffixForm.text:
            suffix = try buffer.readText(limit: RecordName.maximumLength, of: "a record name")
        case SuffixForm.lowercaseUUID:
            suffix = HexUUID.text(try buffer.readFixed(16), uppercase: false)
        case SuffixForm.uppercaseUUID:
            suffix = HexUUID.text(try buffer.readFixed(16), uppercase: true)
        default:
            throw .malformed("an unknown form of record name")
        }
        do {
            return try RecordName(recordType: type, suffix: suffix)
        } catch {
            throw .malformed("a record name that is none (\(error))")
        }
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
            let value = Double(bitPattern: try buffer.readUInt64())
            // SQLite has no NaN: it would come back as null.
            guard !value.isNaN else { throw .malformed("a number that is none") }
            return .real(value)
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
            let milliseconds = try decodeMinimal(&buffer, Int(tag - ValueTag.date))
            guard ISO8601.writable.contains(milliseconds) else {
                throw .malformed("a date that cannot be written")
            }
            return .date(milliseconds)
        default:
            throw .malformed("an unknown kind of value")
        }
    }

    /// Big-endian two's complement in the fewest bytes; more bytes than needed are refused, so that a value has
    /// one encoding.
    private static func decodeMinimal(_ buffer: inout ByteBuffer, _ count: Int) throws(ProtocolError) -> Int64
    {
        let bytes = try buffer.readFixed(count)
        let sign: UInt64 = (bytes.first ?? 0) & 0x80 != 0 ? .max : 0
        let value = Int64(bitPattern: bytes.reduce(sign) { $0 << 8 | UInt64($1) })
        guard FieldValue.minimalByteCount(value) == count else {
            throw .malformed("an integer in too many bytes")
        }
        return value
    }
}

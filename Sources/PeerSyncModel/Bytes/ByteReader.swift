/// Reads the canonical encodings from bytes. It checks every length against the remaining bytes before it uses it.
package struct ByteReader {
    private let bytes: [UInt8]
    private var position = 0

    /// An error that names the item that the bytes do not hold.
    package struct Malformed: Error {
        package let what: String

        package init(what: String) {
            self.what = what
        }
    }

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var isAtEnd: Bool { position == bytes.count }

    package mutating func byte() throws -> UInt8 {
        guard position < bytes.count else { throw Malformed(what: "a byte") }
        defer { position += 1 }
        return bytes[position]
    }

    package mutating func read(_ count: Int) throws -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else { throw Malformed(what: "\(count) bytes") }
        defer { position += count }
        return bytes[position..<(position + count)]
    }

    package mutating func bigEndian() throws -> UInt64 {
        guard bytes.count - position >= 8 else { throw Malformed(what: "8 bytes") }
        defer { position += 8 }
        return bytes.withUnsafeBytes {
            UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        }
    }

    /// Reads a QUIC variable-length integer.
    package mutating func variableLengthInteger() throws -> UInt64 {
        let first = try byte()
        if first < 0x40 { return UInt64(first) }
        let rest = (1 << Int(first >> 6)) - 1
        return try read(rest).reduce(UInt64(first & 0x3F)) { $0 << 8 | UInt64($1) }
    }

    /// Reads a variable-length integer that is a count or an index.
    package mutating func count() throws -> Int {
        Int(try variableLengthInteger())
    }

    package mutating func stamp() throws -> Stamp {
        let time = try bigEndian()
        return Stamp(time: HybridTime(rawValue: time), replica: ReplicaID(rawValue: try bigEndian()))
    }

    /// Reads a value in its canonical encoding.
    package mutating func value() throws -> FieldValue {
        let tag = try byte()
        switch tag {
        case ValueTag.null: return .null
        case ValueTag.real: return .real(Double(bitPattern: try bigEndian()))
        case ValueTag.text: return .text(try text())
        case ValueTag.blob: return .blob(Array(try read(count())))
        case ValueTag.reference: return .reference(try RecordName(try text()))
        case ValueTag.asset: return .asset(try asset())
        case ValueTag.integer...ValueTag.integer + 8:
            return .integer(try minimal(Int(tag - ValueTag.integer)))
        case ValueTag.date...ValueTag.date + 8: return .date(try minimal(Int(tag - ValueTag.date)))
        default: throw Malformed(what: "a value")
        }
    }

    private mutating func asset() throws -> Asset {
        let hash = AssetHash(Array(try read(AssetHash.length)))
        let size = Int64(try variableLengthInteger())
        let mediaType = try text()
        guard let hash, let asset = Asset(hash: hash, size: size, mediaType: mediaType, name: try text())
        else { throw Malformed(what: "an asset") }
        return asset
    }

    private mutating func text() throws -> String {
        let bytes = try read(count())
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed(what: "UTF-8 text") }
        return text
    }

    private mutating func minimal(_ count: Int) throws -> Int64 {
        let bytes = try read(count)
        let sign: UInt64 = (bytes.first ?? 0) & 0x80 != 0 ? .max : 0
        return Int64(bitPattern: bytes.reduce(sign) { $0 << 8 | UInt64($1) })
    }
}

extension [UInt8] {
    /// Appends a stamp: time, then replica, eight bytes each, most significant first.
    package mutating func append(_ stamp: Stamp) {
        append(bigEndian: stamp.time.rawValue)
        append(bigEndian: stamp.replica.rawValue)
    }
}

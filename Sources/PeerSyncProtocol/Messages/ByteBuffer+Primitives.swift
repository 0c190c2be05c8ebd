import NIOCore
import PeerSyncModel

/// The primitives of the encoding. Each succeeds or fails as a whole.
///
/// The decoder gets only complete messages, so missing bytes are malformed, not late.
extension ByteBuffer {
    package mutating func readByte() throws(ProtocolError) -> UInt8 {
        guard let byte = readInteger(as: UInt8.self) else { throw .malformed("a message that ends early") }
        return byte
    }

    package mutating func readFixed(_ count: Int) throws(ProtocolError) -> [UInt8] {
        guard let bytes = readBytes(length: count) else { throw .malformed("a message that ends early") }
        return bytes
    }

    package mutating func readUInt64() throws(ProtocolError) -> UInt64 {
        guard let value = readInteger(as: UInt64.self) else { throw .malformed("a message that ends early") }
        return value
    }

    /// Reads a QUIC variable-length integer (RFC 9000 section 16).
    package mutating func readVarint() throws(ProtocolError) -> UInt64 {
        guard let value = readVarintIfPresent() else { throw .malformed("a message that ends early") }
        return value
    }

    /// Reads such an integer too; if bytes are missing, it returns nil and leaves the reader index where it was.
    package mutating func readVarintIfPresent() -> UInt64? {
        guard let first = getInteger(at: readerIndex, as: UInt8.self) else { return nil }
        switch first >> 6 {
        case 0:
            moveReaderIndex(forwardBy: 1)
            return UInt64(first)
        case 1: return readInteger(as: UInt16.self).map { UInt64($0 & 0x3FFF) }
        case 2: return readInteger(as: UInt32.self).map { UInt64($0 & 0x3FFF_FFFF) }
        default: return readInteger(as: UInt64.self).map { $0 & VariableLengthInteger.maximum }
        }
    }

    /// Reads a count or index below `limit`.
    package mutating func readCount(below limit: Int, of what: String) throws(ProtocolError) -> Int {
        let value = try readVarint()
        guard value < UInt64(limit) else { throw .malformed("\(value) as \(what)") }
        return Int(value)
    }

    /// Reads text of at most `limit` bytes, after its length.
    package mutating func readText(limit: Int, of what: String) throws(ProtocolError) -> String {
        let length = try readCount(below: min(limit, readableBytes) + 1, of: "the length of \(what)")
        guard let bytes = readSlice(length: length),
            let text = String(validating: bytes.readableBytesView, as: UTF8.self)
        else { throw .malformed("\(what) that is not UTF-8") }
        return text
    }

    package mutating func readIdentifier() throws(ProtocolError) -> String {
        let text = try readText(limit: ProtocolLimits.maximumIdentifier, of: "a name")
        guard RecordName.isIdentifier(text.utf8) else { throw .malformed("a name that is no identifier") }
        return text
    }

    package mutating func writeVarint(_ value: UInt64) {
        precondition(value <= VariableLengthInteger.maximum, "a variable-length integer holds 62 bits")
        switch VariableLengthInteger.byteCount(value) {
        case 1: writeInteger(UInt8(value))
        case 2: writeInteger(UInt16(value) | 0x4000)
        case 4: writeInteger(UInt32(value) | 0x8000_0000)
        default: writeInteger(value | 0xC000_0000_0000_0000)
        }
    }

    package mutating func writeCount(_ value: Int) {
        writeVarint(UInt64(value))
    }

    package mutating func writeText(_ text: String) {
        writeCount(text.utf8.count)
        writeString(text)
    }

    // MARK: Lists

    /// Writes a list, after the number of its elements.
    package mutating func writeList<Element>(
        _ elements: [Element], _ write: (inout ByteBuffer, Element) -> Void
    ) {
        writeCount(elements.count)
        for element in elements { write(&self, element) }
    }

    /// Reads a list of at most `limit` elements.
    package mutating func readList<Element>(
        limit: Int, of what: String, _ read: (inout ByteBuffer) throws(ProtocolError) -> Element
    ) throws(ProtocolError) -> [Element] {
        var elements: [Element] = []
        for _ in 0..<(try readCount(below: limit + 1, of: what)) { elements.append(try read(&self)) }
        return elements
    }

    // MARK: Zones

    package mutating func readZoneNumber() throws(ProtocolError) -> Int {
        try readCount(below: ProtocolLimits.maximumZones, of: "a zone's number")
    }

    package mutating func writeZoneID(_ id: ZoneID) {
        writeText(id.name.description)
        writeInteger(id.owner.rawValue)
    }

    package mutating func readZoneID() throws(ProtocolError) -> ZoneID {
        let name = try readZoneName()
        return ZoneID(name: name, owner: ReplicaID(rawValue: try readUInt64()))
    }

    package mutating func readZoneName() throws(ProtocolError) -> ZoneName {
        let text = try readText(limit: ZoneName.maximumLength, of: "a zone's name")
        guard let name = ZoneName(text) else {
            throw .malformed("a zone name that is not printable ASCII")
        }
        return name
    }

    // MARK: Assets

    package mutating func readAssetHash() throws(ProtocolError) -> AssetHash {
        guard let hash = AssetHash(try readFixed(AssetHash.length)) else { throw .malformed("a hash") }
        return hash
    }

    package mutating func readAsset() throws(ProtocolError) -> Asset {
        let hash = try readAssetHash()
        let size = Int64(try readVarint())
        let mediaType = try readText(limit: Asset.maximumMediaTypeLength, of: "a media type")
        let name = try readText(limit: Asset.maximumNameLength, of: "a file name")
        guard let asset = Asset(hash: hash, size: size, mediaType: mediaType, name: name) else {
            throw .malformed("an asset that is none")
        }
        return asset
    }

    // MARK: Tokens

    package mutating func writeToken(_ token: ChangeToken) {
        writeCount(token.generation.count)
        writeBytes(token.generation)
        writeVarint(UInt64(token.sequence))
        writeVarint(UInt64(token.horizon))
    }

    package mutating func readToken() throws(ProtocolError) -> ChangeToken {
        let length = try readCount(
            below: ChangeToken.maximumGenerationLength + 1, of: "the length of a token")
        let generation = try readFixed(length)
        let sequence = Int64(try readVarint())
        let horizon = Int64(try readVarint())
        guard horizon == 0 || horizon > sequence else {
            throw .malformed("a horizon that is not greater than the sequence")
        }
        return ChangeToken(generation: generation, sequence: sequence, horizon: horizon)
    }

    package mutating func writeOptionalToken(_ token: ChangeToken?) {
        writeFlag(token != nil)
        if let token { writeToken(token) }
    }

    package mutating func readOptionalToken() throws(ProtocolError) -> ChangeToken? {
        try readFlag() ? try readToken() : nil
    }

    package mutating func writeFlag(_ flag: Bool) {
        writeInteger(flag ? 1 : 0 as UInt8)
    }

    /// Reads a byte that is 0 or 1.
    package mutating func readFlag() throws(ProtocolError) -> Bool {
        switch try readByte() {
        case 0: false
        case 1: true
        default: throw .malformed("a flag that is neither 0 nor 1")
        }
    }
}

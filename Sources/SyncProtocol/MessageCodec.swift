import NIOCore
import SyncModel

/// Turns messages into bytes and back: a varint length, a varint type, the payload.
///
/// Bytes that follow what this version knows of a payload are a newer minor version's, and are skipped.
package enum MessageCodec {
    /// Appends a whole message, its length in front.
    package static func encode(_ message: Message, into buffer: inout ByteBuffer) {
        var body = ByteBuffer()
        encodeBody(message, &body)
        buffer.writeCount(body.readableBytes)
        buffer.writeBuffer(&body)
    }

    /// Takes the next whole message off the front of `buffer`, or returns nil when it is not all there.
    ///
    /// - Parameter limit: bytes that a message may have; a greater length is refused before anything is kept.
    package static func decode(_ buffer: inout ByteBuffer, limit: Int) throws(ProtocolError) -> Message? {
        let start = buffer.readerIndex
        guard let length = buffer.readVarintIfPresent() else { return nil }
        guard length <= UInt64(limit) else {
            throw .malformed("a message of \(length) bytes where at most \(limit) are allowed")
        }
        guard var body = buffer.readSlice(length: Int(length)) else {
            buffer.moveReaderIndex(to: start)
            return nil
        }
        return try decodeBody(&body)
    }

    private static func encodeBody(_ message: Message, _ body: inout ByteBuffer) {
        switch message {
        case .hello(let hello):
            begin(.hello, &body)
            encode(hello, &body)
        case .pairingShare(let share):
            begin(.pairingShare, &body)
            body.writeBytes(share)
        case .pairingTag(let tag):
            begin(.pairingTag, &body)
            body.writeBytes(tag.tag)
            body.writeText(truncated(tag.displayName, ProtocolLimits.maximumDisplayName))
        case .open(let open):
            begin(.open, &body)
            body.writeInteger(open.union.rawValue)
            body.writeCount(open.zones.count)
            for zone in open.zones {
                body.writeZoneID(zone.id)
                body.writeOptionalToken(zone.received)
            }
        case .refuse(let refuse):
            begin(.refuse, &body)
            body.writeCount(refuse.zone)
            body.writeCount(refuse.reason)
            body.writeCount(refuse.names.count)
            for name in refuse.names { body.writeText(name.description) }
        case .begin(let begin):
            Self.begin(.begin, &body)
            body.writeCount(begin.zone)
            body.writeInteger(begin.isHeldTokenVoid ? 1 : 0 as UInt8)
            body.writeInteger(begin.isWholeCopy ? 1 : 0 as UInt8)
            body.writeVarint(begin.recordCount)
        case .batch(let zone, let batch):
            begin(.batch, &body)
            body.writeCount(zone)
            BatchCodec.encode(batch, into: &body)
        case .acknowledge(let zone, let token):
            begin(.acknowledge, &body)
            body.writeCount(zone)
            body.writeToken(token)
        case .digest(let zone, let summary):
            begin(.digest, &body)
            body.writeCount(zone)
            encode(summary, &body)
        case .resync(let zone, let round):
            begin(.resync, &body)
            body.writeCount(zone)
            body.writeCount(round)
        case .reconcile(let step):
            begin(.reconcile, &body)
            body.writeCount(step.zone)
            body.writeInteger(step.isEnd ? 1 : 0 as UInt8)
            body.writeCount(step.wanted.count)
            for id in step.wanted { body.writeBytes(id.bytes) }
            body.writeCount(step.payload.count)
            body.writeBytes(step.payload)
        case .assetRequest(let request):
            begin(.assetRequest, &body)
            body.writeBytes(request.hash.bytes)
            body.writeVarint(request.offset)
            body.writeVarint(request.length)
        case .assetChunk(let chunk):
            begin(.assetChunk, &body)
            body.writeBytes(chunk.hash.bytes)
            body.writeVarint(chunk.offset)
            body.writeCount(chunk.bytes.readableBytes)
            body.writeImmutableBuffer(chunk.bytes)
        case .assetMissing(let hash):
            begin(.assetMissing, &body)
            body.writeBytes(hash.bytes)
        case .assetsAvailable(let hashes):
            begin(.assetsAvailable, &body)
            body.writeCount(hashes.count)
            for hash in hashes { body.writeBytes(hash.bytes) }
        case .assetsWanted(let wanted):
            begin(.assetsWanted, &body)
            body.writeVarint(wanted.files)
            body.writeVarint(wanted.bytes)
        case .ping(let bytes):
            begin(.ping, &body)
            body.writeBytes(bytes)
        case .pong(let bytes):
            begin(.pong, &body)
            body.writeBytes(bytes)
        case .error(let error):
            begin(.error, &body)
            body.writeVarint(error.code.rawValue)
            body.writeText(truncated(error.message, ProtocolLimits.maximumErrorMessage))
        case .goodbye:
            begin(.goodbye, &body)
        case .unknown(let type):
            body.writeVarint(type)
        }
    }

    private static func begin(_ type: Message.TypeNumber, _ body: inout ByteBuffer) {
        body.writeVarint(type.rawValue)
    }

    private static func decodeBody(_ body: inout ByteBuffer) throws(ProtocolError) -> Message {
        let number = try body.readVarint()
        guard let type = Message.TypeNumber(rawValue: number) else { return .unknown(type: number) }
        switch type {
        case .hello:
            return .hello(try decodeHello(&body))
        case .pairingShare:
            return .pairingShare(try body.readFixed(pairingShareLength))
        case .pairingTag:
            let tag = try body.readFixed(pairingTagLength)
            return .pairingTag(Message.PairingTag(tag: tag, displayName: try readDisplayName(&body)))
        case .open:
            return .open(try decodeOpen(&body))
        case .refuse:
            return .refuse(try decodeRefuse(&body))
        case .begin:
            let zone = try readZone(&body)
            return .begin(
                Message.Begin(
                    zone: zone, isHeldTokenVoid: try body.readFlag(), isWholeCopy: try body.readFlag(),
                    recordCount: try body.readVarint()))
        case .batch:
            let zone = try readZone(&body)
            return .batch(zone: zone, try BatchCodec.decode(&body))
        case .acknowledge:
            let zone = try readZone(&body)
            return .acknowledge(zone: zone, try body.readToken())
        case .digest:
            let zone = try readZone(&body)
            return .digest(zone: zone, try decodeSummary(&body))
        case .resync:
            let zone = try readZone(&body)
            return .resync(zone: zone, round: try body.readCount(below: 1 << 30, of: "a round"))
        case .reconcile:
            return .reconcile(try decodeReconcile(&body))
        case .assetRequest:
            return .assetRequest(
                Message.AssetRequest(
                    hash: try body.readAssetHash(), offset: try body.readVarint(),
                    length: try body.readVarint()))
        case .assetChunk:
            return .assetChunk(try decodeChunk(&body))
        case .assetMissing:
            return .assetMissing(try body.readAssetHash())
        case .assetsAvailable:
            var hashes: [AssetHash] = []
            let limit = ProtocolLimits.maximumAssetsAvailable + 1
            for _ in 0..<(try body.readCount(below: limit, of: "the number of files")) {
                hashes.append(try body.readAssetHash())
            }
            return .assetsAvailable(hashes)
        case .assetsWanted:
            return .assetsWanted(
                Message.AssetsWanted(files: try body.readVarint(), bytes: try body.readVarint()))
        case .ping:
            return .ping(try body.readFixed(pingLength))
        case .pong:
            return .pong(try body.readFixed(pingLength))
        case .error:
            let code = ProtocolError.Code(rawValue: try body.readVarint())
            let text = try body.readText(limit: ProtocolLimits.maximumErrorMessage, of: "an error")
            return .error(ProtocolError(code, printable(text)))
        case .goodbye:
            return .goodbye
        }
    }

    /// Bytes of a CPace share, of a confirmation tag, and of what a ping carries.
    package static let pairingShareLength = 32
    package static let pairingTagLength = 64
    package static let pingLength = 8

    private static func readZone(_ body: inout ByteBuffer) throws(ProtocolError) -> Int {
        try body.readCount(below: ProtocolLimits.maximumZones, of: "a zone's number")
    }

    private static func decodeChunk(_ body: inout ByteBuffer) throws(ProtocolError) -> Message.AssetChunk {
        let hash = try body.readAssetHash()
        let offset = try body.readVarint()
        let count = try body.readCount(below: ProtocolLimits.assetChunk + 1, of: "the length of a chunk")
        guard let bytes = body.readSlice(length: count) else {
            throw .malformed("a message that ends early")
        }
        return Message.AssetChunk(hash: hash, offset: offset, bytes: bytes)
    }

    // MARK: Reconciliation

    private static func decodeReconcile(_ body: inout ByteBuffer) throws(ProtocolError) -> Message.Reconcile {
        let zone = try readZone(&body)
        let isEnd = try body.readFlag()
        var wanted: [NegentropyID] = []
        let limit = ProtocolLimits.maximumTableEntries + 1
        for _ in 0..<(try body.readCount(below: limit, of: "the number of wanted records")) {
            guard let id = NegentropyID(try body.readFixed(32)) else {
                throw .malformed("an id that is none")
            }
            wanted.append(id)
        }
        let length = try body.readCount(
            below: ProtocolLimits.maximumMessage, of: "the length of a reconciliation message")
        guard !isEnd || length == 0 else { throw .malformed("a reconciliation that ends and goes on") }
        return Message.Reconcile(
            zone: zone, isEnd: isEnd, wanted: wanted, payload: try body.readFixed(length))
    }

    // MARK: Hello

    private static func encode(_ hello: Message.Hello, _ body: inout ByteBuffer) {
        body.writeVarint(hello.minorVersion)
        body.writeInteger(hello.replica.rawValue)
        body.writeInteger(hello.instance)
        body.writeText(truncated(hello.displayName, ProtocolLimits.maximumDisplayName))
        body.writeVarint(UInt64(max(0, hello.clock)))
        body.writeCount(hello.zones.count)
        for zone in hello.zones {
            body.writeZoneID(zone.id)
            body.writeText(zone.name)
            body.writeInteger((zone.isDefault ? isDefaultZone : 0) | (zone.isShared ? isSharedZone : 0))
            body.writeInteger(UInt8(zone.rights.rawValue))
            body.writeVarint(zone.recordCount)
            body.writeBytes(zone.fingerprint)
        }
    }

    private static let isDefaultZone: UInt8 = 1
    private static let isSharedZone: UInt8 = 2

    private static func decodeHello(_ body: inout ByteBuffer) throws(ProtocolError) -> Message.Hello {
        let minorVersion = try body.readVarint()
        let replica = ReplicaID(rawValue: try body.readUInt64())
        let instance = try body.readUInt64()
        let displayName = try readDisplayName(&body)
        let clock = Int64(try body.readVarint())
        var zones: [ZoneOffer] = []
        for _ in 0..<(try body.readCount(below: ProtocolLimits.maximumZones + 1, of: "the number of zones")) {
            let id = try body.readZoneID()
            let name = try body.readZoneName()
            let flags = try body.readByte()
            guard let rights = ZoneRights(rawValue: Int64(try body.readByte())), rights != .none else {
                throw .malformed("rights that do not exist")
            }
            zones.append(
                ZoneOffer(
                    id: id, name: name.description, isDefault: flags & isDefaultZone != 0,
                    isShared: flags & isSharedZone != 0, rights: rights,
                    recordCount: try body.readVarint(),
                    fingerprint: try body.readFixed(ZoneOffer.fingerprintLength)))
        }
        try checkOnce(zones.map(\.id))
        guard zones.count(where: \.isDefault) <= 1 else { throw .malformed("two default zones") }
        return Message.Hello(
            minorVersion: minorVersion, replica: replica, instance: instance, displayName: displayName,
            clock: clock, zones: zones)
    }

    // MARK: Zones

    private static func decodeOpen(_ body: inout ByteBuffer) throws(ProtocolError) -> Message.Open {
        guard let union = ZoneUnion(rawValue: try body.readByte()) else {
            throw .malformed("a way to bring zones together that does not exist")
        }
        var zones: [Message.Open.Entry] = []
        for _ in 0..<(try body.readCount(below: ProtocolLimits.maximumZones + 1, of: "the number of zones")) {
            let id = try body.readZoneID()
            zones.append(Message.Open.Entry(id: id, received: try body.readOptionalToken()))
        }
        try checkOnce(zones.map(\.id))
        return Message.Open(union: union, zones: zones)
    }

    private static func checkOnce(_ zones: [ZoneID]) throws(ProtocolError) {
        guard Set(zones).count == zones.count else { throw .malformed("a zone twice") }
    }

    private static func decodeRefuse(_ body: inout ByteBuffer) throws(ProtocolError) -> Message.Refuse {
        let zone = try readZone(&body)
        let reason = try body.readCount(below: 256, of: "a reason")
        var names: [RecordName] = []
        let limit = ProtocolLimits.maximumTableEntries + 1
        for _ in 0..<(try body.readCount(below: limit, of: "the number of records")) {
            let text = try body.readText(limit: RecordName.maximumLength, of: "a record name")
            guard let name = try? RecordName(text) else { throw .malformed("a record name that is none") }
            names.append(name)
        }
        return Message.Refuse(zone: zone, reason: reason, names: names)
    }

    private static func readDisplayName(_ body: inout ByteBuffer) throws(ProtocolError) -> String {
        let name = printable(
            try body.readText(limit: ProtocolLimits.maximumDisplayName, of: "a display name"))
        return name.isEmpty ? "unnamed" : name
    }

    // MARK: Digest

    private static func encode(_ summary: ZoneSummary, _ body: inout ByteBuffer) {
        body.writeToken(summary.current)
        body.writeOptionalToken(summary.received)
        body.writeVarint(summary.digest.count)
        body.writeBytes(summary.digest.sumBytes)
        body.writeCount(summary.refused)
    }

    private static func decodeSummary(_ body: inout ByteBuffer) throws(ProtocolError) -> ZoneSummary {
        let current = try body.readToken()
        let received = try body.readOptionalToken()
        let count = try body.readVarint()
        guard let digest = ZoneDigest(count: count, sumBytes: try body.readFixed(32)) else {
            throw .malformed("a digest")
        }
        let refused = try body.readCount(below: 1 << 30, of: "the number of refused records")
        return ZoneSummary(current: current, received: received, digest: digest, refused: refused)
    }

    /// Another machine's words end up on this one's terminal: no control characters, no line breaks.
    private static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.map {
                $0.properties.generalCategory == .control || $0.properties.isBidiControl ? " " : Character($0)
            })
    }

    /// The longest prefix of whole characters within a number of bytes.
    private static func truncated(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var result = ""
        for character in text {
            guard result.utf8.count + character.utf8.count <= limit else { break }
            result.append(character)
        }
        return result
    }
}

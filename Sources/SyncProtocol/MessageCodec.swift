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
        let zones = hello.zones.sorted { $0.key < $1.key }
        body.writeCount(zones.count)
        for (zone, token) in zones {
            body.writeText(zone.description)
            body.writeOptionalToken(token)
        }
    }

    private static func decodeHello(_ body: inout ByteBuffer) throws(ProtocolError) -> Message.Hello {
        let minorVersion = try body.readVarint()
        let replica = ReplicaID(rawValue: try body.readUInt64())
        let instance = try body.readUInt64()
        let displayName = try readDisplayName(&body)
        let clock = Int64(try body.readVarint())
        var zones: [ZoneName: ChangeToken?] = [:]
        for _ in 0..<(try body.readCount(below: ProtocolLimits.maximumZones + 1, of: "the number of zones")) {
            let text = try body.readText(limit: ZoneName.maximumLength, of: "a zone's name")
            guard let zone = ZoneName(text) else {
                throw .malformed("a zone name that is not printable ASCII")
            }
            zones[zone] = .some(try body.readOptionalToken())
        }
        return Message.Hello(
            minorVersion: minorVersion, replica: replica, instance: instance, displayName: displayName,
            clock: clock, zones: zones)
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
    }

    private static func decodeSummary(_ body: inout ByteBuffer) throws(ProtocolError) -> ZoneSummary {
        let current = try body.readToken()
        let received = try body.readOptionalToken()
        let count = try body.readVarint()
        guard let digest = ZoneDigest(count: count, sumBytes: try body.readFixed(32)) else {
            throw .malformed("a digest")
        }
        return ZoneSummary(current: current, received: received, digest: digest)
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

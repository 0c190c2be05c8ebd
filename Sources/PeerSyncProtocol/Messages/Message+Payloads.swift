import NIOCore
import PeerSyncModel

// The payloads of messages, with their parts in the order of Protocol/ "Messages".

// MARK: The session

extension Message.Hello {
    func encode(into body: inout ByteBuffer) {
        body.writeVarint(minorVersion)
        body.writeInteger(replica.rawValue)
        body.writeInteger(instance)
        body.writeText(displayName, cutTo: ProtocolLimits.maximumDisplayName)
        body.writeVarint(UInt64(max(0, clock)))
        body.writeList(zones) { body, zone in zone.encode(into: &body) }
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(
            minorVersion: try body.readVarint(), replica: ReplicaID(rawValue: try body.readUInt64()),
            instance: try body.readUInt64(), displayName: try body.readDisplayName(),
            clock: Int64(try body.readVarint()),
            zones: try body.readList(limit: ProtocolLimits.maximumZones, of: "the number of zones") {
                body throws(ProtocolError) in try ZoneOffer(decoding: &body)
            })
        try checkOnce(zones.map(\.id))
        guard zones.count(where: \.isDefault) <= 1 else { throw .malformed("two default zones") }
    }
}

extension ZoneOffer {
    private static let isDefault: UInt8 = 1
    private static let isShared: UInt8 = 2

    fileprivate func encode(into body: inout ByteBuffer) {
        body.writeZoneID(id)
        body.writeText(name)
        body.writeInteger((isDefault ? Self.isDefault : 0) | (isShared ? Self.isShared : 0))
        body.writeInteger(UInt8(rights.rawValue))
        body.writeVarint(recordCount)
        body.writeBytes(fingerprint)
    }

    fileprivate init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let id = try body.readZoneID()
        let name = try body.readZoneName()
        let flags = try body.readByte()
        guard let rights = ZoneRights(rawValue: Int64(try body.readByte())), rights != .none else {
            throw .malformed("rights that do not exist")
        }
        self.init(
            id: id, name: name.description, isDefault: flags & Self.isDefault != 0,
            isShared: flags & Self.isShared != 0, rights: rights, recordCount: try body.readVarint(),
            fingerprint: try body.readFixed(ZoneOffer.fingerprintLength))
    }
}

extension Message.PairingTag {
    func encode(into body: inout ByteBuffer) {
        body.writeBytes(tag)
        body.writeText(displayName, cutTo: ProtocolLimits.maximumDisplayName)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(
            tag: try body.readFixed(MessageCodec.pairingTagLength), displayName: try body.readDisplayName())
    }
}

extension Message.Open {
    func encode(into body: inout ByteBuffer) {
        body.writeInteger(union.rawValue)
        body.writeList(zones) { body, zone in
            body.writeZoneID(zone.id)
            body.writeOptionalToken(zone.received)
        }
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        guard let union = ZoneUnion(rawValue: try body.readByte()) else {
            throw .malformed("a way to bring zones together that does not exist")
        }
        let zones = try body.readList(limit: ProtocolLimits.maximumZones, of: "the number of zones") {
            body throws(ProtocolError) in
            Entry(id: try body.readZoneID(), received: try body.readOptionalToken())
        }
        try checkOnce(zones.map(\.id))
        self.init(union: union, zones: zones)
    }
}

private func checkOnce(_ zones: [ZoneID]) throws(ProtocolError) {
    guard Set(zones).count == zones.count else { throw .malformed("a zone twice") }
}

extension ProtocolError {
    func encode(into body: inout ByteBuffer) {
        body.writeVarint(code.rawValue)
        body.writeText(message, cutTo: ProtocolLimits.maximumErrorMessage)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let code = Code(rawValue: try body.readVarint())
        self.init(code, try body.readPrintable(limit: ProtocolLimits.maximumErrorMessage, of: "an error"))
    }
}

// MARK: Zones

extension Message.Begin {
    func encode(into body: inout ByteBuffer) {
        body.writeCount(zone)
        body.writeFlag(isHeldTokenVoid)
        body.writeFlag(isWholeCopy)
        body.writeVarint(recordCount)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(
            zone: try body.readZoneNumber(), isHeldTokenVoid: try body.readFlag(),
            isWholeCopy: try body.readFlag(), recordCount: try body.readVarint())
    }
}

extension Message.Refuse {
    func encode(into body: inout ByteBuffer) {
        body.writeCount(zone)
        body.writeCount(reason)
        body.writeList(names) { $0.writeText($1.description) }
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(
            zone: try body.readZoneNumber(), reason: try body.readCount(below: 256, of: "a reason"),
            names: try body.readList(
                limit: ProtocolLimits.maximumTableEntries, of: "the number of records"
            ) { body throws(ProtocolError) in
                let text = try body.readText(limit: RecordName.maximumLength, of: "a record name")
                guard let name = try? RecordName(text) else {
                    throw ProtocolError.malformed("a record name that is none")
                }
                return name
            })
    }
}

extension Message.Reconcile {
    func encode(into body: inout ByteBuffer) {
        body.writeCount(zone)
        body.writeFlag(isEnd)
        body.writeList(wanted) { $0.writeBytes($1.bytes) }
        body.writeCount(payload.count)
        body.writeBytes(payload)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let zone = try body.readZoneNumber()
        let isEnd = try body.readFlag()
        let limit = ProtocolLimits.maximumTableEntries
        let wanted = try body.readList(limit: limit, of: "the number of wanted records") {
            body throws(ProtocolError) in
            guard let id = NegentropyID(try body.readFixed(32)) else {
                throw ProtocolError.malformed("an id that is none")
            }
            return id
        }
        let length = try body.readCount(
            below: ProtocolLimits.maximumMessage, of: "the length of a reconciliation message")
        guard !isEnd || length == 0 else { throw .malformed("a reconciliation that ends and goes on") }
        self.init(zone: zone, isEnd: isEnd, wanted: wanted, payload: try body.readFixed(length))
    }
}

extension ZoneSummary {
    func encode(into body: inout ByteBuffer) {
        body.writeToken(current)
        body.writeOptionalToken(received)
        body.writeVarint(digest.count)
        body.writeBytes(digest.sumBytes)
        body.writeCount(refused)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let current = try body.readToken()
        let received = try body.readOptionalToken()
        let count = try body.readVarint()
        guard let digest = ZoneDigest(count: count, sumBytes: try body.readFixed(32)) else {
            throw .malformed("a digest")
        }
        let refused = try body.readCount(below: 1 << 30, of: "the number of refused records")
        self.init(current: current, received: received, digest: digest, refused: refused)
    }
}

// MARK: Assets

extension Message.AssetRequest {
    func encode(into body: inout ByteBuffer) {
        body.writeBytes(hash.bytes)
        body.writeVarint(offset)
        body.writeVarint(length)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(
            hash: try body.readAssetHash(), offset: try body.readVarint(), length: try body.readVarint())
    }
}

extension Message.AssetChunk {
    func encode(into body: inout ByteBuffer) {
        body.writeBytes(hash.bytes)
        body.writeVarint(offset)
        body.writeCount(bytes.readableBytes)
        body.writeImmutableBuffer(bytes)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        let hash = try body.readAssetHash()
        let offset = try body.readVarint()
        let count = try body.readCount(below: ProtocolLimits.assetChunk + 1, of: "the length of a chunk")
        guard let bytes = body.readSlice(length: count) else {
            throw .malformed("a message that ends early")
        }
        // This copies the bytes: a slice of one byte would keep the whole buffer of its frame alive.
        self.init(hash: hash, offset: offset, bytes: ByteBuffer(bytes: bytes.readableBytesView))
    }
}

extension Message.AssetsWanted {
    func encode(into body: inout ByteBuffer) {
        body.writeVarint(files)
        body.writeVarint(bytes)
    }

    init(decoding body: inout ByteBuffer) throws(ProtocolError) {
        self.init(files: try body.readVarint(), bytes: try body.readVarint())
    }
}

// MARK: Texts of other machines

extension ByteBuffer {
    fileprivate mutating func writeText(_ text: String, cutTo limit: Int) {
        var result = ""
        for character in text {
            guard result.utf8.count + character.utf8.count <= limit else { break }
            result.append(character)
        }
        writeText(result)
    }

    /// Reads a text and puts spaces in place of control characters and line breaks, because this machine's terminal
    /// may show it.
    fileprivate mutating func readPrintable(limit: Int, of what: String) throws(ProtocolError) -> String {
        String(
            try readText(limit: limit, of: what).unicodeScalars.map {
                $0.properties.generalCategory == .control || $0.properties.isBidiControl ? " " : Character($0)
            })
    }

    fileprivate mutating func readDisplayName() throws(ProtocolError) -> String {
        let name = try readPrintable(limit: ProtocolLimits.maximumDisplayName, of: "a display name")
        return name.isEmpty ? "unnamed" : name
    }
}

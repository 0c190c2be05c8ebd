import NIOCore
import PeerSyncModel

/// Turns messages into bytes and back: a varint length, a varint type, the payload.
///
/// The decoder skips bytes after the known parts of a payload, because they come from a newer minor version.
package enum MessageCodec {
    /// Bytes of a CPace share.
    static let pairingShareLength = 32
    /// Bytes of the confirmation tag of a pairing.
    static let pairingTagLength = 64
    /// Bytes that a ping carries.
    package static let pingLength = 8

    /// Appends a whole message, its length in front.
    package static func encode(_ message: Message, into buffer: inout ByteBuffer) {
        var body = ByteBuffer()
        encodeBody(message, &body)
        buffer.writeCount(body.readableBytes)
        buffer.writeBuffer(&body)
    }

    /// Removes and returns the first whole message of `buffer`; returns nil if it is not complete.
    ///
    /// - Parameter limit: the most bytes that a message may have. The decoder refuses a greater length before it keeps
    ///   anything.
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
        case .hello(let hello): body.write(.hello, hello.encode)
        case .pairingShare(let share): body.write(.pairingShare) { $0.writeBytes(share) }
        case .pairingTag(let tag): body.write(.pairingTag, tag.encode)
        case .open(let open): body.write(.open, open.encode)
        case .refuse(let refuse): body.write(.refuse, refuse.encode)
        case .begin(let begin): body.write(.begin, begin.encode)
        case .batch(let zone, let batch):
            body.write(.batch, zone: zone) { BatchCodec.encode(batch, into: &$0) }
        case .acknowledge(let zone, let token): body.write(.acknowledge, zone: zone) { $0.writeToken(token) }
        case .digest(let zone, let summary): body.write(.digest, zone: zone, summary.encode)
        case .resync(let zone, let round): body.write(.resync, zone: zone) { $0.writeCount(round) }
        case .reconcile(let step): body.write(.reconcile, step.encode)
        case .assetRequest(let request): body.write(.assetRequest, request.encode)
        case .assetChunk(let chunk): body.write(.assetChunk, chunk.encode)
        case .assetMissing(let hash): body.write(.assetMissing) { $0.writeBytes(hash.bytes) }
        case .assetsAvailable(let hashes):
            body.write(.assetsAvailable) { $0.writeList(hashes) { $0.writeBytes($1.bytes) } }
        case .assetsWanted(let wanted): body.write(.assetsWanted, wanted.encode)
        case .household(let digest): body.write(.household) { $0.writeBytes(digest) }
        case .householdSet(let told): body.write(.householdSet, told.encode)
        case .ping(let bytes): body.write(.ping) { $0.writeBytes(bytes) }
        case .pong(let bytes): body.write(.pong) { $0.writeBytes(bytes) }
        case .error(let error): body.write(.error, error.encode)
        case .goodbye: body.write(.goodbye)
        case .unknown(let type): body.writeVarint(type)
        }
    }

    private static func decodeBody(_ body: inout ByteBuffer) throws(ProtocolError) -> Message {
        let number = try body.readVarint()
        guard let type = Message.TypeNumber(rawValue: number) else { return .unknown(type: number) }
        return switch type {
        case .hello: .hello(try Message.Hello(decoding: &body))
        case .pairingShare: .pairingShare(try body.readFixed(pairingShareLength))
        case .pairingTag: .pairingTag(try Message.PairingTag(decoding: &body))
        case .open: .open(try Message.Open(decoding: &body))
        case .refuse: .refuse(try Message.Refuse(decoding: &body))
        case .begin: .begin(try Message.Begin(decoding: &body))
        case .batch: .batch(zone: try body.readZoneNumber(), try BatchCodec.decode(&body))
        case .acknowledge: .acknowledge(zone: try body.readZoneNumber(), try body.readToken())
        case .digest: .digest(zone: try body.readZoneNumber(), try ZoneSummary(decoding: &body))
        case .resync:
            .resync(zone: try body.readZoneNumber(), round: try body.readCount(below: 1 << 30, of: "a round"))
        case .reconcile: .reconcile(try Message.Reconcile(decoding: &body))
        case .assetRequest: .assetRequest(try Message.AssetRequest(decoding: &body))
        case .assetChunk: .assetChunk(try Message.AssetChunk(decoding: &body))
        case .assetMissing: .assetMissing(try body.readAssetHash())
        case .assetsAvailable:
            .assetsAvailable(
                try body.readList(limit: ProtocolLimits.maximumAssetsAvailable, of: "the number of files") {
                    body throws(ProtocolError) in try body.readAssetHash()
                })
        case .assetsWanted: .assetsWanted(try Message.AssetsWanted(decoding: &body))
        case .household: .household(try body.readFixed(Household.digestLength))
        case .householdSet: .householdSet(try Message.HouseholdSet(decoding: &body))
        case .ping: .ping(try body.readFixed(pingLength))
        case .pong: .pong(try body.readFixed(pingLength))
        case .error: .error(try ProtocolError(decoding: &body))
        case .goodbye: .goodbye
        }
    }
}

extension ByteBuffer {
    /// Appends a message: its type, the number of its zone if it has one, and the rest of its payload.
    fileprivate mutating func write(
        _ type: Message.TypeNumber, zone: Int? = nil, _ payload: (inout ByteBuffer) -> Void = { _ in }
    ) {
        writeVarint(type.rawValue)
        if let zone { writeCount(zone) }
        payload(&self)
    }
}

import NIOCore
import PeerSyncModel
import PeerSyncProtocol

extension ZoneSection {
    func encode(into buffer: inout ByteBuffer) {
        buffer.writeZoneID(zone)
        for bytes in [history.bytes, log.bytes, logKey] { buffer.writeBytes(bytes) }
        buffer.writeFlag(isWhole)
        buffer.writeCount(base)
        buffer.writeCount(segments)
        var last: Int64 = 0
        for end in ends {
            buffer.writeVarint(UInt64(end - last))
            last = end
        }
        buffer.writeToken(covered)
        buffer.writeList(generations) { buffer, generation in
            buffer.writeCount(generation.id.count)
            buffer.writeBytes(generation.id)
            buffer.writeVarint(UInt64(generation.first))
        }
        buffer.writeVarint(UInt64(forgotten))
        buffer.writeVarint(digest.count)
        buffer.writeBytes(digest.sumBytes)
        buffer.writeList(readers) { $0.writeInteger($1.rawValue) }
        buffer.writeList(read) { buffer, read in
            buffer.writeInteger(read.replica.rawValue)
            buffer.writeBytes(read.history.bytes + read.log.bytes)
            buffer.writeCount(read.segment)
            buffer.writeOptionalToken(read.token)
        }
        encodeFiles(into: &buffer)
        encodeLaterFields(into: &buffer)
    }

    private func encodeFiles(into buffer: inout ByteBuffer) {
        buffer.writeList(fileKeys) { $0.writeBytes($1.epoch.bytes + $1.key) }
        buffer.writeList(offered) { buffer, file in
            buffer.writeBytes(file.hash.bytes)
            buffer.writeVarint(UInt64(file.size))
            buffer.writeCount(file.key)
        }
        buffer.writeList(wanted) { $0.writeBytes($1.bytes) }
        buffer.writeFlag(wantsMore)
    }

    /// Writes the fields that came later than the others. A section ends before the first of them about which it says nothing, so what
    /// is damaged is said only behind what was refused.
    private func encodeLaterFields(into buffer: inout ByteBuffer) {
        assert(refused != nil || damaged.isEmpty, "damage is said behind refused records only")
        guard let refused else { return }
        buffer.writeList(refused) { buffer, refused in
            buffer.writeInteger(refused.replica.rawValue)
            buffer.writeList(refused.records) { buffer, record in
                buffer.writeText(record.name.description)
                buffer.writeCount(record.reason)
            }
            buffer.writeCount(refused.further)
        }
        buffer.writeList(damaged) { buffer, damaged in
            buffer.writeInteger(damaged.replica.rawValue)
            buffer.writeBytes(damaged.object.bytes)
        }
    }

    init(decoding buffer: inout ByteBuffer) throws(ProtocolError) {
        zone = try buffer.readZoneID()
        history = HistoryID(unchecked: try buffer.readFixed(HistoryID.length))
        log = LogID(unchecked: try buffer.readFixed(LogID.length))
        logKey = try buffer.readFixed(Sealing.keyLength)
        isWhole = try buffer.readFlag()
        base = try buffer.readCount(below: MailboxLimits.segments + 1, of: "the segments of a base")
        segments = try buffer.readCount(below: MailboxLimits.segments + 1, of: "the segments of a log")
        guard base <= segments else { throw .malformed("a log with fewer segments than its base") }
        ends = []
        for _ in 0..<(base > 0 ? segments - base + 1 : 0) {
            let (end, overflow) = (ends.last ?? 0).addingReportingOverflow(Int64(try buffer.readVarint()))
            guard !overflow, end <= Int64(VariableLengthInteger.maximum) else {
                throw .malformed("the end of a segment")
            }
            ends.append(end)
        }
        covered = try buffer.readToken()
        generations = try buffer.readList(limit: MailboxLimits.generations, of: "the number of generations") {
            buffer throws(ProtocolError) in
            let length = try buffer.readCount(
                below: ChangeToken.maximumGenerationLength + 1, of: "the length of a generation")
            return Generation(id: try buffer.readFixed(length), first: Int64(try buffer.readVarint()))
        }
        guard zip(generations, generations.dropFirst()).allSatisfy({ $0.first <= $1.first }) else {
            throw .malformed("generations out of order")
        }
        forgotten = Int64(try buffer.readVarint())
        let count = try buffer.readVarint()
        guard let digest = ZoneDigest(count: count, sumBytes: try buffer.readFixed(32)) else {
            throw .malformed("a digest")
        }
        self.digest = digest
        readers = try buffer.readList(limit: MailboxLimits.machines, of: "the number of readers") {
            buffer throws(ProtocolError) in ReplicaID(rawValue: try buffer.readUInt64())
        }
        read = try buffer.readList(limit: MailboxLimits.machines, of: "the number of authors") {
            buffer throws(ProtocolError) in try Read(decoding: &buffer)
        }
        (fileKeys, offered, wanted, wantsMore) = try Self.files(&buffer)
        refused = try Self.refused(&buffer)
        damaged = try Self.damaged(&buffer)
    }

    private static func files(
        _ buffer: inout ByteBuffer
    ) throws(ProtocolError) -> ([FileKey], [OfferedFile], [AssetHash], Bool) {
        let keys = try buffer.readList(limit: MailboxLimits.fileKeys, of: "the number of keys") {
            buffer throws(ProtocolError) in
            FileKey(
                epoch: FileEpoch(unchecked: try buffer.readFixed(FileEpoch.length)),
                key: try buffer.readFixed(Sealing.keyLength))
        }
        let offered = try buffer.readList(limit: MailboxLimits.files, of: "the number of files") {
            buffer throws(ProtocolError) in
            let hash = try buffer.readAssetHash()
            let size = try buffer.readVarint()
            guard size <= UInt64(Asset.maximumSize) else { throw .malformed("a file that is too large") }
            return OfferedFile(
                hash: hash, size: Int64(size),
                key: try buffer.readCount(below: keys.count, of: "a key's number"))
        }
        let wanted = try buffer.readList(limit: MailboxLimits.files, of: "the number of files") {
            buffer throws(ProtocolError) in try buffer.readAssetHash()
        }
        return (keys, offered, wanted, try buffer.readFlag())
    }

    /// - Returns: nil for a section of an author that does not know of this field.
    private static func refused(_ buffer: inout ByteBuffer) throws(ProtocolError) -> [Refused]? {
        guard buffer.readableBytes > 0 else { return nil }
        return try buffer.readList(limit: MailboxLimits.machines, of: "the number of authors") {
            buffer throws(ProtocolError) in try Refused(decoding: &buffer)
        }
    }

    /// - Returns: nothing for a section of an author that does not know of this field.
    private static func damaged(_ buffer: inout ByteBuffer) throws(ProtocolError) -> [Damaged] {
        guard buffer.readableBytes > 0 else { return [] }
        return try buffer.readList(limit: MailboxLimits.damaged, of: "the number of damaged objects") {
            buffer throws(ProtocolError) in
            Damaged(
                replica: ReplicaID(rawValue: try buffer.readUInt64()),
                object: ObjectID(unchecked: try buffer.readFixed(ObjectID.length)))
        }
    }
}

extension ZoneSection.Refused {
    fileprivate init(decoding buffer: inout ByteBuffer) throws(ProtocolError) {
        replica = ReplicaID(rawValue: try buffer.readUInt64())
        records = try buffer.readList(limit: MailboxLimits.refused, of: "the number of refused records") {
            buffer throws(ProtocolError) in
            let text = try buffer.readText(limit: RecordName.maximumLength, of: "a record name")
            guard let name = try? RecordName(text) else { throw .malformed("a record name that is none") }
            return Entry(name: name, reason: try buffer.readCount(below: 256, of: "a reason"))
        }
        further = try buffer.readCount(
            below: MailboxLimits.furtherRefused, of: "the number of refused records")
    }
}

extension ZoneSection.Read {
    fileprivate init(decoding buffer: inout ByteBuffer) throws(ProtocolError) {
        replica = ReplicaID(rawValue: try buffer.readUInt64())
        history = HistoryID(unchecked: try buffer.readFixed(HistoryID.length))
        log = LogID(unchecked: try buffer.readFixed(LogID.length))
        segment = try buffer.readCount(below: MailboxLimits.segments + 1, of: "the number of a segment")
        token = try buffer.readOptionalToken()
    }
}

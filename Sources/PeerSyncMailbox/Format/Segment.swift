import NIOCore
import PeerSyncModel
import PeerSyncProtocol

/// One part of a log: a batch of a zone (Protocol/mailbox.md section 4).
package struct Segment: Sendable, Equatable {
    package let zone: ZoneID
    package let batch: ChangeBatch

    package init(zone: ZoneID, batch: ChangeBatch) {
        self.zone = zone
        self.batch = batch
    }

    package static func name(_ number: UInt64, of author: AuthorID, logKey: [UInt8]) -> MailboxObjectName {
        let name = Sealing.derive(logKey, "segment name", .number(number), length: 16)
        return MailboxObjectName(author.folder, name.hexadecimal)!
    }

    private static func place(_ number: UInt64, _ log: LogID, of author: Author) -> Place {
        Place(kind: .segment, author: author, log: log.bytes, number: number)
    }

    private static func signed(_ place: Place, _ body: [UInt8]) -> [UInt8] {
        .text("scorebook-peer mailbox segment") + place.bytes + BLAKE2b.hash(body, length: 32)
    }

    package func sealed(
        as number: UInt64, in log: LogID, logKey: [UInt8], by secrets: AuthorSecrets,
        nonce: [UInt8] = Sealing.randomBytes(Sealing.nonceLength)
    ) -> [UInt8] {
        var buffer = ByteBuffer()
        buffer.writeZoneID(zone)
        BatchCodec.encode(batch, into: &buffer)
        let body = Array(buffer.readableBytesView)
        let place = Self.place(number, log, of: secrets.author)
        return Sealing.seal(
            secrets.sign(Self.signed(place, body)) + body, Sealing.derive(logKey, "segment"), at: place,
            nonce: nonce)
    }

    /// The sequence of the token of a segment, from the last of the base on; nil before that.
    ///
    /// - Parameter ends: all of them.
    package static func end(of number: Int, base: Int, _ ends: [Int64]) -> Int64? {
        ends.indices.contains(number - base) ? ends[number - base] : nil
    }

    /// Opens a segment.
    ///
    /// - Parameter end: the sequence that its token must have, where somebody knows it: a put that was carried out late leaves an older segment
    ///   of the same number.
    /// - Throws: ``DamagedObject``.
    package init(
        _ object: [UInt8], number: UInt64, of log: LogID, logKey: [UInt8], by author: Author,
        verificationKey: [UInt8], end: Int64? = nil
    ) throws(DamagedObject) {
        let place = Self.place(number, log, of: author)
        let plaintext = try Sealing.open(object, Sealing.derive(logKey, "segment"), at: place)
        let body = Array(plaintext.dropFirst(Signature.length))
        guard
            Signature.isValid(
                Array(plaintext.prefix(Signature.length)), Self.signed(place, body), by: verificationKey)
        else { throw DamagedObject("its signature is not the author's") }
        var buffer = ByteBuffer(bytes: body)
        do throws(ProtocolError) {
            zone = try buffer.readZoneID()
            batch = try BatchCodec.decode(&buffer)
        } catch {
            throw DamagedObject("\(error)")
        }
        guard !batch.isLoose else { throw DamagedObject("a loose batch in a log") }
        guard end == nil || batch.token.sequence == end else {
            throw DamagedObject("it is another segment than its author's head names")
        }
    }
}

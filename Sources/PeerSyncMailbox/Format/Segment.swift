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

    /// Opens a segment.
    ///
    /// - Throws: ``DamagedObject``.
    package init(
        _ object: [UInt8], number: UInt64, of log: LogID, logKey: [UInt8], by author: Author,
        verificationKey: [UInt8]
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
    }
}

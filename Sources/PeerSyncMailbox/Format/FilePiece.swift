import PeerSyncModel

/// The pieces of a file (Protocol/mailbox.md section 8).
package enum FilePiece {
    /// The bytes of each piece but the last.
    package static let size = 1 << 20

    /// How many pieces a file of so many bytes has; an empty one has one.
    package static func count(_ size: Int64) -> Int {
        max(1, Int((size + Int64(self.size) - 1) / Int64(self.size)))
    }

    /// The bytes of a piece of a file of so many bytes.
    package static func length(_ piece: Int, ofFile size: Int64) -> Int {
        Int(min(Int64(self.size), size - Int64(piece) * Int64(self.size)))
    }

    package static func name(_ piece: Int, of file: AssetHash, by author: AuthorID, fileKey: [UInt8])
        -> MailboxObjectName
    {
        let name = Sealing.derive(fileKey, "piece name", file.bytes + .number(UInt64(piece)), length: 16)
        return MailboxObjectName(author.folder, name.hexadecimal)!
    }

    private static func place(_ piece: Int, _ file: AssetHash, _ epoch: FileEpoch, _ author: Author) -> Place
    {
        Place(kind: .piece, author: author, log: epoch.bytes, number: UInt64(piece), file: file.bytes)
    }

    package static func seal(
        _ bytes: [UInt8], _ piece: Int, of file: AssetHash, in epoch: FileEpoch, fileKey: [UInt8],
        by author: Author,
        nonce: [UInt8] = Sealing.randomBytes(Sealing.nonceLength)
    ) -> [UInt8] {
        Sealing.seal(
            bytes, Sealing.derive(fileKey, "piece"), at: place(piece, file, epoch, author), nonce: nonce)
    }

    package static func open(
        _ object: [UInt8], _ piece: Int, of file: AssetHash, in epoch: FileEpoch, fileKey: [UInt8],
        by author: Author
    ) throws(DamagedObject) -> [UInt8] {
        let bytes = try Sealing.open(
            object, Sealing.derive(fileKey, "piece"), at: place(piece, file, epoch, author))
        guard bytes.count <= size else { throw DamagedObject("a piece that is too long") }
        return bytes
    }
}

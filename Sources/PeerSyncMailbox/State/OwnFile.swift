import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// A file that this machine puts, or has put, into a mailbox (`grdb_sync_mailboxFile`).
struct OwnFile: Sendable, Equatable {
    let mailbox: Int64
    let zone: Int64
    let hash: AssetHash
    let size: Int64
    let epoch: FileEpoch
    /// The number of this store's changes up to which a reader must have read to know of the file.
    let sequence: Int64
    /// Whether all pieces are there.
    var isThere: Bool

    static func all(_ db: Database, mailbox: Int64, zone: Int64? = nil) throws -> [OwnFile] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT * FROM grdb_sync_mailboxFile WHERE mailbox = ?1 AND (?2 IS NULL OR zone = ?2) ORDER BY hash
                """, arguments: [mailbox, zone]
        ).compactMap { row in
            guard let hash = AssetHash(Array(row["hash"] as Data)),
                let epoch = FileEpoch(Array(row["epoch"] as Data))
            else { return nil }
            return OwnFile(
                mailbox: row["mailbox"], zone: row["zone"], hash: hash, size: row["size"], epoch: epoch,
                sequence: row["sequence"], isThere: row["isThere"])
        }
    }

    func save(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO grdb_sync_mailboxFile (mailbox, zone, hash, size, epoch, sequence, isThere)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [mailbox, zone, Data(hash.bytes), size, Data(epoch.bytes), sequence, isThere])
    }

    func delete(_ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM grdb_sync_mailboxFile WHERE mailbox = ? AND zone = ? AND hash = ?",
            arguments: [mailbox, zone, Data(hash.bytes)])
    }

    /// The names of its pieces.
    func names(by secrets: AuthorSecrets) -> [MailboxObjectName] {
        let key = secrets.key(of: epoch)
        return (0..<FilePiece.count(size)).map {
            FilePiece.name($0, of: hash, by: secrets.author.id, fileKey: key)
        }
    }
}

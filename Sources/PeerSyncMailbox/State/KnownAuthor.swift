import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// A peer that writes to a mailbox, and its last head (`grdb_sync_mailboxAuthor`).
struct KnownAuthor: Sendable {
    let mailbox: Int64
    let peer: Int64
    let author: AuthorID
    let counter: Int64
    /// The head as it lies in the mailbox; empty if a later one says nothing to this machine.
    let head: [UInt8]
    /// When this machine saw the head first, ISO 8601.
    let heardAt: String

    static func all(_ db: Database, mailbox: Int64) throws -> [KnownAuthor] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM grdb_sync_mailboxAuthor WHERE mailbox = ? ORDER BY peer",
            arguments: [mailbox]
        ).compactMap { row in
            guard let author = AuthorID(Array(row["author"] as Data)) else { return nil }
            return KnownAuthor(
                mailbox: row["mailbox"], peer: row["peer"], author: author, counter: row["counter"],
                head: Array(row["head"] as Data), heardAt: row["heardAt"])
        }
    }

    func save(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO grdb_sync_mailboxAuthor (mailbox, peer, author, counter, head, heardAt) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (mailbox, peer) DO UPDATE SET author = excluded.author, counter = excluded.counter,
                    head = excluded.head, heardAt = excluded.heardAt, silentCounter = 0
                """,
            arguments: [mailbox, peer, Data(author.bytes), counter, Data(head), heardAt])
    }

    /// Takes what the last head said for out of date, because a later one is not for this machine. The counter stays, so that nobody can
    /// pass an older head off as the last one.
    ///
    /// - Parameter counter: that of the later one.
    /// - Returns: whether that is news.
    func forgetHead(_ db: Database, at counter: Int64) throws -> Bool {
        let known = try Int64.fetchOne(
            db, sql: "SELECT silentCounter FROM grdb_sync_mailboxAuthor WHERE mailbox = ? AND peer = ?",
            arguments: [mailbox, peer])
        guard let known, known < counter else { return false }
        try db.execute(
            sql: """
                UPDATE grdb_sync_mailboxAuthor SET head = X'', furtherRefused = 0, silentCounter = ?
                WHERE mailbox = ? AND peer = ?
                """, arguments: [counter, mailbox, peer])
        try ZoneLog.endRefusals(db, by: peer, mailbox: mailbox)
        return true
    }

    /// The greatest counter of a peer's heads, in all mailboxes.
    static func greatestCounter(_ db: Database, peer: Int64) throws -> Int64 {
        try Int64.fetchOne(
            db, sql: "SELECT MAX(counter) FROM grdb_sync_mailboxAuthor WHERE peer = ?", arguments: [peer])
            ?? 0
    }

    /// Whether a head is one that this machine has not taken into account.
    func isNew(_ counter: Int64) -> Bool {
        counter > self.counter || counter == self.counter && head.isEmpty
    }

    /// Notes why this machine does not read on, or that it does.
    ///
    /// - Returns: whether that is news.
    static func setProblem(
        _ db: Database, mailbox: Int64, peer: Int64, _ problem: (code: String, message: String)?
    ) throws -> Bool {
        try db.execute(
            sql: """
                UPDATE grdb_sync_mailboxAuthor SET problem = ?3, problemCode = ?4
                WHERE mailbox = ?1 AND peer = ?2 AND problem IS NOT ?3
                """, arguments: [mailbox, peer, problem?.message, problem?.code])
        return db.changesCount > 0
    }

    /// How many records of this machine a peer has refused beyond those that it names.
    static func furtherRefused(_ db: Database, mailbox: Int64, peer: Int64) throws -> Int {
        try Int.fetchOne(
            db, sql: "SELECT furtherRefused FROM grdb_sync_mailboxAuthor WHERE mailbox = ? AND peer = ?",
            arguments: [mailbox, peer]) ?? 0
    }

    /// Notes how many records of this machine a peer has refused beyond those that it names.
    static func setFurtherRefused(_ db: Database, mailbox: Int64, peer: Int64, _ count: Int) throws {
        try db.execute(
            sql: """
                UPDATE grdb_sync_mailboxAuthor SET furtherRefused = ?3
                WHERE mailbox = ?1 AND peer = ?2 AND furtherRefused <> ?3
                """, arguments: [mailbox, peer, count])
    }
}

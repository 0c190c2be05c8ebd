import GRDB
import PeerSyncModel
import PeerSyncStore
import Synchronization

/// The right of one program to use a mailbox of a store, and the note of how that went.
struct MailboxLease: Sendable {
    /// A mailbox of a database that this process has open.
    private struct Key: Hashable {
        let database: ObjectIdentifier
        let mailbox: Int64
    }

    /// The mailboxes that this process uses now. The store only knows that it is this process.
    private static let used = Mutex<Set<Key>>([])
    private static let busy = MailboxError(.busy, "another program on this machine uses the mailbox now")

    private let store: RecordStore
    private let mailbox: Int64

    private var key: Key { Key(database: ObjectIdentifier(store.database as AnyObject), mailbox: mailbox) }

    /// - Throws: ``MailboxError`` `busy` while somebody else uses it, in this program or another one.
    init(_ store: RecordStore, _ mailbox: Int64) async throws {
        self.store = store
        self.mailbox = mailbox
        guard Self.used.withLock({ [key] in $0.insert(key).inserted }) else { throw Self.busy }
        do {
            try await take()
        } catch {
            giveUp()
            throw error
        }
    }

    private func giveUp() { _ = Self.used.withLock { [key] in $0.remove(key) } }

    private func take() async throws {
        try await store.database.write { [mailbox] db in
            let row = try Row.fetchOne(
                db, sql: "SELECT process, start FROM grdb_sync_mailbox WHERE id = ?", arguments: [mailbox])
            guard let row else {
                throw MailboxError(.invalid, "somebody has removed the mailbox from this store")
            }
            let current = RunningProcess.current
            if let number = row[0] as Int32? {
                let holder = RunningProcess(number: number, start: row[1])
                guard holder == current || !holder.isRunning else {
                    throw Self.busy
                }
            }
            try db.execute(
                sql: "UPDATE grdb_sync_mailbox SET process = ?, start = ? WHERE id = ?",
                arguments: [current.number, current.start, mailbox])
        }
    }

    /// Gives it up, and notes the error if there was one.
    func end(_ error: (any Error)?) async throws {
        defer { giveUp() }
        try await store.database.write { [store, mailbox] db in
            if let error {
                let code = (error as? MailboxError)?.code ?? .other
                try db.execute(
                    sql: """
                        UPDATE grdb_sync_mailbox SET process = NULL, start = NULL, lastError = ?, lastErrorCode = ?
                        WHERE id = ?
                        """, arguments: ["\(error)", code.description, mailbox])
            } else {
                let now = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded)
                try db.execute(
                    sql: """
                        UPDATE grdb_sync_mailbox SET process = NULL, start = NULL, lastError = NULL, lastErrorCode = NULL,
                            lastSync = ?
                        WHERE id = ?
                        """, arguments: [now, mailbox])
            }
        }
    }
}

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

    /// Runs something while nobody else uses the mailbox, and notes how that went.
    ///
    /// - Throws: ``MailboxError``: `busy` while somebody else uses it, in this program or another one, and `invalid` when somebody has removed
    ///   it; errors of SQLite; what `body` throws.
    static func hold<Value>(
        _ store: RecordStore, _ mailbox: Int64, _ body: () async throws -> Value
    ) async throws -> Value {
        let lease = MailboxLease(store: store, mailbox: mailbox)
        let key = lease.key
        guard used.withLock({ $0.insert(key).inserted }) else { throw busy }
        defer { _ = used.withLock { $0.remove(key) } }
        try await lease.take()
        do {
            let value = try await body()
            try await lease.end(nil)
            return value
        } catch {
            try? await lease.end(error)
            throw error
        }
    }

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

    /// Notes that nobody uses it any more, and how that went. Whoever cancels it learns nothing of the mailbox.
    private func end(_ error: (any Error)?) async throws {
        let isCancelled = error is CancellationError || error != nil && Task.isCancelled
        // In a task of its own: the database writes nothing for one that is cancelled.
        try await Task { [store, mailbox] in
            try await store.database.write { db in
                try db.execute(
                    sql: "UPDATE grdb_sync_mailbox SET process = NULL, start = NULL WHERE id = ?",
                    arguments: [mailbox])
                if isCancelled { return }
                if let error {
                    let code = (error as? MailboxError)?.code ?? .other
                    try db.execute(
                        sql: "UPDATE grdb_sync_mailbox SET lastError = ?, lastErrorCode = ? WHERE id = ?",
                        arguments: ["\(error)", code.description, mailbox])
                } else {
                    let now = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded)
                    try db.execute(
                        sql: """
                            UPDATE grdb_sync_mailbox SET lastError = NULL, lastErrorCode = NULL, lastSync = ? WHERE id = ?
                            """, arguments: [now, mailbox])
                }
            }
        }.value
    }
}

import GRDB
import PeerSyncModel
import PeerSyncStore

/// The right of one program to use a mailbox of a store, and the note of how that went.
struct MailboxLease: Sendable {
    private let store: RecordStore
    private let mailbox: Int64

    /// - Throws: ``MailboxError`` `busy` while another program uses it.
    init(_ store: RecordStore, _ mailbox: Int64) async throws {
        self.store = store
        self.mailbox = mailbox
        try await store.database.write { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT process, start FROM grdb_sync_mailbox WHERE id = ?", arguments: [mailbox])
            guard let row else {
                throw MailboxError(.invalid, "somebody has removed the mailbox from this store")
            }
            let current = RunningProcess.current
            if let number = row[0] as Int32? {
                let holder = RunningProcess(number: number, start: row[1])
                guard holder == current || !holder.isRunning else {
                    throw MailboxError(.busy, "another program on this machine uses the mailbox now")
                }
            }
            try db.execute(
                sql: "UPDATE grdb_sync_mailbox SET process = ?, start = ? WHERE id = ?",
                arguments: [current.number, current.start, mailbox])
        }
    }

    /// Gives it up, and notes the error if there was one.
    func end(_ error: (any Error)?) async throws {
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

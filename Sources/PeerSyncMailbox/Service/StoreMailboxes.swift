import GRDB
import PeerSyncModel
import PeerSyncStore

/// The mailboxes of a store: where they are, and how it stands with them. ``Mailbox`` syncs with one.
public struct StoreMailboxes: Sendable {
    let store: RecordStore

    /// The mailboxes, in the order in which they were added.
    public func all() async throws -> [MailboxEntry] { try await store.database.read { try all($0) } }

    /// The mailboxes, in the order in which they were added.
    public func all(_ db: Database) throws -> [MailboxEntry] {
        try Row.fetchAll(db, sql: "SELECT * FROM grdb_sync_mailbox ORDER BY id").map {
            try MailboxEntry(db, $0, store)
        }
    }

    /// The mailbox of a name.
    ///
    /// - Throws: ``/PeerSyncStore/RecordStoreError`` `invalidValue` when there is none.
    public func find(_ name: String) async throws -> MailboxEntry {
        guard let entry = try await all().first(where: { $0.name == name }) else {
            throw RecordStoreError(.invalidValue, "this store has no mailbox “\(name)”")
        }
        return entry
    }

    /// Adds a mailbox. Nothing is read or written there before a ``Mailbox`` does.
    ///
    /// - Parameters:
    ///   - name: what people call it; unique in the store, 1 to 64 bytes without control characters.
    ///   - location: where it is, in a form that the app understands; no secrets, because backups of the store have it.
    /// - Throws: ``/PeerSyncStore/RecordStoreError``: `ambiguous` when the name is taken, `invalidValue`.
    @discardableResult
    public func add(_ name: String, location: String) async throws -> MailboxEntry {
        guard (1...64).contains(name.utf8.count),
            !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw RecordStoreError(
                .invalidValue,
                "a mailbox has a name of 1 to 64 bytes, without line breaks and other control characters")
        }
        try await store.database.write { [store] db in
            let isTaken =
                try Bool.fetchOne(
                    db, sql: "SELECT 1 FROM grdb_sync_mailbox WHERE name = ?", arguments: [name]) ?? false
            guard !isTaken else {
                throw RecordStoreError(.ambiguous, "this store has a mailbox “\(name)” already")
            }
            let now = ISO8601.text(milliseconds: store.now(), fraction: .ifNeeded) ?? ""
            try db.execute(
                sql: "INSERT INTO grdb_sync_mailbox (name, location, addedAt) VALUES (?, ?, ?)",
                arguments: [name, location, now])
        }
        return try await find(name)
    }

    /// Notes why a mailbox cannot be used, where the app cannot even make a ``Mailbox`` of it. The next sync that succeeds ends that.
    public func noteFailure(_ error: MailboxError, of entry: MailboxEntry) async throws {
        try await store.database.write { db in
            try db.execute(
                sql: "UPDATE grdb_sync_mailbox SET lastError = ?, lastErrorCode = ? WHERE id = ?",
                arguments: [error.message, error.code.description, entry.id])
        }
    }

    /// Forgets a mailbox. What this machine has put stays there; ``Mailbox/removeWithOwnObjects()`` removes it, too.
    ///
    /// - Throws: ``/PeerSyncStore/RecordStoreError`` `invalidValue` when there is none of that name.
    public func remove(_ name: String) async throws {
        try await remove(find(name).id)
    }

    func remove(_ id: Int64) async throws {
        try await store.database.write { db in
            try ZoneLog.keepRefusals(db, of: id)
            try db.execute(sql: "DELETE FROM grdb_sync_mailbox WHERE id = ?", arguments: [id])
        }
    }
}

extension RecordStore {
    /// The mailboxes of this store.
    public var mailboxes: StoreMailboxes { StoreMailboxes(store: self) }
}

import GRDB

/// The user's settings for sync: ``RecordStore/settings``.
public struct StoreSettings: Sendable {
    let store: RecordStore

    package func current() async throws -> SyncSettings {
        try await store.database.read { try SyncSettings($0) }
    }

    /// Whether this store connects with others at all.
    public func isSyncOn() async throws -> Bool { try await current().isSyncOn }

    /// Switches sync on or off, until the next call. The store tracks changes in either case.
    public func setSyncOn(_ isOn: Bool) async throws {
        try await store.database.write { db in
            try SyncState.set(db, .isSyncOff, isOn ? nil : 1)
            try SyncSettings.noteChanged(db)
        }
    }
}

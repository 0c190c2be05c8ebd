import GRDB

/// What the user of a store decides about sync: ``RecordStore/settings``.
public struct StoreSettings: Sendable {
    let store: RecordStore

    package func current() async throws -> SyncSettings {
        try await store.database.read { try SyncSettings($0) }
    }

    /// Whether this store has connections with others at all.
    public func isSyncOn() async throws -> Bool { try await current().isSyncOn }

    /// Switches sync on or off, until it is switched the other way. Changes are tracked all the time.
    public func setSyncOn(_ isOn: Bool) async throws {
        try await store.database.write { db in
            try SyncState.set(db, .isSyncOff, isOn ? nil : 1)
            try SyncSettings.noteChanged(db)
        }
    }
}

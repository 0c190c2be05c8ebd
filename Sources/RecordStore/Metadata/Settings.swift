import GRDB

/// What a store's user has decided about sync.
package struct SyncSettings: Sendable, Equatable {
    /// Grows with each decision.
    package let version: Int64
    package let isSyncOn: Bool
    /// How often this store has given up what it had in a zone.
    package let erasures: Int64

    init(_ db: Database) throws {
        version = try SyncState.integer(db, .settingsVersion) ?? 0
        isSyncOn = try SyncState.integer(db, .isSyncOff) != 1
        erasures = try SyncState.integer(db, .erasures) ?? 0
    }
}

extension RecordStore {
    package func settings() async throws -> SyncSettings {
        try await database.read { try SyncSettings($0) }
    }

    /// Whether this store has connections with others at all.
    public func isSyncOn() async throws -> Bool { try await settings().isSyncOn }

    /// Switches sync on or off, until it is switched the other way. Changes are tracked all the time.
    public func setSyncOn(_ isOn: Bool) async throws {
        try await database.write { db in
            try SyncState.set(db, .isSyncOff, isOn ? nil : 1)
            try Self.noteSettingsChanged(db)
        }
    }

    /// Lets sessions that are running, of any process, look at what they go by.
    static func noteSettingsChanged(_ db: Database) throws {
        let version = try SyncState.integer(db, .settingsVersion) ?? 0
        try SyncState.set(db, .settingsVersion, version + 1)
    }
}

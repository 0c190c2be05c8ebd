import GRDB

/// The user's settings for sync in a store.
package struct SyncSettings: Sendable, Equatable {
    /// Grows with each change of the settings.
    package let version: Int64
    package let isSyncOn: Bool
    /// The number of times that this store gave up the content of a zone.
    package let erasures: Int64

    init(_ db: Database) throws {
        version = try SyncState.integer(db, .settingsVersion) ?? 0
        isSyncOn = try SyncState.integer(db, .isSyncOff) != 1
        erasures = try SyncState.integer(db, .erasures) ?? 0
    }

    /// Makes the running sessions of all processes read the settings again.
    static func noteChanged(_ db: Database) throws {
        let version = try SyncState.integer(db, .settingsVersion) ?? 0
        try SyncState.set(db, .settingsVersion, version + 1)
        try notify(db)
    }

    /// Lets the running sessions of this process look for what has changed. SQLite reports no changes of a table WITHOUT ROWID.
    static func notify(_ db: Database) throws {
        try db.notifyChanges(in: Table("grdb_sync_syncState"))
    }
}

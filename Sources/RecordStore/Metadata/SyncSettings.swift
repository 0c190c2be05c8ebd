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

    /// Lets sessions that are running, of any process, look at what they go by.
    static func noteChanged(_ db: Database) throws {
        let version = try SyncState.integer(db, .settingsVersion) ?? 0
        try SyncState.set(db, .settingsVersion, version + 1)
    }
}

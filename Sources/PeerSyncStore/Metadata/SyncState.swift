import GRDB
import PeerSyncModel

/// A name in the table `grdb_sync_syncState`.
struct SyncState {
    let name: String

    static let formatVersion = SyncState(name: "formatVersion")
    /// The id that stamped the last writes here, as 16 hexadecimal digits.
    static let replica = SyncState(name: "replica")
    /// The last time that the hybrid logical clock issued or saw.
    static let clock = SyncState(name: "clock")
    /// The number of the last change to a record's state.
    static let lastSequence = SyncState(name: "lastSequence")
    /// The time of the last purge of deletions, in milliseconds since 1970.
    static let lastPurge = SyncState(name: "lastPurge")
    /// The files to fetch from peers; see ``AssetPolicy``.
    static let assetPolicy = SyncState(name: "assetPolicy")
    /// 1 when sync is switched off.
    static let isSyncOff = SyncState(name: "isSyncOff")
    /// The number of times that the store gave up the content of a zone: sessions that relied on the content have to
    /// begin anew.
    static let erasures = SyncState(name: "erasures")
    /// Grows when the user changes something that running sessions have to know.
    static let settingsVersion = SyncState(name: "settingsVersion")
    /// The size of the history, roughly, in bytes.
    static let historySize = SyncState(name: "historySize")
    /// The setting of the fuse: a share and a number of records, or `off`; missing if nobody has set it.
    static let fuse = SyncState(name: "fuse")
    /// Random digits that go into the number of an alarm, so that no other machine can find what has the same number.
    static let fuseSalt = SyncState(name: "fuseSalt")
    /// SQLite's number of the database's schema when the store was opened last. It grows with each change of a table, a trigger or an
    /// index.
    static let schemaVersion = SyncState(name: "schemaVersion")
    /// The version of SQLite that opened the store last, such as `3.45.1`.
    static let sqliteVersion = SyncState(name: "sqliteVersion")
    /// The number of the peer for whose default zone the store gave up its own; see ``AwaitedCopy``.
    static let awaitsDefault = SyncState(name: "awaitsDefault")
    /// The fields that the capture triggers of a type cover, in order.
    static func captured(_ type: String) -> SyncState { SyncState(name: "captured:\(type)") }
    /// What these fields mean, in the same order, and their columns where these have other names. Earlier versions did not
    /// note it.
    static func fieldKinds(_ type: String) -> SyncState { SyncState(name: "fieldKinds:\(type)") }

    /// The table of a type whose table has another name than the type.
    static func table(_ type: String) -> SyncState { SyncState(name: "table:\(type)") }

    /// The fields of the UNIQUE indexes of a type whose duplicates are held; none without such.
    static func contested(_ type: String) -> SyncState { SyncState(name: "contested:\(type)") }

    /// The number of the last change when a type left the schema; none while it is in the schema.
    static func left(_ type: String) -> SyncState { SyncState(name: "left:\(type)") }

    private static let select = "SELECT value FROM grdb_sync_syncState WHERE name = ?"

    static func integer(_ db: Database, _ state: SyncState) throws -> Int64? {
        try Int64.fetchOne(db.cachedStatement(sql: select), arguments: [state.name])
    }

    static func text(_ db: Database, _ state: SyncState) throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: select), arguments: [state.name])
    }

    static func remove(_ db: Database, _ state: SyncState) throws {
        try db.executeCached("DELETE FROM grdb_sync_syncState WHERE name = ?", [state.name])
    }

    static func set(_ db: Database, _ state: SyncState, _ value: (any DatabaseValueConvertible)?) throws {
        try db.executeCached(
            "INSERT OR REPLACE INTO grdb_sync_syncState (name, value) VALUES (?, ?)", [state.name, value])
    }
}

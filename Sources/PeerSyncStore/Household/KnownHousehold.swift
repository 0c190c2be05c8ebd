import GRDB
import GRDBSQLite
import PeerSyncModel
import Synchronization

/// The household's set as this process read it last. Each change of the set changes the version of the settings, so a thousand
/// sessions that hear of a change read a thousand rows once, and not each of them.
final class KnownHousehold: Sendable {
    private struct Reading {
        let version: Int64
        let set: Household
        let digest: [UInt8]
    }

    private let last = Mutex<Reading?>(nil)

    /// The set, as the open transaction sees it.
    func set(_ db: Database) throws -> Household { try reading(db)?.set ?? HouseholdTable.load(db) }

    /// The set with its digest, as the open transaction sees them.
    func setWithDigest(_ db: Database) throws -> (set: Household, digest: [UInt8]) {
        if let reading = try reading(db) { return (reading.set, reading.digest) }
        let set = try HouseholdTable.load(db)
        return (set, set.digest)
    }

    /// - Returns: nil if the open transaction has written something. That may be undone, and another transaction may then write something
    ///   else under the same version.
    private func reading(_ db: Database) throws -> Reading? {
        guard sqlite3_txn_state(db.sqliteConnection, "main") != SQLITE_TXN_WRITE else { return nil }
        let version = try SyncState.integer(db, .settingsVersion) ?? 0
        if let last = last.withLock({ $0 }), last.version == version { return last }
        let set = try HouseholdTable.load(db)
        let reading = Reading(version: version, set: set, digest: set.digest)
        last.withLock { $0 = reading }
        return reading
    }
}

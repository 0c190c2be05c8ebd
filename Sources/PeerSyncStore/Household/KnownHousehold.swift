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
        var digest: [UInt8]?
    }

    private let last = Mutex<Reading?>(nil)

    /// The set, as the open transaction sees it.
    func set(_ db: Database) throws -> Household {
        guard let version = try version(db) else { return try HouseholdTable.load(db) }
        return try reading(db, version).set
    }

    /// The set with its digest, as the open transaction sees them.
    func setWithDigest(_ db: Database) throws -> (set: Household, digest: [UInt8]) {
        guard let version = try version(db) else {
            let set = try HouseholdTable.load(db)
            return (set, set.digest)
        }
        let reading = try reading(db, version)
        if let digest = reading.digest { return (reading.set, digest) }
        let digest = reading.set.digest
        last.withLock { if $0?.version == version { $0?.digest = digest } }
        return (reading.set, digest)
    }

    /// - Returns: nil if the open transaction has written something. That may be undone, and another transaction may then write something
    ///   else under the same version.
    private func version(_ db: Database) throws -> Int64? {
        guard sqlite3_txn_state(db.sqliteConnection, "main") != SQLITE_TXN_WRITE else { return nil }
        return try SyncState.integer(db, .settingsVersion) ?? 0
    }

    private func reading(_ db: Database, _ version: Int64) throws -> Reading {
        if let last = last.withLock({ $0 }), last.version == version { return last }
        let reading = Reading(version: version, set: try HouseholdTable.load(db))
        last.withLock { $0 = reading }
        return reading
    }
}

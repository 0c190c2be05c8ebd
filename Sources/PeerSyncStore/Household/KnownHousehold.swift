import GRDB
import GRDBSQLite
import PeerSyncModel
import Synchronization

/// The household's set as this process read it last. Each change of the set changes the version of the settings, so a thousand
/// sessions that hear of a change read a thousand rows once, and not each of them.
final class KnownHousehold: Sendable {
    private let last = Mutex<(version: Int64, set: Household, digest: [UInt8])?>(nil)

    /// The set with its digest, as the open transaction sees them.
    func read(_ db: Database) throws -> (set: Household, digest: [UInt8]) {
        // What a transaction has written may be undone, and another one may then write something else under the same version.
        let isWriting = sqlite3_txn_state(db.sqliteConnection, "main") == SQLITE_TXN_WRITE
        let version = try isWriting ? nil : SyncState.integer(db, .settingsVersion) ?? 0
        if let version, let last = last.withLock({ $0 }), last.version == version {
            return (last.set, last.digest)
        }
        let set = try HouseholdTable.load(db)
        let digest = set.digest
        if let version { last.withLock { $0 = (version, set, digest) } }
        return (set, digest)
    }
}

import GRDB
import GRDBSQLite
import Synchronization

/// This process's knowledge that every record with a row is sound (``SoundRecords``). It holds if the process has seen
/// the store empty, has since put only sound records of one zone into it, and nobody else has changed the state of a
/// record.
///
/// A reference is then sound if its target has a row, which the foreign key checks. So a first sync into an empty store
/// need not read the metadata of the targets of its records.
final class StoreSoundness: Sendable {
    /// A number marks every change of a state, deletions and records of another zone included; giving up a zone counts
    /// as an erasure. Everything else that makes a record unsound removes its row, without a number: repairs, purges,
    /// and records that become held.
    private struct Moment: Equatable {
        /// The zone of all records.
        let zone: Int64
        let sequence: Int64
        let erasures: Int64

        init(_ db: Database, _ zone: Int64) throws {
            self.zone = zone
            sequence = try SyncState.integer(db, .lastSequence) ?? 0
            erasures = try SyncState.integer(db, .erasures) ?? 0
        }
    }

    /// The moment at which all records were sound.
    private let known = Mutex<Moment?>(nil)

    /// - Parameter zone: the zone of the records to write.
    func holds(_ db: Database, in zone: Int64) throws -> Bool {
        guard try db.fetchBoolCached("PRAGMA foreign_keys") else { return false }
        let moment = try Moment(db, zone)
        if known.withLock({ $0 == moment }) { return true }
        return try db.fetchBoolCached("SELECT NOT EXISTS (SELECT 1 FROM grdb_sync_remoteRecord)")
    }

    /// Notes that the open transaction has only put sound records of that zone into the store.
    func holdsFromCommit(_ db: Database, in zone: Int64) throws {
        let moment = try Moment(db, zone)
        db.afterNextTransaction { _ in self.known.withLock { $0 = moment } }
    }
}

extension Database {
    /// Whether the open transaction has written a row whose target is missing.
    var hasForeignKeyViolation: Bool {
        var current: Int32 = 0
        var greatest: Int32 = 0
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &greatest, 0)
        return current != 0
    }
}

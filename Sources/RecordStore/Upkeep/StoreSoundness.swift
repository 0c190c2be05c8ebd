import GRDB
import GRDBSQLite
import Synchronization

/// Whether every record of a store that has a row is sound (``SoundRecords``), as far as this process knows without a look
/// at each: it has seen the store empty, has put nothing into it since but sound records of one zone, and nobody else has
/// given a record another state.
///
/// While that holds, a reference is sound if its target has a row, and the foreign key sees to that. A first sync into an
/// empty store is then spared a look at the metadata of whatever its records refer to.
final class StoreSoundness: Sendable {
    /// A record that was deleted once, and one of another zone, come under a number, and so does whatever changes a state;
    /// giving a zone up counts as an erasure. What else makes a record unsound takes its row away, without a number: repairs,
    /// purges, and records that are held.
    private struct Moment: Equatable {
        /// The one that has all the records.
        let zone: Int64
        let sequence: Int64
        let erasures: Int64

        init(_ db: Database, _ zone: Int64) throws {
            self.zone = zone
            sequence = try SyncState.integer(db, .lastSequence) ?? 0
            erasures = try SyncState.integer(db, .erasures) ?? 0
        }
    }

    /// When all were sound.
    private let known = Mutex<Moment?>(nil)

    /// - Parameter zone: where records are to be put.
    func holds(_ db: Database, in zone: Int64) throws -> Bool {
        guard try Bool.fetchOne(db.cachedStatement(sql: "PRAGMA foreign_keys")) == true else { return false }
        let moment = try Moment(db, zone)
        if known.withLock({ $0 == moment }) { return true }
        return try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM remoteRecord)")) ?? false
    }

    /// The transaction that is open has put nothing into the store but sound records of that zone.
    func holdsFromCommit(_ db: Database, in zone: Int64) throws {
        let moment = try Moment(db, zone)
        db.afterNextTransaction { _ in self.known.withLock { $0 = moment } }
    }
}

extension Database {
    /// Whether the open transaction has written a row that refers to one that is not there.
    var hasForeignKeyViolation: Bool {
        var current: Int32 = 0
        var greatest: Int32 = 0
        sqlite3_db_status(sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &greatest, 0)
        return current != 0
    }
}

import GRDB

/// The moment of a backup. As long as it stays equal, nobody has written anything.
package struct BackupMoment: Sendable, Equatable {
    private let sequence: Int64
    private let journal: Int64

    init(_ db: Database) throws {
        sequence = try SyncState.integer(db, .lastSequence) ?? 0
        journal = try Int64.fetchOne(db, sql: "SELECT MAX(id) FROM grdb_sync_pendingChange") ?? 0
    }
}

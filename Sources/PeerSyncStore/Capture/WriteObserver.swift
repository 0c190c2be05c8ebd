import GRDB
import Synchronization

/// Reports transactions of this process that changed a record or a setting, wrote to a synced table, or noted that an asset
/// is now in its file.
///
/// GRDB asks it about each statement before it executes the statement. So it stops observing after the first change of
/// a transaction.
final class WriteObserver: TransactionObserver, Sendable {
    private let onChange: @Sendable () -> Void
    private let hasSeenChange = Atomic(false)

    init(_ onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
    }

    /// Every numbering of a record rewrites the zone's digest. A row leaves `grdb_sync_assetUnstored` once its bytes are
    /// in a file: peers may have asked for that file in vain. ``SyncSettings/noteChanged(_:)`` names `grdb_sync_syncState`.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        ["grdb_sync_recordZone", "grdb_sync_pendingChange", "grdb_sync_assetUnstored", "grdb_sync_syncState"]
            .contains(kind.tableName)
    }

    func databaseDidChange(with _: DatabaseEvent) { databaseDidChange() }

    func databaseDidChange() {
        hasSeenChange.store(true, ordering: .relaxed)
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_: Database) {
        if hasSeenChange.exchange(false, ordering: .relaxed) { onChange() }
    }

    func databaseDidRollback(_: Database) { hasSeenChange.store(false, ordering: .relaxed) }
}

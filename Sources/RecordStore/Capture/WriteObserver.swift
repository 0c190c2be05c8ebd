import GRDB
import Synchronization

/// Tells of transactions of this process that changed a record or a setting, wrote to a synced table, or noted that an asset
/// is in its file now.
///
/// GRDB asks it about every statement before that is executed, so it says as soon as it can that it has seen enough.
final class WriteObserver: TransactionObserver, Sendable {
    private let onChange: @Sendable () -> Void
    private let hasSeenChange = Atomic(false)

    init(_ onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
    }

    /// Whatever numbers a record writes the zone's digest anew. A row leaves `assetUnstored` when its bytes have become a
    /// file: peers may have asked for that in vain. The switch, pairings and rights have their version in `syncState`.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        ["recordZone", "pendingChange", "assetUnstored", "syncState"].contains(kind.tableName)
    }

    func databaseDidChange(with _: DatabaseEvent) {
        hasSeenChange.store(true, ordering: .relaxed)
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_: Database) {
        if hasSeenChange.exchange(false, ordering: .relaxed) { onChange() }
    }

    func databaseDidRollback(_: Database) { hasSeenChange.store(false, ordering: .relaxed) }
}

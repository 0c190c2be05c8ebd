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
    /// Whether the notice that is given right now is of what other connections wrote.
    @TaskLocal private static var isOfOthers: Bool = false

    init(_ onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
    }

    /// Tells those who observe a database that another connection may have changed any of its tables. Part of an open transaction, with
    /// whose end they hear of it.
    ///
    /// Observers of this kind hear nothing: they are for what this process writes, and whoever has noticed the others' commit wakes the
    /// sessions.
    static func tellOthersWrites(_ db: Database) throws {
        try $isOfOthers.withValue(true) {
            do {
                try db.notifyChanges(in: .fullDatabase)
            } catch {
                // GRDB cannot list the columns of a table with quotation marks in its name; it tells of the others.
                let sql = "SELECT name FROM main.sqlite_master WHERE type = 'table'"
                for table in try String.fetchAll(db.cachedStatement(sql: sql)) {
                    try? db.notifyChanges(in: Table(table))
                }
            }
        }
    }

    /// Every numbering of a record rewrites the zone's digest. A row leaves `grdb_sync_assetUnstored` once its bytes are
    /// in a file: peers may have asked for that file in vain. ``SyncSettings/noteChanged(_:)`` names `grdb_sync_syncState`.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        ["grdb_sync_recordZone", "grdb_sync_pendingChange", "grdb_sync_assetUnstored", "grdb_sync_syncState"]
            .contains(kind.tableName)
    }

    func databaseDidChange(with _: DatabaseEvent) { noteChange() }

    /// A notice without an event.
    func databaseDidChange() {
        if !Self.isOfOthers { noteChange() }
    }

    private func noteChange() {
        hasSeenChange.store(true, ordering: .relaxed)
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_: Database) {
        if hasSeenChange.exchange(false, ordering: .relaxed) { onChange() }
    }

    func databaseDidRollback(_: Database) { hasSeenChange.store(false, ordering: .relaxed) }
}

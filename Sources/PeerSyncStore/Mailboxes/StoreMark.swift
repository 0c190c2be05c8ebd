import GRDB
import PeerSyncModel

/// What differs after whatever a pass over a mailbox has to look for in the store: changes of records and settings, writes that nobody has
/// taken in, bytes that became files, files to fetch, mailboxes that were added or removed. Notes about sessions and passes leave it as it is.
package struct StoreMark: Sendable, Equatable {
    private let sequence: Int64?
    private let settings: Int64
    /// The number and the time of the last write that nobody has taken in. A pass that failed may have left some.
    private let lastPending: [Int64]
    private let unstored: Set<AssetHash>
    private let policy: String?
    private let wishes: Set<AssetHash>
    private let mailboxes: [Int64]

    package init(_ db: Database) throws {
        sequence = try SyncState.integer(db, .lastSequence)
        settings = try SyncSettings(db).version
        lastPending =
            try Row.fetchOne(
                db, sql: "SELECT id, time FROM grdb_sync_pendingChange ORDER BY id DESC LIMIT 1"
            ).map { [$0["id"], $0["time"]] } ?? []
        unstored = try UnstoredAssets.hashes(db)
        policy = try SyncState.text(db, .assetPolicy)
        wishes = try AssetTable.wishes(db)
        mailboxes = try Int64.fetchAll(db, sql: "SELECT id FROM grdb_sync_mailbox ORDER BY id")
    }
}

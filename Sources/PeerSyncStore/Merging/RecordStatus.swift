import PeerSyncModel

/// The place of a record, as the column `grdb_sync_remoteRecord.status` has it.
enum RecordStatus: Int64 {
    /// In the table of its type.
    case inTable = 0
    /// Deleted: a tombstone.
    case deleted = 1
    /// Kept aside: the schema lacks its type, or the store lacks a record that it needs.
    case held = 2
    /// Hidden: somebody has deleted the record that this one goes with, not this one. It comes back with that record.
    case hidden = 3
}

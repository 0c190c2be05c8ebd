import SyncModel

/// Where a record is, as the column `remoteRecord.status` says.
enum RecordStatus: Int64 {
    /// In the table of its type.
    case inTable = 0
    /// Deleted: a tombstone.
    case deleted = 1
    /// Kept aside: its type is unknown, or a record that it needs is not there.
    case held = 2
    /// Out of sight: a record that it goes with is deleted. Nobody has deleted this one, and it comes back with the other.
    case hidden = 3
}

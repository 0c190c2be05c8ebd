import PeerSyncModel

/// An entry of the journal with the values of the row from before it: a deletion, or references that became empty.
struct FormerChange {
    let id: Int64
    let time: Int64
    /// The changed columns, as in `grdb_sync_pendingChange.changedColumns`.
    let mask: Int64
    let name: RecordName
    let type: RecordType
    /// The former values, by field.
    let values: [String: FieldValue]
}

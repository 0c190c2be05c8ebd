import PeerSyncModel

/// A row that sync takes in without an entry of the journal.
struct TakenRow {
    /// What counts as written at a time, with the mask of its fields as in `grdb_sync_pendingChange.changedColumns`.
    typealias Write = (mask: Int64, stamp: Stamp)

    let name: RecordName
    let writes: [Write]

    /// A row that counts as written whole, or deleted if there is none.
    init(_ name: RecordName, at stamp: Stamp, isPresent: Bool = true) {
        self.name = name
        writes = [(isPresent ? -1 : 0, stamp)]
    }

    /// A row in which some fields count as written.
    init(_ name: RecordName, _ writes: [Write]) {
        self.name = name
        self.writes = writes
    }
}

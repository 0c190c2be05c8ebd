import SyncModel

/// A row that sync takes in without an entry of the journal.
struct TakenRow {
    let name: RecordName
    /// What counts as written, each with the mask of its fields as in `pendingChange.changedColumns`.
    let writes: [(mask: Int64, stamp: Stamp)]

    /// A row that counts as written whole, or deleted if there is none.
    init(_ name: RecordName, at stamp: Stamp, isPresent: Bool = true) {
        self.name = name
        writes = [(isPresent ? -1 : 0, stamp)]
    }

    /// A row in which some fields count as written.
    init(_ name: RecordName, _ writes: [(mask: Int64, stamp: Stamp)]) {
        self.name = name
        self.writes = writes
    }
}

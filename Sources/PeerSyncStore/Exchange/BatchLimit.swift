import PeerSyncModel

/// The size of one batch. The other side applies a batch in one transaction.
///
/// A batch grows until it is large enough and its last group is complete: records that were changed together arrive
/// together. The store only splits a group that is larger than the largest batch.
package struct BatchLimit: Sendable {
    /// The number of records that is enough for a batch.
    package var records: Int
    /// The number of bytes, roughly, that is enough for a batch.
    package var bytes: Int
    /// The most records in a batch.
    package var groupRecords: Int
    /// The most bytes in a batch; only its last record may pass this limit.
    package var groupBytes: Int

    /// The store copies a zone with more records than this in order of name (``WholeCopy``), which splits groups.
    package var recordsCopiedInGroups: Int

    package init(
        records: Int, bytes: Int, groupRecords: Int, groupBytes: Int, recordsCopiedInGroups: Int = 10_000
    ) {
        self.recordsCopiedInGroups = recordsCopiedInGroups
        self.records = records
        self.bytes = bytes
        self.groupRecords = groupRecords
        self.groupBytes = groupBytes
    }

    package static let standard = BatchLimit(
        records: 5_000, bytes: 1 << 20, groupRecords: 10_000, groupBytes: 6 << 20)
}

/// What a batch that is being filled holds so far.
struct BatchSize {
    /// How many replicas, or types, are enough for a batch. Its tables have room for 65,536 of each, and one more record has at most
    /// 1,024 fields. Peers can send records of which few have so many.
    private static let tableEntries = 64_000

    private(set) var records = 0
    private var bytes = 0
    private var replicas: Set<ReplicaID> = []
    private var lastReplica: ReplicaID?
    /// The references, each of which may lead to a type of its own.
    private var references = 0

    mutating func add(_ state: RecordState) {
        records += 1
        bytes += state.size
        for field in state.fields {
            note(field.stamp)
            if case .reference = field.value { references += 1 }
        }
        for stamp in [state.deletion, state.revival, state.erasure] { stamp.map { note($0) } }
    }

    private mutating func note(_ stamp: Stamp) {
        guard stamp.replica != lastReplica else { return }
        lastReplica = stamp.replica
        replicas.insert(stamp.replica)
    }

    private var hasRoomInTables: Bool {
        replicas.count < Self.tableEntries && records + references < Self.tableEntries
    }

    /// Whether the batch is too small to be sent as long as there is more.
    func isSmall(_ limit: BatchLimit) -> Bool {
        records < limit.records && bytes < limit.bytes && hasRoomInTables
    }

    /// Whether one more record of a group fits.
    func hasRoom(_ limit: BatchLimit) -> Bool {
        records < limit.groupRecords && bytes < limit.groupBytes && hasRoomInTables
    }
}

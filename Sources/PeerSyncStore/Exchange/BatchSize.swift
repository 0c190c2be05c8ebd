import PeerSyncModel

/// What a batch that is being filled holds so far.
struct BatchSize {
    /// How many replicas, or types, are enough for a batch. Its tables have room for 65,536 of each, and one more record has at most
    /// 1,024 fields. Peers can send records of which few have so many.
    private static let tableEntries = 64_000

    private var records = 0
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
        if let deletion = state.deletion { note(deletion) }
        if let revival = state.revival { note(revival) }
        if let erasure = state.erasure { note(erasure) }
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

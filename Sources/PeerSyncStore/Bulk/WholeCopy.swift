import GRDB
import PeerSyncModel

/// Reads a whole zone by record type and name: a type that others refer to comes before these, and each type goes by
/// name.
///
/// The order of changes would be correct too. But the names of an import, for example, do not follow that order: they
/// lie all over the tables and indexes of both sides, and reading or writing them takes a page per record. In order of
/// name a page holds many records. This order separates records that were changed together. So it is only for copies
/// that are larger than any group that must stay together.
///
/// Other transactions write between two batches. What they change gets a number above the one at which the copy began.
/// The copy then leaves it out, and the peer receives it after the copy. So a copy can go on from the token of its last
/// batch, which holds that number and the progress: ``CopyPosition``.
struct WholeCopy {
    /// The plus keeps SQLite from using the index of changes, for then it would sort everything that it finds.
    private static let condition =
        """
        +known.zone = ? AND known.changeSequence <= ? AND (known.sourcePeer IS NULL OR known.sourcePeer IS NOT ?)
        """

    private let scan: RecordScan
    private let zone: Int64
    private let peer: Int64?
    private let limit: BatchLimit
    private let shapes: ShapeTable
    private let db: Database

    /// - Parameter peer: the peer whose own records it leaves out, if any.
    init(_ db: Database, _ tables: RecordTables, zone: Int64, excluding peer: Int64?, limit: BatchLimit) {
        scan = RecordScan(db: db, tables: tables)
        self.zone = zone
        self.peer = peer
        self.limit = limit
        shapes = ShapeTable(db)
        self.db = db
    }

    /// Whether a zone is large enough to copy it in order of name.
    static func isDue(_ db: Database, zone: Int64, above threshold: Int) throws -> Bool {
        try db.fetchCountCached(
            "SELECT COUNT(*) FROM (SELECT 1 FROM grdb_sync_remoteRecord WHERE zone = ? LIMIT ?)",
            [zone, threshold + 1]) > threshold
    }

    /// Reads the next batch.
    ///
    /// - Parameter last: the full name of the last record, if the caller still knows it; a token may hold only its
    ///   beginning.
    func batch(from position: CopyPosition, after last: RecordName?) throws -> (ChangeBatch, ReadingPlace) {
        let types = try scan.types()
        let start = last.map { ($0.recordType, $0.description) } ?? position.start(in: types)
        let sent = try WithheldRecords.Sent(db, zone: zone)
        var records: [RecordState] = []
        var size = BatchSize()
        for type in types[(start.flatMap { types.firstIndex(of: $0.0) } ?? 0)...] {
            let lower = start.flatMap { $0.0 == type ? $0.1 : nil } ?? type + RecordName.separator
            let isFull = try scan.read(
                type, after: lower, where: Self.condition, [zone, position.end.sequence, peer]
            ) { record in
                let state = try record.stored(shapes).state.transferred
                // The same rule as in a batch of changes.
                guard !state.isEmpty, !state.isTooLarge, sent.contains(state.name) else { return true }
                records.append(state)
                size.add(state)
                return size.isSmall(limit)
            }
            guard isFull, let last = records.last?.name else { continue }
            let token = position.token(at: last, in: types)
            return (
                ChangeBatch(records: records, token: token, isLast: false),
                ReadingPlace(token, lastName: last)
            )
        }
        // Next come the changes since the copy began.
        return (
            ChangeBatch(records: records, token: position.end, isLast: false), ReadingPlace(position.end)
        )
    }
}

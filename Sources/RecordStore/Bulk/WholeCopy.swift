import GRDB
import SyncModel

/// Reads a whole zone in order of record type and name: those that others refer to first, each type by name.
///
/// The order of changes would do as well, but names that are not in it, as those of an import, lie all over the tables and
/// indexes of both sides: reading and writing them then takes a page for each record. In order of name a page takes
/// many. Groups of records that were changed together do not stay together, so this is for copies that are larger than
/// any group that does.
///
/// Between two batches others write. What they change gets a number above that at which the copy began, is left out from
/// then on, and comes after the copy. So a copy goes on from the token of its last batch, which says
/// at which number it began and how far it has come: ``CopyPosition``.
struct WholeCopy {
    /// The plus keeps SQLite from reading by the index of changes, and sorting all that it finds.
    private static let condition =
        """
        +known.zone = ? AND known.changeSequence <= ? AND (known.sourcePeer IS NULL OR known.sourcePeer IS NOT ?)
        """

    private let scan: RecordScan
    private let tables: RecordTables
    private let zone: Int64
    private let peer: Int64?
    private let limit: BatchLimit
    private let shapes: ShapeTable

    /// - Parameter peer: whose own records are left out, if any.
    init(_ db: Database, _ tables: RecordTables, zone: Int64, excluding peer: Int64?, limit: BatchLimit) {
        scan = RecordScan(db, tables)
        self.tables = tables
        self.zone = zone
        self.peer = peer
        self.limit = limit
        shapes = ShapeTable(db)
    }

    /// Whether a copy of the zone from its beginning is one in order of name.
    static func isDue(_ db: Database, zone: Int64, above threshold: Int) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: "SELECT COUNT(*) FROM (SELECT 1 FROM remoteRecord WHERE zone = ? LIMIT ?)")
        return try Int.fetchOne(statement, arguments: [zone, threshold + 1]) ?? 0 > threshold
    }

    /// The next batch.
    ///
    /// - Parameter last: the last record that was read, exactly, if that is still known; a token may know it only about.
    func batch(from position: CopyPosition, after last: RecordName?) throws -> (ChangeBatch, ReadingPlace) {
        let types = try scan.types()
        let start = last.map { ($0.recordType, $0.description) } ?? position.start(in: types, tables.schema)
        var records: [RecordState] = []
        var bytes = 0
        for type in types[(start.flatMap { types.firstIndex(of: $0.0) } ?? 0)...] {
            let lower = start.flatMap { $0.0 == type ? $0.1 : nil } ?? type + RecordName.separator
            let isFull = try scan.read(
                type, after: lower, where: Self.condition, [zone, position.end.sequence, peer]
            ) { record in
                let state = try record.stored(shapes).state.transferred
                // As in a batch of changes.
                guard !state.isEmpty, !state.isTooLarge else { return true }
                records.append(state)
                bytes += state.size
                return records.count < limit.records && bytes < limit.bytes
            }
            guard isFull, let last = records.last?.name else { continue }
            let token = position.token(at: last, tables.schema)
            return (
                ChangeBatch(records: records, token: token, isLast: false),
                ReadingPlace(token, lastName: last)
            )
        }
        // What was changed since the copy began comes next.
        return (
            ChangeBatch(records: records, token: position.end, isLast: false), ReadingPlace(position.end)
        )
    }

    /// Whether a copy that has come so far can go on: the order of types must be the one that it was begun with.
    func canGoOn(from position: CopyPosition) throws -> Bool {
        try position.start(in: scan.types(), tables.schema) != nil
    }
}

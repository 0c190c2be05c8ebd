import GRDB
import PeerSyncModel

struct ChangeLog {
    let tables: RecordTables

    /// The token of everything that the store holds now.
    static func current(_ db: Database) throws -> ChangeToken {
        let sequence = try SyncState.integer(db, .lastSequence) ?? 0
        return ChangeToken(generation: try Generations.covering(db, sequence), sequence: sequence)
    }

    /// Whether this store gave out a token that a peer holds.
    func isGivenOut(_ db: Database, _ token: ChangeToken) throws -> Bool {
        // Every store begins with nothing.
        guard token.sequence > 0 else { return true }
        guard token.sequence <= (try SyncState.integer(db, .lastSequence) ?? 0) else { return false }
        let generation = (CopyPosition(token)?.end ?? token).generation
        return try Generations.covering(db, token.sequence) == generation
    }

    /// Whether the store can still tell what follows a token that it gave out. A whole copy ends with the record types
    /// by which it goes: when there are others, or in another order.
    func canGoOn(_ db: Database, from token: ChangeToken) throws -> Bool {
        guard let copy = CopyPosition(token) else { return true }
        return try copy.start(in: RecordScan(db: db, tables: tables).types()) != nil
    }

    /// Reads the next batch after a place, without what some peers themselves sent. In order of name, only one can be left out.
    func batch(
        _ db: Database, zone: Int64, after place: ReadingPlace, excluding peers: [Int64], limit: BatchLimit
    ) throws -> (ChangeBatch, ReadingPlace) {
        let copy = WholeCopy(
            db, tables, zone: zone, excluding: peers.count == 1 ? peers.first : nil, limit: limit)
        if let position = CopyPosition(place.token) {
            return try copy.batch(from: position, after: place.lastName)
        }
        if place.token.sequence == 0, try WholeCopy.isDue(db, zone: zone, above: limit.recordsCopiedInGroups)
        {
            return try copy.batch(from: CopyPosition(beginningAt: Self.current(db)), after: nil)
        }
        let batch = try changes(db, zone: zone, after: place.token, excluding: peers, limit: limit)
        return (batch, ReadingPlace(batch.token))
    }

    private func changes(
        _ db: Database, zone: Int64, after token: ChangeToken, excluding peers: [Int64], limit: BatchLimit
    ) throws -> ChangeBatch {
        let excluded = peers.count <= 1 ? "?" : peers.map(String.init).joined(separator: ", ")
        // The index holds all columns of the condition, so SQLite does not read the many records that the peers sent
        // themselves.
        let sql = """
            SELECT known.remoteRecordID, known.status, known.remoteRecord, known.changeSequence, known.changeGroup
            FROM grdb_sync_remoteRecord AS change CROSS JOIN grdb_sync_remoteRecord AS known USING (remoteRecordID)
            WHERE change.zone = ? AND change.changeSequence > ?
                AND (change.sourcePeer IN (\(excluded))) IS NOT TRUE
            ORDER BY change.changeSequence
            """
        var arguments: StatementArguments = [zone, token.sequence]
        if peers.count <= 1 { arguments += [peers.first] }
        // A session leaves out one peer, and its statement is used again and again.
        let statement = try peers.count <= 1 ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        let shapes = ShapeTable(db)
        let sent = try WithheldRecords.Sent(db, zone: zone)
        var filling = FillingBatch(limit: limit)
        while let row = try rows.next() {
            guard filling.hasRoom(forGroup: row[4]) else {
                let sequence = filling.lastSequence
                let reached = ChangeToken(
                    generation: try Generations.covering(db, sequence), sequence: sequence,
                    horizon: token.horizon)
                return ChangeBatch(records: filling.records, token: reached, isLast: false)
            }
            let name = try RecordName(row[0] as String)
            guard sent.contains(name) else {
                filling.lastSequence = row[3]
                continue
            }
            let state = try StoredRecord(name, row, tables: tables, shapes: shapes).state.transferred
            filling.append(state, sequence: row[3])
        }
        return ChangeBatch(records: filling.records, token: try Self.current(db), isLast: true)
    }
}

/// A batch that is being filled.
private struct FillingBatch {
    let limit: BatchLimit
    private(set) var records: [RecordState] = []
    /// The last number that it has passed, also of records that it leaves out.
    var lastSequence: Int64 = 0
    private var size = BatchSize()
    private var group: Int64?
    /// The size of the batch before the current group, if it holds earlier groups.
    private var complete: (records: Int, lastSequence: Int64)?

    init(limit: BatchLimit) {
        self.limit = limit
    }

    /// Whether another record of a group fits. If not, and the batch holds earlier groups, it removes the records of
    /// the incomplete group: they go into the next batch.
    mutating func hasRoom(forGroup next: Int64) -> Bool {
        guard let group else {
            group = next
            return true
        }
        if next != group {
            guard size.isSmall(limit) else { return false }
            if !records.isEmpty { complete = (records.count, lastSequence) }
            self.group = next
        }
        if size.hasRoom(limit) { return true }
        if let complete {
            records.removeSubrange(complete.records...)
            lastSequence = complete.lastSequence
        }
        return false
    }

    mutating func append(_ state: RecordState, sequence: Int64) {
        lastSequence = sequence
        // A row that vanished without a trigger has nothing to send. A record that is too large stays here; the others
        // go, and `grdb_sync_unsyncedRecord` names it.
        guard !state.isEmpty, !state.isTooLarge else { return }
        records.append(state)
        size.add(state)
    }
}

import GRDB
import SyncModel

/// How much one batch may hold. A batch is applied in one transaction at the other side.
package struct BatchLimit: Sendable {
    /// At most this many records.
    package var records: Int
    /// At most about this many bytes: the record that passes the limit is the batch's last.
    package var bytes: Int

    package init(records: Int, bytes: Int) {
        self.records = records
        self.bytes = bytes
    }

    /// The most bytes that one record may take; together with ``bytes`` it stays below the greatest message.
    package static let maximumRecord = 8 << 20

    /// Changes that are newer than a peer's token: what was written together arrives together, up to this size.
    package static let changes = BatchLimit(records: 10_000, bytes: 4 << 20)
    /// Part of a whole copy.
    package static let bulk = BatchLimit(records: 5_000, bytes: 1 << 20)
}

struct ChangeLog {
    let tables: RecordTables

    /// The token of everything that the store holds now; nil for a store in which nothing was ever changed.
    static func current(_ db: Database) throws -> ChangeToken {
        let sequence = try SyncState.integer(db, .lastSequence) ?? 0
        return ChangeToken(generation: try Generations.covering(db, sequence), sequence: sequence)
    }

    /// Whether a token that a peer holds is one that this store gave out.
    static func isValid(_ db: Database, _ token: ChangeToken) throws -> Bool {
        // Nothing is a prefix of every store.
        guard token.sequence > 0 else { return true }
        guard token.sequence <= (try SyncState.integer(db, .lastSequence) ?? 0) else { return false }
        return try Generations.covering(db, token.sequence) == token.generation
    }

    /// The next batch of what came after `token`, without what `peer` itself sent if one is given.
    func changes(
        _ db: Database, zone: Int64, after token: ChangeToken, excluding peer: Int64?, limit: BatchLimit
    ) throws -> ChangeBatch {
        let sql = """
            SELECT remoteRecordID, status, remoteRecord, changeSequence FROM remoteRecord
            WHERE zone = ? AND changeSequence > ? AND (sourcePeer IS NULL OR sourcePeer IS NOT ?)
            ORDER BY changeSequence
            """
        let current = try Self.current(db)
        let arguments: StatementArguments = [zone, token.sequence, peer]
        let (records, sequence) = try collect(db, sql, arguments, limit) { $0[3] as Int64 }
        guard let sequence else {
            return ChangeBatch(records: records, token: current, isLast: true)
        }
        let reached = ChangeToken(
            generation: try Generations.covering(db, sequence), sequence: sequence)
        return ChangeBatch(records: records, token: reached, isLast: false)
    }

    /// The next batch of a whole copy: first what is not deleted, then the deletions. It is never the last batch:
    /// what was changed while the copy was under way comes after it.
    ///
    /// - Parameters:
    ///   - token: the sequence at which the copy began, and how far it has come.
    ///   - peer: leave out what this peer itself sent. Not to be given to a peer that may have lost it.
    func copy(
        _ db: Database, zone: Int64, from token: ChangeToken, excluding peer: Int64?, limit: BatchLimit
    ) throws -> ChangeBatch {
        var cursor = token.cursor ?? .beforeAll
        var batch = ChangeBatch(records: [], token: token, isLast: false)
        if !cursor.isAtDeletions {
            let (records, name) = try collect(db, Self.liveSQL, [zone, cursor.name, peer], limit) {
                $0[0] as String
            }
            batch.records = records
            cursor = ChangeToken.Cursor(isAtDeletions: name == nil, name: name ?? "") ?? .beforeAll
        }
        if cursor.isAtDeletions, batch.records.count < limit.records {
            let rest = BatchLimit(records: limit.records - batch.records.count, bytes: limit.bytes)
            let (records, name) = try collect(db, Self.deletedSQL, [zone, cursor.name, peer], rest) {
                $0[0] as String
            }
            batch.records += records
            batch.token.cursor = name.flatMap { ChangeToken.Cursor(isAtDeletions: true, name: $0) }
        } else {
            batch.token.cursor = cursor
        }
        return batch
    }

    private static let liveSQL = """
        SELECT remoteRecordID, status, remoteRecord FROM remoteRecord
        WHERE zone = ? AND status <> 1 AND remoteRecordID > ? AND (sourcePeer IS NULL OR sourcePeer IS NOT ?)
        ORDER BY remoteRecordID
        """
    private static let deletedSQL = """
        SELECT remoteRecordID, status, remoteRecord FROM remoteRecord
        WHERE zone = ? AND status = 1 AND status <> 0 AND remoteRecordID > ?
            AND (sourcePeer IS NULL OR sourcePeer IS NOT ?)
        ORDER BY remoteRecordID
        """

    /// Reads states until the limit is reached.
    ///
    /// - Returns: the states, and the position of the last one if there was more.
    private func collect<Position>(
        _ db: Database, _ sql: String, _ arguments: StatementArguments, _ limit: BatchLimit,
        position: (Row) throws -> Position
    ) throws -> ([RecordState], Position?) {
        let shapes = try ShapeTable(db)
        var records: [RecordState] = []
        var bytes = 0
        var last: Position?
        let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        while let row = try rows.next() {
            if records.count >= limit.records || bytes >= limit.bytes { return (records, last) }
            let name = try RecordName(row[0] as String)
            let stored = try StoredRecord(name, row, db: db, tables: tables, shapes: shapes)
            let state = stored.state.transferred
            last = try position(row)
            // A row that vanished behind the triggers' back has nothing to say.
            guard !state.fields.isEmpty || state.deletion != nil || state.revival != nil else { continue }
            guard state.greatestSize <= BatchLimit.maximumRecord else {
                throw RecordStoreError(
                    .invalidRecord,
                    "\(name) is too large to be synced (about \(state.greatestSize) bytes; at most "
                        + "\(BatchLimit.maximumRecord) are allowed); make it smaller")
            }
            records.append(state)
            bytes += state.greatestSize
        }
        return (records, nil)
    }
}

extension RecordState {
    /// The most bytes that the state may take when it travels: names that nothing else in the batch shares, and
    /// a stamp of its own for each field.
    fileprivate var greatestSize: Int {
        fields.reduce(400) { $0 + $1.value.greatestSize + $1.name.utf8.count + 24 }
    }
}

extension FieldValue {
    fileprivate var greatestSize: Int {
        switch self {
        case .null: 1
        case .integer, .real, .date: 9
        case .text(let text): text.utf8.count + 9
        case .blob(let bytes): bytes.count + 9
        case .reference(let name): name.description.utf8.count + 8
        }
    }
}

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
        let statement = try db.cachedStatement(
            sql: """
                SELECT remoteRecordID, status, remoteRecord, changeSequence FROM remoteRecord
                WHERE zone = ? AND changeSequence > ? AND (sourcePeer IS NULL OR sourcePeer IS NOT ?)
                ORDER BY changeSequence
                """)
        let current = try Self.current(db)
        let arguments: StatementArguments = [zone, token.sequence, peer]
        let (records, sequence) = try collect(db, statement, arguments, limit) { $0[3] as Int64 }
        guard let sequence else {
            return ChangeBatch(records: records, token: current, isLast: true)
        }
        let reached = ChangeToken(
            generation: try Generations.covering(db, sequence), sequence: sequence)
        return ChangeBatch(records: records, token: reached, isLast: false)
    }

    /// The next batch of a whole copy in order of name, tombstones included.
    ///
    /// - Parameters:
    ///   - token: the sequence at which the copy began, and the last name that was sent.
    ///   - peer: leave out what this peer itself sent. Not to be given to a peer that may have lost it.
    func copy(
        _ db: Database, zone: Int64, from token: ChangeToken, excluding peer: Int64?, limit: BatchLimit
    ) throws -> ChangeBatch {
        let statement = try db.cachedStatement(
            sql: """
                SELECT remoteRecordID, status, remoteRecord FROM remoteRecord
                WHERE zone = ? AND remoteRecordID > ? AND (sourcePeer IS NULL OR sourcePeer IS NOT ?)
                ORDER BY remoteRecordID
                """)
        let arguments: StatementArguments = [zone, token.cursor?.text ?? "", peer]
        let (records, name) = try collect(db, statement, arguments, limit) { try RecordName($0[0] as String) }
        var reached = token
        reached.cursor = name.map { .through($0) }
        return ChangeBatch(records: records, token: reached, isLast: name == nil)
    }

    /// Reads states until the limit is reached.
    ///
    /// - Returns: the states, and the position of the last one if there was more.
    private func collect<Position>(
        _ db: Database, _ statement: Statement, _ arguments: StatementArguments, _ limit: BatchLimit,
        position: (Row) throws -> Position
    ) throws -> ([RecordState], Position?) {
        let shapes = try ShapeTable(db)
        var records: [RecordState] = []
        var bytes = 0
        var last: Position?
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while let row = try rows.next() {
            if records.count >= limit.records || bytes >= limit.bytes { return (records, last) }
            let name = try RecordName(row[0] as String)
            let stored = try StoredRecord(name, row, db: db, tables: tables, shapes: shapes)
            let state = stored.state.transferred
            last = try position(row)
            // A row that vanished behind the triggers' back has nothing to say.
            guard !state.fields.isEmpty || state.deletion != nil || state.revival != nil else { continue }
            records.append(state)
            bytes += state.approximateSize
        }
        return (records, nil)
    }
}

extension RecordState {
    /// About how many bytes the state takes when it travels.
    fileprivate var approximateSize: Int {
        fields.reduce(32) { $0 + $1.value.approximateSize }
    }
}

extension FieldValue {
    fileprivate var approximateSize: Int {
        switch self {
        case .null: 1
        case .integer, .real, .date: 9
        case .text(let text): text.utf8.count + 2
        case .blob(let bytes): bytes.count + 2
        case .reference: 20
        }
    }
}

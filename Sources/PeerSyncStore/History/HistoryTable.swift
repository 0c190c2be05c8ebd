import GRDB
import PeerSyncModel

/// The table `grdb_sync_history`: the values that lost against others when states of peers came.
enum HistoryTable {
    /// The size in bytes up to which the table keeps a value. A larger one leaves no row.
    static let maximumValueSize = 1 << 20
    /// The size in bytes that the table may have, as ``rowSize`` counts it; the oldest rows go first.
    static let maximumSize: Int64 = 64 << 20
    /// What a row counts beside its two values.
    private static let rowOverhead: Int64 = 128

    /// Stores of format 2 got this table before the first release, so an opening makes it where it is missing.
    static let create = """
        -- What sync overwrote, and what came too late: of each lost value, which one won. field: '' for the whole record,
        -- which a deletion took away. time: when this store noticed, in milliseconds since 1970. lostTime and wonTime: the
        -- times of the stamps, in 1/65536 of a millisecond. wasShown: whether the lost value stood in this store.
        CREATE TABLE IF NOT EXISTS grdb_sync_history (
            id INTEGER PRIMARY KEY,
            time INTEGER NOT NULL,
            recordName TEXT NOT NULL,
            field TEXT NOT NULL,
            lostTime INTEGER NOT NULL,
            lostReplica TEXT NOT NULL,
            lostValue,
            wonTime INTEGER NOT NULL,
            wonReplica TEXT NOT NULL,
            wonValue,
            wasShown INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX IF NOT EXISTS grdb_sync_historyLost
            ON grdb_sync_history (recordName, field, lostTime, lostReplica);
        """

    /// SQL for what a row counts.
    private static let rowSize = """
        (\(rowOverhead) + COALESCE(LENGTH(CAST(lostValue AS BLOB)), 0) + COALESCE(LENGTH(CAST(wonValue AS BLOB)), 0))
        """

    // MARK: Writing

    /// The rows that a transaction adds.
    struct Writer {
        private let db: Database
        private let now: Int64
        private let replica: ReplicaID
        private var entries: [HistoryEntry] = []

        init(_ db: Database, _ store: RecordStore) {
            self.db = db
            now = store.now()
            replica = store.replica
        }

        /// Notes what became of the record of a peer's state. Of one that was deleted for ever it keeps nothing.
        mutating func note(_ record: WorkingRecord) {
            guard let original = record.original, let received = record.receivedState,
                record.state.erasure == original.state.erasure
            else { return }
            let wasShown = original.status == .inTable
            noteFields(record, original, received, wasShown)
            guard wasShown, record.state.isDeleted, let deletion = record.state.deletion,
                // Only the restoring tells what a second deletion takes away from what the first has.
                let last = original.state.life
            else { return }
            append(record.name, nil, lost: (.null, last), won: (.null, deletion), wasShown: true)
        }

        private mutating func noteFields(
            _ record: WorkingRecord, _ original: WorkingRecord.Original, _ received: RecordState,
            _ wasShown: Bool
        ) {
            var present = original.state.fields[...]
            for field in received.fields {
                while let next = present.first, next.name < field.name { present.removeFirst() }
                guard let mine = present.first, mine.name == field.name, mine.stamp != field.stamp,
                    mine.value != field.value
                else { continue }
                let hasWon = field.beats(mine)
                // A value of our own that comes back late is what we have replaced ourselves.
                guard hasWon || field.value != .null && field.stamp.replica != replica else { continue }
                let (lost, won) = hasWon ? (mine, field) : (field, mine)
                append(
                    record.name, field.name, lost: (lost.value, lost.stamp), won: (won.value, won.stamp),
                    wasShown: hasWon && wasShown)
            }
        }

        private mutating func append(
            _ name: RecordName, _ field: String?, lost: (FieldValue, Stamp), won: (FieldValue, Stamp),
            wasShown: Bool
        ) {
            guard lost.0.size <= maximumValueSize, won.0.size <= maximumValueSize else { return }
            entries.append(
                HistoryEntry(
                    name: name, field: field, noticed: now,
                    lost: HistoryEntry.Value(value: lost.0, stamp: lost.1),
                    won: HistoryEntry.Value(value: won.0, stamp: won.1), wasShown: wasShown))
        }

        /// Writes the rows.
        func save() throws {
            guard !entries.isEmpty else { return }
            // The same value may come late from several machines.
            let statement = try db.statementToBind(
                """
                INSERT OR IGNORE INTO grdb_sync_history (
                    time, recordName, field, lostTime, lostReplica, lostValue, wonTime, wonReplica, wonValue, wasShown)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
            var bindings = Bindings()
            var size: Int64 = 0
            for entry in entries {
                bindings.begin()
                bindings.append(entry.noticed)
                bindings.append(entry.name.description)
                bindings.append(entry.field ?? "")
                for value in [entry.lost, entry.won] {
                    bindings.append(Int64(bitPattern: value.stamp.time.rawValue))
                    bindings.append(value.stamp.replica.description)
                    bindings.append(value.value)
                }
                bindings.append(entry.wasShown ? 1 : 0)
                try bindings.execute(statement)
                if db.changesCount > 0 {
                    size += rowOverhead + Int64(entry.lost.value.size + entry.won.value.size)
                }
            }
            let total = try (SyncState.integer(db, .historySize) ?? 0) + size
            try SyncState.set(db, .historySize, total)
            if total > maximumSize { try trim(db, to: maximumSize / 8 * 7) }
        }
    }

    // MARK: Forgetting

    /// Removes the oldest rows until the table has at most this size.
    static func trim(_ db: Database, to size: Int64) throws {
        var left = try measure(db)
        let rows = try Row.fetchCursor(db, sql: "SELECT id, \(rowSize) FROM grdb_sync_history ORDER BY id")
        var last: Int64?
        while left > size, let row = try rows.next() {
            last = row[0]
            left -= row[1]
        }
        if let last {
            try db.execute(sql: "DELETE FROM grdb_sync_history WHERE id <= ?", arguments: [last])
        }
        try SyncState.set(db, .historySize, left)
    }

    /// Removes the rows from before a time, in milliseconds since 1970.
    static func purge(_ db: Database, before limit: Int64) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_history WHERE time < ?", arguments: [limit])
        try SyncState.set(db, .historySize, try measure(db))
    }

    private static func measure(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db, sql: "SELECT COALESCE(SUM(\(rowSize)), 0) FROM grdb_sync_history") ?? 0
    }

    /// Forgets what a record was.
    static func remove(_ db: Database, of name: RecordName) throws {
        try db.executeCached("DELETE FROM grdb_sync_history WHERE recordName = ?", [name.description])
    }

    // MARK: Reading

    /// The rows that fulfil a condition, the last one first.
    static func entries(
        _ db: Database, where condition: String, _ arguments: StatementArguments, limit: Int = -1
    ) throws -> [HistoryEntry] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT lostValue, wonValue, * FROM grdb_sync_history WHERE \(condition) ORDER BY id DESC LIMIT ?
                """)
        var all = arguments
        _ = all.append(contentsOf: [limit])
        let rows = try Row.fetchCursor(statement, arguments: all)
        var entries: [HistoryEntry] = []
        while let row = try rows.next() {
            // GRDB would read a text only up to U+0000.
            let values = (0...1).map { RecordColumn.storedValue(statement.sqliteStatement, $0) }
            entries.append(try entry(row, lost: values[0], won: values[1]))
        }
        return entries
    }

    private static func entry(_ row: Row, lost: FieldValue, won: FieldValue) throws -> HistoryEntry {
        let field: String = row["field"]
        return HistoryEntry(
            name: try RecordName(row["recordName"]), field: field.isEmpty ? nil : field,
            noticed: row["time"], lost: value(lost, row, "lost"), won: value(won, row, "won"),
            wasShown: row["wasShown"])
    }

    private static func value(_ value: FieldValue, _ row: Row, _ prefix: String) -> HistoryEntry.Value {
        let time: Int64 = row[prefix + "Time"]
        let replica: String = row[prefix + "Replica"]
        return HistoryEntry.Value(
            value: value,
            stamp: Stamp(
                time: HybridTime(rawValue: UInt64(bitPattern: time)),
                replica: ReplicaID(rawValue: UInt64(replica, radix: 16) ?? 0)))
    }
}

extension FieldValue {
    /// The bytes that the value takes in a column, roughly.
    fileprivate var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        case .reference(let name): name.description.utf8.count
        case .asset(let asset): asset.json.utf8.count
        case .null, .integer, .real, .date: 8
        }
    }
}

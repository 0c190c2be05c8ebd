import GRDB
import PeerSyncModel
import PeerSyncStore
import Synchronization

/// The store of a machine, in memory. Machines of later simulations use the same connection again: otherwise each would
/// open a store of its own, and SQLite would compile all statements for each.
final class SimulatedStore: @unchecked Sendable {
    /// The time that the store has. One simulation at a time sets it, on its own thread.
    var now: () -> Int64 = { 0 }
    let database: DatabaseQueue
    /// The store as it was opened. Each simulation has one of its own.
    private var opened: RecordStore!
    private let kind: [Int]
    /// Changes with everything that changes a table.
    private var schemaVersion: Int64 = 0
    /// What the tables of a new store hold, those that others refer to first.
    private var contents: [(table: String, rows: [Row])] = []

    private static let unused = Mutex<[[Int]: [SimulatedStore]]>([:])

    /// Finds or makes the store of a machine that has this number, for this version of the app.
    static func take(_ number: Int, version: Int) throws -> SimulatedStore {
        let kind = [number, version]
        guard let used = unused.withLock({ $0[kind]?.popLast() }) else {
            return try SimulatedStore(kind)
        }
        try used.empty()
        return used
    }

    /// Lets another machine take the store, unless it has other tables now.
    func giveBack() {
        let version = try? database.writeWithoutTransaction {
            try Int64.fetchOne($0, sql: "PRAGMA schema_version")
        }
        guard version == schemaVersion else { return }
        Self.unused.withLock { $0[kind, default: []].append(self) }
    }

    private init(_ kind: [Int]) throws {
        self.kind = kind
        database = try DatabaseQueue()
        try database.write { db in
            try db.execute(sql: SimulatedSchema.sql)
            if kind[1] >= 2 { try db.execute(sql: SimulatedSchema.upgrade) }
        }
        opened = try open(version: kind[1])
        try database.write { db in
            schemaVersion = try Int64.fetchOne(db, sql: "PRAGMA schema_version")!
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
            contents = try tables.map { ($0, try Row.fetchAll(db, sql: "SELECT * FROM \"\($0)\"")) }
        }
    }

    /// Opens the store as a program does that begins to run.
    func open(version: Int) throws -> RecordStore {
        try RecordStore(
            database, schema: version >= 2 ? SimulatedSchema.second : SimulatedSchema.first,
            replica: ReplicaID(rawValue: UInt64(kind[0] + 1)), now: { [unowned self] in now() })
    }

    /// The store right after it was opened for the first time.
    func new() -> RecordStore { RecordStore(again: opened) }

    /// Makes the store what it was after it was opened for the first time.
    private func empty() throws {
        try database.write { db in
            // The triggers do not note this.
            let pause = "grdb_sync_capturePause"
            try db.execute(sql: "INSERT OR IGNORE INTO \(pause) (id) VALUES (1)")
            for (table, _) in contents.reversed() where table != pause {
                try db.cachedStatement(sql: "DELETE FROM \"\(table)\"").execute()
            }
            for (table, rows) in contents {
                for row in rows {
                    let values = row.databaseValues
                    let places = values.map { _ in "?" }.joined(separator: ", ")
                    try db.cachedStatement(sql: "INSERT INTO \"\(table)\" VALUES (\(places))")
                        .execute(arguments: StatementArguments(values))
                }
            }
            try db.execute(sql: "DELETE FROM \(pause)")
        }
    }
}

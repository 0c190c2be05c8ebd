import AssetModel
import GRDB
import GRDBSQLite
import PeerSyncModel
import PeerSyncProtocol
import PeerSyncStore
import TestSupport

/// One machine of a simulation: a real store in memory, under a clock of the simulation.
final class SimulatedReplica {
    let number: Int
    var version: Int
    /// How far this machine's clock is ahead of the true time, in milliseconds.
    var skew: Int64
    private let stored: SimulatedStore
    private(set) var store: RecordStore {
        didSet { known = nil }
    }
    /// What ``states()`` has found, and how many changes SQLite had counted then.
    private var known: (changes: Int, states: [RecordName: RecordState])?
    /// The files, which no backup of the store has.
    let disk = ModelDisk()
    private var backup: DatabaseQueue?
    private let clock: SimulatedClock
    /// The number of records in a batch from which the store switches its triggers off. With 2, it silences them in both
    /// ways, for some batches have fewer records.
    var manyRecords = 2

    init(number: Int, version: Int, skew: Int64, clock: SimulatedClock) throws {
        self.number = number
        self.version = version
        self.skew = skew
        self.clock = clock
        stored = try SimulatedStore.take(number, version: version)
        store = stored.new()
        stored.now = { [unowned self] in self.clock.milliseconds + self.skew }
    }

    deinit { stored.giveBack() }

    var database: DatabaseQueue { stored.database }

    var key: [UInt8] { [UInt8](repeating: UInt8(number + 1), count: 32) }

    /// Whether this machine introduces those that it pairs with.
    var introduces = false

    /// The introduction that follows from a pairing; nil where the machines form no household.
    func introduction(of key: [UInt8], name: String) -> Introduction? {
        introduces ? Introduction(of: key, name: name, rights: .all, by: self.key, time: store.now()) : nil
    }

    /// Reads from the store in one transaction, and checks that nothing writes there, as `DatabaseQueue.read` does. That one
    /// uses a pragma, after which SQLite compiles all statements of the connection anew.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try transaction("BEGIN DEFERRED TRANSACTION") { db in
            let value = try body(db)
            guard sqlite3_txn_state(db.sqliteConnection, nil) != SQLITE_TXN_WRITE else {
                throw SimulationFailure("machine \(number) writes where it is to read")
            }
            return value
        }
    }

    /// Writes to the store in one transaction.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try transaction("BEGIN IMMEDIATE TRANSACTION", body)
    }

    /// Does the same as GRDB's `inTransaction`, which lets SQLite compile the beginning and the end each time.
    private func transaction<Value>(_ begin: String, _ body: (Database) throws -> Value) throws -> Value {
        try database.writeWithoutTransaction { db in
            try db.cachedStatement(sql: begin).execute()
            do {
                let value = try body(db)
                try db.cachedStatement(sql: "COMMIT TRANSACTION").execute()
                return value
            } catch {
                try db.rollback()
                throw error
            }
        }
    }

    // MARK: Events

    /// Runs statements in one transaction as another program would, without our code. If foreign keys are on, and a
    /// statement breaks one, nothing is written.
    func shell(_ statements: [String], hasForeignKeys: Bool = false) throws {
        try database.writeWithoutTransaction { db in
            if !hasForeignKeys { try db.execute(sql: "PRAGMA foreign_keys = OFF") }
            defer { if !hasForeignKeys { try? db.execute(sql: "PRAGMA foreign_keys = ON") } }
            do {
                try db.inTransaction {
                    for statement in statements { try db.execute(sql: statement) }
                    return .commit
                }
            } catch let error as DatabaseError
                where hasForeignKeys && error.resultCode == .SQLITE_CONSTRAINT
            {
                return
            }
        }
    }

    /// Ends the program and starts it again. It loses what it had not committed.
    func restart() throws {
        store = try stored.open(version: version)
    }

    /// Keeps a copy of the store file.
    func makeBackup() throws {
        let copy = try DatabaseQueue()
        try database.backup(to: copy)
        backup = copy
    }

    // MARK: The fuse

    /// Lets the machine ask as soon as two records would go.
    func setFuse() throws {
        try write { try store.fuse.set($0, FuseSetting(share: 0.1, records: 2)) }
    }

    /// Whether something waits for a user.
    var isWaiting: Bool {
        get throws { try read { try Bool.fetchOne($0.cachedStatement(sql: Self.waiting)) ?? false } }
    }

    private static let waiting = "SELECT EXISTS (SELECT 1 FROM grdb_sync_withheldRecord)"

    /// Allows or refuses all that waits.
    ///
    /// - Returns: the number of decisions.
    func decide(allowing isAllowed: Bool) throws -> Int {
        try write { db in
            _ = try store.fold(db)
            var decisions = 0
            // One decision may settle others.
            while let alarm = try store.fuse.alarms(db).first {
                if isAllowed { try store.fuse.allow(db, alarm) } else { try store.fuse.refuse(db, alarm) }
                decisions += 1
            }
            return decisions
        }
    }

    /// Replaces the store by the backup, if there is one.
    ///
    /// - Returns: whether there was a backup.
    func restoreBackup() throws -> Bool {
        guard let backup else { return false }
        try backup.backup(to: database)
        // The backup may have an older schema.
        version = try read { try $0.tableExists("Prize") } ? 2 : 1
        try restart()
        return true
    }

    /// Installs a newer version of the program. Its migration may also fill the column that it adds, or rebuild a table.
    func upgrade(_ random: inout SeededGenerator) throws {
        guard version < 2 else { return }
        let migrations =
            [SimulatedSchema.upgrade] + (random.oneIn(2) ? [SimulatedSchema.filling] : [])
            + (random.oneIn(2) ? [SimulatedSchema.rebuilding] : [])
        try write { try $0.execute(sql: migrations.joined(separator: ";\n")) }
        version = 2
        try restart()
    }

    /// Forgets old deletions.
    func purge(retention: Int64) throws -> Int {
        try write { try store.upkeep.purge($0, retention: retention) }
    }

    /// Ends the pairing with another machine, if they are paired.
    func part(from other: SimulatedReplica) throws {
        let peer = try peerZone(with: other).peer
        try write { try store.peers.remove($0, peer) }
    }

    /// Forgets what another machine has, because this one was away for too long.
    ///
    /// - Returns: whether this one can know what the other has. A machine that has itself started over has lost some
    ///   of what it had acknowledged, and nobody knows how much.
    func startOver(with other: SimulatedReplica) throws -> Bool {
        let (ours, theirs) = (try peerZone(with: other), try other.peerZone(with: self))
        let held = try other.read { try theirs.summary($0).received }
        return try write { db in
            let acknowledged =
                try Int64.fetchOne(
                    db, sql: "SELECT acknowledgedSequence FROM grdb_sync_peerZone WHERE peer = ?",
                    arguments: [ours.peer.id]) ?? 0
            try store.exchange.startOver(
                db, with: ours.peer, in: [(store.zones.current(db, .default), heldByPeer: held)])
            return held.map { $0.sequence >= acknowledged } ?? true
        }
    }

    // MARK: Contents

    /// All rows of the tables, one line for each record, with the columns of the first version only.
    func rows() throws -> [String] {
        try read { db in
            try zip(SimulatedSchema.tables(version: 1), SimulatedSchema.tables(version: version)).flatMap {
                first, type in
                let key = SimulatedKeys.columns(of: type.type)
                let date = type.isKeyMadeOfReferences ? [] : ["modificationDate"]
                let columns =
                    key + date + type.columns.prefix(first.columns.count) + type.references.map(\.column)
                let sql = """
                    SELECT \(columns.joined(separator: ", ")) FROM \(type.name) ORDER BY \(key.joined(separator: ", "))
                    """
                return try Row.fetchAll(db.cachedStatement(sql: sql)).map { row in
                    row.databaseValues.map { "\($0)" }.joined(separator: "|")
                }
            }
        }
    }

    /// The table of a type: for each record, the synced columns as `quote` writes them.
    func values(of type: String) throws -> [RecordName: [String: String]] {
        let fields = store.schema.type(type)?.fields ?? []
        let key = SimulatedKeys.columns(of: type)
        let all = (key + fields.map { "quote(\($0.column))" }).joined(separator: ", ")
        let table = store.schema.type(type)?.table ?? type
        return try read { db in
            var values: [RecordName: [String: String]] = [:]
            for row in try Row.fetchAll(db.cachedStatement(sql: "SELECT \(all) FROM \(table)")) {
                let texts = fields.indices.map { row[$0 + key.count] as String }
                values[try SimulatedKeys.name(type, key: Array(row.databaseValues.prefix(key.count)))] =
                    Dictionary(uniqueKeysWithValues: zip(fields.map(\.name), texts))
            }
            return values
        }
    }

    func names(of type: String) throws -> [String] {
        let key = SimulatedKeys.columns(of: type).joined(separator: ", ")
        let table = store.schema.type(type)?.table ?? type
        return try read { db in
            try Row.fetchAll(db.cachedStatement(sql: "SELECT \(key) FROM \(table) ORDER BY \(key)")).map {
                try SimulatedKeys.name(type, key: Array($0.databaseValues)).description
            }
        }
    }

    /// Whether the store holds a record that waits for another.
    func isHeld(_ db: Database, _ name: RecordName) throws -> Bool {
        try store.listing.held(db).contains { $0.name == name.description }
    }

    /// Everything that the store knows, by record.
    func states() throws -> [RecordName: RecordState] {
        try write { db in
            // SQLite counts each row that is written, by whatever.
            if let known, known.changes == db.totalChangesCount { return known.states }
            _ = try store.fold(db)
            var states: [RecordName: RecordState] = [:]
            try store.listing.forEachState(db) { states[$0.name] = $0 }
            known = (db.totalChangesCount, states)
            return states
        }
    }

    /// The exchange with another machine, for this machine's store.
    func peerZone(with other: SimulatedReplica) throws -> PeerZone {
        let peer = try write { db in
            try store.peers.add(db, key: other.key, name: "machine \(other.number)")
        }
        return PeerZone(store: store, peer: peer)
    }
}

/// The true time of a simulation.
final class SimulatedClock: @unchecked Sendable {
    // A simulation runs on one thread, which waits while the database calls back on its queue.
    private(set) var milliseconds: Int64 = 1_700_000_000_000

    func advance(_ by: Int64) {
        milliseconds += by
    }
}

import Foundation
import GRDB
import SyncModel

/// The records of a SQLite database, with what sync needs to know of them.
///
/// An app hands over its database and the schema of what is to be synced; from then on every write to those
/// tables counts, whoever makes it:
///
/// ```swift
/// let store = try RecordStore(database, schema: schema, replica: identity.replicaID)
/// try await store.write { db in
///     try db.execute(sql: "UPDATE Book SET title = 'Emma' WHERE recordName = ?", arguments: [name])
/// }
/// ```
///
/// The store's own tables live beside the app's in the same database. All work is done in transactions of the
/// database's one writer.
public final class RecordStore: Sendable {
    public let schema: RecordSchema
    /// The app's database.
    public let database: any DatabaseWriter
    /// Who writes here.
    public let replica: ReplicaID
    /// Where the files of assets are; nil for a store that keeps none, which passes on what records say of them.
    public let assetDirectory: AssetDirectory?

    let tables: RecordTables
    let soundness = StoreSoundness()
    /// The id of this run among those that number changes.
    let generation: [UInt8]
    /// Milliseconds since 1970.
    package let now: @Sendable () -> Int64

    /// Opens a database for sync: creates the engine's tables, and the triggers that capture writes.
    ///
    /// Rows that are there already and unknown to sync are taken in as written now.
    ///
    /// - Parameter assets: where the files of assets are kept; it belongs to this store alone.
    /// - Throws: ``RecordStoreError``: `newerFormat` (nothing is changed then), `tableMismatch` when a table of
    ///   the schema is missing or differs; errors of SQLite.
    public init(
        _ database: any DatabaseWriter, schema: RecordSchema, replica: ReplicaID,
        assets: AssetDirectory? = nil,
        now: @escaping @Sendable () -> Int64 = RecordStore.wallClock
    ) throws {
        self.schema = schema
        self.database = database
        self.replica = replica
        assetDirectory = assets
        self.now = now
        try database.read { db in
            try MetadataTables.checkFormat(db)
            for type in schema.types { try TableCheck.check(db, type, in: schema) }
        }
        tables = try database.read { try RecordTables(schema, $0) }
        generation = Generations.random()
        try database.write { db in
            let areRulesNew = try MetadataTables.migrate(db)
            let hasMissedWrites = try CaptureTriggers.endPause(db)
            try installTriggers(db)
            if areRulesNew { for type in schema.types { try relearn(db, type) } }
            try noteReplica(db)
            try Zones.claim(db, for: replica)
            if hasMissedWrites { try upkeep.repair(db) }
        }
    }

    /// Refuses a database that a newer version of the engine wrote. Reads only.
    ///
    /// - Throws: ``RecordStoreError`` `newerFormat`, `corrupt`.
    public static func checkFormat(_ db: Database) throws {
        try MetadataTables.checkFormat(db)
    }

    /// A store that comes under another identity is a copy, or its key was renewed: the machines that were paired with
    /// the old one do not know the new one.
    private func noteReplica(_ db: Database) throws {
        let last = try SyncState.text(db, .replica)
        guard last != replica.description else { return }
        if last != nil {
            for peer in try PeerTable.all(db) { try peers.remove(db, peer) }
        }
        try SyncState.set(db, .replica, replica.description)
    }

    private func installTriggers(_ db: Database) throws {
        for type in schema.types {
            let captured = try SyncState.text(db, .captured(type.name))
            let hasLearnt = captured != type.fieldNames.joined(separator: " ")
            let difference = try CaptureTriggers.difference(db, for: type)
            // The journal's masks are those of the old triggers, so it is folded before they go.
            if captured != nil, hasLearnt || difference == .some { _ = try fold(db) }
            try CaptureTriggers.install(db, for: type)
            if difference != .none { try CaptureTriggers.adoptRows(db, of: type) }
            if difference == .all || hasLearnt { try relearn(db, type) }
        }
    }

    /// Shows what was kept of a type, or of fields, that this version of the schema has learnt.
    private func relearn(_ db: Database, _ type: RecordType) throws {
        let prefix = type.name + RecordName.separator
        var last = prefix
        while true {
            // The character after the separator's last one ends the range of the names that begin so.
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT remoteRecordID FROM remoteRecord
                    WHERE remoteRecordID > ? AND remoteRecordID < ? ORDER BY remoteRecordID LIMIT 5000
                    """, arguments: [last, type.name + "|~}"])
            guard let end = names.last else { return }
            let set = try WorkingSet(db, tables)
            for name in names { try set.known(RecordName(name))?.isRelearnt = true }
            _ = try set.save(generation: generation)
            last = end
        }
    }

    // MARK: Subjects

    /// The machines that this store is paired with.
    public var peers: StorePeers { StorePeers(store: self) }
    /// The zones of this store, and who may do what in them.
    public var zones: StoreZones { StoreZones(store: self) }
    /// The files that records refer to.
    public var assets: StoreAssets { StoreAssets(store: self) }
    /// The records in lists: those in the tables, held ones, deleted ones.
    public var listing: StoreListing { StoreListing(store: self) }
    /// The records that peers have refused.
    public var refusals: StoreRefusals { StoreRefusals(store: self) }
    /// Whether sync is switched on.
    public var settings: StoreSettings { StoreSettings(store: self) }
    /// The clock that stamps writes, and its repair.
    public var clock: StoreClock { StoreClock(store: self) }
    /// Looks for damage, repairs it, and forgets old deletions.
    public var upkeep: StoreUpkeep { StoreUpkeep(store: self) }
    /// What sessions ask of the store; the exchange of one zone with one peer is a ``PeerZone``.
    package var exchange: StoreExchange { StoreExchange(store: self) }
    /// The file of the database, for copies.
    package var databaseFile: DatabaseFile { DatabaseFile(store: self) }

    /// The time of this machine's clock, in milliseconds since 1970.
    public static let wallClock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }

    /// The most bytes that a record may take to be synced, about: 8 MiB. A greater one stays where it was written, and
    /// ``StoreStatus/unsynced`` names it.
    public static let maximumRecordSize = RecordState.maximumSize

    // MARK: Writing

    /// Writes to the database, and takes what was written in for sync, in one transaction.
    @discardableResult
    public func write<Value: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let value = try await database.write { [self] db in
            let value = try updates(db)
            _ = try fold(db)
            return value
        }
        try await assets.storeFilesIfPossible()
        return value
    }

    /// Takes in what was written to the tables since the last look, by whichever program.
    ///
    /// - Returns: what changed; nothing when the journal was empty, and then no transaction was made for it.
    @discardableResult
    public func foldPendingChanges() async throws -> StoreChanges {
        guard try await database.read(Self.hasPendingChanges) else { return StoreChanges() }
        let changes = try await database.write { [self] db in try fold(db) }
        try await assets.storeFilesIfPossible()
        return changes
    }

    /// Reads what was written to the tables up to now, by whichever program, as records: takes it in first when there is
    /// anything.
    package func readFolded<Value: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let found = try await database.read { db in try Self.hasPendingChanges(db) ? nil : value(db) }
        if let found { return found }
        try await foldPendingChanges()
        // What is written from now on is another change, of which there will be word.
        return try await database.read(value)
    }

    /// What a look for the writes of other connections has found.
    package struct OthersWrites: Sendable {
        /// What to look from the next time.
        package var version: Int64
        package var hasChanged = true
        /// Whether there was anything to take in.
        package var hasFolded = false
    }

    /// Takes in what other connections have committed since another look.
    ///
    /// - Parameter version: what that look has found; nil for the first one.
    package func foldOthersWrites(since version: Int64?) async throws -> OthersWrites {
        try await database.writeWithoutTransaction { [self] db in
            // It changes with every commit of every connection but this one.
            let current = try Int64.fetchOne(db.cachedStatement(sql: "PRAGMA data_version")) ?? 0
            guard current != version else { return OthersWrites(version: current, hasChanged: false) }
            guard try Self.hasPendingChanges(db) else { return OthersWrites(version: current) }
            try db.inTransaction(.immediate) {
                _ = try fold(db)
                return .commit
            }
            return OthersWrites(version: current, hasFolded: true)
        }
    }

    private static func hasPendingChanges(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM pendingChange)")) ?? false
    }

    /// Folds in the transaction that is open.
    ///
    /// - Parameter zone: where new records go that refer to no other; the others go where what they refer to is.
    package func fold(_ db: Database, newIn zone: ZoneTarget = .default) throws -> StoreChanges {
        try folding(zone.row).fold(db)
    }

    func folding(_ zone: Int64) -> ChangeFolding {
        ChangeFolding(
            tables: tables, replica: replica, generation: generation, hasAssets: assetDirectory != nil,
            zone: zone)
    }

    // MARK: Reading

    /// Calls `onChange` after each transaction of this process that changed a record, or wrote to a synced table, until
    /// what is returned is cancelled. What other processes write is not seen.
    package func observeWrites(_ onChange: @escaping @Sendable () -> Void) -> AnyDatabaseCancellable {
        let observer = WriteObserver(onChange)
        database.add(transactionObserver: observer, extent: .observerLifetime)
        return AnyDatabaseCancellable { [database] in database.remove(transactionObserver: observer) }
    }

    /// Everything that the store knows of a record, deleted or held ones included; nil if it knows nothing.
    public func state(_ db: Database, of name: RecordName) throws -> RecordState? {
        let set = try WorkingSet(db, tables)
        return try set.known(name)?.state
    }

    /// What the store holds, in numbers. Fold first, so that the digest covers what was written just now.
    public func status(_ db: Database) throws -> StoreStatus {
        try StoreStatus(db, schema: schema, now: now())
    }
}

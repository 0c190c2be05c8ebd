import Foundation
import GRDB
import PeerSyncModel

/// The records of a SQLite database, with the metadata that sync needs.
///
/// An app hands over its database and the schema of the tables to sync. From then on sync covers every write to those
/// tables, by any program:
///
/// ```swift
/// let store = try RecordStore(database, schema: schema, replica: identity.replicaID)
/// try await store.write { db in
///     try db.execute(sql: "UPDATE Book SET title = 'Emma' WHERE recordName = ?", arguments: [name])
/// }
/// ```
///
/// The store keeps its own tables in the same database, beside the app's. All their names begin with `grdb_sync_`, so
/// GRDB's `eraseDatabaseOnSchemaChange` leaves them out. It does all work in transactions of the database's one writer.
public final class RecordStore: Sendable {
    /// The record types, as the store was opened with them.
    public let schema: RecordSchema
    /// The app's database.
    public let database: any DatabaseWriter
    /// The replica that stamps the writes made here.
    public let replica: ReplicaID
    /// The directory of the files of assets. Without one, a store keeps no files and only passes on what records say of
    /// them.
    public let assetDirectory: AssetDirectory?

    let tables: RecordTables
    let soundness = StoreSoundness()
    let knownHousehold = KnownHousehold()
    let unsentCount = UnsentCount()
    let capturedSchema = CapturedSchema()
    /// Knows whether the app itself writes in the open transaction.
    private let ownWrites = OwnWrites()
    /// The id of this run in the table of generations.
    let generation = Generations.random()
    /// The wall clock, in milliseconds since 1970.
    package let now: @Sendable () -> Int64

    /// Opens a database for sync: creates the engine's tables, and the triggers that capture writes.
    ///
    /// Sync takes in rows that it does not know yet as if they were written now.
    ///
    /// Every program that opens the database for sync lists the same tables, also an extension or a tool that needs only some of them. An
    /// opening with fewer takes the others out of sync: nobody captures their writes until a program lists them again, and stores that are
    /// open with them throw `newerFormat`.
    ///
    /// A connection that only reads will do if an earlier opening has left the database as this one needs it. The store then reads, and its
    /// writes throw the errors of SQLite.
    ///
    /// - Parameters:
    ///   - database: the app's database, with its tables.
    ///   - schema: the record types to sync.
    ///   - replica: the replica that stamps the writes made here: that of the machine's identity.
    ///   - assetDirectory: the directory for the files of assets; it belongs to this store alone.
    ///   - now: a wall clock of the caller's, for tests, in milliseconds since 1970. It also stamps what programs write
    ///     through `database`: it replaces SQL's `julianday()` without arguments there for good. Without one, the clock
    ///     is that of the machine.
    /// - Throws: ``RecordStoreError``, before anything is changed: `newerFormat` and `corrupt`; `tableMismatch` when a table of the
    ///   schema is missing or differs; `invalidSchema` when one cannot be synced as the schema says. Errors of SQLite.
    public init(
        _ database: any DatabaseWriter, schema: RecordSchema, replica: ReplicaID,
        assetDirectory: AssetDirectory? = nil,
        now: (@Sendable () -> Int64)? = nil
    ) throws {
        self.schema = schema
        self.database = database
        self.replica = replica
        self.assetDirectory = assetDirectory
        self.now = now ?? Self.wallClock
        if let now { database.writeWithoutTransaction { CaptureTriggers.setClock($0, now) } }
        tables = try database.readOnce { db in
            try MetadataTables.checkFormat(db)
            let hasAssets = assetDirectory != nil
            for type in schema.types { try TableCheck.check(db, type, in: schema, hasAssets: hasAssets) }
            return try RecordTables(schema, db)
        }
        try database.write { db in
            let areRulesNew = try MetadataTables.migrate(db)
            _ = try unsentCount.rise(db)
            let hasMissedWrites = try CaptureTriggers.endPause(db)
            try StoreOpening(self, db).run(areRulesNew: areRulesNew)
            try noteReplica(db)
            try Zones.claim(db, for: replica)
            if hasMissedWrites { try upkeep.repair(db) }
            try capturedSchema.note(db)
        }
    }

    /// Opens a database for sync of some of its tables, as they are declared there.
    ///
    /// - Parameters:
    ///   - database: the app's database, with its tables.
    ///   - tables: see ``RecordSchema/init(_:tables:)``.
    ///   - replica: see ``init(_:schema:replica:assetDirectory:now:)``.
    ///   - assetDirectory: see ``init(_:schema:replica:assetDirectory:now:)``.
    ///   - now: see ``init(_:schema:replica:assetDirectory:now:)``.
    /// - Throws: ``RecordStoreError``, also `invalidSchema`; errors of SQLite.
    public convenience init(
        _ database: any DatabaseWriter, tables: [SyncedTable], replica: ReplicaID,
        assetDirectory: AssetDirectory? = nil, now: (@Sendable () -> Int64)? = nil
    ) throws {
        let schema = try database.readOnce { try RecordSchema($0, tables: tables) }
        try self.init(database, schema: schema, replica: replica, assetDirectory: assetDirectory, now: now)
    }

    /// Opens a store once more that is open. For the simulator only: it has just seen that everything is in place.
    package init(again store: RecordStore) {
        schema = store.schema
        database = store.database
        replica = store.replica
        assetDirectory = store.assetDirectory
        tables = store.tables
        now = store.now
    }

    /// Refuses a database that a newer version of the engine wrote. Only reads.
    ///
    /// - Throws: ``RecordStoreError`` `newerFormat`, `corrupt`.
    public static func checkFormat(_ db: Database) throws {
        try MetadataTables.checkFormat(db)
    }

    /// Removes the triggers of a table, so that a migration can drop a column, which SQLite refuses while they are there.
    /// Call it in the migration. The next opening of the store puts the triggers back, and takes in
    /// what was written meanwhile. A table without triggers is left as it is.
    ///
    /// - Parameters:
    ///   - db: the connection of the migration.
    ///   - table: the name of the table.
    public static func stopCapturing(_ db: Database, of table: String) throws {
        try FormatOne.removeTriggers(db, from: NameEncoding.identifier(of: table))
        try CaptureTriggers.remove(db, fromTable: table)
    }

    /// Removes everything of the engine from a database: its tables, and the triggers on the app's tables. The app's
    /// tables stay as they are, and so do the files of assets. Close all stores of the database before. A table `grdb_sync_capturePause`
    /// stays, empty, while a trigger or a view of your own names it; drop those that name others of the engine's tables.
    ///
    /// The machine then is no longer paired with any other. When the database is opened for sync again, its rows count
    /// as written at that moment.
    ///
    /// - Parameters:
    ///   - db: a connection that writes.
    ///   - losingHeldRecords: whether to go on although records are held (``StoreStatus/heldRecords``): they have no row in the app's
    ///     tables, so nothing is left of them.
    /// - Throws: ``RecordStoreError`` `heldRecords` unless `losingHeldRecords`; `assetUnwritable` while the database holds bytes for which no file could be written
    ///   yet; open the store with its directory of assets before. Errors of SQLite.
    public static func uninstall(_ db: Database, losingHeldRecords: Bool = false) throws {
        guard try losingHeldRecords || !StoreListing.isAnyHeldWithoutRow(db) else {
            throw RecordStoreError(
                .heldRecords,
                "records that are held have no row in the app's tables, so nothing would be left of them: see in the status what they "
                    + "wait for, or allow it with losingHeldRecords")
        }
        guard try UnstoredAssets.first(db) == nil else {
            throw RecordStoreError(
                .assetUnwritable,
                "the database holds files that are not in the directory of assets yet, and would lose them: open the store "
                    + "once more")
        }
        try MetadataTables.remove(db)
    }

    /// Removes all peers when the identity of the store has changed: either the file is a copy, or somebody renewed the
    /// key. The machines that were paired with the old identity do not know the new one.
    private func noteReplica(_ db: Database) throws {
        let last = try SyncState.text(db, .replica)
        guard last != replica.description else { return }
        if last != nil {
            // Under its new identity it is a stranger to the household, and is introduced anew when it is paired. No user
            // has forgotten these peers, so an introduction may bring them back.
            for peer in try PeerTable.all(db) { try PeerTable.remove(db, peer, removedBy: []) }
            try HouseholdTable.removeAll(db)
            try MailboxTables.forgetIdentity(db)
        }
        try SyncState.set(db, .replica, replica.description)
    }

    // MARK: Subjects

    /// The peers that this store is paired with.
    public var peers: StorePeers { StorePeers(store: self) }
    /// The pairing code that this store shows, and the programs that listen for it.
    public var pairing: StorePairing { StorePairing(store: self) }
    /// The machines that accept each other, whichever of them were paired.
    public var household: StoreHousehold { StoreHousehold(store: self) }
    /// The zones of this store, and the rights of peers in them.
    public var zones: StoreZones { StoreZones(store: self) }
    /// The files that records refer to.
    public var assets: StoreAssets { StoreAssets(store: self) }
    /// Lists of records: those in the tables, held ones, deleted ones.
    public var listing: StoreListing { StoreListing(store: self) }
    /// The records that peers have refused.
    public var refusals: StoreRefusals { StoreRefusals(store: self) }
    /// Whether sync is switched on.
    public var settings: StoreSettings { StoreSettings(store: self) }
    /// The clock that stamps writes, and its repair.
    public var clock: StoreClock { StoreClock(store: self) }
    /// What sync overwrote, and how to get it back.
    public var history: StoreHistory { StoreHistory(store: self) }
    /// Holds back what would take away much at once, until a person decides.
    public var fuse: StoreFuse { StoreFuse(store: self) }
    /// Looks for damage, repairs it, and forgets old deletions.
    public var upkeep: StoreUpkeep { StoreUpkeep(store: self) }
    /// The operations that sessions need from the store; a ``PeerZone`` does the exchange of one zone with one peer.
    package var exchange: StoreExchange { StoreExchange(store: self) }
    /// The file of the database, for copies.
    package var databaseFile: DatabaseFile { DatabaseFile(store: self) }

    /// The time of this machine's clock, in milliseconds since 1970.
    public static let wallClock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }

    /// The size in bytes, roughly, up to which a record is synced: 8 MiB. A larger one stays where it was written, and
    /// ``StoreStatus/unsynced`` names it.
    public static let maximumRecordSize = RecordState.maximumSize

    // MARK: Writing

    /// Writes to the database and folds these writes, in one transaction.
    ///
    /// It then puts what columns for files got as bytes into files. Bytes for which that fails wait in the database; see
    /// ``AssetStatus/unstored``.
    ///
    /// - Throws: what `updates` throws; ``RecordStoreError`` `newerFormat` when a program that syncs other tables or fields has opened the
    ///   database meanwhile; errors of SQLite; `CancellationError`. Nothing is written then: after the commit it throws nothing.
    @discardableResult
    public func write<Value: Sendable>(
        _ updates: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let value = try await database.write { [self] db in
            // What other programs wrote before is not this write.
            if try Self.hasPendingChanges(db) { _ = try fold(db) }
            return try ownWrites.run {
                let value = try updates(db)
                _ = try fold(db)
                return value
            }
        }
        // Whoever gets an error would write again what is committed.
        try? await assets.storeFiles()
        return value
    }

    /// Folds what any program has written to the tables since the last fold.
    ///
    /// - Returns: the changes; empty when the journal was empty, and then the store made no transaction.
    /// - Throws: ``RecordStoreError`` `newerFormat` when a program that syncs other tables or fields has opened the database meanwhile;
    ///   errors of SQLite; `CancellationError`.
    @discardableResult
    public func foldPendingChanges() async throws -> StoreChanges {
        let isPending = try await database.read { [self] db in
            // The journal is empty, too, when nobody captures any more.
            try capturedSchema.check(db)
            return try Self.hasPendingChanges(db)
        }
        let changes = try await isPending ? database.write { [self] db in try fold(db) } : StoreChanges()
        // Also what found no room before.
        try? await assets.storeFiles()
        return changes
    }

    /// Reads the records as they are after all writes to the tables so far, by any program. Folds first when the
    /// journal holds anything.
    package func readFolded<Value: Sendable>(
        _ value: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let found = try await database.read { db in try Self.hasPendingChanges(db) ? nil : value(db) }
        if let found { return found }
        try await foldPendingChanges()
        // Each later write is another change, which the store will report.
        return try await database.read(value)
    }

    /// Whether a program has written to the tables since the last fold. In such a snapshot of the database, ``listing`` and
    /// ``state(_:of:)`` may show a new value with the stamp of the one before. So an export folds and looks again.
    public static func hasPendingChanges(_ db: Database) throws -> Bool {
        try db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM grdb_sync_pendingChange)")
    }

    /// Folds what any program has written to the tables since the last fold, as part of the open transaction. What this store lists
    /// of its records then has it. To choose a zone, call it in ``write(_:)``, which first takes in what other programs wrote.
    ///
    /// - Parameters:
    ///   - db: the connection of the open transaction.
    ///   - zone: the zone for new records that refer to no other record; the others go to the zone of the record that
    ///     they refer to.
    /// - Throws: ``RecordStoreError``: `newerFormat` when a program that syncs other tables or fields has opened the database meanwhile;
    ///   `noSuchZone` when the zone is gone, or another store's.
    public func fold(_ db: Database, newIn zone: ZoneTarget = .default) throws -> StoreChanges {
        try capturedSchema.check(db)
        var folding = try folding(Zones.row(db, of: zone))
        if !ownWrites.isRunning { folding.fuse = { try Fuse.judge($0, self, $1) } }
        return try folding.fold(db)
    }

    func folding(_ zone: Int64, in tables: RecordTables? = nil) -> ChangeFolding {
        ChangeFolding(
            tables: tables ?? self.tables, replica: replica, generation: generation,
            hasAssets: assetDirectory != nil, zone: zone)
    }

    // MARK: Reading

    /// Calls `onChange` after each transaction of this process that changed a record or a setting, or wrote to a synced
    /// table, until the caller cancels the returned object. It does not see what other processes write.
    package func observeWrites(_ onChange: @escaping @Sendable () -> Void) -> AnyDatabaseCancellable {
        let observer = WriteObserver(onChange)
        database.add(transactionObserver: observer, extent: .observerLifetime)
        return AnyDatabaseCancellable { [database] in database.remove(transactionObserver: observer) }
    }

    /// Returns everything that the store knows of a record, deleted or held ones included; nil if it knows nothing.
    public func state(_ db: Database, of name: RecordName) throws -> RecordState? {
        // What reads a statement without GRDB tells no observation of it.
        try db.registerAccess(to: Table("grdb_sync_remoteRecord"))
        return try WorkingSet(db, tables).known(name)?.state
    }

    /// Counts what the store holds. Fold first, so that the digest covers the latest writes.
    public func status(_ db: Database) throws -> StoreStatus {
        try StoreStatus(db, self)
    }
}

extension DatabaseReader {
    /// Reads in one transaction. For a `DatabaseQueue`, `read` uses a pragma besides, before and after which SQLite compiles
    /// every statement of the connection anew.
    fileprivate func readOnce<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try unsafeRead { db in
            var value: Value?
            try db.inTransaction(.deferred) {
                value = try body(db)
                return .commit
            }
            return value!
        }
    }
}

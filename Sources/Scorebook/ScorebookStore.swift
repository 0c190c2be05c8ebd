import Foundation
import GRDB
import PeerSync
import Synchronization

/// A scorebook: who played what, when, where, with which result.
///
/// ```swift
/// let database = try ScorebookDatabase.open(at: "scorebook.sqlite")
/// let scorebook = try ScorebookStore(database, replica: replica)
/// let game = try await scorebook.addGame(NewGame(name: "Catan"))
/// let match = try await scorebook.addMatch(
///     NewMatch(game: "Catan", players: [NewPlayer("Ada Lovelace", score: "10")], createsPersons: true))
/// print(try await scorebook.matchSheet("\(match.recordName)").text)
/// ```
///
/// Each operation is one transaction, and folds what it wrote. A text names a record by its record name, by a
/// part of its name or of its UUID that fits no other, or as ``Habits`` say. Upper and lower case matter only if names
/// differ in nothing else. Where no record fits, or several do, an operation throws ``ScorebookError`` `notFound` or `ambiguous`; for
/// values out of bounds `invalidValue`.
///
/// A store may have several zones. Operations add new records to the zone in use, by default the default zone, and find records in
/// all zones, unless the scorebook is ``limited(to:)`` one zone.
public final class ScorebookStore: Sendable {
    /// The store of the records and of their sync metadata.
    public let records: RecordStore
    /// The zones that operations read. They add new records to the only one, or to the default zone if there are all.
    public let scope: ZoneScope
    /// The wall clock, in milliseconds since 1970.
    let now: @Sendable () -> Int64
    /// How texts of people are understood.
    public let habits: Habits
    private let shortage: Shortage

    /// Opens a scorebook in a database. Creates its tables, or migrates those of an older version.
    ///
    /// - Parameters:
    ///   - replica: the id under which this machine writes.
    ///   - assetDirectory: the directory of the picture files. It belongs to this scorebook alone.
    ///   - now: a wall clock of the caller's, for tests, in milliseconds since 1970; by default the machine's.
    /// - Throws: ``RecordStoreError``: `newerFormat` when a newer version of the program wrote the scorebook, and
    ///   `corrupt`, both of which leave it unchanged; errors of SQLite.
    public init(
        _ database: any DatabaseWriter, replica: ReplicaID, assetDirectory: AssetDirectory? = nil,
        now: (@Sendable () -> Int64)? = nil
    ) throws {
        self.now = now ?? RecordStore.wallClock
        scope = .all
        habits = Habits()
        shortage = Shortage()
        try ScorebookSchema.migrate(database)
        records = try RecordStore(
            database, schema: ScorebookSchema.schema, replica: replica, assetDirectory: assetDirectory,
            now: now)
        try ScorebookSchema.showRecords(database)
    }

    private init(_ scorebook: ScorebookStore, _ scope: ZoneScope, _ habits: Habits) {
        records = scorebook.records
        now = scorebook.now
        shortage = scorebook.shortage
        self.scope = scope
        self.habits = habits
    }

    /// Returns the part of the scorebook in one zone. It lists and finds only records of the zone, and adds new ones
    /// to it. Once the zone is gone, that throws ``RecordStoreError`` `noSuchZone`.
    public func limited(to zone: Zone) -> ScorebookStore { ScorebookStore(self, .one(zone), habits) }

    /// Returns the scorebook with another understanding of texts.
    public func with(_ habits: Habits) -> ScorebookStore { ScorebookStore(self, scope, habits) }

    /// The clock of the person at the machine.
    public var time: LocalTime { LocalTime(zone: habits.timeZone ?? .current, now: now()) }

    /// Reads in one snapshot of the database.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        // A record has no zone before it is folded. With a single zone that does not matter.
        let hasZones = try await records.database.read { try ZoneNames($0).areSeveral }
        if hasZones { try await foldForReading() }
        try await settleMergesForReading()
        return try await records.database.read(body)
    }

    /// Moves what was added to merged persons and games to those that are left, before a read; on a full disk as
    /// ``foldForReading()`` does.
    func settleMergesForReading() async throws {
        do {
            try await settleMerges()
        } catch  where StoreFailure(error)?.isOutOfRoom == true {
            shortage.isThere.withLock { $0 = true }
        }
    }

    /// Folds what other programs wrote, before a read. If the disk has no room for that, sets ``isShortOfRoom`` and
    /// does not fail: the records of earlier folds can still be read.
    public func foldForReading() async throws {
        do {
            try await records.foldPendingChanges()
        } catch  where StoreFailure(error)?.isOutOfRoom == true {
            shortage.isThere.withLock { $0 = true }
        } catch let error as RecordStoreError where error.code == .noSpace {
            shortage.isThere.withLock { $0 = true }
        }
    }

    /// Whether a read lacked the last writes of other programs, because the disk had no room to fold them.
    public var isShortOfRoom: Bool { shortage.isThere.withLock { $0 } }

    /// The flag that a scorebook shares with its parts.
    private final class Shortage: Sendable {
        let isThere = Mutex(false)
    }

    /// Writes in one transaction. The body calls ``settled(_:_:newIn:)`` for what it wrote.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value
    {
        try await records.write { [self] db in
            // Otherwise earlier writes of other programs would end up in the zone of this write.
            _ = try records.fold(db)
            try settleMerges(db)
            guard let command = habits.command else { return try body(db) }
            return try UndoJournal.record(db, command, now(), body) { changes in
                guard !habits.keepsRefusedWrites else { return }
                try RefusedWrites(db, records).check(changes.map(\.name))
            }
        }
    }

    /// Folds a record that was just written, and returns it as it is then.
    ///
    /// - Parameter scope: says where new records go that refer to no other; by default the scope of the scorebook.
    func settled<Record: ScorebookRecord>(
        _ db: Database, _ name: RecordName, newIn scope: ZoneScope? = nil
    ) throws -> Record {
        _ = try records.fold(db, newIn: scope?.target ?? target)
        return try Self.fetch(db, name)
    }

    /// The zone for new records that refer to no other.
    var target: ZoneTarget {
        if case .all = scope, let zone = habits.zone { .one(zone) } else { scope.target }
    }

    /// Returns a lookup for records of a kind, in the zone that the scorebook is limited to.
    func lookup(_ kind: RecordKind, in scope: ZoneScope? = nil) -> NameLookup {
        NameLookup(kind: kind, scope: scope ?? self.scope, habits: habits, time: time)
    }

    /// Returns the zone of a record, where the records that belong to it have to be.
    func scope(_ db: Database, of name: RecordName) throws -> ZoneScope {
        try records.zones.find(db, of: name).map(ZoneScope.one) ?? scope
    }

    /// Returns SQL that is true for the records of the zone that the scorebook is limited to, or for all records.
    ///
    /// - Parameter column: SQL for a record's name.
    func limits(_ column: String = "recordName") -> String { scope.contains(column) }
}

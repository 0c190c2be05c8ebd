import Foundation
import GRDB
import RecordStore
import SyncModel
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
/// Each operation is one transaction, and takes what it wrote in for sync. Where an operation takes a text
/// that says which record is meant, that is its record name, the beginning of its UUID (4 characters or more)
/// as long as no other begins so, or its name; upper and lower case matter only where names differ in nothing
/// else.
///
/// A store may have several zones. What is new goes to the default one, and texts may mean records of any, unless the
/// scorebook is ``limited(to:)`` one of them.
public final class ScorebookStore: Sendable {
    /// The records with what sync knows of them.
    public let records: RecordStore
    /// The zones that operations look at. What is new goes to the only one, or to the default zone where there are all.
    public let scope: ZoneScope
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    private let shortage: Shortage

    /// Opens a scorebook in a database: creates its tables, or brings those of an older version up to date.
    ///
    /// - Parameters:
    ///   - replica: who writes here.
    ///   - assets: where the pictures are kept; it belongs to this scorebook alone.
    ///   - now: the wall clock, in milliseconds since 1970.
    /// - Throws: ``RecordStoreError``: `newerFormat` when a newer version of the program wrote the scorebook,
    ///   which is left untouched then; errors of SQLite.
    public init(
        _ database: any DatabaseWriter, replica: ReplicaID, assets: AssetDirectory? = nil,
        now: @escaping @Sendable () -> Int64 = RecordStore.wallClock
    ) throws {
        self.now = now
        scope = .all
        shortage = Shortage()
        try ScorebookSchema.migrate(database)
        records = try RecordStore(
            database, schema: ScorebookSchema.schema, replica: replica, assets: assets, now: now)
    }

    private init(_ scorebook: ScorebookStore, _ zone: Zone) {
        records = scorebook.records
        now = scorebook.now
        shortage = scorebook.shortage
        scope = .one(zone)
    }

    /// The part of the scorebook that is in one zone: only its records are listed and found, and what is new goes there.
    public func limited(to zone: Zone) -> ScorebookStore { ScorebookStore(self, zone) }

    /// Reads in one snapshot of the database.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        // Which zone a record is in is not known before it is taken in; with one zone, that does not matter.
        let hasZones = try await records.database.read { try ZoneNames($0).areSeveral }
        if hasZones { try await foldForReading() }
        return try await records.database.read(body)
    }

    /// Takes in what other programs wrote, before something is read. Where there is no room for that, what was taken in
    /// before is still there to be read, and ``isShortOfRoom`` says so.
    public func foldForReading() async throws {
        do {
            try await records.foldPendingChanges()
        } catch  where StoreFailure(error)?.isOutOfRoom == true {
            shortage.isThere.withLock { $0 = true }
        } catch let error as RecordStoreError where error.code == .noSpace {
            shortage.isThere.withLock { $0 = true }
        }
    }

    /// Whether something was read without what other programs wrote last, for want of room to take it in.
    public var isShortOfRoom: Bool { shortage.isThere.withLock { $0 } }

    /// Common to a scorebook and its parts.
    private final class Shortage: Sendable {
        let isThere = Mutex(false)
    }

    /// Writes in one transaction. What is new is to be ``settled(_:_:newIn:)``.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value
    {
        try await records.write { [records] db in
            // What other programs wrote before goes where it would have gone without this.
            _ = try records.fold(db)
            return try body(db)
        }
    }

    /// A record that was just written, as it is once sync has taken it in.
    ///
    /// - Parameter scope: records that are new and refer to no other go where somebody writes who looks at these zones; those
    ///   of the scorebook if none are given.
    func settled<Record: ScorebookRecord>(
        _ db: Database, _ name: RecordName, newIn scope: ZoneScope? = nil
    ) throws -> Record {
        _ = try records.fold(db, newIn: (scope ?? self.scope).target)
        return try Self.fetch(db, name)
    }

    /// Finds records of a kind, in the zone that the scorebook is limited to.
    func lookup(_ kind: RecordKind) -> NameLookup { NameLookup(kind: kind, scope: scope) }

    /// The zone that a record is in, where what belongs to the record has to be.
    func scope(_ db: Database, of name: RecordName) throws -> ZoneScope {
        try records.zones.find(db, of: name).map(ZoneScope.one) ?? scope
    }

    /// SQL that is true for records that the scorebook is not kept from by its limits.
    ///
    /// - Parameter column: SQL for a record's name.
    func limits(_ column: String = "recordName") -> String { scope.contains(column) }
}

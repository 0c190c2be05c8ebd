import Foundation
import GRDB
import RecordStore
import SyncModel

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
public final class ScorebookStore: Sendable {
    /// The records with what sync knows of them.
    public let records: RecordStore
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64

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
        try ScorebookSchema.migrate(database)
        records = try RecordStore(
            database, schema: ScorebookSchema.schema, replica: replica, assets: assets, now: now)
    }

    /// Reads in one snapshot of the database.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await records.database.read(body)
    }
}

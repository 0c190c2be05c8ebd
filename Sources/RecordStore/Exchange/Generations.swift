import Foundation
import GRDB
import SyncModel

/// The table `storeGeneration`: which run of a program began to number changes where.
enum Generations {
    /// How many are remembered; a peer's token of a forgotten one is void, and the exchange starts over.
    private static let remembered = 1000

    /// Notes that a run numbered a change, if it is its first.
    static func record(_ db: Database, _ generation: [UInt8], firstSequence: Int64) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO storeGeneration (id, firstSequence) VALUES (?, ?)")
        try statement.execute(arguments: [Data(generation), firstSequence])
        guard db.changesCount > 0 else { return }
        try db.execute(
            sql: """
                DELETE FROM storeGeneration WHERE id NOT IN (
                    SELECT id FROM storeGeneration ORDER BY firstSequence DESC LIMIT ?)
                """, arguments: [remembered])
    }

    /// Makes all tokens void that were given out: they cover records that are gone. A peer that holds one then also
    /// sends what it once had from here.
    static func startOver(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM storeGeneration")
        // Not this run's own, which may have given out tokens already.
        try record(db, random(), firstSequence: SyncState.integer(db, .lastSequence) ?? 0)
    }

    /// A new id.
    static func random() -> [UInt8] {
        withUnsafeBytes(of: UInt64.random(in: 1...UInt64.max)) { Array($0) }
    }

    /// The generation that a sequence number belongs to: the last that began at or before it.
    static func covering(_ db: Database, _ sequence: Int64) throws -> [UInt8] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id FROM storeGeneration WHERE firstSequence <= ?
                ORDER BY firstSequence DESC, id DESC LIMIT 1
                """)
        return try Data.fetchOne(statement, arguments: [sequence]).map(Array.init)
            ?? ChangeToken.start.generation
    }
}

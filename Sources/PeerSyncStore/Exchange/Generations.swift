import Foundation
import GRDB
import PeerSyncModel

/// The table `grdb_sync_storeGeneration`: the first sequence number of each run of a program that changed records.
enum Generations {
    /// The number of generations that the store remembers. A peer's token of a forgotten one is void, and the exchange
    /// starts over.
    private static let remembered = 1000

    /// Notes that a run numbered a change, if it is its first.
    static func record(_ db: Database, _ generation: [UInt8], firstSequence: Int64) throws {
        try db.executeCached(
            "INSERT OR IGNORE INTO grdb_sync_storeGeneration (id, firstSequence) VALUES (?, ?)",
            [Data(generation), firstSequence])
        guard db.changesCount > 0 else { return }
        try db.execute(
            sql: """
                DELETE FROM grdb_sync_storeGeneration WHERE id NOT IN (
                    SELECT id FROM grdb_sync_storeGeneration ORDER BY firstSequence DESC LIMIT ?)
                """, arguments: [remembered])
    }

    /// All generations in the order in which they began, the oldest first.
    static func all(_ db: Database) throws -> [(id: [UInt8], first: Int64)] {
        try Row.fetchAll(
            db, sql: "SELECT id, firstSequence FROM grdb_sync_storeGeneration ORDER BY firstSequence, id"
        ).map { ($0.bytes("id"), $0["firstSequence"]) }
    }

    /// Makes all given tokens void, because they cover records that are gone. A peer that holds one then also sends
    /// back what it once received from here.
    static func startOver(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_storeGeneration")
        // Takes a new generation: this run may already have given out tokens of its own.
        try record(db, random(), firstSequence: SyncState.integer(db, .lastSequence) ?? 0)
    }

    /// Returns a new id.
    static func random() -> [UInt8] {
        withUnsafeBytes(of: UInt64.random(in: 1...UInt64.max)) { Array($0) }
    }

    /// The generation of a sequence number: the last one that began at or before it.
    static func covering(_ db: Database, _ sequence: Int64) throws -> [UInt8] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id FROM grdb_sync_storeGeneration WHERE firstSequence <= ?
                ORDER BY firstSequence DESC, id DESC LIMIT 1
                """)
        return try Data.fetchOne(statement, arguments: [sequence]).map(Array.init)
            ?? ChangeToken.start.generation
    }
}

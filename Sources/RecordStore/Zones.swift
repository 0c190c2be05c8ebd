import Foundation
import GRDB
import SyncModel

/// The table `recordZone`.
enum Zones {
    /// The row of the zone that every store has.
    static let defaultID: Int64 = 1

    static func id(_ db: Database, _ name: ZoneName) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM recordZone WHERE name = ?"), arguments: [name.description]
        )
    }

    /// - Throws: `noSuchZone`.
    static func existingID(_ db: Database, _ name: ZoneName) throws -> Int64 {
        guard let id = try id(db, name) else {
            throw RecordStoreError(.noSuchZone, "this store has no zone “\(name)”")
        }
        return id
    }

    static func all(_ db: Database) throws -> [ZoneName] {
        try String.fetchAll(db, sql: "SELECT name FROM recordZone ORDER BY id").compactMap(ZoneName.init)
    }

    static func digest(_ db: Database, _ id: Int64) throws -> ZoneDigest {
        let statement = try db.cachedStatement(
            sql: "SELECT recordCount, digestSum FROM recordZone WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id]),
            let digest = ZoneDigest(
                count: UInt64(bitPattern: row[0] as Int64), sumBytes: row.bytes("digestSum"))
        else {
            throw RecordStoreError(.corrupt, "the digest of zone \(id) is damaged")
        }
        return digest
    }

    /// The greatest number of a deletion that was forgotten; 0 before the first.
    static func purgedSequence(_ db: Database, _ id: Int64) throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT purgedSequence FROM recordZone WHERE id = ?"), arguments: [id])
            ?? 0
    }

    static func raisePurgedSequence(_ db: Database, _ id: Int64, to sequence: Int64) throws {
        try db.execute(
            sql: "UPDATE recordZone SET purgedSequence = ? WHERE id = ? AND purgedSequence < ?",
            arguments: [sequence, id, sequence])
    }

    static func setDigest(_ db: Database, _ id: Int64, _ digest: ZoneDigest) throws {
        try db.cachedStatement(sql: "UPDATE recordZone SET recordCount = ?, digestSum = ? WHERE id = ?")
            .execute(arguments: [Int64(bitPattern: digest.count), Data(digest.sumBytes), id])
    }
}

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

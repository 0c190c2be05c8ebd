import Foundation
import GRDB
import SyncModel

/// The table `assetUnstored`: the bytes of pictures that a program wrote into a column, and that could not be put into
/// files. They are where they were, in the database, until they can.
///
/// The table is made when it is first needed, which in most stores is never.
enum UnstoredAssets {
    /// Smaller ones stay in their rows, and travel there.
    static let limit = 1 << 20

    static func keep(_ db: Database, _ bytes: [UInt8]) throws -> Asset {
        let asset = Asset(describing: bytes)
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS assetUnstored (hash BLOB NOT NULL PRIMARY KEY, bytes BLOB NOT NULL)
                """)
        try db.execute(
            sql: "INSERT OR IGNORE INTO assetUnstored (hash, bytes) VALUES (?, ?)",
            arguments: [Data(asset.hash.bytes), Data(bytes)])
        return asset
    }

    /// Puts into files what can be.
    static func store(_ db: Database, in assets: AssetDirectory) throws {
        guard try db.tableExists("assetUnstored") else { return }
        for hash in try Data.fetchAll(db, sql: "SELECT hash FROM assetUnstored") {
            let bytes = try Data.fetchOne(
                db, sql: "SELECT bytes FROM assetUnstored WHERE hash = ?", arguments: [hash])
            // The others would find no room either.
            guard let bytes, (try? assets.add([UInt8](bytes))) != nil else { return }
            try db.execute(sql: "DELETE FROM assetUnstored WHERE hash = ?", arguments: [hash])
        }
    }
}

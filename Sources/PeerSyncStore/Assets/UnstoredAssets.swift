import Foundation
import GRDB
import PeerSyncModel

/// The table `grdb_sync_assetUnstored`: the bytes of assets that a program wrote into a column itself.
///
/// A fold puts them here, because it runs in a transaction, which must not wait for files. The store writes them to
/// files right after; if it cannot, they wait here until it can.
///
/// A fold makes the table when it first needs it. Most stores never do.
enum UnstoredAssets {
    static let create = """
        CREATE TABLE IF NOT EXISTS grdb_sync_assetUnstored (hash BLOB NOT NULL PRIMARY KEY, bytes BLOB NOT NULL);
        """

    /// Keeps the bytes of an asset, and describes it.
    static func keep(_ db: Database, _ bytes: [UInt8]) throws -> Asset {
        let asset = Asset(describing: bytes)
        try db.execute(sql: create)
        try db.execute(
            sql: "INSERT OR IGNORE INTO grdb_sync_assetUnstored (hash, bytes) VALUES (?, ?)",
            arguments: [Data(asset.hash.bytes), Data(bytes)])
        return asset
    }

    /// SQLite answers this from the schema that it has in memory, and reads that anew when another connection has changed it. A look into
    /// `sqlite_master` would read all of the schema after each commit, and what GRDB remembers of it may be old.
    private static func isThere(_ db: Database) throws -> Bool {
        try db.hasColumn("hash", of: "grdb_sync_assetUnstored")
    }

    /// The first asset that waits for its file.
    static func first(_ db: Database) throws -> (hash: Data, bytes: Data)? {
        guard try isThere(db) else { return nil }
        return try Row.fetchOne(db, sql: "SELECT hash, bytes FROM grdb_sync_assetUnstored LIMIT 1").map {
            ($0[0], $0[1])
        }
    }

    /// The assets that wait for their files.
    static func hashes(_ db: Database) throws -> Set<AssetHash> {
        guard try isThere(db) else { return [] }
        let hashes = try Data.fetchAll(db, sql: "SELECT hash FROM grdb_sync_assetUnstored")
        return Set(hashes.compactMap { AssetHash(Array($0)) })
    }

    static func remove(_ db: Database, _ hash: Data) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_assetUnstored WHERE hash = ?", arguments: [hash])
    }
}

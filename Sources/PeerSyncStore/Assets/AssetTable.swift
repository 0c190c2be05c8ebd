import Foundation
import GRDB
import PeerSyncModel

/// The tables `grdb_sync_assetReference`, `grdb_sync_assetLeftover` and `grdb_sync_assetWish`.
enum AssetTable {
    static func isAnyReferred(_ db: Database) throws -> Bool {
        try db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM grdb_sync_assetReference)")
    }

    /// Notes the files that a record has now.
    ///
    /// - Parameters:
    ///   - sequence: the number of the saved state.
    ///   - hadAny: whether any record had a file at the beginning of the transaction.
    static func note(
        _ db: Database, _ state: RecordState, zone: Int64, sequence: Int64, hadAny: Bool
    ) throws {
        var wanted = files(of: state)
        guard hadAny || !wanted.isEmpty else { return }
        let name = state.name.description
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT field, hash, zone, size FROM grdb_sync_assetReference WHERE recordName = ?"),
            arguments: [name])
        for row in rows {
            let hash = row.bytes("hash")
            if let asset = wanted[row[0]], asset.hash.bytes == hash, zone == row[2], asset.size == row[3] {
                wanted[row[0]] = nil
            } else {
                try drop(db, name, row, sequence: sequence)
            }
        }
        for (field, asset) in wanted.sorted(by: { $0.key < $1.key }) {
            try insert(db, name, field, asset, zone: zone)
        }
    }

    /// The files that a record needs, by field.
    static func files(of state: RecordState) -> [String: Asset] {
        guard state.isLive else { return [:] }
        var files: [String: Asset] = [:]
        for field in state.fields {
            if case .asset(let asset) = field.value { files[field.name] = asset }
        }
        return files
    }

    private static func insert(
        _ db: Database, _ name: String, _ field: String, _ asset: Asset, zone: Int64
    ) throws {
        let hash = Data(asset.hash.bytes)
        try db.executeCached(
            "INSERT INTO grdb_sync_assetReference (recordName, field, zone, hash, size) VALUES (?, ?, ?, ?, ?)",
            [name, field, zone, hash, asset.size])
        try db.executeCached("DELETE FROM grdb_sync_assetLeftover WHERE hash = ? AND zone = ?", [hash, zone])
    }

    /// - Parameter row: a row of `grdb_sync_assetReference`.
    private static func drop(_ db: Database, _ name: String, _ row: Row, sequence: Int64) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_assetReference WHERE recordName = ? AND field = ?",
            [name, row["field"] as String])
        try db.executeCached(
            """
            INSERT OR REPLACE INTO grdb_sync_assetLeftover (hash, zone, changeSequence)
            SELECT ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM grdb_sync_assetReference WHERE hash = ?1 AND zone = ?2)
            """, [Data(row.bytes("hash")), row["zone"] as Int64, sequence])
    }

    /// Forgets the files of a record, before they are noted anew.
    ///
    /// - Parameter name: any text: another program may have written a name that is none.
    static func remove(_ db: Database, of name: String) throws {
        try db.executeCached("DELETE FROM grdb_sync_assetReference WHERE recordName = ?", [name])
    }

    // MARK: Reading

    /// The files that live records refer to, each once, by the order of their last references, after `id`.
    ///
    /// If records name several sizes for one file, the last reference decides: somebody may have corrected the size.
    ///
    /// - Parameter zones: the zones of the records; nil for all zones.
    static func references(_ db: Database, after id: Int64 = 0, in zones: [Zone]? = nil) throws -> (
        last: Int64, list: [AssetReference]
    ) {
        let condition = zones == nil ? "" : "AND zone IN \(isListed)"
        let rows = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT hash, size, MAX(id) AS last FROM grdb_sync_assetReference WHERE id > ? \(condition)
                    GROUP BY hash ORDER BY last
                    """), arguments: zones.map { [id, try Self.list(db, of: $0)] } ?? [id])
        var list: [AssetReference] = []
        var last = id
        while let row = try rows.next() {
            last = row[2]
            guard let hash = AssetHash(row.bytes("hash")) else { continue }
            list.append(AssetReference(hash: hash, size: row[1]))
        }
        return (last, list)
    }

    /// Whether any record gives this size for a file.
    static func isReferred(_ db: Database, _ hash: AssetHash, size: Int64) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_assetReference WHERE hash = ? AND size = ?)",
            [Data(hash.bytes), size])
    }

    /// A number that changes when records drop files.
    static func lastLeftover(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT MAX(changeSequence) FROM grdb_sync_assetLeftover")) ?? 0
    }

    /// Whether a peer that may read these zones may have a file: a record there refers to it, or did, and the peer may
    /// not know of the change yet.
    static func isReferred(_ db: Database, _ hash: AssetHash, in zones: [Zone]) throws -> Bool {
        let rows = try list(db, of: zones)
        return try ["grdb_sync_assetReference", "grdb_sync_assetLeftover"].contains { table in
            try db.fetchBoolCached(
                "SELECT EXISTS (SELECT 1 FROM \(table) WHERE hash = ? AND zone IN \(isListed))",
                [Data(hash.bytes), rows])
        }
    }

    /// SQL for the zones of a ``list(_:of:)`` that is bound: so SQLite compiles one statement for whatever zones peers choose.
    private static let isListed = "(SELECT value FROM json_each(?))"

    /// Zones that are not in their rows any more are not among them.
    private static func list(_ db: Database, of zones: [Zone]) throws -> String {
        let rows = try zones.filter { try Zones.row(db, of: $0.id) == $0.row }.map { String($0.row) }
        return "[\(rows.joined(separator: ", "))]"
    }

    /// The files that records of some zones have, or had.
    static func hashes(_ db: Database, in zones: [Zone]) throws -> Set<AssetHash> {
        let rows = try list(db, of: zones)
        let hashes = try Data.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT hash FROM grdb_sync_assetReference WHERE zone IN \(isListed)
                    UNION SELECT hash FROM grdb_sync_assetLeftover WHERE zone IN \(isListed)
                    """), arguments: [rows, rows])
        return Set(hashes.compactMap { AssetHash(Array($0)) })
    }

    // MARK: Wishes

    static func wishes(_ db: Database) throws -> Set<AssetHash> {
        let hashes = try Data.fetchAll(db.cachedStatement(sql: "SELECT hash FROM grdb_sync_assetWish"))
        return Set(hashes.compactMap { AssetHash(Array($0)) })
    }

    static func setWish(_ db: Database, _ hash: AssetHash, _ isWished: Bool) throws {
        try db.execute(
            sql: isWished
                ? "INSERT OR IGNORE INTO grdb_sync_assetWish (hash) VALUES (?)"
                : "DELETE FROM grdb_sync_assetWish WHERE hash = ?",
            arguments: [Data(hash.bytes)])
    }
}

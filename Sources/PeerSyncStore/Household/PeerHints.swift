import GRDB

/// The table `grdb_sync_peerHint`: where a peer may be, as others say. A hint never makes anybody trusted.
enum PeerHints {
    /// The most addresses that are kept, and told, of one peer.
    static let limit = 4

    /// The addresses that others have told, the newest first.
    static func all(_ db: Database, of peer: Int64) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT address FROM grdb_sync_peerHint WHERE peer = ? ORDER BY id DESC"),
            arguments: [peer])
    }

    /// Notes an address. The oldest ones go when there are too many.
    ///
    /// - Returns: whether it is new.
    static func add(_ db: Database, _ address: String, of peer: Int64) throws -> Bool {
        try db.executeCached(
            "INSERT OR IGNORE INTO grdb_sync_peerHint (peer, address) VALUES (?, ?)", [peer, address])
        guard db.changesCount > 0 else { return false }
        try db.executeCached(
            """
            DELETE FROM grdb_sync_peerHint WHERE peer = ?1 AND id NOT IN
                (SELECT id FROM grdb_sync_peerHint WHERE peer = ?1 ORDER BY id DESC LIMIT ?2)
            """, [peer, limit])
        return true
    }
}

import GRDB
import PeerSyncModel

/// The copy of a peer's default zone for which this store gave up its own, as long as it may not have come whole.
enum AwaitedCopy {
    /// The name of the machine that the copy comes from; nil if none is awaited.
    static func machine(_ db: Database) throws -> String? {
        guard let peer = try SyncState.integer(db, .awaitsDefault) else { return nil }
        return try String.fetchOne(db, sql: "SELECT name FROM grdb_sync_peer WHERE id = ?", arguments: [peer])
    }

    static func begin(_ db: Database, from peer: Peer) throws {
        try SyncState.set(db, .awaitsDefault, peer.id)
    }

    /// Notes that this store holds all that a peer has in a zone.
    static func noteWhole(_ db: Database, from peer: Peer, zone: Int64) throws {
        guard zone == Zones.defaultID, try SyncState.integer(db, .awaitsDefault) == peer.id else { return }
        try end(db)
    }

    static func end(_ db: Database) throws { try SyncState.remove(db, .awaitsDefault) }
}

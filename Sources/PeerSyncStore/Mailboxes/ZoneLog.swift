import Foundation
import GRDB
import PeerSyncModel

/// The changes of a zone for readers in general, in contrast to a ``PeerZone``, which knows one. A mailbox writes logs of it.
package struct ZoneLog: Sendable {
    private let store: RecordStore
    private let zone: Zone

    package init(_ store: RecordStore, _ zone: Zone) {
        self.store = store
        self.zone = zone
    }

    /// The row of the zone.
    ///
    /// - Throws: `zonesChanged` when another zone is there now.
    func row(_ db: Database) throws -> Int64 {
        try Zones.check(db, zone.id, in: zone.row)
        return zone.row
    }

    private var log: ChangeLog { ChangeLog(tables: store.tables) }

    /// The place where a whole copy begins.
    package func start(_ db: Database) throws -> ReadingPlace {
        ReadingPlace(.wholeCopy(horizon: try forgotten(db)))
    }

    /// The greatest number of a deletion that was forgotten.
    package func forgotten(_ db: Database) throws -> Int64 { try Zones.purgedSequence(db, row(db)) }

    /// The digest of the zone's live records. Fold first.
    package func digest(_ db: Database) throws -> ZoneDigest { try Zones.digest(db, row(db)) }

    /// Whether this store gave out a token, as far as it knows.
    package func hasGivenOut(_ db: Database, _ token: ChangeToken) throws -> Bool {
        try log.isGivenOut(db, token)
    }

    /// Whether this store never gave out a token. One of a generation that it has forgotten counts as its own.
    package func isForeign(_ db: Database, _ token: ChangeToken) throws -> Bool {
        guard try !hasGivenOut(db, token), let first = try generations(db).first?.first else { return false }
        return token.sequence >= first
    }

    /// Whether this store gave out a token, and can tell what follows it.
    package func canGoOn(_ db: Database, from token: ChangeToken) throws -> Bool {
        guard try hasGivenOut(db, token) else { return false }
        _ = try row(db)
        return try log.canGoOn(db, from: token)
    }

    /// Whether this store holds back changes until a person allows them. A whole copy then lacks their records: ``StoreFuse``.
    package func isAnyHeldBack(_ db: Database) throws -> Bool {
        try WithheldRecords.isAny(db, peer: FuseTables.here, zone: row(db))
    }

    /// The runs of programs that numbered changes, in order, with the first number of each.
    package func generations(_ db: Database) throws -> [(id: [UInt8], first: Int64)] {
        try Generations.all(db)
    }

    /// Reads the next batch after a place. Fold first.
    ///
    /// - Parameter peers: the numbers of the peers whose own records it leaves out; none in a whole copy.
    package func batch(
        _ db: Database, after place: ReadingPlace, leavingOut peers: [Int64], limit: BatchLimit = .standard
    ) throws -> (batch: ChangeBatch, place: ReadingPlace) {
        try log.batch(db, zone: row(db), after: place, excluding: peers, limit: limit)
    }

    /// The peers, of some, that are sources of records with numbers in a range.
    package func sources(
        _ db: Database, after first: Int64, to last: Int64, among peers: [Int64]
    ) throws -> [Int64] {
        guard !peers.isEmpty else { return [] }
        return try Int64.fetchAll(
            db,
            sql: """
                SELECT DISTINCT sourcePeer FROM grdb_sync_remoteRecord
                WHERE zone = ? AND changeSequence > ? AND changeSequence <= ?
                    AND sourcePeer IN (\(peers.map(String.init).joined(separator: ", ")))
                """, arguments: [row(db), first, last])
    }

    /// The number of the first record in a range whose source is one of some peers; nil if there is none.
    package func firstChange(
        _ db: Database, after first: Int64, upTo last: Int64, from peers: [Int64]
    ) throws -> Int64? {
        guard !peers.isEmpty else { return nil }
        return try Int64.fetchOne(
            db,
            sql: """
                SELECT changeSequence FROM grdb_sync_remoteRecord
                WHERE zone = ? AND changeSequence > ? AND changeSequence <= ?
                    AND sourcePeer IN (\(peers.map(String.init).joined(separator: ", ")))
                ORDER BY changeSequence LIMIT 1
                """, arguments: [row(db), first, last])
    }

    /// The rights of a peer in the zone.
    package func rights(_ db: Database, of peer: Peer) throws -> ZoneRights {
        try Zones.rights(db, peer: peer.id, zone: row(db))
    }

    /// Notes that a peer lets this machine do nothing in the zones that its head does not name.
    ///
    /// - Returns: the zones in which that is news.
    package static func endOwnRights(
        _ db: Database, at peer: Int64, but named: [ZoneID] = []
    ) throws -> [Zone] {
        let zones = try Zones.all(db)
        let ended = try Zones.endOwnRights(
            db, peer: peer, but: zones.filter { named.contains($0.id) }.map(\.row))
        return zones.filter { ended.contains($0.row) }
    }

    /// The number up to which a peer has acknowledged this store's changes.
    package func acknowledged(_ db: Database, by peer: Peer) throws -> Int64 {
        try PeerTable.progress(db, peer: peer.id, zone: row(db)).acknowledgedSequence
    }

    /// The token of this moment. Fold first.
    package static func current(_ db: Database) throws -> ChangeToken { try ChangeLog.current(db) }

    /// Whether there are changes that a peer has not acknowledged, apart from those that came from it, or from some others.
    package func isAnythingUnacknowledged(
        _ db: Database, by peer: Peer, leavingOut others: [Peer] = []
    ) throws -> Bool {
        let sources = ([peer] + others).map { String($0.id) }.joined(separator: ", ")
        return try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM grdb_sync_remoteRecord WHERE zone = ? AND changeSequence > ?
                    AND (sourcePeer IS NULL OR sourcePeer NOT IN (\(sources))))
                """, arguments: [row(db), try acknowledged(db, by: peer)]) ?? false
    }

    /// The token of a peer's changes that this store holds.
    package func received(_ db: Database, from peer: Peer) throws -> ChangeToken? {
        try PeerTable.progress(db, peer: peer.id, zone: row(db)).received
    }

    /// The number of a peer's changes up to which this store may lack deletions that its token covers; 0 if it lacks none.
    package func compared(_ db: Database, with peer: Peer) throws -> Int64 {
        try PeerTable.progress(db, peer: peer.id, zone: row(db)).comparedSequence
    }

    /// Notes that this store has read all of a peer's changes up to a number, deletions among them.
    package func noteRead(_ db: Database, from peer: Peer, upTo sequence: Int64) throws {
        let row = try row(db)
        try PeerTable.noteRead(db, peer: peer.id, zone: row, upTo: sequence)
        // A session that was cut has told the number of what it did not send.
        guard try received(db, from: peer)?.sequence ?? 0 <= sequence else { return }
        try AwaitedCopy.noteWhole(db, from: peer, zone: row)
    }

    /// The files that live records of the zone refer to. Reads every reference.
    package func files(_ db: Database) throws -> [ReferredFile] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT file.hash, file.size, MAX(known.sourcePeer IS NULL), MAX(known.changeSequence)
                FROM grdb_sync_assetReference AS file
                    JOIN grdb_sync_remoteRecord AS known ON known.remoteRecordID = file.recordName
                WHERE file.zone = ? GROUP BY file.hash
                """, arguments: [row(db)])
        return rows.compactMap { row in
            AssetHash(row.bytes("hash")).map {
                ReferredFile(hash: $0, size: row[1], isOwn: row[2], sequence: row[3])
            }
        }
    }
}

/// A file that live records of a zone refer to.
package struct ReferredFile: Sendable, Equatable {
    package let hash: AssetHash
    package let size: Int64
    /// Whether one of the records has no source.
    package let isOwn: Bool
    /// The greatest number of these records.
    package let sequence: Int64
}

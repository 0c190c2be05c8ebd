import GRDB
import PeerSyncModel

/// The operations of the store for the exchange of one zone with one peer, each within a transaction of the caller's.
package struct PeerZone: Sendable {
    package let store: RecordStore
    /// The row of the zone.
    let zoneID: Int64
    /// The identity of the zone; nil for whatever the default zone is.
    private let identity: ZoneID?
    package let peer: Peer
    /// The limit in milliseconds of how far the peer's stamps may lie in the future.
    private let allowedSkew: Int64

    package init(
        store: RecordStore, zone: ZoneTarget = .default, peer: Peer,
        allowedSkew: Int64 = StoreClock.defaultAllowedSkew
    ) {
        self.store = store
        (zoneID, identity) =
            switch zone {
            case .default: (Zones.defaultID, nil)
            case .one(let zone): (zone.row, zone.id)
            }
        self.peer = peer
        self.allowedSkew = allowedSkew
    }

    /// Checks that the row still is the zone of this exchange.
    ///
    /// - Throws: `zonesChanged`.
    func checkIdentity(_ db: Database) throws {
        if let identity { try Zones.check(db, identity, in: zoneID) }
    }

    // MARK: Reading

    /// The state of the exchange. Fold first.
    package func summary(_ db: Database) throws -> ZoneSummary {
        ZoneSummary(
            current: try ChangeLog.current(db),
            received: try PeerTable.progress(db, peer: peer.id, zone: zoneID).received,
            digest: try Zones.digest(db, zoneID),
            refused: try RefusedRecords.count(db, peer: peer.id, zone: zoneID)
                + UnsyncedRecords.count(db, zone: zoneID)
                + WithheldRecords.count(db, peer: peer.id, zone: zoneID))
    }

    /// The beginning of a session, for this side.
    package struct Beginning: Sendable {
        /// The place to send from: the token that the peer holds, if this store gave it out; otherwise a whole copy.
        package let start: ChangeToken
        /// Whether this store never gave out the token that the peer holds, or cannot go on from it.
        package let isHeldTokenVoid: Bool
        /// The number of live records in this store.
        package let recordCount: UInt64
    }

    /// Decides how to begin with a peer that holds this token of ours. Fold first.
    ///
    /// - Throws: `changeTokenExpired` for a peer that may hold records whose deletion this store has forgotten.
    package func begin(_ db: Database, heldByPeer held: ChangeToken?) throws -> Beginning {
        try check(db)
        let log = ChangeLog(tables: store.tables)
        let isGivenOut = try held.map { try log.isGivenOut(db, $0) } ?? false
        let purged = try Zones.purgedSequence(db, zoneID)
        try checkToken(db, held, isGivenOut: isGivenOut, purged: purged)
        let known = try held.flatMap { try isGivenOut && log.canGoOn(db, from: $0) ? $0 : nil }
        let start =
            if let known, known != .start { known } else { ChangeToken.wholeCopy(horizon: purged) }
        return Beginning(
            start: start, isHeldTokenVoid: held != nil && known == nil,
            recordCount: try Zones.digest(db, zoneID).count)
    }

    /// Refuses a peer that may hold records whose deletion this store has forgotten. The token tells how far the peer
    /// is.
    private func checkToken(
        _ db: Database, _ held: ChangeToken?, isGivenOut: Bool, purged: Int64
    ) throws {
        // A peer that begins anew holds no old records.
        guard held != .start else { return }
        let acknowledged = try PeerTable.progress(db, peer: peer.id, zone: zoneID).acknowledgedSequence
        guard held != nil || acknowledged > 0 else { return }
        let reached = if let held, isGivenOut { max(held.sequence, held.horizon) } else { acknowledged }
        guard reached < purged else { return }
        throw RecordStoreError(
            .changeTokenExpired,
            "“\(peer.name)” was away for so long that deletions it has not seen are forgotten")
    }

    /// Reads the next batch after a place, and the place to go on from. Fold first.
    ///
    /// - Parameter isEcho: whether to include what the peer itself sent; for a peer that may have lost it.
    package func nextBatch(
        _ db: Database, after place: ReadingPlace, includingEcho isEcho: Bool, limit: BatchLimit = .standard
    ) throws -> (batch: ChangeBatch, place: ReadingPlace) {
        try check(db)
        return try ChangeLog(tables: store.tables).batch(
            db, zone: zoneID, after: place, excluding: isEcho ? [] : [peer.id], limit: limit)
    }

    /// Counts the records that come after a batch, and reads an index entry for each. After the first batch of a whole copy in
    /// order of name it reads those of the deleted records alone, because the peer waits for that batch, and the store knows how
    /// many live ones there are. This is too great when the copy goes on where it was cut off.
    ///
    /// - Parameters:
    ///   - place: the place after the batch.
    ///   - isEcho: see ``nextBatch(_:after:includingEcho:limit:)``.
    package func changesLeft(
        _ db: Database, after batch: ChangeBatch, at place: ReadingPlace, includingEcho isEcho: Bool
    ) throws -> Int {
        if place.isInOrderOfName {
            // A number that somebody has damaged must not overflow.
            let live = Int(Int32(clamping: try Zones.digest(db, zoneID).count))
            let deleted = try db.fetchCountCached(
                "SELECT COUNT(*) FROM grdb_sync_remoteRecord WHERE zone = ? AND status = 1 AND status <> 0",
                [zoneID])
            return max(0, live + deleted - batch.records.count)
        }
        return try db.fetchCountCached(
            """
            SELECT COUNT(*) FROM grdb_sync_remoteRecord
            WHERE zone = ? AND changeSequence > ? AND (sourcePeer IS NULL OR sourcePeer IS NOT ?)
            """, [zoneID, place.token.sequence, isEcho ? nil : peer.id])
    }

    // MARK: Writing

    /// Merges a batch of the peer's and keeps its token. The batch is durable once the transaction is committed.
    ///
    /// - Parameters:
    ///   - hashes: the hashes of the records, in the same order, if the caller has computed them.
    ///   - transaction: the open transaction, with the shared work of its batches.
    /// - Returns: the records that it left out, by reason.
    package func apply(
        _ batch: ChangeBatch, hashes: [RecordHashes]? = nil, in transaction: ApplyingTransaction
    ) throws -> [Refusal] {
        let db = transaction.db
        let rights = try check(db)
        try checkClock(batch)
        let mayWrite = rights == .write
        var merge = try StateMerge(
            db, store, StateMerge.Arrival(zone: zoneID, peer: peer.id, isLoose: batch.isLoose),
            with: transaction.writer(self, for: mayWrite ? batch.records.count : 0))
        if mayWrite { _ = try merge.run(batch.records, hashes: hashes) }
        transaction.arrived.append(merge.arrived)
        transaction.withheldCount += merge.withheldCount
        var refused = merge.refused
        if !mayWrite, !batch.records.isEmpty { refused[.readOnly] = batch.records.map(\.name) }
        if batch.isLoose {
            try PeerTable.noteCompared(db, peer: peer.id, zone: zoneID, batch.token)
        } else {
            try PeerTable.setReceived(db, peer: peer.id, zone: zoneID, batch.token)
        }
        if mayWrite {
            try store.refusals.end(db, peer: peer.id, zone: zoneID, settledBy: batch.records)
            try OwnRefusals.note(db, batch.records, refused: refused, peer: peer.id, zone: zoneID)
        }
        return Refusal.list(refused)
    }

    /// Merges a batch in a transaction of its own.
    package func apply(
        _ db: Database, _ batch: ChangeBatch, manyRecords: Int = ApplyingTransaction.manyRecords
    ) throws -> [Refusal] {
        try ApplyingTransaction.run(db, manyRecords: manyRecords) { try apply(batch, in: $0) }
    }

    /// Notes that the peer has refused some of this store's records.
    ///
    /// - Parameter batch: the token of the batch in which they came. A record that was too large and has changed since is on its way.
    package func noteRefused(_ db: Database, _ refusal: Refusal, in batch: ChangeToken) throws {
        try RefusedRecords.insert(db, refusal, upTo: batch.sequence, peer: peer.id, zone: zoneID)
    }

    /// Notes that the peer has made everything up to `token` durable.
    ///
    /// An unfinished whole copy in order of name has no number up to which the peer holds everything.
    package func acknowledge(_ db: Database, _ token: ChangeToken) throws {
        guard CopyPosition(token) == nil else { return }
        try PeerTable.setAcknowledged(db, peer: peer.id, zone: zoneID, token.sequence, mayGoBack: false)
    }

    /// Notes that both sides have begun. Another machine has the zone now. It holds what `token` covers, because it has
    /// asked for the changes after it. The acknowledgement itself may have been lost.
    package func noteBegun(_ db: Database, at token: ChangeToken?) throws {
        try Zones.noteShared(db, zoneID)
        guard let token, token.sequence > 0, CopyPosition(token) == nil,
            try PeerTable.progress(db, peer: peer.id, zone: zoneID).acknowledgedSequence != token.sequence
        else { return }
        try PeerTable.setAcknowledged(db, peer: peer.id, zone: zoneID, token.sequence, mayGoBack: true)
    }

    /// Notes what the peer lets this machine do in the zone. If it may write there, sends again what the peer refused before for that reason.
    package func noteOwnRights(_ db: Database, _ rights: ZoneRights) throws {
        try Zones.setOwnRights(db, peer: peer.id, zone: zoneID, rights)
        guard rights == .write else { return }
        try store.refusals.sendAgain(
            db, try RefusedRecords.take(db, peer: peer.id, zone: zoneID, reason: .readOnly))
    }

    /// Forgets how far this store has the peer's changes, because the peer was set back to a backup, and may have lost them: it sends a whole
    /// copy.
    package func voidReceived(_ db: Database) throws {
        try forgetReceived(db)
        try noteLoss(db)
    }

    /// Forgets how far this store has the peer's changes, so that the peer sends a whole copy: it has begun another history.
    package func forgetReceived(_ db: Database) throws {
        try PeerTable.setReceived(db, peer: peer.id, zone: zoneID, nil)
    }

    /// Notes that the peer may have lost what this store has of it. Where others should have that from the peer, they get it from here.
    package func noteLoss(_ db: Database) throws {
        try MailboxTables.noteLoss(db, by: peer.id, in: zoneID)
    }

    /// Checks again that the peer may have the zone: a person may end the pairing, or take rights back, while the session runs.
    @discardableResult
    func check(_ db: Database) throws -> ZoneRights {
        guard try PeerTable.isPresent(db, peer.id) else {
            throw try store.household.refusal(db, of: peer.publicKey)
        }
        let rights = try Zones.rights(db, peer: peer.id, zone: zoneID)
        guard rights >= .read else {
            throw RecordStoreError(
                .notPermitted, "the zone “\(try Zones.identity(db, zoneID))” is not shared any more")
        }
        return rights
    }

    /// Refuses a batch with stamps that lie further in the future than allowed: they would beat every write made here
    /// until that time.
    package func checkClock(_ batch: ChangeBatch) throws {
        let now = store.now()
        let limit = now + allowedSkew
        for record in batch.records {
            let newest = record.newestStamp
            guard let newest, newest.time.milliseconds > limit else { continue }
            throw RecordStoreError.clockSkew(
                record.name, writtenAt: newest.time.milliseconds, receivedAt: now,
                "this batch was not taken over")
        }
    }
}

import Foundation
import GRDB
import SyncModel

/// Deletions are remembered as long as a machine may come that does not know of them.
extension RecordStore {
    /// How long a deletion is remembered at least, in milliseconds: 180 days.
    public static let defaultRetention: Int64 = 180 * 86_400_000

    private static let purgeInterval: Int64 = 86_400_000

    /// Forgets the deletions that every paired machine has acknowledged and that are older than the retention time.
    /// Part of the transaction that is open.
    ///
    /// What such a deletion has hidden until then gets a deletion of its own, with the same stamp, which is forgotten like any
    /// other; so nothing of it can be restored any more.
    ///
    /// A machine that comes with an older token later, because its store was restored from a backup or its pairing
    /// had been ended, is refused with `changeTokenExpired`: it may hold records whose deletion nobody remembers.
    ///
    /// - Parameter retention: in milliseconds.
    /// - Returns: how many deletions were forgotten.
    @discardableResult
    public func purgeTombstones(_ db: Database, retention: Int64 = RecordStore.defaultRetention) throws -> Int
    {
        _ = try fold(db)
        let limit = now() - retention
        var count = 0
        for zone in try Int64.fetchAll(db, sql: "SELECT id FROM recordZone") {
            let acknowledged = try Self.acknowledgedByAll(db, zone: zone)
            let outOfSight = try OutOfSight(db, tables, zone: zone)
            let due = outOfSight.deleted.filter { record in
                guard let original = record.original, let deletion = record.state.deletion else {
                    return false
                }
                return deletion.time.milliseconds <= limit && original.changeSequence <= acknowledged
            }
            for record in due {
                for name in try outOfSight.below(record) {
                    guard let hidden = outOfSight.set.loaded(name), hidden.placement == .hidden else {
                        continue
                    }
                    // Below one that was deleted for ever stands also what is newer.
                    let deletion = latest(
                        latest(record.state.deletion, hidden.state.life), hidden.state.deletion)
                    hidden.state = RecordState(
                        name: name, deletion: deletion, revival: hidden.state.revival,
                        erasure: hidden.state.erasure)
                }
            }
            _ = try outOfSight.set.save(generation: generation)
            var last: Int64 = 0
            for record in due {
                try WorkingSet.removeTraces(of: record.name, db)
                last = max(last, record.original?.changeSequence ?? 0)
                count += 1
            }
            try Zones.raisePurgedSequence(db, zone, to: last)
        }
        return count
    }

    /// Purges once a day, and removes the files that nobody needs.
    func purgeIfDue() async throws {
        let isDue = try await database.read { [self] db in
            let last = try SyncState.integer(db, .lastPurge) ?? 0
            return now() - last >= Self.purgeInterval || now() < last
        }
        guard isDue else { return }
        try await database.write { [self] db in
            try purgeTombstones(db)
            try SyncState.set(db, .lastPurge, now())
        }
        try await removeUnreferredAssets()
    }

    /// The number up to which every paired machine has acknowledged the changes of a zone.
    static func acknowledgedByAll(_ db: Database, zone: Int64) throws -> Int64 {
        let least = try Int64.fetchOne(
            db,
            sql: """
                SELECT MIN(COALESCE(acknowledgedSequence, 0))
                FROM peer LEFT JOIN peerZone ON peerZone.peer = peer.id AND peerZone.zone = ?1
                WHERE \(Zones.rights("rights", in: "?1")) > 0
                """, arguments: [zone])
        return try least ?? SyncState.integer(db, .lastSequence) ?? 0
    }
}

/// What a machine does that was away for too long.
extension RecordStore {
    /// Forgets what a peer has, so that the next session takes the peer's records over; what the peer has not seen stays,
    /// with the records it refers to. Part of the transaction that is open.
    ///
    /// Nothing is deleted by this for other machines: the records just are not known here any more.
    ///
    /// - Parameter zones: those that the two share, and in which the peer may write: in others it could not bring
    ///   anything back. With each the token of this store's that the peer holds, as its open says.
    /// - Returns: how many records were forgotten.
    @discardableResult
    package func startOver(
        _ db: Database, with peer: Peer, in zones: [(zone: Zone, heldByPeer: ChangeToken?)]
    ) throws -> Int {
        _ = try fold(db)
        var count = 0
        for (zone, held) in zones {
            let seen = try conditionForSeen(db, by: peer, zone: zone.row, held: held)
            let kept = try namesKept(db, zone: zone.row, unless: seen)
            let names = try String.fetchAll(
                db, sql: "SELECT remoteRecordID FROM remoteRecord WHERE zone = ? AND (\(seen))",
                arguments: [zone.row])
            let forgotten = try names.map { try RecordName($0) }.filter { !kept.contains($0) }
            try forget(db, forgotten)
            count += forgotten.count
            try PeerTable.setReceived(db, peer: peer.id, zone: zone.row, .start)
        }
        try Generations.startOver(db)
        return count
    }

    /// SQL for whether the peer has seen the state of a row of `remoteRecord`: it has acknowledged it, or holds it, or has
    /// sent it. An acknowledgement can be lost on its way, so it is not enough.
    private func conditionForSeen(
        _ db: Database, by peer: Peer, zone: Int64, held: ChangeToken?
    ) throws -> String {
        let acknowledged = try PeerTable.progress(db, peer: peer.id, zone: zone).acknowledgedSequence
        guard let held, CopyPosition(held) == nil,
            try ChangeLog(tables: tables).isGivenOut(db, held)
        else { return "changeSequence <= \(acknowledged) OR sourcePeer = \(peer.id)" }
        // A peer that has lost what it had acknowledged may have lost also what it had sent.
        guard held.sequence >= acknowledged else { return "changeSequence <= \(held.sequence)" }
        return "changeSequence <= \(held.sequence) OR sourcePeer = \(peer.id)"
    }

    /// The records that the peer has not seen, and what they need.
    private func namesKept(_ db: Database, zone: Int64, unless seen: String) throws -> Set<RecordName> {
        let working = try WorkingSet(db, tables)
        var queue = try String.fetchAll(
            db, sql: "SELECT remoteRecordID FROM remoteRecord WHERE zone = ? AND (\(seen)) IS NOT TRUE",
            arguments: [zone]
        ).map { try RecordName($0) }
        // What a peer has refused is acknowledged, and nowhere else.
        queue += try String.fetchAll(
            db, sql: "SELECT DISTINCT recordName FROM refusedRecord WHERE zone = ?", arguments: [zone]
        ).map { try RecordName($0) }
        var kept = Set(queue)
        while let name = queue.popLast() {
            for field in try working.known(name)?.state.fields ?? [] {
                guard case .reference(let target) = field.value, kept.insert(target).inserted else {
                    continue
                }
                queue.append(target)
            }
        }
        return kept
    }

    /// Forgets records, and nobody else hears of it. The rules then see them as unknown: what needs one of them is held, and a
    /// reference with the rule nullify is empty in its row. Part of the transaction that is open.
    func forget(_ db: Database, _ names: [RecordName]) throws {
        let set = try WorkingSet(db, tables)
        for name in names { try set.known(name)?.forget() }
        _ = try set.save(generation: generation)
    }
}

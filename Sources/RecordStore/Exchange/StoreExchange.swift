import GRDB
import SyncModel

/// What sessions ask of a store, and do with its zones, beside the exchange of one zone: ``RecordStore/exchange``.
package struct StoreExchange: Sendable {
    let store: RecordStore

    /// The zones that a peer may have, with what it may do in each, as they are at this moment, and all that the store has.
    package func zones(
        for peer: Peer
    ) async throws -> (granted: [(zone: Zone, rights: ZoneRights)], all: [Zone]) {
        try await store.readFolded { [zones = store.zones] db in
            (try zones.granted(db, to: peer), try zones.all(db))
        }
    }

    /// The tokens that this store holds of a peer's changes in some zones.
    package func receivedTokens(of peer: Peer, in ids: [ZoneID]) async throws -> [ZoneID: ChangeToken] {
        try await store.database.read { db in
            try Self.receivedTokens(db, of: peer, in: ids)
        }
    }

    /// The tokens that this store holds of a peer's changes in some zones.
    package static func receivedTokens(_ db: Database, of peer: Peer, in ids: [ZoneID]) throws
        -> [ZoneID: ChangeToken]
    {
        var tokens: [ZoneID: ChangeToken] = [:]
        for id in ids {
            guard let zone = try Zones.find(db, id) else { continue }
            tokens[id] = try PeerTable.progress(db, peer: peer.id, zone: zone.row).received
        }
        return tokens
    }

    /// Does what this machine and a peer have agreed on, all or nothing.
    ///
    /// - Parameter backup: the moment of which there is a backup, where the plan gives up records.
    /// - Throws: `zonesChanged` when another session was faster, or something was written since the backup; `notPermitted` when
    ///   there are too many zones.
    /// - Returns: the zones that were taken up.
    package func share(
        _ plan: ZonePlan, with peer: Peer, since backup: BackupMoment?
    ) async throws -> [Zone] {
        try await store.database.write { [self] db in
            if let backup { try check(db, backup) }
            return try share(db, plan, with: peer)
        }
    }

    /// Does what this machine and a peer have agreed on. Part of the transaction that is open.
    package func share(_ db: Database, _ plan: ZonePlan, with peer: Peer) throws -> [Zone] {
        let takenUp = try plan.takenUp.map { zone in
            // Another session may have brought it meanwhile, with other rights.
            guard try Zones.find(db, zone.id) == nil else { throw Self.zonesChanged }
            return try store.zones.takeUp(db, zone.id, called: zone.name, from: peer)
        }
        guard let change = plan.defaultZone else { return takenUp }
        // Another session may have brought it together with a third machine's meanwhile.
        guard let zone = try Zones.find(db, change.id), zone.isDefault, zone.isShared == change.isShared
        else { throw Self.zonesChanged }
        switch change.change {
        case .keep: break
        case .withhold: try store.zones.setRights(db, .none, to: peer, in: zone)
        case .become(let id): try become(db, zone, id)
        case .replace(let id):
            try store.zones.erase(db, zone)
            try become(db, zone, id)
        }
        return takenUp
    }

    private func become(_ db: Database, _ zone: Zone, _ id: ZoneID) throws {
        guard zone.id != id else { return }
        guard try Zones.find(db, id) == nil else { throw Self.zonesChanged }
        try store.zones.adopt(db, id)
    }

    /// Forgets what a peer has, in those of some zones in which the peer may write: in others it could not bring anything back.
    ///
    /// - Parameters:
    ///   - zones: with each the token of this store's that the peer holds.
    ///   - backup: the moment of which there is a backup.
    /// - Throws: `zonesChanged` when something was written since.
    package func startOver(
        with peer: Peer, in zones: [(zone: Zone, heldByPeer: ChangeToken?)], since backup: BackupMoment
    ) async throws {
        try await store.database.write { [self] db in
            try check(db, backup)
            let writable = try Set(
                store.zones.granted(db, to: peer).filter { $0.rights == .write }.map(\.zone.row))
            try startOver(db, with: peer, in: zones.filter { writable.contains($0.zone.row) })
        }
    }

    private func check(_ db: Database, _ backup: BackupMoment) throws {
        // What was written since would be in no backup.
        guard try BackupMoment(db) == backup else { throw Self.zonesChanged }
    }

    private static let zonesChanged = RecordStoreError(
        .zonesChanged, "what the two machines share has changed")

    // MARK: A machine that was away for too long

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
        _ = try store.fold(db)
        var count = 0
        for (zone, held) in zones {
            let seen = try conditionForSeen(db, by: peer, zone: zone.row, held: held)
            let kept = try namesKept(db, zone: zone.row, unless: seen)
            let names = try String.fetchAll(
                db, sql: "SELECT remoteRecordID FROM remoteRecord WHERE zone = ? AND (\(seen))",
                arguments: [zone.row])
            let forgotten = try names.map { try RecordName($0) }.filter { !kept.contains($0) }
            try store.forget(db, forgotten)
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
            try ChangeLog(tables: store.tables).isGivenOut(db, held)
        else { return "changeSequence <= \(acknowledged) OR sourcePeer = \(peer.id)" }
        // A peer that has lost what it had acknowledged may have lost also what it had sent.
        guard held.sequence >= acknowledged else { return "changeSequence <= \(held.sequence)" }
        return "changeSequence <= \(held.sequence) OR sourcePeer = \(peer.id)"
    }

    /// The records that the peer has not seen, and what they need.
    private func namesKept(_ db: Database, zone: Int64, unless seen: String) throws -> Set<RecordName> {
        let working = try WorkingSet(db, store.tables)
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
}

import GRDB
import PeerSyncModel

/// The operations that sessions need from a store and its zones, except the exchange of one zone:
/// ``RecordStore/exchange``.
package struct StoreExchange: Sendable {
    let store: RecordStore

    /// Reads all zones of the store, those that a peer may have with its rights in each, and those that a user has deleted here, as
    /// they are at this moment.
    package func zones(
        for peer: Peer
    ) async throws -> (granted: [(zone: Zone, rights: ZoneRights)], all: [Zone], declined: [DeclinedZone]) {
        try await store.readFolded { [zones = store.zones] db in
            (try zones.granted(db, to: peer), try zones.all(db), try zones.declined(db))
        }
    }

    /// Checks that a machine will take zones of this store: it gives up for them what it has, and refuses what lies too far in the future
    /// only afterwards.
    ///
    /// - Parameters:
    ///   - zones: the zones; those that this store does not have are passed over.
    ///   - clock: the machine's clock, in milliseconds since 1970; 0 if it is not known.
    ///   - allowedSkew: how far stamps may lie in the future of that clock, in milliseconds.
    /// - Throws: `clockSkew`.
    package func checkGiving(_ zones: [ZoneID], at clock: Int64, allowedSkew: Int64) async throws {
        guard clock > 0 else { return }
        try await store.readFolded { [store] db in
            let rows = try zones.compactMap { try Zones.row(db, of: $0) }
            try store.clock.check(db, zones: rows, at: clock, allowedSkew: allowedSkew)
        }
    }

    /// The tokens of a peer's changes that this store holds in some zones.
    package func receivedTokens(of peer: Peer, in ids: [ZoneID]) async throws -> [ZoneID: ChangeToken] {
        try await store.database.read { db in
            try Self.receivedTokens(db, of: peer, in: ids)
        }
    }

    /// The tokens of a peer's changes that this store holds in some zones.
    package static func receivedTokens(_ db: Database, of peer: Peer, in ids: [ZoneID]) throws
        -> [ZoneID: ChangeToken]
    {
        var tokens: [ZoneID: ChangeToken] = [:]
        for id in ids {
            guard let zone = try Zones.find(db, id) else { continue }
            tokens[id] = try PeerTable.progress(db, peer: peer.id, zone: zone.row).received
            // The peer goes by what this machine had of it, and would refuse it as one that was away for too long.
            if try tokens[id] == nil && hasForgottenAll(db, of: peer, in: zone.row) { tokens[id] = .start }
        }
        return tokens
    }

    /// Whether the two have shared a zone before, and a user has erased it here: the store knows no record of it, deleted ones included.
    private static func hasForgottenAll(_ db: Database, of peer: Peer, in zone: Int64) throws -> Bool {
        guard try SyncState.integer(db, .erasures) ?? 0 > 0 else { return false }
        return try db.fetchBoolCached(
            """
            SELECT EXISTS (SELECT 1 FROM grdb_sync_peerZone WHERE peer = ?1 AND zone = ?2)
                AND NOT EXISTS (SELECT 1 FROM grdb_sync_remoteRecord WHERE zone = ?2)
            """, [peer.id, zone])
    }

    /// Carries out the plan that this machine and a peer have agreed on, all or nothing.
    ///
    /// - Parameter backup: the moment of the backup, where the plan gives up records.
    /// - Throws: `zonesChanged` when another session was faster, or somebody has written since the backup;
    ///   `notPermitted` when there are too many zones.
    /// - Returns: the zones that the store has taken up.
    package func share(
        _ plan: ZonePlan, with peer: Peer, since backup: BackupMoment?
    ) async throws -> [Zone] {
        try await store.database.write { [self] db in
            if let backup { try check(db, backup) }
            return try share(db, plan, with: peer)
        }
    }

    /// Carries out the plan that this machine and a peer have agreed on. Part of the open transaction.
    package func share(_ db: Database, _ plan: ZonePlan, with peer: Peer) throws -> [Zone] {
        let takenUp = try plan.takenUp.map { zone in
            // Another session may meanwhile have taken this zone up, with other rights.
            guard try Zones.find(db, zone.id) == nil else { throw RecordStoreError.zonesChanged }
            return try store.zones.takeUp(db, zone.id, called: zone.name, from: peer)
        }
        guard let change = plan.defaultZone else { return takenUp }
        // Another session may meanwhile have joined the default zone with that of a third machine.
        guard let zone = try Zones.find(db, change.id), zone.isDefault, zone.isShared == change.isShared
        else { throw RecordStoreError.zonesChanged }
        switch change.change {
        case .keep: break
        case .withhold: try store.zones.setRights(db, .none, to: peer, in: zone)
        case .become(let id): try become(db, zone, id)
        case .replace(let id):
            try store.zones.erase(db, zone)
            try AwaitedCopy.begin(db, from: peer)
            try become(db, zone, id)
        }
        return takenUp
    }

    private func become(_ db: Database, _ zone: Zone, _ id: ZoneID) throws {
        guard zone.id != id else { return }
        guard try Zones.find(db, id) == nil else { throw RecordStoreError.zonesChanged }
        try store.zones.adopt(db, id)
    }

    /// A zone that a peer offers, and that stays away until the user of this machine says otherwise.
    package struct OfferedZone: Sendable {
        package let id: ZoneID
        /// What it is called here, or was.
        package let name: String
        /// Whether a user has deleted it here; otherwise nobody has said what the peer may do in it.
        package let isDeleted: Bool
    }

    /// Notes what a peer lets this machine do in zones in which nobody here has said what the peer may do: the two exchange none of these.
    ///
    /// - Returns: those of which that is news, and all that a user has deleted here.
    package func noteOffered(_ offered: [ZonePlan.Offered], by peer: Peer) async throws -> [OfferedZone] {
        let rights = Dictionary(offered.map { ($0.id, $0.rights) }) { first, _ in first }
        let changed: @Sendable (Database) throws -> [(zone: Zone, rights: ZoneRights)] = { db in
            try Zones.all(db).compactMap { zone in
                guard try Zones.isUndecided(db, peer: peer.id, zone: zone.row) else { return nil }
                let now = rights[zone.id] ?? .none
                let before = try Zones.ownRights(db, peer: peer.id, zone: zone.row) ?? .none
                return now == before ? nil : (zone, now)
            }
        }
        let (isAnyNew, deleted) = try await store.database.read { db in
            try (!changed(db).isEmpty, DeclinedZones.all(db).filter { rights[$0.id] != nil })
        }
        var news: [OfferedZone] = []
        // Each session comes here, and mostly there is nothing to write.
        if isAnyNew {
            news = try await store.database.write { db in
                let changes = try changed(db)
                for change in changes {
                    try Zones.setOwnRights(db, peer: peer.id, zone: change.zone.row, change.rights)
                }
                return changes.filter { $0.rights != .none }.map {
                    OfferedZone(id: $0.zone.id, name: $0.zone.name, isDeleted: false)
                }
            }
        }
        return news + deleted.map { OfferedZone(id: $0.id, name: $0.name, isDeleted: true) }
    }

    /// Notes the zones that this machine and a peer exchange from now on. This machine may do nothing at the peer in the
    /// others, whatever the peer let it do there before.
    package func noteZones(_ zones: [Zone], with peer: Peer) async throws {
        let rows = zones.map { "\($0.row)" }.joined(separator: ", ")
        let others =
            "peer = ? AND ownRights <> \(ZoneRights.none.rawValue) AND zone NOT IN (\(rows)) AND \(Zones.isDecided)"
        let isAnyLost = try await store.database.read { db in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM grdb_sync_peerZone WHERE \(others))",
                arguments: [peer.id])
        }
        guard isAnyLost == true else { return }
        try await store.database.write { db in
            _ = try Zones.endOwnRights(db, peer: peer.id, but: zones.map(\.row))
        }
    }

    /// Forgets the records that a peer has, in those of some zones in which the peer may write: in other zones the peer
    /// could not bring anything back.
    ///
    /// - Parameters:
    ///   - zones: the zones, each with the token of this store's that the peer holds.
    ///   - backup: the moment of the backup.
    /// - Throws: `zonesChanged` when somebody has written since.
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
        // The backup would lack what was written since.
        guard try BackupMoment(db) == backup else { throw RecordStoreError.zonesChanged }
    }

    // MARK: A machine that was away for too long

    /// Forgets the records that a peer has, so that the next session takes over the peer's state. What the peer has not
    /// seen stays, with the records that it refers to. Part of the open transaction.
    ///
    /// This deletes nothing for other machines: this store just does not know the records any more.
    ///
    /// - Parameter zones: zones that the two share, and in which the peer may write: in other zones the peer could not
    ///   bring anything back. Each comes with the token of this store's that the peer holds, as its open says.
    /// - Returns: the number of forgotten records.
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
                db, sql: "SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE zone = ? AND (\(seen))",
                arguments: [zone.row])
            let forgotten = try names.map { try RecordName($0) }.filter { !kept.contains($0) }
            try store.forget(db, forgotten)
            count += forgotten.count
            try PeerTable.setReceived(db, peer: peer.id, zone: zone.row, .start)
        }
        try Generations.startOver(db)
        return count
    }

    /// Builds SQL for whether the peer has seen the state in a row of `grdb_sync_remoteRecord`: it has acknowledged the
    /// state, holds it, or has sent it. The acknowledgement alone is not enough, because it can get lost on its way.
    private func conditionForSeen(
        _ db: Database, by peer: Peer, zone: Int64, held: ChangeToken?
    ) throws -> String {
        let acknowledged = try PeerTable.progress(db, peer: peer.id, zone: zone).acknowledgedSequence
        guard let held, CopyPosition(held) == nil,
            try ChangeLog(tables: store.tables).isGivenOut(db, held)
        else { return "changeSequence <= \(acknowledged) OR sourcePeer = \(peer.id)" }
        // A peer that has lost what it had acknowledged may also have lost what it had sent.
        guard held.sequence >= acknowledged else { return "changeSequence <= \(held.sequence)" }
        return "changeSequence <= \(held.sequence) OR sourcePeer = \(peer.id)"
    }

    /// The records that the peer has not seen; the records that go with those of them that live, because what is newer than a deletion
    /// brings a record back whole; and the records that all of these refer to.
    private func namesKept(_ db: Database, zone: Int64, unless seen: String) throws -> Set<RecordName> {
        let working = WorkingSet(db, store.tables)
        var queue: [RecordName] = []
        for sql in [
            "SELECT remoteRecordID FROM grdb_sync_remoteRecord WHERE zone = ? AND (\(seen)) IS NOT TRUE",
            // A peer acknowledges records that it has refused, but no other machine holds them.
            "SELECT DISTINCT recordName FROM grdb_sync_refusedRecord WHERE zone = ?",
            // What waits for a person is with nobody else, or must not be lost with the record.
            "SELECT DISTINCT recordName FROM grdb_sync_withheldRecord WHERE zone = ?",
        ] {
            queue += try String.fetchAll(db, sql: sql, arguments: [zone]).map { try RecordName($0) }
        }
        var rules = try RuleApplication(working)
        for name in queue where try working.known(name)?.state.isLive == true {
            queue += try rules.below(name)
        }
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

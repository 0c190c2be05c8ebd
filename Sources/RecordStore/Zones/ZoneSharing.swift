import GRDB
import SyncModel

/// What sessions ask of the zones of a store, and do with them.
extension RecordStore {
    /// The zones that a peer may have, with what it may do in each, as they are at this moment, and all that the store has.
    package func zonesForSession(
        with peer: Peer
    ) async throws -> (granted: [(zone: Zone, rights: ZoneRights)], all: [Zone]) {
        try await readFolded { [self] db in (try zonesGranted(db, to: peer), try Zones.all(db)) }
    }

    /// The zones that a peer may have, with what it may do in each.
    package func zonesGranted(to peer: Peer) async throws -> [(zone: Zone, rights: ZoneRights)] {
        try await database.read { [self] db in try zonesGranted(db, to: peer) }
    }

    /// Those of some zones that this store has, in their order.
    package func zones(_ ids: [ZoneID]) async throws -> [Zone] {
        try await database.read { db in try ids.compactMap { try Zones.find(db, $0) } }
    }

    /// The tokens that this store holds of a peer's changes in some zones.
    package func receivedTokens(of peer: Peer, in ids: [ZoneID]) async throws -> [ZoneID: ChangeToken] {
        try await database.read { db in
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
    package func share(_ plan: ZonePlan, with peer: Peer, since backup: Moment?) async throws -> [Zone] {
        try await database.write { [self] db in
            if let backup { try check(db, backup) }
            return try share(db, plan, with: peer)
        }
    }

    /// Does what this machine and a peer have agreed on. Part of the transaction that is open.
    package func share(_ db: Database, _ plan: ZonePlan, with peer: Peer) throws -> [Zone] {
        let takenUp = try plan.takenUp.map { zone in
            // Another session may have brought it meanwhile, with other rights.
            guard try Zones.find(db, zone.id) == nil else { throw Self.zonesChanged }
            return try takeUpZone(db, zone.id, called: zone.name, from: peer)
        }
        guard let change = plan.defaultZone else { return takenUp }
        // Another session may have brought it together with a third machine's meanwhile.
        guard let zone = try Zones.find(db, change.id), zone.isDefault, zone.isShared == change.isShared
        else { throw Self.zonesChanged }
        switch change.change {
        case .keep: break
        case .withhold: try setRights(db, .none, to: peer, in: zone)
        case .become(let id): try become(db, zone, id)
        case .replace(let id):
            try erase(db, zone)
            try become(db, zone, id)
        }
        return takenUp
    }

    private func become(_ db: Database, _ zone: Zone, _ id: ZoneID) throws {
        guard zone.id != id else { return }
        guard try Zones.find(db, id) == nil else { throw Self.zonesChanged }
        try adopt(db, id)
    }

    /// Forgets what a peer has, in those of some zones in which the peer may write: in others it could not bring anything back.
    ///
    /// - Parameters:
    ///   - zones: with each the token of this store's that the peer holds.
    ///   - backup: the moment of which there is a backup.
    /// - Throws: `zonesChanged` when something was written since.
    package func startOver(
        with peer: Peer, in zones: [(zone: Zone, heldByPeer: ChangeToken?)], since backup: Moment
    ) async throws {
        try await database.write { [self] db in
            try check(db, backup)
            let writable = try Set(
                zonesGranted(db, to: peer).filter { $0.rights == .write }.map(\.zone.row))
            try startOver(db, with: peer, in: zones.filter { writable.contains($0.zone.row) })
        }
    }

    private func check(_ db: Database, _ backup: Moment) throws {
        // What was written since would be in no backup.
        guard try Moment(db) == backup else { throw Self.zonesChanged }
    }

    private static let zonesChanged = RecordStoreError(
        .zonesChanged, "what the two machines share has changed")
}

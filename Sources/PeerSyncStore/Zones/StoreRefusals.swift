import GRDB
import PeerSyncModel

/// The records of a store that peers have refused: ``RecordStore/refusals``.
public struct StoreRefusals: Sendable {
    let store: RecordStore

    /// The records that peers have refused, by peer, zone and name.
    public func all() async throws -> [RefusedRecord] {
        try await store.database.read { try RefusedRecords.all($0) }
    }

    /// Ends the refusal of records that the peer has sent and that now have the same state here.
    func end(_ db: Database, peer: Int64, zone: Int64, settledBy states: [RecordState]) throws {
        let refused = Set(try RefusedRecords.names(db, peer: peer, zone: zone))
        guard !refused.isEmpty else { return }
        let set = WorkingSet(db, store.tables)
        for state in states where refused.contains(state.name) {
            guard try set.known(state.name)?.state.transferred == state.transferred else { continue }
            try RefusedRecords.remove(db, state.name, peer: peer, zone: zone)
        }
    }

    /// Gives records new numbers, so that the store sends them once more.
    func sendAgain(_ db: Database, _ names: [RecordName]) throws {
        guard !names.isEmpty else { return }
        _ = try store.fold(db)
        try store.save(db, names, as: .sendAgain)
    }

    /// Gives up what peers have refused in a zone: at the next session the records become what the peers have. A record
    /// that was too large for a peer stays, because no other machine may have it. Part of the open transaction.
    ///
    /// - Returns: the records that it gave up.
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    @discardableResult
    public func giveUp(_ db: Database, in zone: Zone) throws -> [RecordName] {
        let row = try Zones.row(db, of: .one(zone))
        _ = try store.fold(db)
        let names = try String.fetchAll(
            db,
            sql: "DELETE FROM grdb_sync_refusedRecord WHERE zone = ? AND reason <> ? RETURNING recordName",
            arguments: [row, Refusal.Reason.tooLarge.rawValue])
        try RefusedRecords.notify(db)
        // A refusal is no reason to give up a record that is in another zone by now.
        let list = try Set(names).filter { try Zones.row(db, of: $0) == row }
            .map { try RecordName($0) }.sorted()
        try giveUp(db, list, in: row)
        return list
    }

    /// Forgets records that peers have as they are to be.
    private func giveUp(_ db: Database, _ names: [RecordName], in zone: Int64) throws {
        guard !names.isEmpty else { return }
        try store.forget(db, names)
        // The peers then send what is missing here.
        try PeerTable.startOver(db, in: zone)
    }
}

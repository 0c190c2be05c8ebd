import GRDB
import PeerSyncModel

/// Transactions for the operations of a zone. Each refuses a zone that is not in its row any more.
extension PeerZone {
    /// Calls an operation that reads the zone as it is after all writes so far.
    ///
    /// - Throws: `zonesChanged`; what the operation throws.
    package func read<Value: Sendable>(
        _ operation: @escaping @Sendable (PeerZone, Database) throws -> Value
    ) async throws -> Value {
        try await store.readFolded { db in
            try checkIdentity(db)
            return try operation(self, db)
        }
    }

    /// Calls an operation in a transaction of its own.
    ///
    /// - Throws: `zonesChanged`; what the operation throws.
    package func write(_ operation: @escaping @Sendable (PeerZone, Database) throws -> Void) async throws {
        try await store.database.write { db in
            try checkIdentity(db)
            try operation(self, db)
        }
    }

    /// Applies batches in one transaction.
    ///
    /// - Throws: `zonesChanged`; what `body` throws.
    package func applying<Value: Sendable>(
        _ body: @escaping @Sendable (ApplyingTransaction) throws -> Value
    ) async throws -> Value {
        try await store.database.write { db in
            try checkIdentity(db)
            return try ApplyingTransaction.run(db, body)
        }
    }

    /// Notes what the peer lets this machine do in the zone. If it may write there, what the peer refused before for that reason is sent
    /// again. Writes only what is news.
    package func noteOwnRights(_ rights: ZoneRights) async throws {
        let isNews = try await read { try $0.isNews($1, rights) }
        if isNews { try await write { try $0.noteOwnRights($1, rights) } }
    }

    /// Notes in the open transaction what the peer lets this machine do in the zone, if that is news.
    package func noteOwnRightsIfNews(_ db: Database, _ rights: ZoneRights) throws {
        if try isNews(db, rights) { try noteOwnRights(db, rights) }
    }

    private func isNews(_ db: Database, _ rights: ZoneRights) throws -> Bool {
        if try Zones.ownRights(db, peer: peer.id, zone: zoneID) != rights { return true }
        return try rights == .write
            && RefusedRecords.isAny(db, peer: peer.id, zone: zoneID, reason: .readOnly)
    }
}

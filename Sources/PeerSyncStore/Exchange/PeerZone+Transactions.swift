import GRDB
import PeerSyncModel

extension PeerZone {
    /// Calls an operation that reads the zone as it is after all writes so far.
    package func read<Value: Sendable>(
        _ operation: @escaping @Sendable (PeerZone, Database) throws -> Value
    ) async throws -> Value {
        try await store.readFolded { db in try operation(self, db) }
    }

    /// Calls an operation in a transaction of its own.
    package func write(_ operation: @escaping @Sendable (PeerZone, Database) throws -> Void) async throws {
        try await store.database.write { db in try operation(self, db) }
    }

    /// Applies batches in one transaction.
    package func applying<Value: Sendable>(
        _ body: @escaping @Sendable (ApplyingTransaction) throws -> Value
    ) async throws -> Value {
        try await store.database.write { db in try ApplyingTransaction.run(db, body) }
    }

    /// Notes what the peer lets this machine do in the zone. Writes only if the peer says something else than the last time.
    package func noteOwnRights(_ rights: ZoneRights) async throws {
        guard try await read({ try Zones.ownRights($1, peer: $0.peer.id, zone: $0.zoneID) }) != rights else {
            return
        }
        try await write { try $0.noteOwnRights($1, rights) }
    }
}

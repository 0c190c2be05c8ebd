import GRDB
import PeerSyncModel

/// The operations of a zone, each in its own transaction. Operations that need the latest writes fold first.
extension PeerZone {
    private func read<Value: Sendable>(_ body: @escaping @Sendable (PeerZone, Database) throws -> Value)
        async throws -> Value
    {
        try await store.readFolded { db in try body(self, db) }
    }

    private func write(_ body: @escaping @Sendable (PeerZone, Database) throws -> Void) async throws {
        try await store.database.write { db in try body(self, db) }
    }

    package func summary() async throws -> ZoneSummary { try await read { try $0.summary($1) } }

    package func begin(heldByPeer held: ChangeToken?) async throws -> Beginning {
        try await read { try $0.begin($1, heldByPeer: held) }
    }

    package func nextBatch(
        after place: ReadingPlace, includingEcho isEcho: Bool
    ) async throws -> (batch: ChangeBatch, place: ReadingPlace) {
        try await read { try $0.nextBatch($1, after: place, includingEcho: isEcho) }
    }

    package func changesLeft(
        after batch: ChangeBatch, at place: ReadingPlace, includingEcho isEcho: Bool
    ) async throws -> Int {
        try await read { try $0.changesLeft($1, after: batch, at: place, includingEcho: isEcho) }
    }

    package func states(named names: [RecordName]) async throws -> NamedRecords {
        try await read { try $0.states($1, named: names) }
    }

    package func inventory() async throws -> (items: NegentropyVector, token: ChangeToken) {
        try await read { try $0.inventory($1) }
    }

    package func names(of ids: [NegentropyID]) async throws -> [RecordName] {
        try await read { try $0.names($1, of: ids) }
    }

    /// Applies batches in one transaction.
    package func applying<Value: Sendable>(
        _ body: @escaping @Sendable (ApplyingTransaction) throws -> Value
    ) async throws -> Value {
        try await store.database.write { db in try ApplyingTransaction.run(db, body) }
    }

    package func noteBegun(at token: ChangeToken?) async throws {
        try await write { try $0.noteBegun($1, at: token) }
    }

    package func noteRefused(_ refusal: Refusal) async throws {
        try await write { try $0.noteRefused($1, refusal) }
    }

    /// Does nothing if the peer has refused no record.
    package func retryRefused() async throws {
        guard try await summary().refused > 0 else { return }
        try await write { try $0.retryRefused($1) }
    }

    /// Writes only if the peer says something else than the last time.
    package func noteOwnRights(_ rights: ZoneRights) async throws {
        guard try await read({ try Zones.ownRights($1, peer: $0.peer.id, zone: $0.zoneID) }) != rights else {
            return
        }
        try await write { try $0.noteOwnRights($1, rights) }
    }

    package func acknowledge(_ token: ChangeToken) async throws {
        try await write { try $0.acknowledge($1, token) }
    }

    package func voidReceived() async throws { try await write { try $0.voidReceived($1) } }
}

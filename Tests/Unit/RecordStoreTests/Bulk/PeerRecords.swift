import PeerSyncModel

@testable import PeerSyncStore

/// Makes records of the tests' library as a peer sends them, and applies them.
protocol PeerRecords {}

extension PeerRecords {
    private var stamp: Stamp { later(0) }

    func later(_ milliseconds: Int64) -> Stamp {
        Stamp(
            time: HybridTime(milliseconds: 1_700_000_000_000 + milliseconds), replica: ReplicaID(rawValue: 7))
    }

    func record(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue>, at stamp: Stamp? = nil,
        deletion: Stamp? = nil
    ) throws -> RecordState {
        try RecordState(
            name: RecordName(name),
            fields: fields.map { RecordField(name: $0, value: $1, stamp: stamp ?? self.stamp) },
            deletion: deletion)
    }

    func author(_ number: Int) throws -> RecordState {
        try record(
            "Author|~|\(number)", ["name": .text("Author \(number)"), "born": .date(1_000 * Int64(number))])
    }

    func book(_ number: Int, by author: String, shelf: String? = nil) throws -> RecordState {
        try record(
            "Book|~|\(number)",
            [
                "author": .reference(RecordName(author)), "title": .text("Book \(number)"),
                "pages": .integer(Int64(number)),
                "shelf": shelf.map { .reference(try RecordName($0)) } ?? .null,
            ])
    }

    func peerZone(of machine: Machine, in zone: ZoneTarget = .default) async throws -> PeerZone {
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 3, count: 32), name: "peer")
        return PeerZone(store: machine.store, zone: zone, peer: peer)
    }

    /// Merges states as a peer's batches, one transaction for each list.
    ///
    /// - Parameters:
    ///   - isWhole: whether the last one ends the peer's stream.
    ///   - manyRecords: a list of so many makes it worth switching the triggers off.
    func apply(
        _ batches: [[RecordState]], to machine: Machine, in zone: ZoneTarget = .default, isWhole: Bool = true,
        manyRecords: Int = 1
    ) async throws {
        let peerZone = try await peerZone(of: machine, in: zone)
        for (index, records) in batches.enumerated() {
            let isLast = isWhole && index == batches.count - 1
            let batch = ChangeBatch(records: records, token: .start, isLast: isLast)
            _ = try await machine.store.database.write {
                try peerZone.apply($0, batch, manyRecords: manyRecords)
            }
        }
    }

    /// Merges states in a transaction that fails when they are merged.
    func applyAndFail(_ records: [RecordState], to machine: Machine) async throws {
        let peerZone = try await peerZone(of: machine)
        let batch = ChangeBatch(records: records, token: .start, isLast: false)
        do {
            try await machine.store.database.write { db in
                try ApplyingTransaction.run(db, manyRecords: 1) { transaction in
                    _ = try peerZone.apply(batch, in: transaction)
                    throw AppliedInVain()
                }
            }
        } catch is AppliedInVain {}
    }

    /// The same, when the transaction of the batches has ended well.
    func applyAndRollBack(_ records: [RecordState], to machine: Machine) async throws {
        let peerZone = try await peerZone(of: machine)
        let batch = ChangeBatch(records: records, token: .start, isLast: false)
        try await machine.store.database.writeWithoutTransaction { db in
            try db.inTransaction {
                _ = try peerZone.apply(db, batch, manyRecords: 1)
                return .rollback
            }
        }
    }
}

private struct AppliedInVain: Error {}

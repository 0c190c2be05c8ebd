import Foundation
import GRDB
import PeerSync
import Synchronization

/// A first sync into an empty scorebook: two engines in this process, encrypted, over loopback. Held against a plain
/// insert of the same rows into the same tables, in one transaction, without anything that sync needs.
struct FirstSync {
    let records: Int

    func run(rounds: Int) async throws -> ResultTable {
        let rows = HouseholdRows.rows(records)
        var comparison = Comparison("first sync, \(records) records")
        for round in 0..<rounds {
            // Whoever comes second may find warmer caches, so they take turns.
            let plainFirst = round.isMultiple(of: 2)
            var baseline = plainFirst ? try await insert(rows) : 0
            let speed = try await sync(rows)
            if !plainFirst { baseline = try await insert(rows) }
            comparison.add(speed: speed, baseline: baseline)
        }
        return ResultTable(
            title: "first sync", baseline: "plain insert", subject: "synced", comparisons: [comparison])
    }

    private func insert(_ rows: [NewRow]) async throws -> Double {
        try await withTemporaryDirectory { directory in
            let database = try Household.withoutCapture(in: directory, "plain")
            return try await speed(of: rows.count) {
                try await database.write { db in
                    for row in rows { try row.insert(db) }
                }
            }
        }
    }

    /// The time runs from the first byte of the connection, handshake and pairing included, to the moment when the
    /// receiver has committed everything and found the digests equal.
    private func sync(_ rows: [NewRow]) async throws -> Double {
        try await withTemporaryDirectory { directory in
            let source = try Household(in: directory, "source")
            try await source.scorebook.records.write { db in
                for row in rows { try row.insert(db) }
            }
            let target = try Household(in: directory, "target")

            let server = try await ListeningHousehold(source, name: "source")
            defer { server.end() }
            let equalAt = Mutex<ContinuousClock.Instant?>(nil)
            let client = SyncEngine(
                store: target.scorebook.records, identity: target.identity, displayName: "target"
            ) { event in
                if case .inSync = event { equalAt.withLock { $0 = $0 ?? .now } }
            }
            let code = await server.code()
            let begin = ContinuousClock.now
            let report = try await SyncConnector(client, to: server.address, code: code).syncOnce()
            guard let end = equalAt.withLock({ $0 }), Int(report.digest.count) == rows.count else {
                throw IncompleteSync(records: Int(report.digest.count))
            }
            return Double(rows.count) / ((end - begin) / .seconds(1))
        }
    }
}

/// A sync that ended without moving everything measures nothing.
struct IncompleteSync: Error {
    let records: Int
}

import GRDB
import MetricsTestKit
import Scorebook
import Testing

@testable import PeerSync

/// What an engine counts for the app's metrics system.
struct MetricsTests {
    private func engine(
        _ name: String, _ metrics: TestMetrics, onEvent: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) throws -> (SyncEngine, ScorebookStore) {
        let identity = Identity.generate()
        let scorebook = try ScorebookStore(DatabaseQueue(), replica: identity.replicaID)
        let engine = SyncEngine(
            app: .scorebook, store: scorebook.records, identity: identity, displayName: name, discovery: .off,
            metrics: metrics,
            onEvent: onEvent)
        engine.deadlines = .unhurried
        return (engine, scorebook)
    }

    @Test(.timeLimit(.minutes(5))) func aSessionCountsWhatItMoves() async throws {
        let (metrics, theirs) = (TestMetrics(), TestMetrics())
        let (ports, found) = AsyncStream<Int>.makeStream()
        let (server, source) = try engine("server", theirs) { event in
            if case .listening(_, let port) = event { found.yield(port) }
        }
        let (client, _) = try engine("client", metrics)
        try await source.records.write { db in
            try db.execute(sql: "INSERT INTO SBGame (recordName, name) VALUES ('SBGame|~|1', 'Catan')")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await SyncListener(server, host: "127.0.0.1", port: 0).run()
            }
            let port = try #require(await ports.first { _ in true })
            let connector = SyncConnector(
                client, to: PeerAddress(host: "127.0.0.1", port: port), code: try await server.pairing.show())
            let report = try await connector.syncOnce()
            group.cancelAll()

            #expect(try metrics.expectCounter("peer_sync_records_received").totalValue == 1)
            #expect(try metrics.expectCounter("peer_sync_records_sent").totalValue == 0)
            let bytes = (report.statistics.bytesSent, report.statistics.bytesReceived)
            #expect(try metrics.expectCounter("peer_sync_bytes_sent").totalValue >= Int64(bytes.0))
            #expect(try metrics.expectCounter("peer_sync_bytes_received").totalValue >= Int64(bytes.1))
            #expect(try metrics.expectMeter("peer_sync_sessions").values.max() == 1)
            #expect(try metrics.expectMeter("peer_sync_sessions").lastValue == 0)
            #expect(try !metrics.expectTimer("peer_sync_apply_seconds").values.isEmpty)
            #expect(try theirs.expectCounter("peer_sync_records_sent").totalValue == 1)
            #expect(throws: (any Error).self) { try metrics.expectCounter("peer_sync_failures") }
        }
    }
}

import GRDB
import Synchronization
import Testing

@testable import PeerSyncStore

/// What every session asks of the store costs what has changed, not what there is.
struct QueryPlanTests {
    /// Sessions look their peer up again and again.
    @Test func whoeverLooksAPeerUpReadsNoRecords() async throws {
        let machine = try Machine("a", number: 1)
        try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x')")
        let peer = try await machine.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "b")
        let tables = Mutex<[String]>([])
        try await machine.store.database.write { db in
            db.trace(options: .statement) { event in tables.withLock { $0.append("\(event)") } }
        }
        #expect(try await machine.store.peers.find(key: peer.publicKey) == peer)
        #expect(try await machine.store.peers.all() == [peer])
        #expect(tables.withLock { $0.contains { $0.contains("FROM grdb_sync_peer") } })
        #expect(tables.withLock { !$0.contains { $0.contains("remoteRecord") } })
    }

    @Test func whatAPeerHasNotGotIsCountedByTheIndexOfChanges() async throws {
        let machine = try Machine("a", number: 1)
        let plan = try await machine.store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(PeerTable.countBehind)", arguments: [1]).map {
                $0["detail"] as String
            }
        }
        let lookups = plan.filter { $0.contains("known") }
        #expect(!lookups.isEmpty)
        for lookup in lookups {
            #expect(
                lookup.hasPrefix("SEARCH known USING COVERING INDEX grdb_sync_remoteRecordChange"), "\(plan)")
        }
    }
}

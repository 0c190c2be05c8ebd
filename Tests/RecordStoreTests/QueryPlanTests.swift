import GRDB
import Testing

@testable import RecordStore

/// What every session asks of the store costs what has changed, not what there is.
struct QueryPlanTests {
    @Test func whatAPeerHasNotGotIsCountedByTheIndexOfChanges() async throws {
        let machine = try Machine("a", number: 1)
        let plan = try await machine.store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(PeerTable.columns)").map {
                $0["detail"] as String
            }
        }
        let lookups = plan.filter { $0.contains("remoteRecord") }
        #expect(!lookups.isEmpty)
        for lookup in lookups {
            #expect(
                lookup.hasPrefix("SEARCH remoteRecord USING COVERING INDEX remoteRecordChange"), "\(plan)")
        }
    }
}

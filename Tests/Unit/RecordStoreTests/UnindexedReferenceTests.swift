import GRDB
import PeerSyncModel
import Synchronization
import Testing

@testable import PeerSyncStore

/// An app need not have an index on its references. The store does not read a whole table for each record then.
struct UnindexedReferenceTests {
    /// Counts the searches for rows with a reference.
    private final class Searches: Sendable {
        let count = Atomic(0)
    }

    private let database: DatabaseQueue
    private let searches = Searches()

    init() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { [searches] db in
            db.trace(options: .statement) { event in
                if "\(event)".contains("\"parent\" = ") { searches.count.add(1, ordering: .relaxed) }
            }
        }
        database = try DatabaseQueue(configuration: configuration)
    }

    /// Opens a store with a table in which each row refers to a later one.
    private func open(_ rule: DeleteRule, rows: Int) throws -> RecordStore {
        let action = rule == .cascade ? "CASCADE" : "SET NULL"
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Item (
                        recordName TEXT NOT NULL PRIMARY KEY, parent TEXT REFERENCES Item (recordName) ON DELETE \(action)
                            DEFERRABLE INITIALLY DEFERRED);
                    """)
            for row in 0..<rows {
                try db.execute(
                    sql: "INSERT INTO Item VALUES (?, ?)",
                    arguments: [name(row).description, row + 1 < rows ? name(row + 1).description : nil])
            }
        }
        return try RecordStore(
            database,
            schema: RecordSchema([
                RecordType(
                    "Item",
                    [FieldDefinition("parent", .reference(to: "Item", rule: rule, isRequired: false))])
            ]), replica: ReplicaID(rawValue: 1))
    }

    private func name(_ row: Int) throws -> RecordName {
        try RecordName(recordType: "Item", suffix: "\(1000 + row)")
    }

    private func rows() throws -> [String] {
        try database.read {
            try String.fetchAll(
                $0, sql: "SELECT recordName || ' ' || IFNULL(parent, '-') FROM Item ORDER BY recordName")
        }
    }

    @Test(arguments: [DeleteRule.cascade, .nullify])
    func aTableThatComesUnderSyncIsNotReadForEachRow(rule: DeleteRule) async throws {
        let store = try open(rule, rows: 200)
        try await store.foldPendingChanges()
        let count = searches.count.load(ordering: .relaxed)
        #expect(count <= ReferrerSearch.fewSearches)
        let status = try await database.read { try store.status($0) }
        #expect(status.digest.count == 200)
    }

    @Test(arguments: [DeleteRule.cascade, .nullify])
    func whatIsDeletedComesBackWithWhatReferredToIt(rule: DeleteRule) async throws {
        let store = try open(rule, rows: 60)
        try await store.foldPendingChanges()
        let before = try rows()
        let parents = try stride(from: 1, to: 60, by: 2).map(name)
        _ = try await database.write { db in try store.delete(db, parents) }
        let left = rule == .cascade ? [] : try stride(from: 0, to: 60, by: 2).map { try "\(name($0)) -" }
        #expect(try rows() == left)
        let searched = searches.count.load(ordering: .relaxed)
        let deleted = try await database.read { try store.listing.deleted($0) }
        #expect(deleted.count == parents.count)
        let searchedForList = searches.count.load(ordering: .relaxed) - searched
        #expect(searchedForList <= ReferrerSearch.fewSearches)
        try await database.write { db in try store.revive(db, parents) }
        #expect(try rows() == before)
    }
}

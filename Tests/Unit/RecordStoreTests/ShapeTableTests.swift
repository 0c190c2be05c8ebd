import GRDB
import Testing

@testable import PeerSyncStore

/// The lists of field names that a store has are for its peers to make; only some of them are in memory.
struct ShapeTableTests {
    @Test func listsKeepTheirNumbersHoweverManyThereAre() throws {
        try DatabaseQueue().write { db in
            _ = try MetadataTables.migrate(db)
            let table = ShapeTable(db)
            #expect(try table.id([]) == 0)
            let lists = (0..<3 * ShapeTable.limit).map { ["a", "b\($0)"] }
            let ids = try lists.map { try table.id($0) }
            #expect(Set(ids).count == lists.count)
            let another = ShapeTable(db)
            for (list, id) in zip(lists, ids) {
                #expect(try another.fieldNames(id) == list)
                #expect(try another.id(list) == id)
            }
            #expect(table.count <= ShapeTable.limit && another.count <= ShapeTable.limit)
            #expect(throws: (any Error).self) { try another.fieldNames(ids.max()! + 1) }
        }
    }
}

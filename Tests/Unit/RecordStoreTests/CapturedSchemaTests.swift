import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// A program that runs while another version opens its database loses nothing that it does not know.
struct CapturedSchemaTests {
    private let database: DatabaseQueue
    private let old: RecordStore

    init() throws {
        database = try DatabaseQueue()
        try database.write {
            try $0.execute(sql: "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT)")
        }
        old = try Self.open(database, ["title"])
    }

    private static func open(_ database: DatabaseQueue, _ fields: [String]) throws -> RecordStore {
        try RecordStore(
            database, schema: RecordSchema([RecordType("Item", fields.map { FieldDefinition($0) })]),
            replica: ReplicaID(rawValue: 1))
    }

    @Test func whatTheNewVersionWroteWaitsForIt() async throws {
        try await database.write { db in
            try db.execute(sql: "INSERT INTO Item (id, title) VALUES ('1', 'Milk')")
            _ = try old.fold(db)
            try db.execute(sql: "ALTER TABLE Item ADD COLUMN amount INTEGER")
        }
        let new = try Self.open(database, ["title", "amount"])
        try await database.write { try $0.execute(sql: "UPDATE Item SET amount = 2") }

        var error = await #expect(throws: RecordStoreError.self) { try await old.foldPendingChanges() }
        #expect(error?.code == .newerFormat)
        error = await #expect(throws: RecordStoreError.self) { try await old.foldOthersWrites(since: nil) }
        #expect(error?.code == .newerFormat)

        try await new.foldPendingChanges()
        let state = try await database.read { try new.state($0, of: RecordName("Item|~|1")) }
        #expect(state?.field("amount")?.value == .integer(2))
    }

    @Test func anotherMeaningOfAFieldIsAnotherVersion() async throws {
        let new = try RecordStore(
            database, schema: RecordSchema([RecordType("Item", [FieldDefinition("title", .date)])]),
            replica: ReplicaID(rawValue: 1))
        let error = await #expect(throws: RecordStoreError.self) {
            try await old.foldOthersWrites(since: nil)
        }
        #expect(error?.code == .newerFormat)
        _ = try await new.foldOthersWrites(since: nil)
    }

    /// An app may change what is not synced at any moment, and a program of the same version opens the database again.
    @Test func otherChangesOfTheSchemaAreNoNewVersion() async throws {
        try await database.write { db in
            try db.execute(sql: "CREATE TABLE Own (x); CREATE INDEX Item_title ON Item (title)")
        }
        _ = try Self.open(database, ["title"])
        try await database.write { try $0.execute(sql: "INSERT INTO Item VALUES ('1', 'Milk')") }
        #expect(try await old.foldPendingChanges().changed == 1)
    }

    /// The journal stays empty: nobody captures what is written to the table that the other program leaves out.
    @Test func aProgramThatListsFewerTablesEndsTheOthers() async throws {
        try await database.write { try $0.execute(sql: "CREATE TABLE Tag (name TEXT NOT NULL PRIMARY KEY)") }
        let app = try RecordStore(database, tables: ["Item", "Tag"], replica: ReplicaID(rawValue: 1))
        #expect(try await app.foldPendingChanges() == StoreChanges())
        _ = try RecordStore(database, tables: ["Item"], replica: ReplicaID(rawValue: 1))
        try await database.write { try $0.execute(sql: "INSERT INTO Tag VALUES ('cold')") }
        let error = await #expect(throws: RecordStoreError.self) { try await app.foldPendingChanges() }
        #expect(error?.code == .newerFormat)
    }
}

import GRDB
import PeerSyncModel
import PeerSyncStore
import Synchronization
import Testing

/// A chain of records that refer to each other is as long as a peer likes: it must not go onto the stack, and must not
/// take time that grows with its square.
struct LongChainTests {
    private static let length = 5_000

    /// Folders in folders.
    private let store: RecordStore
    private let database: DatabaseQueue
    private let statements: StatementCounter

    init() throws {
        let statements = StatementCounter()
        var configuration = Configuration()
        configuration.prepareDatabase { db in db.trace { _ in statements.increment() } }
        database = try DatabaseQueue(configuration: configuration)
        self.statements = statements
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE Folder (
                        recordName TEXT NOT NULL PRIMARY KEY, modificationDate TEXT,
                        parent TEXT REFERENCES Folder (recordName)
                            ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
                    CREATE INDEX Folder_parent ON Folder (parent);
                    """)
        }
        store = try RecordStore(
            database,
            schema: RecordSchema([
                RecordType(
                    "Folder",
                    [FieldDefinition("parent", .reference(to: "Folder", rule: .cascade, isRequired: false))])
            ]), replica: ReplicaID(rawValue: 1))
    }

    private func name(_ number: Int) throws -> RecordName {
        try RecordName(recordType: "Folder", suffix: "\(number)")
    }

    private func stamp(_ time: Int) -> Stamp {
        Stamp(time: HybridTime(rawValue: UInt64(time)), replica: ReplicaID(rawValue: 2))
    }

    /// The folder of that number, in the one before it.
    private func folder(_ number: Int, deletedAt time: Int? = nil) throws -> RecordState {
        let parent: FieldValue = number == 0 ? .null : .reference(try name(number - 1))
        return RecordState(
            name: try name(number), fields: [RecordField(name: "parent", value: parent, stamp: stamp(1))],
            deletion: time.map(stamp))
    }

    private func merge(_ states: [RecordState]) async throws {
        try await database.write { [store] db in _ = try store.merge(db, states) }
    }

    private func shown() async throws -> Int {
        try await database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM Folder") ?? 0 }
    }

    @Test func aChainThatWaitsForItsBeginningIsShownWithIt() async throws {
        try await merge((1..<Self.length).map { try folder($0) })
        #expect(try await shown() == 0)
        try await merge([folder(0)])
        #expect(try await shown() == Self.length)
    }

    @Test func aChainGoesWithItsBeginning() async throws {
        try await merge((0..<Self.length).map { try folder($0) })
        try await merge([RecordState(name: name(0), deletion: stamp(2))])
        #expect(try await shown() == 0)
        let status = try await database.read { try store.status($0) }
        #expect(status.tombstones == 1)
        #expect(status.hidden == Self.length - 1)
    }

    /// Rows are removed from the end of the chain, in whatever order its records come.
    @Test func aChainThatIsDeletedFromItsEndOn() async throws {
        try await merge((0..<Self.length).map { try folder($0) })
        try await merge(
            (0..<Self.length).reversed().map { RecordState(name: try name($0), deletion: stamp(2)) })
        #expect(try await shown() == 0)
    }

    /// SQLite would go down the chain with the first row.
    @Test func aChainIsGivenUpWithItsZone() async throws {
        try await merge((0..<Self.length).map { try folder($0) })
        let zone = try #require(try await store.zones.all().first)
        let count = try await database.write { [store] db in try store.zones.erase(db, zone) }
        #expect(count == Self.length)
        #expect(try await shown() == 0)
    }

    @Test func aUserDeletesAChain() async throws {
        try await merge((0..<Self.length).map { try folder($0) })
        let steps = try await database.write { [store] db in
            try store.delete(db, RecordName(recordType: "Folder", suffix: "0"))
        }
        #expect(steps.count == Self.length)
        #expect(steps.first?.name == (try name(Self.length - 1)))
        #expect(steps.last?.name == (try name(0)))
        #expect(try await shown() == 0)
    }

    /// Each deletion is newer than those below it, and hides what is below it again.
    @Test func deletionsThatOvertakeEachOther() async throws {
        let length = 500
        try await merge((0..<length).map { try folder($0) })
        let before = statements.count
        try await merge((0..<length).reversed().map { try folder($0, deletedAt: 2 + length - $0) })
        #expect(statements.count - before < 50 * length)
        #expect(try await database.read { try store.status($0).tombstones } == length)
    }
}

/// Counts the SQL statements that are executed.
private final class StatementCounter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func increment() { value.add(1, ordering: .relaxed) }
}

import GRDB
import GRDBSQLite
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// What a connection keeps of statements is bounded by the schema, whatever peers send; and what it keeps refers to no memory
/// that is gone.
struct StatementTests {
    private static let fields = (0..<7).map { "f\($0)" }

    private let store: RecordStore
    private let peerZone: PeerZone

    init() throws {
        let database = try DatabaseQueue()
        try database.write { db in
            let columns = Self.fields.map { "\($0) INTEGER" }.joined(separator: ", ")
            try db.execute(
                sql:
                    "CREATE TABLE Wide (recordName TEXT NOT NULL PRIMARY KEY, \(columns), modificationDate TEXT)"
            )
        }
        let store = try RecordStore(
            database, schema: RecordSchema([RecordType("Wide", Self.fields.map { FieldDefinition($0) })]),
            replica: ReplicaID(rawValue: 1))
        self.store = store
        peerZone = try database.write { db in
            PeerZone(
                store: store,
                peer: try store.peers.add(db, key: [UInt8](repeating: 9, count: 32), name: "peer")
            )
        }
    }

    /// The fields whose bits are set, each with a new value.
    private func fields(_ mask: Int, time: Int) -> [RecordField] {
        Self.fields.indices.filter { mask & 1 << $0 != 0 }.map { index in
            let stamp = Stamp(
                time: HybridTime(milliseconds: Int64(1000 + time)), replica: ReplicaID(rawValue: 2))
            return RecordField(name: Self.fields[index], value: .integer(Int64(time)), stamp: stamp)
        }
    }

    private func apply(_ states: [RecordState], number: Int) async throws {
        let batch = ChangeBatch(
            records: states, token: ChangeToken(generation: [1], sequence: Int64(number)), isLast: true)
        _ = try await store.database.write { [peerZone] in try peerZone.apply($0, batch) }
    }

    /// A peer sends a new record, one that comes back from a deletion and a change to one that is there, each with the fields
    /// of a set of its own.
    private func send(_ masks: Range<Int>) async throws {
        for mask in masks {
            let deletion = Stamp(time: HybridTime(milliseconds: 1), replica: ReplicaID(rawValue: 2))
            try await apply(
                [
                    RecordState(name: RecordName("Wide|~|new\(mask)"), fields: fields(mask, time: mask)),
                    RecordState(
                        name: RecordName("Wide|~|back\(mask)"), fields: fields(mask, time: mask),
                        deletion: deletion),
                    RecordState(name: RecordName("Wide|~|changed"), fields: fields(mask, time: mask)),
                ], number: mask)
        }
    }

    private func statementCount() async throws -> Int {
        try await store.database.write { db in
            var count = 0
            var statement = sqlite3_next_stmt(db.sqliteConnection, nil)
            while statement != nil {
                count += 1
                statement = sqlite3_next_stmt(db.sqliteConnection, statement)
            }
            return count
        }
    }

    @Test func aPeerDoesNotChooseHowManyStatementsAreKept() async throws {
        try await send(1..<40)
        let before = try await statementCount()
        try await send(40..<128)
        #expect(try await statementCount() <= before + Self.fields.count)
        #expect(
            try await store.database.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM Wide") } == 255)
        let last = try await store.database.read {
            try String.fetchOne(
                $0, sql: "SELECT f0 || ' ' || f6 FROM Wide WHERE recordName = 'Wide|~|changed'")
        }
        #expect(last == "127 127")
    }

    /// Each index of a column that is written is written, too.
    @Test(arguments: [0b1, 0b11, 0b111]) func aRowIsWrittenOnlyWhereItDiffers(mask: Int) async throws {
        try await apply(
            [RecordState(name: RecordName("Wide|~|changed"), fields: fields(127, time: 1))], number: 1)
        try await store.database.write { db in
            try db.execute(sql: "CREATE TABLE Written (field TEXT)")
            for field in Self.fields {
                try db.execute(
                    sql: """
                        CREATE TRIGGER \(field)_written AFTER UPDATE OF \(field) ON Wide BEGIN
                            INSERT INTO Written VALUES ('\(field)');
                        END
                        """)
            }
        }
        // The peer sends the whole state.
        let state = RecordState(
            name: try RecordName("Wide|~|changed"),
            fields: fields(mask, time: 2) + fields(127 & ~mask, time: 1))
        try await apply([state], number: 2)
        let written = try await store.database.read {
            try String.fetchAll($0, sql: "SELECT field FROM Written ORDER BY field")
        }
        #expect(written == Self.fields.indices.filter { mask & 1 << $0 != 0 }.map { Self.fields[$0] })
    }

    @Test func manySetsOfFieldsInOneBatchAreWritten() async throws {
        let states = try (1..<128).map {
            RecordState(name: try RecordName("Wide|~|\($0)"), fields: fields($0, time: $0))
        }
        try await apply(states, number: 1)
        let changed = states.map {
            RecordState(
                name: $0.name,
                fields: $0.fields.map { field in
                    RecordField(
                        name: field.name, value: .integer(-1),
                        stamp: Stamp(time: HybridTime(milliseconds: 5000), replica: ReplicaID(rawValue: 2)))
                })
        }
        try await apply(changed, number: 2)
        for (index, field) in Self.fields.enumerated() {
            let count = try await store.database.read {
                try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM Wide WHERE \(field) = -1")
            }
            #expect(count == 64, "\(index)")
        }
    }

    @Test func nothingStaysBoundToWhatIsGone() async throws {
        try await store.database.write { db in
            let statement = try db.statementToBind("SELECT 1 WHERE ? = ?")
            do {
                var bindings = Bindings()
                bindings.append("a text of the buffer's")
                bindings.append(blob: [1, 2, 3])
                #expect(try !bindings.findsRow(statement))
                try bindings.execute(statement)
            }
            let text = try #require(sqlite3_expanded_sql(statement.sqliteStatement))
            defer { sqlite3_free(text) }
            #expect(String(cString: text) == "SELECT 1 WHERE NULL = NULL")
        }
    }
}

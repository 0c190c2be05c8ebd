import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// Writes of other programs are seen, and arrive at the other side as what they were.
struct CaptureTests {
    private let clock = SetClock(1_700_000_000_000)
    let a: Machine
    let b: Machine

    init() throws {
        a = try Machine("a", number: 1, clock: clock)
        b = try Machine("b", number: 2, clock: clock)
    }

    @Test func insertsUpdatesAndDeletesArrive() async throws {
        try a.shell(
            """
            INSERT INTO Author (recordName, name, born) VALUES ('Author|~|1', 'Jane Austen', '1775-12-16T00:00:00Z');
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Emma', 'Author|~|1');
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|2', 'Persuasion', 'Author|~|1');
            """)
        try await a.sync(with: b)
        #expect(
            try b.rows("SELECT recordName, title, author FROM Book ORDER BY 1")
                == ["Book|~|1|Emma|Author|~|1", "Book|~|2|Persuasion|Author|~|1"])
        #expect(try b.rows("SELECT born FROM Author") == ["1775-12-16T00:00:00Z"])

        try b.shell(
            "UPDATE Book SET pages = 474 WHERE recordName = 'Book|~|1'; DELETE FROM Book WHERE title = 'Persuasion'"
        )
        try await a.sync(with: b)
        #expect(try a.rows("SELECT title, pages FROM Book") == ["Emma|474"])
        #expect(try await a.digest() == (await b.digest()))
        #expect(try await a.status().tombstones == 1)
    }

    @Test func differentFieldsOfOneRecordBothSurvive() async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'J. Austen')")
        try await a.sync(with: b)
        try a.shell("UPDATE Author SET name = 'Jane Austen'")
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        try await a.sync(with: b)
        for machine in [a, b] {
            #expect(try machine.rows("SELECT name, born FROM Author") == ["Jane Austen|1775-12-16T00:00:00Z"])
        }
        #expect(try await a.digest() == (await b.digest()))
    }

    @Test func theLaterWriteOfOneFieldWinsOnBothSides() async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x')")
        try await a.sync(with: b)
        try a.shell("UPDATE Author SET name = 'first'")
        _ = try await a.status()
        clock.milliseconds += 1
        try b.shell("UPDATE Author SET name = 'second'")
        try await a.sync(with: b)
        #expect(try a.rows("SELECT name FROM Author") == ["second"])
        #expect(try b.rows("SELECT name FROM Author") == ["second"])
    }

    @Test func deleteThenInsertInOneTransactionIsAnUpdate() async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'old')")
        try await a.sync(with: b)
        try a.shell(
            """
            BEGIN; DELETE FROM Author;
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'new'); COMMIT
            """)
        try await a.sync(with: b)
        #expect(try b.rows("SELECT name FROM Author") == ["new"])
        #expect(try await b.state("Author|~|1")?.deletion == nil)
    }

    @Test func whatCameAndWentLeavesADeletion() async throws {
        try a.shell("INSERT INTO Author (recordName) VALUES ('Author|~|1'); DELETE FROM Author")
        #expect(try await a.status().tombstones == 1)
        #expect(try await a.send(to: b) == 1)
        #expect(try await b.state("Author|~|1")?.isDeleted == true)
    }

    @Test func renamedPrimaryKeyIsADeletionAndAnInsertion() async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x')")
        try await a.sync(with: b)
        try a.shell("UPDATE Author SET recordName = 'Author|~|2'")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT recordName, name FROM Author") == ["Author|~|2|x"])
        #expect(try await a.digest() == (await b.digest()))
    }

    @Test func everyKindOfValueComesBackTheSame() async throws {
        try a.shell(
            """
            INSERT INTO Author (recordName, name, born) VALUES
                ('Author|~|1', 1, 'yesterday'), ('Author|~|2', -9223372036854775808, NULL), ('Author|~|3', 0.1, ''),
                ('Author|~|4', x'00ff', '2024-02-30T00:00:00Z'), ('Author|~|5', 'naïve ☕️', '1969-12-31T23:59:59.999Z'),
                ('Author|~|6', CAST(x'610062' AS TEXT), 0)
            """)
        try await a.sync(with: b)
        let sql =
            "SELECT recordName, typeof(name), hex(CAST(name AS BLOB)), typeof(born), born FROM Author ORDER BY 1"
        #expect(try b.rows(sql) == a.rows(sql))
        #expect(try b.rows("SELECT hex(name) FROM Author WHERE recordName = 'Author|~|6'") == ["610062"])
        #expect(try await a.digest() == (await b.digest()))
    }

    /// To SQL 1 and 1.0 are the same, and a column that converts nothing can have either.
    @Test(arguments: ["value", "value BLOB", "value ANY) STRICT --"])
    func aWholeNumberThatBecomesARealOneArrives(column: String) async throws {
        let schema = try RecordSchema([RecordType("Item", [FieldDefinition("value")])])
        let sql = "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, \(column))"
        let c = try Machine("c", number: 3, sql: sql, schema: schema)
        let d = try Machine("d", number: 4, sql: sql, schema: schema)
        try c.shell("INSERT INTO Item VALUES ('1', 1)")
        try await c.sync(with: d)
        try c.shell("UPDATE Item SET value = 1.0")
        try await c.sync(with: d)
        #expect(try d.rows("SELECT typeof(value) FROM Item") == ["real"])
        #expect(try await c.digest() == d.digest())
    }

    @Test func nothingIsSentBackAndASecondSyncMovesNothing() async throws {
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x')")
        #expect(try await a.send(to: b) == 1)
        #expect(try await b.send(to: a) == 0)
        #expect(try await a.send(to: b) == 0)
    }

    @Test func rowsFromBeforeTheTriggersAreTakenIn() async throws {
        let database = try DatabaseQueue()
        try await database.write { db in
            try db.execute(sql: Library.sql)
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x')")
        }
        let store = try RecordStore(database, schema: Library.schema(), replica: ReplicaID(rawValue: 7))
        #expect(try await store.foldPendingChanges().changed == 1)
    }
}

import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// Deletions go down the references, and never take what is newer than themselves.
struct DeletionTests {
    private let clock = SetClock(1_700_000_000_000)
    let a: Machine
    let b: Machine

    init() async throws {
        (a, b) = try await Machine.pair(
            clock,
            holding: """
                INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
                INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
                INSERT INTO Book (recordName, title, author, shelf)
                    VALUES ('Book|~|1', 'Emma', 'Author|~|1', 'Shelf|~|1');
                """)
    }

    private func expectEqual() async throws {
        #expect(try await a.digest() == (await b.digest()))
        for table in ["Author", "Shelf", "Book", "Loan"] {
            let sql = "SELECT * FROM \(table) ORDER BY recordName"
            #expect(try a.rows(sql) == b.rows(sql))
        }
        for machine in [a, b] { #expect(try machine.rows("PRAGMA foreign_key_check").isEmpty) }
    }

    @Test func rawDeletionOfAParentTakesItsChildren() async throws {
        try a.shell("DELETE FROM Author")
        try await a.sync(with: b)
        #expect(try a.rows("SELECT * FROM Book").isEmpty)
        // The book is not deleted: it goes with its author.
        #expect(try await a.status().tombstones == 1)
        #expect(try await a.status().hidden == 1)
        try await expectEqual()
    }

    @Test func aChildWrittenAfterTheDeletionBringsTheParentBackWhole() async throws {
        try a.shell("DELETE FROM Author")
        _ = try await a.status()
        clock.milliseconds += 1
        try b.shell(
            "INSERT INTO Book (recordName, title, author) VALUES ('Book|~|2', 'Persuasion', 'Author|~|1')")
        try await a.sync(with: b)
        #expect(try a.rows("SELECT name FROM Author") == ["Jane Austen"])
        #expect(try a.rows("SELECT title FROM Book ORDER BY 1") == ["Emma", "Persuasion"])
        try await expectEqual()
    }

    @Test func anEditAfterTheDeletionBringsTheRecordBackWhole() async throws {
        try a.shell("DELETE FROM Author")
        _ = try await a.status()
        clock.milliseconds += 1
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        try await a.sync(with: b)
        #expect(try a.rows("SELECT name, born FROM Author") == ["Jane Austen|1775-12-16T00:00:00Z"])
        try await expectEqual()
    }

    @Test func aDeletionAfterTheEditWins() async throws {
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        _ = try await b.status()
        clock.milliseconds += 1
        try a.shell("DELETE FROM Author")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM Author").isEmpty)
        try await expectEqual()
    }

    @Test func aNullifiedReferenceIsNullOnBothSides() async throws {
        try a.shell("DELETE FROM Shelf")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT title, shelf FROM Book") == ["Emma|-"])
        try await expectEqual()
    }

    @Test func deletionIsRefusedWhileARecordDenies() async throws {
        try a.shell("INSERT INTO Loan (recordName, borrower, book) VALUES ('Loan|~|1', 'Fanny', 'Book|~|1')")
        let store = a.store
        await #expect {
            try await store.write { db in _ = try store.delete(db, RecordName("Author|~|1")) }
        } throws: { error in
            (error as? RecordStoreError)?.code == .deletionDenied
                && (error as? RecordStoreError)?.message.contains("Loan|~|1") == true
        }
        #expect(try a.rows("SELECT COUNT(*) FROM Book") == ["1"])
    }

    @Test func deletionReportsItsStepsInOrder() async throws {
        let store = a.store
        let steps = try await store.write { db in try store.delete(db, RecordName("Author|~|1")) }
        #expect(steps.map(\.description) == ["delete Book|~|1 (author)", "delete Author|~|1"])
        try await a.sync(with: b)
        try await expectEqual()
        #expect(try b.rows("SELECT COUNT(*) FROM Author") == ["0"])
    }

    @Test func aChildThatComesFirstIsHeldUntilItsParentIsThere() async throws {
        let c = try Machine("c", number: 3)
        let author = try #require(try await a.state("Author|~|1"))
        let book = try #require(try await a.state("Book|~|1"))
        let shelf = try #require(try await a.state("Shelf|~|1"))
        for (state, held, shown) in [(book, 1, 0), (shelf, 1, 0), (author, 0, 1)] {
            let store = c.store
            _ = try await store.database.write { try store.merge($0, [state]) }
            #expect(try await c.status().held == held)
            #expect(try await c.status().records["Book"] == shown)
        }
        #expect(try await c.digest() == a.digest())
        #expect(try c.rows("SELECT * FROM Book") == a.rows("SELECT * FROM Book"))
    }

    @Test func everyOrderOfArrivalGivesTheSame() async throws {
        try a.shell(
            "DELETE FROM Author; INSERT INTO Author (recordName, name) VALUES ('Author|~|2', 'Brontë')")
        _ = try await a.status()
        clock.milliseconds += 1
        try b.shell(
            "INSERT INTO Book (recordName, title, author) VALUES ('Book|~|2', 'Persuasion', 'Author|~|1')")
        var states: [RecordState] = []
        for machine in [a, b] {
            for name in ["Author|~|1", "Author|~|2", "Book|~|1", "Book|~|2", "Shelf|~|1"] {
                if let state = try await machine.state(name) { states.append(state.transferred) }
            }
        }
        var digests: Set<String> = []
        var random = SeededGenerator(seed: 7)
        for number in 0..<40 {
            let machine = try Machine("m\(number)", number: 9)
            let store = machine.store
            for state in states.shuffled(using: &random) + states.shuffled(using: &random) {
                _ = try await store.database.write { try store.merge($0, [state]) }
            }
            try digests.insert(
                await machine.digest() + machine.rows("SELECT title FROM Book ORDER BY 1").joined())
            #expect(try machine.rows("PRAGMA foreign_key_check").isEmpty)
        }
        #expect(digests.count == 1)
    }
}

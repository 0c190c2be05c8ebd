import GRDB
import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// What programs wrote since the last look comes out as what somebody did: no more, no less, and when.
struct FoldingTests {
    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine

    /// Two machines that hold an author with a book on one of two shelves.
    init() async throws {
        (a, b) = try await Machine.pair(
            clock,
            holding: """
                INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
                INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top'), ('Shelf|~|2', 'bottom');
                INSERT INTO Book (recordName, title, author, shelf)
                    VALUES ('Book|~|1', 'Emma', 'Author|~|1', 'Shelf|~|1');
                """)
    }

    /// Lets another program write, a second after whatever was written before.
    private func write(_ sql: String, on machine: Machine, isSeen: Bool = true) async throws {
        clock.milliseconds += 1000
        try machine.shell(sql)
        if isSeen { try await machine.store.foldPendingChanges() }
    }

    private func expectBoth(_ sql: String, are rows: [String]) async throws {
        try await a.sync(with: b)
        for machine in [a, b] { #expect(try machine.rows(sql) == rows) }
        #expect(try await a.digest() == b.digest())
    }

    @Test func allIsTakenInHoweverMuchThereIs() async throws {
        try a.shell(
            """
            WITH RECURSIVE number (n) AS (VALUES (10) UNION ALL SELECT n + 1 FROM number WHERE n < 10010)
            INSERT INTO Shelf (recordName, label) SELECT 'Shelf|~|' || n, n FROM number
            """)
        #expect(try await a.store.foldPendingChanges().changed == 10_001)
        #expect(try a.rows("SELECT * FROM grdb_sync_pendingChange").isEmpty)
    }

    /// The shelf is there again when the book comes back, so no row lacks it any more.
    @Test func aRowThatComesBackInTheFoldOfItsDeletionKeepsNoOldReference() async throws {
        try await write(
            """
            INSERT INTO Book (recordName, title, author, shelf)
                VALUES ('Book|~|2', 'Persuasion', 'Author|~|1', 'Shelf|~|9')
            """, on: a)
        #expect(try a.rows("SELECT target FROM grdb_sync_heldReference") == ["Shelf|~|9"])
        try await write(
            "INSERT INTO Shelf (recordName) VALUES ('Shelf|~|9'); DELETE FROM Book WHERE recordName = 'Book|~|2'",
            on: a, isSeen: false)
        try await write("INSERT INTO Loan (recordName, book) VALUES ('Loan|~|1', 'Book|~|2')", on: a)
        try await expectBoth("SELECT shelf FROM Book WHERE recordName = 'Book|~|2'", are: ["Shelf|~|9"])
        #expect(try a.rows("SELECT target FROM grdb_sync_heldReference") == [])
    }

    /// Others may have it: the store can have come back from a backup of before the look.
    @Test func aRecordThatCameAndWentUnseenIsDeleted() async throws {
        try await write("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|3', 'seen before')", on: b)
        try await write(
            """
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|3', 'unseen');
            UPDATE Shelf SET label = 'later' WHERE recordName = 'Shelf|~|3'
            """, on: a, isSeen: false)
        try await write("DELETE FROM Shelf WHERE recordName = 'Shelf|~|3'", on: a)
        try await expectBoth("SELECT label FROM Shelf WHERE recordName = 'Shelf|~|3'", are: [])
    }

    /// What came and went between two looks was never anybody's, so it beats nothing that others wrote.
    @Test func aNameThatCameBackAndWentUnseenIsNotDeletedAgain() async throws {
        try await write("DELETE FROM Shelf WHERE recordName = 'Shelf|~|2'", on: a)
        try await write("UPDATE Shelf SET label = 'oak' WHERE recordName = 'Shelf|~|2'", on: b)
        try await write(
            """
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|2', 'x');
            DELETE FROM Shelf WHERE recordName = 'Shelf|~|2'
            """, on: a)
        try await expectBoth("SELECT label FROM Shelf WHERE recordName = 'Shelf|~|2'", are: ["oak"])
    }

    /// Who deletes a row and writes it anew writes all of its fields, also one that was changed before that.
    @Test func aRowWrittenAnewIsNewerThanEditsOfTheOldOne() async throws {
        try await write("UPDATE Author SET name = 'old'", on: a, isSeen: false)
        try await write("UPDATE Author SET name = 'theirs'", on: b)
        try await write(
            "DELETE FROM Author; INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'anew')", on: a)
        try await expectBoth("SELECT name FROM Author", are: ["anew"])
    }

    /// SQLite empties a reference when its target goes. That is no write, and beats nobody's.
    @Test func whatSQLiteEmptiesNobodyWrote() async throws {
        try await write("UPDATE Book SET shelf = 'Shelf|~|2'", on: b)
        clock.milliseconds += 1000
        try await a.store.database.write { db in
            #expect(try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") == true)
            try db.execute(sql: "DELETE FROM Shelf WHERE recordName = 'Shelf|~|1'")
        }
        #expect(try a.rows("SELECT shelf FROM Book") == ["-"])
        try await expectBoth("SELECT shelf FROM Book", are: ["Shelf|~|2"])
    }

    /// That a shelf was deleted once is no reason to overhear who takes a book off it later.
    @Test func aReferenceThatSomebodyEmptiesIsEmpty() async throws {
        try await write("DELETE FROM Shelf WHERE recordName = 'Shelf|~|1'", on: a)
        try await write(
            """
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'mended');
            UPDATE Book SET shelf = 'Shelf|~|1'
            """, on: a)
        try await expectBoth("SELECT shelf FROM Book", are: ["Shelf|~|1"])
        try await write("UPDATE Book SET shelf = NULL", on: a)
        try await expectBoth("SELECT shelf FROM Book", are: ["-"])
        try await expectBoth("SELECT label FROM Shelf ORDER BY 1", are: ["bottom", "mended"])
    }
}

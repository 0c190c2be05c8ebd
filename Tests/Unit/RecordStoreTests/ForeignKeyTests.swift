import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Synchronization
import Testing

/// Rows come and go in whatever order they were written in, however the tables declare their foreign keys.
struct ForeignKeyTests {
    /// - Parameter isDeferred: whether SQLite checks them at the end of a transaction by itself.
    @Test(arguments: [
        ("DEFERRABLE INITIALLY DEFERRED", true),
        ("Deferrable -- in other words\n initially\tdeferred", true),
        // Checked at each statement.
        ("", false),
        ("NOT DEFERRABLE INITIALLY DEFERRED", false),
        ("DEFERRABLE INITIALLY IMMEDIATE", false),
        ("-- DEFERRABLE INITIALLY DEFERRED\n", false),
        ("/* It's DEFERRABLE INITIALLY DEFERRED */", false),
        ("CONSTRAINT \"DEFERRABLE INITIALLY DEFERRED\" CHECK (TRUE)", false),
        // The next column's type.
        (", NEW_COLUMN \"DEFERRABLE\" \"INITIALLY\" \"DEFERRED\"", false),
    ])
    func childrenMayComeBeforeTheirParents(clause: String, isDeferred: Bool) async throws {
        let parts = Library.sql.components(separatedBy: "DEFERRABLE INITIALLY DEFERRED")
        let sql = parts.dropFirst().enumerated().reduce(parts[0]) { sql, next in
            sql + clause.replacing("NEW_COLUMN", with: "new\(next.offset)") + next.element
        }
        let a = try Machine("a", number: 1)
        let b = try Machine("b", number: 2, sql: sql)
        try a.shell(
            """
            INSERT INTO Loan (recordName, borrower, book) VALUES ('Loan|~|1', 'Ada', 'Book|~|1');
            INSERT INTO Book (recordName, title, author, shelf)
                VALUES ('Book|~|1', 'Emma', 'Author|~|1', 'Shelf|~|1');
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
            """)
        let isToldToDefer = Atomic(false)
        try await b.store.database.write { db in
            db.trace(options: .statement) { event in
                if "\(event)".contains("defer_foreign_keys") {
                    isToldToDefer.store(true, ordering: .relaxed)
                }
            }
        }
        try await a.sync(with: b)
        #expect(isToldToDefer.load(ordering: .relaxed) != isDeferred)
        #expect(try b.rows("SELECT borrower, book FROM Loan") == ["Ada|Book|~|1"])
        #expect(try b.rows("SELECT title, author, shelf FROM Book") == ["Emma|Author|~|1|Shelf|~|1"])
        #expect(try await b.status().held == 0)

        // Parents first, which leaves children without them for a moment.
        try a.shell("DELETE FROM Author; DELETE FROM Shelf; DELETE FROM Book; DELETE FROM Loan")
        try await a.sync(with: b)
        for table in ["Author", "Shelf", "Book", "Loan"] {
            #expect(try b.rows("SELECT * FROM \(table)").isEmpty)
        }
        #expect(try await a.digest() == (await b.digest()))
    }
}

import PeerSyncModel
import PeerSyncStore
import Testing

/// Of the rows that are gone, a foreign key's action has taken some along. The others somebody has deleted.
struct GoneRecordTests {
    private let machine: Machine

    /// An author with two books.
    init() async throws {
        machine = try Machine("a", number: 1)
        try machine.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
            INSERT INTO Book (recordName, title, author)
                VALUES ('Book|~|1', 'Emma', 'Author|~|1'), ('Book|~|2', 'Persuasion', 'Author|~|1');
            """)
        try await machine.store.foldPendingChanges()
    }

    /// The records that somebody has deleted.
    private func deleted() async throws -> [String] {
        let store = machine.store
        try await store.foldPendingChanges()
        return try await store.database.read { try store.listing.deleted($0) }.map(\.name.description)
            .sorted()
    }

    @Test func whatGoesWithAnotherRecordNobodyHasDeleted() async throws {
        try machine.shell("PRAGMA foreign_keys = ON; DELETE FROM Author")
        #expect(try await deleted() == ["Author|~|1"])
    }

    @Test func whatWasDeletedBeforeWasDeletedByItself() async throws {
        try machine.shell(
            """
            PRAGMA foreign_keys = ON;
            DELETE FROM Book WHERE recordName = 'Book|~|2';
            UPDATE grdb_sync_pendingChange SET time = time - 1000;
            DELETE FROM Author;
            """)
        #expect(try await deleted() == ["Author|~|1", "Book|~|2"])
    }

    /// Whatever the clock says: what goes along goes between the beginning and the end of the other deletion.
    @Test func whatWasDeletedJustBeforeWasDeletedByItself() async throws {
        try machine.shell(
            """
            PRAGMA foreign_keys = ON;
            DELETE FROM Book WHERE recordName = 'Book|~|2';
            DELETE FROM Author;
            UPDATE grdb_sync_pendingChange SET time = (SELECT max(time) FROM grdb_sync_pendingChange);
            """)
        #expect(try await deleted() == ["Author|~|1", "Book|~|2"])
    }

    /// The author was deleted before and came back; that it goes by another name now has no beginning in the journal.
    @Test func anEarlierDeletionIsNotTheBeginningOfALaterOne() async throws {
        try machine.shell(
            """
            DELETE FROM Author;
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
            DELETE FROM Book WHERE recordName = 'Book|~|2';
            UPDATE grdb_sync_pendingChange SET time = time - 1000;
            UPDATE Author SET recordName = 'Author|~|2';
            """)
        #expect(try await deleted() == ["Author|~|1", "Book|~|2"])
    }

    /// A row that gets another key takes nothing along, whatever the clock says.
    @Test func whatWasDeletedJustBeforeARenamingWasDeletedByItself() async throws {
        try machine.shell(
            """
            PRAGMA foreign_keys = ON;
            DELETE FROM Book WHERE recordName = 'Book|~|2';
            PRAGMA foreign_keys = OFF;
            UPDATE Author SET recordName = 'Author|~|2';
            UPDATE Book SET author = 'Author|~|2';
            UPDATE grdb_sync_pendingChange SET time = (SELECT max(time) FROM grdb_sync_pendingChange);
            """)
        #expect(try await deleted() == ["Author|~|1", "Book|~|2"])
    }

    /// The same of a reference that a foreign key's action would have emptied.
    @Test func whatWasEmptiedJustBeforeWasEmptiedByItself() async throws {
        try machine.shell(
            """
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'Top');
            UPDATE Book SET shelf = 'Shelf|~|1';
            """)
        try await machine.store.foldPendingChanges()
        try machine.shell(
            """
            PRAGMA foreign_keys = ON;
            UPDATE Book SET shelf = NULL WHERE recordName = 'Book|~|2';
            DELETE FROM Shelf;
            UPDATE grdb_sync_pendingChange SET time = (SELECT max(time) FROM grdb_sync_pendingChange);
            """)
        try await machine.store.foldPendingChanges()
        _ = try await machine.store.write { [machine] in
            try machine.store.restore($0, RecordName("Shelf|~|1"))
        }
        let shelves = try machine.rows("SELECT recordName, shelf FROM Book ORDER BY 1")
        #expect(shelves == ["Book|~|1|Shelf|~|1", "Book|~|2|-"])
    }

    /// A journal of the triggers of before has no entries that say that a row leaves.
    @Test(arguments: [(0, ["Author|~|1"]), (1000, ["Author|~|1", "Book|~|1", "Book|~|2"])])
    func triggersOfBeforeAreUnderstood(earlier: Int, gone: [String]) async throws {
        try machine.shell(
            """
            DROP TRIGGER grdb_sync_Author_captureLeave;
            PRAGMA foreign_keys = ON;
            DELETE FROM Author;
            UPDATE grdb_sync_pendingChange SET time = time - \(earlier) WHERE recordType = 'Book';
            """)
        #expect(try await deleted() == gone)
    }

    @Test func whatIsHiddenAndComesAndGoesUnseenIsStillHidden() async throws {
        try machine.shell("PRAGMA foreign_keys = ON; DELETE FROM Author")
        try await machine.store.foldPendingChanges()
        try machine.shell(
            """
            INSERT INTO Book (recordName, title, author) VALUES ('Book|~|1', 'Emma', 'Author|~|1');
            DELETE FROM Book WHERE recordName = 'Book|~|1';
            """)
        #expect(try await deleted() == ["Author|~|1"])
    }

    /// Both within a millisecond: a foreign key's action comes before the deletion that it follows from.
    @Test func whatWasDeletedAfterwardsWasDeletedByItself() async throws {
        try machine.shell(
            """
            DELETE FROM Author;
            DELETE FROM Book WHERE recordName = 'Book|~|2';
            UPDATE grdb_sync_pendingChange SET time = (SELECT max(time) FROM grdb_sync_pendingChange);
            """)
        #expect(try await deleted() == ["Author|~|1", "Book|~|2"])
    }
}

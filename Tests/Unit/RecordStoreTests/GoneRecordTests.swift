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

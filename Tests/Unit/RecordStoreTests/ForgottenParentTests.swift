import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// What comes back in time stays whole, although another machine forgets the deletion before it hears of that.
struct ForgottenParentTests {
    private static let day: Int64 = 86_400_000

    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine

    /// Two machines with an author of two books, whom the first deletes before the two part.
    init() async throws {
        (a, b) = try await Machine.pair(
            clock,
            holding: """
                INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
                INSERT INTO Book (recordName, title, author)
                    VALUES ('Book|~|1', 'Emma', 'Author|~|1'), ('Book|~|2', 'Persuasion', 'Author|~|1');
                """)
        clock.milliseconds += Self.day
        try a.shell("PRAGMA foreign_keys = ON; DELETE FROM Author")
        try await a.sync(with: b)
        #expect(try b.rows("SELECT 1 FROM Book").isEmpty)
    }

    enum Return: CaseIterable { case restoring, revival, program, history }

    /// Brings the author back.
    private func bringBack(_ way: Return) async throws {
        let store = b.store
        let author = try RecordName("Author|~|1")
        switch way {
        case .restoring: _ = try await store.write { try store.restore($0, author) }
        case .revival: try await store.database.write { try store.revive($0, [author]) }
        case .program:
            try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen')")
        case .history:
            _ = try await store.database.write { db in
                let name = RecordField(
                    name: "name", value: .text("Jane Austen"),
                    stamp: Stamp(time: HybridTime(rawValue: 0), replica: store.replica))
                try store.writeAnew(db, [RecordState(name: author, fields: [name])])
            }
        }
    }

    @Test(arguments: Return.allCases)
    func whatCameBackWithItOutlivesTheDeletionThatIsForgotten(way: Return) async throws {
        clock.milliseconds += 150 * Self.day
        try await bringBack(way)
        #expect(try await b.status().digest.count == 3)
        #expect(try b.rows("SELECT 1 FROM Book").count == 2)
        clock.milliseconds += 31 * Self.day
        try await a.store.upkeep.purgeIfDue()
        #expect(try await a.state("Author|~|1") == nil)
        clock.milliseconds += 19 * Self.day
        try await a.sync(with: b)
        for machine in [a, b] {
            #expect(
                try machine.rows(
                    "SELECT title FROM Book JOIN Author ON Author.recordName = author ORDER BY 1")
                    == ["Emma", "Persuasion"])
        }
        #expect(try await a.digest() == b.digest())
    }

    /// One change for the others, so that they never show half of it.
    @Test func itComesBackAsOneGroup() async throws {
        try await bringBack(.restoring)
        #expect(
            try b.rows("SELECT COUNT(DISTINCT changeGroup) FROM grdb_sync_remoteRecord WHERE status = 0") == [
                "1"
            ])
    }

    /// Somebody deleted a book by itself, and that stays so.
    @Test func whatWasDeletedByItselfStaysAway() async throws {
        let store = a.store
        try await store.database.write { db in
            for name in ["Author|~|1", "Book|~|2"] { try store.revive(db, [RecordName(name)]) }
            _ = try store.delete(db, RecordName("Book|~|2"))
            _ = try store.delete(db, RecordName("Author|~|1"))
        }
        try await a.sync(with: b)
        clock.milliseconds += Self.day
        try await bringBack(.restoring)
        try await a.sync(with: b)
        #expect(try a.rows("SELECT title FROM Book") == ["Emma"])
        #expect(try await a.state("Book|~|2")?.isDeleted == true)
    }
}

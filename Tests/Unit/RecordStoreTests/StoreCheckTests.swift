import Dispatch
import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// A store that was written to past the triggers, or damaged, says exactly what is wrong, and can be mended.
struct StoreCheckTests {
    private let a: Machine
    private let b: Machine

    init() async throws {
        a = try Machine("a", number: 1)
        b = try Machine("b", number: 2)
        try a.shell(
            """
            INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen'), ('Author|~|2', 'Brontë');
            INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
            INSERT INTO Book (recordName, title, author, shelf)
                VALUES ('Book|~|1', 'Emma', 'Author|~|1', 'Shelf|~|1');
            """)
        try await a.sync(with: b)
    }

    /// Writes as no honest program does.
    private func pastTheTriggers(_ sql: String) throws {
        try a.shell(
            "BEGIN; INSERT INTO grdb_sync_capturePause (id) VALUES (1); \(sql); DELETE FROM grdb_sync_capturePause; COMMIT"
        )
    }

    private func check() async throws -> [String] {
        let store = a.store
        let check = try await store.database.read { try store.upkeep.check($0) }
        return check.findings.map { "\($0.kind.rawValue) \($0.name)" }
            + (check.keptDigest == check.foundDigest ? [] : ["digest"])
    }

    private func repair() async throws {
        let store = a.store
        try await store.database.write { _ = try store.upkeep.repair($0) }
        #expect(try await check() == [])
    }

    private func expectEqual() async throws {
        try await a.sync(with: b)
        #expect(try await a.digest() == b.digest())
        for table in ["Author", "Shelf", "Book"] {
            let sql = "SELECT * FROM \(table) ORDER BY recordName"
            #expect(try a.rows(sql) == b.rows(sql))
        }
    }

    @Test func aSoundStoreIsSound() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        try a.shell("INSERT INTO Book (recordName, author) VALUES ('Book|~|2', 'Author|~|missing')")
        _ = try await a.status()
        #expect(try await check() == [])
    }

    /// The place says whether the digest counts a record, and the state says whether it is live. Without a mend that makes one of them, each repair
    /// would end with the same wrong digest.
    @Test(arguments: [
        "UPDATE grdb_sync_remoteRecord SET status = 2 WHERE remoteRecordID = 'Author|~|2'; UPDATE grdb_sync_recordZone SET recordCount = recordCount + 1",
        "UPDATE grdb_sync_remoteRecord SET status = 1 WHERE remoteRecordID = 'Book|~|2'",
    ]) func aRecordInAPlaceThatIsNotThatOfItsStateIsMended(damage: String) async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|2'")
        try a.shell("INSERT INTO Book (recordName, author) VALUES ('Book|~|2', 'Author|~|missing')")
        _ = try await a.status()
        try a.shell(damage)
        #expect(try await check().contains { $0.hasPrefix("wrongIndex") })
        try await repair()
        try await expectEqual()
    }

    @Test func aRowThatWasWrittenPastTheTriggersCounts() async throws {
        try pastTheTriggers("INSERT INTO Author (recordName, name) VALUES ('Author|~|3', 'Eliot')")
        #expect(try await check() == ["unknownRow Author|~|3"])
        try await repair()
        try await expectEqual()
        #expect(try b.rows("SELECT name FROM Author WHERE recordName = 'Author|~|3'") == ["Eliot"])
    }

    @Test func aRowThatWasChangedPastTheTriggersCounts() async throws {
        try pastTheTriggers("UPDATE Book SET title = 'Persuasion'")
        #expect(try await check() == ["changedRow Book|~|1", "digest"])
        try await repair()
        try await expectEqual()
        #expect(try b.rows("SELECT title, shelf FROM Book") == ["Persuasion|Shelf|~|1"])
    }

    /// Without its entry nothing would bring the record back into its table when its target comes.
    @Test(arguments: [
        "DELETE FROM grdb_sync_heldReference", "UPDATE grdb_sync_heldReference SET target = 'Author|~|other'",
        "INSERT INTO grdb_sync_heldReference (recordName, target) VALUES ('Book|~|1', 'Author|~|1')",
        "INSERT INTO grdb_sync_heldReference (recordName, target) VALUES ('no name', 'Author|~|1')",
        "INSERT INTO grdb_sync_assetReference (recordName, field, zone, hash, size) VALUES ('Book|~|1', 'title', 1, x'00', 1)",
    ])
    func aListThatDisagreesWithTheRecordsCounts(sql: String) async throws {
        try a.shell("INSERT INTO Book (recordName, author) VALUES ('Book|~|2', 'Author|~|missing')")
        _ = try await a.status()
        try a.shell(sql)
        #expect(try await check().allSatisfy { $0.hasPrefix("wrongIndex ") })
        #expect(try await !check().isEmpty)
        try await repair()
        #expect(
            try a.rows("SELECT recordName, target FROM grdb_sync_heldReference") == [
                "Book|~|2|Author|~|missing"
            ])
        try a.shell("INSERT INTO Author (recordName) VALUES ('Author|~|missing')")
        try await expectEqual()
        #expect(try b.rows("SELECT recordName FROM Book") == ["Book|~|1", "Book|~|2"])
    }

    /// A list alone says nothing of what the peers hold, so nobody has to compare everything.
    @Test func aListThatIsMendedKeepsTheTokens() async throws {
        let token = "SELECT receivedSequence FROM grdb_sync_peerZone WHERE receivedGeneration IS NOT NULL"
        try b.shell("INSERT INTO Shelf (recordName) VALUES ('Shelf|~|2')")
        try await a.sync(with: b)
        let before = try a.rows(token)
        #expect(!before.isEmpty)
        try a.shell(
            "INSERT INTO grdb_sync_heldReference (recordName, target) VALUES ('Book|~|1', 'Author|~|1')")
        try await repair()
        #expect(try a.rows(token) == before)
        #expect(try await a.send(to: b) == 0)
    }

    @Test func aRecordWithTwoFaultsIsMendedWhole() async throws {
        try a.shell(
            "INSERT INTO grdb_sync_heldReference (recordName, target) VALUES ('Book|~|1', 'Author|~|1')")
        try pastTheTriggers("UPDATE Book SET title = 'Persuasion'")
        #expect(try await check() == ["changedRow Book|~|1", "digest"])
        try await repair()
        #expect(try a.rows("SELECT * FROM grdb_sync_heldReference") == [])
        try await expectEqual()
    }

    @Test func aRowThatVanishedComesBackFromAPeer() async throws {
        try pastTheTriggers("DELETE FROM Book")
        #expect(try await check() == ["missingRow Book|~|1", "digest"])
        try await repair()
        #expect(try await a.status().tombstones == 0)
        try await b.send(to: a)
        try await expectEqual()
        #expect(try a.rows("SELECT title FROM Book") == ["Emma"])
    }

    @Test func whatSyncKnewAndLostIsLearntAnew() async throws {
        try a.shell("DELETE FROM grdb_sync_remoteRecord WHERE remoteRecordID <> 'Shelf|~|1'")
        let rows = ["unknownRow Author|~|1", "unknownRow Author|~|2", "unknownRow Book|~|1"]
        #expect(try await check() == rows + ["digest"])
        try await repair()
        try await expectEqual()
        #expect(try a.rows("SELECT COUNT(*) FROM Author") == ["2"])
    }

    @Test func damagedMetadataIsLearntAnew() async throws {
        try a.shell(
            "UPDATE grdb_sync_remoteRecord SET remoteRecord = x'00' WHERE remoteRecordID = 'Author|~|1'")
        #expect(try await check() == ["damagedMetadata Author|~|1", "digest"])
        try await repair()
        try await expectEqual()
        #expect(try a.rows("SELECT name FROM Author WHERE recordName = 'Author|~|1'") == ["Jane Austen"])
    }

    @Test func aDigestThatIsWrongIsSetRight() async throws {
        try a.shell("UPDATE grdb_sync_recordZone SET recordCount = recordCount + 1")
        #expect(try await check() == ["digest"])
        try await repair()
        try await expectEqual()
    }

    // MARK: What others have written later

    /// Two machines that hold an author; what `damage` does to the first one's store is mended when the second has
    /// written since.
    private func laterEdit(after damage: String) async throws -> (Machine, Machine) {
        let clock = SetClock(1_700_000_000_000)
        let a = try Machine("a", number: 2, clock: clock)
        let b = try Machine("b", number: 1, clock: clock)
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane')")
        try await a.sync(with: b)
        clock.milliseconds += 60_000
        try b.shell("UPDATE Author SET name = 'Jane Austen', born = '1775-12-16T00:00:00Z'")
        _ = try await b.status()
        clock.milliseconds += 60_000
        try a.shell(
            "BEGIN; INSERT INTO grdb_sync_capturePause (id) VALUES (1); \(damage); DELETE FROM grdb_sync_capturePause; COMMIT"
        )
        let found = try await a.store.database.write { [store = a.store] in try store.upkeep.repair($0) }
        #expect(!found.isSound)
        try await a.sync(with: b)
        #expect(try await a.digest() == b.digest())
        return (a, b)
    }

    /// A repair does not know when a row was written that sync has missed. It must not beat what others wrote since the
    /// last write that is known.
    @Test(arguments: [
        "UPDATE grdb_sync_remoteRecord SET remoteRecord = x'00'",
        "DELETE FROM grdb_sync_remoteRecord",
        "UPDATE Author SET name = 'past the triggers'",
        "DELETE FROM Author",
    ])
    func aRepairDoesNotTakeBackWhatOthersHaveWrittenSince(damage: String) async throws {
        let (a, b) = try await laterEdit(after: damage)
        let expected = ["Jane Austen|1775-12-16T00:00:00Z"]
        #expect(try a.rows("SELECT name, born FROM Author") == expected)
        #expect(try b.rows("SELECT name, born FROM Author") == expected)
    }

    /// What SQLite cannot read is no damaged record.
    @Test func anErrorOfSQLiteIsNoDamage() async throws {
        try a.shell("ALTER TABLE grdb_sync_recordShape RENAME TO elsewhere")
        let store = a.store
        await #expect(throws: DatabaseError.self) {
            try await store.database.read { try store.upkeep.check($0) }
        }
        await #expect(throws: DatabaseError.self) {
            try await store.database.write { try store.upkeep.repair($0) }
        }
        try a.shell("ALTER TABLE elsewhere RENAME TO grdb_sync_recordShape")
        #expect(try await check() == [])
    }

    /// A session that ends in the middle of a read is no damage either.
    @Test func aReadThatIsCancelledIsNoDamage() async throws {
        let (readings, reading) = AsyncStream<Void>.makeStream()
        let isCancelled = DispatchSemaphore(value: 0)
        let store = a.store
        let task = Task {
            try await store.database.read { db in
                let row = try #require(
                    try Row.fetchOne(db, sql: "SELECT remoteRecord FROM grdb_sync_remoteRecord"))
                let shapes = ShapeTable(db)
                reading.finish()
                isCancelled.wait()
                _ = try RecordMetadata(row.bytes("remoteRecord"), shapes: shapes, name: "a record")
            }
        }
        for await _ in readings {}
        task.cancel()
        isCancelled.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// What is deleted can be restored, whole, until it is forgotten; unless it was deleted for ever.
struct RestoringTests {
    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine

    /// Two machines with an author, who has two books; one stands on a shelf and is lent.
    init() async throws {
        (a, b) = try await Machine.pair(
            clock,
            holding: """
                INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane Austen');
                INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'top');
                INSERT INTO Book (recordName, title, author, shelf)
                    VALUES ('Book|~|1', 'Emma', 'Author|~|1', 'Shelf|~|1'), ('Book|~|2', 'Persuasion', 'Author|~|1', NULL);
                """)
        clock.milliseconds += 1000
    }

    private func everything(_ machine: Machine) throws -> [String] {
        try ["Author", "Shelf", "Book", "Loan"].flatMap {
            try machine.rows("SELECT * FROM \($0) ORDER BY recordName")
        }
    }

    private func delete(_ name: String, on machine: Machine) async throws {
        let store = machine.store
        _ = try await store.write { db in try store.delete(db, RecordName(name)) }
        clock.milliseconds += 1000
    }

    @discardableResult
    private func restore(_ name: String, on machine: Machine) async throws -> [String] {
        let store = machine.store
        let names = try await store.write { db in try store.restore(db, RecordName(name)) }
        clock.milliseconds += 1000
        return names.map(\.description)
    }

    private func deleted(on machine: Machine) async throws -> [DeletedRecord] {
        let store = machine.store
        try await store.foldPendingChanges()
        return try await store.database.read { try store.listing.deleted($0) }
    }

    private func expectEqual() async throws {
        try await a.sync(with: b)
        #expect(try everything(a) == everything(b))
        #expect(try await a.digest() == b.digest())
    }

    /// Only the trigger saw the number, and wrote it as text.
    @Test(arguments: [
        0.8860740133827401, -2.1772690493772518e+307, .leastNonzeroMagnitude, 0.1, 1e300, .infinity,
        -.infinity,
    ])
    func aRealNumberIsTheSameAfterADeletion(number: Double) async throws {
        try await a.store.database.write { db in
            try db.execute(sql: "UPDATE Book SET pages = ?", arguments: [number])
        }
        try await a.sync(with: b)
        #expect(try await a.state("Book|~|1")?.field("pages")?.value == .real(number))
        try a.shell("DELETE FROM Book WHERE recordName = 'Book|~|1'")
        #expect(try await a.state("Book|~|1")?.field("pages")?.value == .real(number))
        clock.milliseconds += 1000
        try await restore("Book|~|1", on: a)
        try await expectEqual()
    }

    @Test func whatIsDeletedHereAndRestoredThereIsAsItWas() async throws {
        let before = try everything(a)
        try await delete("Author|~|1", on: a)
        try await expectEqual()
        #expect(try a.rows("SELECT COUNT(*) FROM Book") == ["0"])
        #expect(
            try await restore("Author|~|1", on: b) == ["Author|~|1", "Book|~|1", "Book|~|2"])
        try await expectEqual()
        #expect(try everything(a) == before)
    }

    @Test func aDeletionSendsOneRecordHoweverMuchGoesWithIt() async throws {
        try await delete("Author|~|1", on: a)
        #expect(try await a.send(to: b) == 1)
        #expect(try await b.send(to: a) == 0)
        // A restoring keeps each record that comes back.
        try await restore("Author|~|1", on: b)
        #expect(try await b.send(to: a) == 3)
    }

    @Test func theListSaysWhoDeletedWhatAndHowMuchGoesWithIt() async throws {
        try await delete("Author|~|1", on: a)
        try await delete("Shelf|~|1", on: a)
        try await expectEqual()
        let list = try await deleted(on: b)
        #expect(list.map(\.name.description) == ["Shelf|~|1", "Author|~|1"])
        #expect(list.map(\.count) == [0, 2])
        #expect(list.allSatisfy { $0.replica == a.store.replica })
        #expect(list.last?.time == 1_700_000_001_000)
    }

    /// What plain SQL has deleted keeps what the rows held, whatever it was, also where foreign keys took it along.
    @Test func whatSQLHasDeletedIsRestored() async throws {
        try a.shell(
            """
            UPDATE Author SET name = 'A' || char(0) || '“' || char(10) || 'ü';
            UPDATE Book SET title = x'00ff' WHERE recordName = 'Book|~|1';
            UPDATE Book SET title = 0.1 + 0.2 WHERE recordName = 'Book|~|2';
            UPDATE Shelf SET label = -9223372036854775808
            """)
        try await a.store.foldPendingChanges()
        let before = try everything(a)
        clock.milliseconds += 1000
        for foreignKeys in ["ON", "OFF"] {
            try a.shell("PRAGMA foreign_keys = \(foreignKeys); DELETE FROM Author; DELETE FROM Shelf")
            clock.milliseconds += 1000
            #expect(try await deleted(on: a).map(\.name.description).sorted() == ["Author|~|1", "Shelf|~|1"])
            #expect(try everything(a) == [])
            try await restore("Author|~|1", on: a)
            try await restore("Shelf|~|1", on: a)
            #expect(try everything(a) == before)
        }
        try await expectEqual()
    }

    /// Nobody has heard of the write before the deletion. It wins over what the other machine has kept.
    @Test func whatWasWrittenRightBeforeTheDeletionIsRestored() async throws {
        try a.shell(
            "UPDATE Book SET title = 'Anna' WHERE recordName = 'Book|~|1'; DELETE FROM Book WHERE recordName = 'Book|~|1'"
        )
        try await expectEqual()
        clock.milliseconds += 1000
        try await restore("Book|~|1", on: a)
        try await expectEqual()
        #expect(try b.rows("SELECT title FROM Book ORDER BY title") == ["Anna", "Persuasion"])
    }

    /// A reference to a deleted record is empty, and leads to it again when it is back.
    @Test func anEmptyReferenceComesBack() async throws {
        try await delete("Shelf|~|1", on: a)
        #expect(try a.rows("SELECT shelf FROM Book WHERE recordName = 'Book|~|1'") == ["-"])
        try a.shell("UPDATE Book SET title = 'Emma, again' WHERE recordName = 'Book|~|1'")
        try await expectEqual()
        #expect(try await restore("Shelf|~|1", on: b) == ["Shelf|~|1"])
        try await expectEqual()
        #expect(
            try a.rows("SELECT title, shelf FROM Book WHERE recordName = 'Book|~|1'") == [
                "Emma, again|Shelf|~|1"
            ])
    }

    /// Who restores a part gets what it needs, and with that all the rest.
    @Test func aHiddenRecordBringsBackWhatItNeeds() async throws {
        try await delete("Author|~|1", on: a)
        #expect(try await restore("Book|~|2", on: a) == ["Author|~|1", "Book|~|1", "Book|~|2"])
    }

    @Test func whatWasDeletedByItselfStaysDeleted() async throws {
        try await delete("Book|~|1", on: a)
        try await delete("Author|~|1", on: a)
        #expect(try await restore("Author|~|1", on: a) == ["Author|~|1", "Book|~|2"])
        #expect(try await deleted(on: a).map(\.name.description) == ["Book|~|1"])
    }

    /// The list counts what a restoring brings back, whatever was deleted first.
    @Test(arguments: [("Author|~|1", 1), ("Book|~|1", 2)])
    func theListCountsWhatComesBack(name: String, count: Int) async throws {
        try await delete("Book|~|1", on: a)
        try await delete("Author|~|1", on: a)
        let listed = try await deleted(on: a).first { $0.name.description == name }
        #expect(listed?.count == count)
        #expect(try await restore(name, on: a).count == count + 1)
    }

    /// What needs a record that was deleted for ever is gone with it.
    @Test func whatWasDeletedForEverIsDeletedOnce() async throws {
        let store = a.store
        try await delete("Book|~|1", on: a)
        let name = try RecordName("Author|~|1")
        let first = try await store.write { try store.deleteForever($0, name) }
        #expect(first.map(\.description).sorted() == ["Author|~|1", "Book|~|1", "Book|~|2"])
        let (state, digest) = (try await a.state("Author|~|1"), try await a.digest())
        clock.milliseconds += 1000
        #expect(try await store.write { try store.deleteForever($0, name) } == [])
        #expect(try await a.state("Author|~|1") == state)
        #expect(try await a.digest() == digest)
        #expect(try await deleted(on: a) == [])
    }

    @Test func onlyWhatIsDeletedIsRestored() async throws {
        for (name, code) in [
            ("Author|~|1", RecordStoreError.Code.notDeleted), ("Author|~|9", .noSuchRecord),
        ] {
            let error = await #expect(throws: RecordStoreError.self) { try await restore(name, on: a) }
            #expect(error?.code == code)
        }
    }

    @Test func whatIsForgottenCannotBeRestored() async throws {
        try await delete("Author|~|1", on: a)
        try await expectEqual()
        for machine in [a, b, a, b] {
            let store = machine.store
            _ = try await store.database.write { try store.upkeep.purge($0, retention: 0) }
            try await a.sync(with: b)
        }
        for machine in [a, b] {
            #expect(try await deleted(on: machine) == [])
            #expect(try machine.rows("SELECT remoteRecordID FROM grdb_sync_remoteRecord") == ["Shelf|~|1"])
            await #expect(throws: RecordStoreError.self) { try await restore("Book|~|1", on: machine) }
        }
        try await expectEqual()
    }

    /// A reference is empty as long as there is nothing at its end, whether it is known why or not.
    @Test func aReferenceStaysEmptyWhenTheDeletionIsForgotten() async throws {
        try await delete("Shelf|~|1", on: a)
        try await expectEqual()
        let store = a.store
        #expect(try await store.database.write { try store.upkeep.purge($0, retention: 0) } == 1)
        try a.shell("UPDATE Book SET title = 'x'")
        try await expectEqual()
        #expect(try a.rows("SELECT title, shelf FROM Book") == ["x|-", "x|-"])
        clock.milliseconds += 1000
        try b.shell("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|1', 'new')")
        try await expectEqual()
        #expect(try a.rows("SELECT shelf FROM Book ORDER BY recordName") == ["Shelf|~|1", "-"])
    }

    /// A program that deletes an author with a thousand books has written one deletion. With foreign keys on, SQLite also
    /// writes the books' own deletions, here more than a fold takes in one part.
    @Test(arguments: [("ON", 10_200), ("OFF", 1000)])
    func aGreatDeletionIsOneRecord(foreignKeys: String, books: Int) async throws {
        try a.shell(
            """
            WITH RECURSIVE number (n) AS (VALUES (10) UNION ALL SELECT n + 1 FROM number WHERE n < \(books + 9))
            INSERT INTO Book (recordName, title, author, shelf)
                SELECT 'Book|~|' || n, n, 'Author|~|1', 'Shelf|~|1' FROM number
            """)
        try await expectEqual()
        let before = try everything(a)
        clock.milliseconds += 1000
        try a.shell("PRAGMA foreign_keys = \(foreignKeys); DELETE FROM Author; DELETE FROM Shelf")
        #expect(try await a.send(to: b) == 2)
        #expect(try await b.send(to: a) == 0)
        #expect(try a.rows("SELECT COUNT(*) FROM Book") == ["0"])
        clock.milliseconds += 1000
        try await restore("Author|~|1", on: b)
        try await restore("Shelf|~|1", on: b)
        try await expectEqual()
        #expect(try everything(a) == before)
    }

    /// A store of before knows no former values, and lists the references of held records alone.
    @Test func aStoreOfBeforeIsBroughtOver() async throws {
        let before = try everything(a)
        try await delete("Author|~|1", on: a)
        try await a.store.database.write { try FormatOneStore.make($0, withTriggers: ["Insert"]) }
        try a.shell(
            """
            ALTER TABLE pendingChange DROP COLUMN formerValues;
            CREATE TABLE unsettledRecord (
                peer INTEGER NOT NULL, recordName TEXT NOT NULL, PRIMARY KEY (peer, recordName)) WITHOUT ROWID;
            INSERT INTO unsettledRecord VALUES (1, 'Book|~|1');
            DELETE FROM heldReference
            """)
        let store = try RecordStore(
            a.store.database, schema: a.store.schema, replica: a.store.replica,
            now: { [clock] in clock.milliseconds })
        #expect(try a.rows("SELECT name FROM sqlite_master WHERE name = 'unsettledRecord'") == [])
        _ = try await store.write { db in try store.restore(db, RecordName("Author|~|1")) }
        #expect(try everything(a) == before)
        // The triggers are the new ones.
        try a.shell("DELETE FROM Shelf")
        clock.milliseconds += 1000
        try await restore("Shelf|~|1", on: a)
        #expect(try everything(a) == before)
    }

    /// A reference that was emptied, of a row that goes in the same look, is what it was.
    @Test func aReferenceThatWasEmptiedBeforeItsRowWentComesBack() async throws {
        let before = try everything(a)
        let digest = try await a.digest()
        try a.shell("PRAGMA foreign_keys = ON; DELETE FROM Shelf; DELETE FROM Author")
        _ = try await a.status()
        clock.milliseconds += 1000
        // The author and what goes with it count no more or as before, and nothing else.
        try await restore("Shelf|~|1", on: a)
        try await restore("Author|~|1", on: a)
        #expect(try everything(a) == before)
        try await expectEqual()
        #expect(try await a.digest() == digest)
    }

    @Test func whatSomebodyPutsInThePlaceOfAnEmptyReferenceReplacesIt() async throws {
        try a.shell("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|2', 'low')")
        try await delete("Shelf|~|1", on: a)
        let held = "SELECT target FROM grdb_sync_heldReference WHERE recordName = 'Book|~|1'"
        #expect(try a.rows(held) == ["Shelf|~|1"])
        try a.shell("UPDATE Book SET shelf = 'Shelf|~|2' WHERE recordName = 'Book|~|1'")
        try await expectEqual()
        #expect(try a.rows(held) == [])
        #expect(try b.rows(held) == [])
    }

    /// Who empties a reference by hand, after a deletion has emptied it, has emptied it.
    @Test func whatSomebodyEmptiesLaterIsEmpty() async throws {
        try a.shell("INSERT INTO Shelf (recordName, label) VALUES ('Shelf|~|2', 'low')")
        try a.shell("PRAGMA foreign_keys = ON; DELETE FROM Shelf WHERE recordName = 'Shelf|~|1'")
        clock.milliseconds += 1000
        try a.shell("UPDATE Book SET shelf = 'Shelf|~|2' WHERE recordName = 'Book|~|1'")
        clock.milliseconds += 1000
        try a.shell("UPDATE Book SET shelf = NULL WHERE recordName = 'Book|~|1'")
        try await expectEqual()
        #expect(try a.rows("SELECT shelf FROM Book") == ["-", "-"])
        #expect(try a.rows("SELECT recordName FROM Shelf") == ["Shelf|~|2"])
    }

    /// The first character of a text may join what is written before it.
    @Test func aTextThatBeginsWithAnAccentIsRestored() async throws {
        try a.shell("UPDATE Author SET name = char(0x301, 0x200D, 0xFE0F) || 'x'")
        try await a.store.foldPendingChanges()
        let before = try everything(a)
        clock.milliseconds += 1000
        try a.shell("PRAGMA foreign_keys = ON; DELETE FROM Author")
        #expect(try await deleted(on: a).map(\.count) == [2])
        try await restore("Author|~|1", on: a)
        #expect(try everything(a) == before)
    }

    /// The table refuses what a record of the same batch refers to: the reference is empty.
    @Test func aReferenceToARowThatItsTableRefusesIsEmpty() async throws {
        let choosy = try Machine(
            "c", number: 3,
            sql: Library.sql + """
                CREATE TRIGGER choosy BEFORE INSERT ON Shelf BEGIN SELECT RAISE(ABORT, 'not here'); END;
                """)
        var states: [RecordState] = []
        for name in ["Shelf|~|1", "Book|~|1", "Author|~|1"] {
            // With a revival, so that none of them is simply new.
            var state = try #require(try await a.state(name))
            state.revival = state.newestWrite
            states.append(state)
        }
        _ = try await choosy.store.database.write { [states] in try choosy.store.merge($0, states) }
        #expect(try choosy.rows("SELECT title, shelf FROM Book") == ["Emma|-"])
        #expect(try choosy.rows("PRAGMA foreign_key_check") == [])
        #expect(
            try await choosy.state("Book|~|1")?.field("shelf")?.value
                == .reference(RecordName("Shelf|~|1")))
    }

    /// What two deletions hide goes with the first that is forgotten.
    @Test func whatTwoDeletionsHideIsNotLeftBehind() async throws {
        try a.shell("INSERT INTO Loan (recordName, borrower, book) VALUES ('Loan|~|1', 'Fanny', 'Book|~|1')")
        try await expectEqual()
        clock.milliseconds += 1000
        try a.shell("DELETE FROM Author")
        try await expectEqual()
        clock.milliseconds += 100_000
        let later = RecordState(
            name: try RecordName("Book|~|1"),
            deletion: Stamp(time: HybridTime(milliseconds: clock.milliseconds), replica: a.store.replica))
        let store = a.store
        _ = try await store.database.write { try store.merge($0, [later]) }
        try await expectEqual()
        #expect(try await store.database.write { try store.upkeep.purge($0, retention: 50_000) } == 1)
        try await restore("Book|~|1", on: a)
        #expect(try await a.state("Loan|~|1")?.isDeleted == true)
    }

    // MARK: For ever

    private func deleteForever(_ name: String, on machine: Machine) async throws -> [String] {
        let store = machine.store
        let names = try await store.write { db in try store.deleteForever(db, RecordName(name)) }
        clock.milliseconds += 1000
        return names.map(\.description)
    }

    @Test func whatIsDeletedForEverIsKeptNowhere() async throws {
        #expect(
            try await deleteForever("Author|~|1", on: a).sorted() == ["Author|~|1", "Book|~|1", "Book|~|2"])
        try await expectEqual()
        for machine in [a, b] {
            #expect(try await deleted(on: machine) == [])
            for name in ["Author|~|1", "Book|~|1", "Book|~|2"] {
                #expect(try await machine.state(name)?.fields == [])
            }
            await #expect(throws: RecordStoreError.self) { try await restore("Author|~|1", on: machine) }
        }
    }

    @Test func whatIsDeletedAlreadyCanBeDeletedForEver() async throws {
        try await delete("Author|~|1", on: a)
        #expect(
            try await deleteForever("Author|~|1", on: a).sorted() == ["Author|~|1", "Book|~|1", "Book|~|2"])
        #expect(try await deleted(on: a) == [])
    }

    /// What was deleted below it before goes with it, and so does what another one hides.
    @Test func nothingBelowItIsLeft() async throws {
        try await delete("Book|~|1", on: a)
        #expect(
            try await deleteForever("Author|~|1", on: a).sorted() == ["Author|~|1", "Book|~|1", "Book|~|2"])
        try await expectEqual()
        for machine in [a, b] {
            #expect(try await deleted(on: machine) == [])
            #expect(try await machine.state("Book|~|1")?.fields == [])
        }
    }

    @Test func aHiddenRecordCanBeDeletedForEver() async throws {
        try await delete("Author|~|1", on: a)
        #expect(try await deleteForever("Book|~|1", on: a) == ["Book|~|1"])
        #expect(try await restore("Author|~|1", on: a) == ["Author|~|1", "Book|~|2"])
    }

    /// An edit that is newer than the deletion keeps what was edited, and nothing else, in the row too.
    @Test func whatWasErasedIsNotInTheRowEither() async throws {
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        _ = try await deleteForever("Author|~|1", on: a)
        let author = try #require(try await b.state("Author|~|1"))
        let born = try #require(author.field("born"))
        let erasure = try #require(try await a.state("Author|~|1")?.erasure)
        #expect(born.stamp > erasure)
        try await expectEqual()
        #expect(try b.rows("SELECT name, born FROM Author") == ["-|1775-12-16T00:00:00Z"])
    }

    /// Neither a newer write below it brings it back, nor a machine that was away; but it can be written anew.
    @Test func nothingButAWriteOfItsOwnBringsItBack() async throws {
        _ = try await deleteForever("Author|~|1", on: a)
        try b.shell("UPDATE Book SET title = 'newer' WHERE recordName = 'Book|~|2'")
        try await expectEqual()
        #expect(try a.rows("SELECT * FROM Author") == [])
        #expect(try a.rows("SELECT * FROM Book") == [])
        clock.milliseconds += 1000
        try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Cassandra')")
        try await expectEqual()
        #expect(try a.rows("SELECT name FROM Author") == ["Cassandra"])
    }
}

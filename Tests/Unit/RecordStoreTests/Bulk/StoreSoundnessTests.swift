import GRDB
import PeerSyncModel
import Testing

@testable import PeerSyncStore

/// While all records of a store are known to be sound, only the foreign keys look at what new ones refer to. Whatever ends
/// that must be noticed.
struct StoreSoundnessTests: PeerRecords {
    private func status(_ machine: Machine, _ name: String) throws -> [String] {
        try machine.rows("SELECT status FROM grdb_sync_remoteRecord WHERE remoteRecordID = '\(name)'")
    }

    private func holds(_ machine: Machine, in zone: ZoneTarget = .default) async throws -> Bool {
        try await machine.store.database.write { [store = machine.store] db in
            try store.soundness.holds(db, in: Zones.row(db, of: zone))
        }
    }

    @Test func itHoldsWhileAFirstCopyComes() async throws {
        let machine = try Machine("a", number: 1)
        #expect(try await holds(machine))
        try await apply([[author(1)], [book(1, by: "Author|~|1")]], to: machine, isWhole: false)
        #expect(try await holds(machine))
        #expect(try machine.rows("SELECT recordName FROM Book") == ["Book|~|1"])
    }

    @Test func aWriteOfAnotherEndsIt() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1), author(2)]], to: machine, isWhole: false)
        try machine.shell("DELETE FROM Author WHERE recordName = 'Author|~|1'")
        try await apply([[book(1, by: "Author|~|1")]], to: machine)
        #expect(try await !holds(machine))
        // The book was written before the author was deleted, and goes with it.
        #expect(try status(machine, "Book|~|1") == ["3"])
        #expect(try machine.rows("SELECT recordName FROM Book") == [])
    }

    @Test func aRecordThatWasDeletedOnceEndsIt() async throws {
        let machine = try Machine("a", number: 1)
        let author = try record("Author|~|1", ["name": .text("A")], at: later(20), deletion: later(10))
        try await apply([[author]], to: machine, isWhole: false)
        #expect(try await !holds(machine))
        try await apply([[book(1, by: "Author|~|1")]], to: machine)
        #expect(try status(machine, "Book|~|1") == ["0"])
    }

    /// A row that is taken back must not be seen by them.
    @Test func itIsNotReliedOnWhereAnAppHasTriggers() async throws {
        let machine = try Machine("a", number: 1)
        try machine.shell(
            """
            CREATE TABLE titles (title UNIQUE);
            CREATE TRIGGER search AFTER INSERT ON Book BEGIN INSERT INTO titles VALUES (NEW.title); END
            """)
        try await apply([[book(1, by: "Author|~|1")]], to: machine, isWhole: false)
        #expect(try machine.rows("SELECT * FROM titles") == [])
        try await apply([[author(1)]], to: machine)
        #expect(try machine.rows("SELECT * FROM titles") == ["Book 1"])
        #expect(try status(machine, "Book|~|1") == ["0"])
    }

    @Test func itDoesNotHoldInAnotherZone() async throws {
        let machine = try Machine("a", number: 1)
        let club = try await machine.store.zones.create("club")
        _ = try await machine.store.peers.add(key: [UInt8](repeating: 3, count: 32), name: "peer")
        try await machine.store.zones.grant(.write, to: "peer", in: "club")
        try await apply([[author(1)]], to: machine, isWhole: false)
        #expect(try await holds(machine))
        #expect(try await !holds(machine, in: .one(club)))
    }

    @Test func whatWasRolledBackIsNotRemembered() async throws {
        let machine = try Machine("a", number: 1)
        try await applyAndRollBack([author(1)], to: machine)
        // The same number goes to a record that was deleted once.
        let author = try record("Author|~|1", ["name": .text("A")], at: later(20), deletion: later(10))
        try await apply([[author]], to: machine, isWhole: false)
        #expect(
            try machine.rows("SELECT value FROM grdb_sync_syncState WHERE name = 'lastSequence'") == ["1"])
        #expect(try await !holds(machine))
    }

    @Test func erasingEndsIt() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1), author(2)]], to: machine, isWhole: false)
        let zone = try #require(try await machine.store.database.read { try Zones.all($0) }.first)
        _ = try await machine.store.database.write { [store = machine.store] in
            try store.zones.erase($0, zone)
        }
        try machine.shell(
            """
            INSERT INTO grdb_sync_remoteRecord (remoteRecordID, zone, status, changeSequence, changeGroup, remoteRecord)
            VALUES ('Author|~|9', 1, 1, 1, 1, X'00')
            """)
        #expect(try await !holds(machine))
    }

    @Test func itDoesNotHoldWithoutForeignKeys() async throws {
        let machine = try Machine("a", number: 1)
        try await machine.store.database.writeWithoutTransaction { [store = machine.store] db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            #expect(try !store.soundness.holds(db, in: Zones.defaultID))
            try db.execute(sql: "PRAGMA foreign_keys = ON")
            #expect(try store.soundness.holds(db, in: Zones.defaultID))
        }
    }

    /// Nobody has noticed that the parent is gone, but for the foreign key.
    @Test func aParentThatVanishedBehindTheTriggersIsNotReliedOn() async throws {
        let machine = try Machine("a", number: 1)
        try await apply([[author(1), author(2)]], to: machine, isWhole: false)
        try machine.shell(
            """
            INSERT INTO grdb_sync_capturePause (id) VALUES (1);
            DELETE FROM Author WHERE recordName = 'Author|~|1';
            DELETE FROM grdb_sync_capturePause
            """)
        #expect(try await holds(machine))
        try await apply(
            [[book(1, by: "Author|~|1"), book(2, by: "Author|~|2"), book(3, by: "Author|~|1")]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book") == ["Book|~|2"])
        #expect(try status(machine, "Book|~|1") == ["2"])
        #expect(try status(machine, "Book|~|3") == ["2"])
    }

    @Test(arguments: ["DEFERRABLE INITIALLY DEFERRED", ""])
    func aParentThatHasNotComeIsWaitedFor(_ deferral: String) async throws {
        let sql = Library.sql.replacing("DEFERRABLE INITIALLY DEFERRED", with: deferral)
        let machine = try Machine("a", number: 1, sql: sql)
        try await apply([[author(1)]], to: machine, isWhole: false)
        try await apply(
            [[book(1, by: "Author|~|2"), book(2, by: "Author|~|1")], [author(2)]], to: machine)
        #expect(try machine.rows("SELECT recordName FROM Book ORDER BY 1") == ["Book|~|1", "Book|~|2"])
        #expect(try machine.rows("SELECT * FROM grdb_sync_heldReference") == [])
    }
}

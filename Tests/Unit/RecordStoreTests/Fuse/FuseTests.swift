import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Much that would go at once waits for a person; everything else goes on.
struct FuseTests {
    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine
    private let c: Machine

    /// Three machines with 100 authors, of whom the first has 20 books. The fuses of two ask from a tenth and 12 records on.
    init() async throws {
        a = try Machine("a", number: 1, clock: clock)
        b = try Machine("b", number: 2, clock: clock)
        c = try Machine("c", number: 3, clock: clock)
        for number in 1...100 {
            try a.shell(
                "INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'Name \(number)')")
        }
        for number in 1...20 {
            try a.shell(
                "INSERT INTO Book (recordName, title, author) VALUES ('Book|~|\(number)', 'T', 'Author|~|1')")
        }
        try await a.sync(with: b)
        try await b.sync(with: c)
        clock.milliseconds += 1000
        for machine in [b, c] {
            try await machine.store.database.write {
                try machine.store.fuse.set($0, FuseSetting(share: 0.1, records: 12))
            }
        }
    }

    private func alarms(_ machine: Machine) async throws -> [FuseAlarm] {
        try await machine.store.foldPendingChanges()
        return try await machine.store.database.read { try machine.store.fuse.alarms($0) }
    }

    private func allow(_ machine: Machine) async throws {
        for alarm in try await alarms(machine) {
            try await machine.store.database.write { try machine.store.fuse.allow($0, alarm) }
        }
    }

    @discardableResult
    private func refuse(_ machine: Machine) async throws -> [RecordName] {
        var kept: [RecordName] = []
        for alarm in try await alarms(machine) {
            kept += try await machine.store.database.write { try machine.store.fuse.refuse($0, alarm) }
        }
        return kept
    }

    private func authors(_ machine: Machine) throws -> Int {
        Int(try machine.rows("SELECT COUNT(*) FROM Author")[0])!
    }

    private func everything(_ machine: Machine) throws -> [String] {
        try machine.rows("SELECT recordName, name FROM Author ORDER BY 1")
            + machine.rows("SELECT recordName, title FROM Book ORDER BY 1")
    }

    private func expectEqual(_ machines: Machine...) async throws {
        for _ in 0..<3 {
            for other in machines.dropFirst() { try await machines[0].sync(with: other) }
        }
        for other in machines.dropFirst() {
            #expect(try everything(other) == everything(machines[0]))
            #expect(try await other.digest() == machines[0].digest())
        }
    }

    @Test func aPeerThatDeletesMuchIsAskedAboutAndTheRestGoesOn() async throws {
        try a.shell("DELETE FROM Author WHERE recordName <> 'Author|~|1'")
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'New')")
        try await a.sync(with: b)
        #expect(try authors(b) == 101)
        let alarm = try #require(try await alarms(b).first)
        #expect(alarm.source == .peer("a"))
        #expect(alarm.deletedCount == 99)
        #expect(alarm.overwrittenCount == 0)
        #expect(try await b.status().alarms == [alarm])
        // Both sides know that their digests differ for a reason.
        let zone = PeerZone(store: b.store, peer: try await b.store.peers.add(key: a.key, name: "a"))
        let refused = try await b.store.database.read { try zone.summary($0).refused }
        #expect(refused == 99)
    }

    @Test func whatIsAllowedIsShownEverywhere() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        try await a.sync(with: b)
        try await allow(b)
        #expect(try await alarms(b).isEmpty)
        try await b.sync(with: c)
        try await allow(c)
        try await expectEqual(b, a, c)
        #expect(try authors(a) < 60)
    }

    @Test func whatIsRefusedComesBackOnAllMachines() async throws {
        let before = try everything(b)
        try a.shell(
            "DELETE FROM Author WHERE recordName > 'Author|~|5'; UPDATE Author SET name = 'X' WHERE recordName < 'Author|~|4'"
        )
        try await a.sync(with: b)
        try await a.sync(with: c)
        #expect(try await alarms(c).count == 1)
        try await refuse(b)
        #expect(try everything(b) == before)
        // The decision of one machine settles the others' alarms.
        try await expectEqual(b, a, c)
        #expect(try everything(a) == before)
        #expect(try await alarms(c).isEmpty)
    }

    @Test func aRecordTakesAlongWhatCountsWithIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|1'; DELETE FROM Book")
        try await a.sync(with: b)
        let alarm = try #require(try await alarms(b).first)
        #expect(alarm.deletedCount == 21)
        #expect(try b.rows("SELECT COUNT(*) FROM Book") == ["20"])
    }

    @Test func manySmallBatchesWithinTheTimeCountTogether() async throws {
        for number in 41...70 {
            try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
            try await a.sync(with: b)
            clock.milliseconds += 1000
        }
        #expect(try authors(b) == 100 - 11)
        #expect(try await alarms(b).first?.deletedCount == 19)
        // What went before the alarm comes back as well.
        try await refuse(b)
        try await expectEqual(b, a)
        #expect(try authors(a) == 100)
    }

    @Test func changesThatAreFarFromEachOtherDoNotCountTogether() async throws {
        for number in 41...70 {
            try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
            try await a.sync(with: b)
            clock.milliseconds += StoreFuse.window / 10
        }
        #expect(try await alarms(b).isEmpty)
        #expect(try await a.digest() == b.digest())
    }

    @Test func twoPeersBelowTheShareAreAboveItTogether() async throws {
        try await c.store.database.write { try c.store.fuse.set($0, nil) }
        try a.shell("DELETE FROM Author WHERE recordName BETWEEN 'Author|~|50' AND 'Author|~|57'")
        try await a.sync(with: b)
        #expect(try await alarms(b).isEmpty)
        try c.shell("UPDATE Author SET name = 'X' WHERE recordName BETWEEN 'Author|~|60' AND 'Author|~|67'")
        try await c.sync(with: b)
        let alarm = try #require(try await alarms(b).first)
        #expect(alarm.source == .peer("c"))
        #expect(alarm.overwrittenCount == 8)
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'X'") == ["0"])
        try await allow(b)
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'X'") == ["8"])
        try await expectEqual(b, a, c)
    }

    @Test func whatSomebodyWroteSinceSettlesIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|2'")
        try await a.sync(with: b)
        clock.milliseconds += 1000
        try c.shell("UPDATE Author SET name = name || '!' WHERE recordName > 'Author|~|2'")
        try await c.store.database.write { try c.store.fuse.set($0, nil) }
        try await b.store.database.write { try b.store.fuse.set($0, nil) }
        try await c.sync(with: b)
        #expect(try await alarms(b).isEmpty)
        try await expectEqual(b, a, c)
        #expect(try authors(a) == 100)
    }

    @Test func aFirstCopyAndFilledFieldsAreNoAlarm() async throws {
        let d = try Machine("d", number: 4, clock: clock)
        try await d.store.database.write { try d.store.fuse.set($0, FuseSetting(share: 0, records: 1)) }
        try await a.sync(with: d)
        try a.shell("UPDATE Author SET born = '1775-12-16'")
        try await a.sync(with: d)
        #expect(try await alarms(d).isEmpty)
        #expect(try await a.digest() == d.digest())
    }

    @Test func whatAProgramDeletedHereIsNotSentBeforeItIsAllowed() async throws {
        try b.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        let alarm = try #require(try await alarms(b).first)
        #expect(alarm.source == .programs)
        #expect(alarm.deletedCount == alarm.records.count)
        try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'New')")
        try await b.sync(with: a)
        #expect(try authors(a) == 101)
        try await allow(b)
        try await expectEqual(b, a)
        #expect(try authors(a) < 60)
    }

    @Test func whatAProgramDidHereComesBackWhenItIsRefused() async throws {
        let before = try everything(b)
        try b.shell(
            "DELETE FROM Author WHERE recordName > 'Author|~|5'; UPDATE Author SET name = 'X' WHERE recordName < 'Author|~|4'"
        )
        #expect(try await refuse(b).isEmpty)
        try await expectEqual(b, a)
        #expect(try everything(b) == before)
    }

    @Test func whatNoOtherMachineHasStaysWhenItIsRefused() async throws {
        let lonely = try Machine("lonely", number: 9, clock: clock)
        _ = try await lonely.store.peers.add(key: a.key, name: "a")
        try await lonely.store.database.write {
            try lonely.store.fuse.set($0, FuseSetting(share: 0.1, records: 2))
        }
        try lonely.shell(
            "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A'), ('Author|~|2', 'B'), ('Author|~|3', 'C')"
        )
        try await lonely.store.foldPendingChanges()
        try lonely.shell("UPDATE Author SET name = 'X'")
        #expect(try await refuse(lonely).count == 3)
        #expect(try lonely.rows("SELECT name FROM Author") == ["X", "X", "X"])
        #expect(try await alarms(lonely).isEmpty)
    }

    /// Otherwise a refusal would forget the only copy.
    @Test func aPeerThatRefusedARecordDoesNotHaveIt() async throws {
        let lonely = try Machine("lonely", number: 9, clock: clock)
        let peer = try await lonely.store.peers.add(key: a.key, name: "a")
        try lonely.shell(
            "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'A'), ('Author|~|2', 'B'), ('Author|~|3', 'C')"
        )
        try await lonely.store.foldPendingChanges()
        try await lonely.store.database.write { db in
            try lonely.store.fuse.set(db, FuseSetting(share: 0.1, records: 2))
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_peerZone (peer, zone, acknowledgedSequence) VALUES (?1, 1, 100);
                    """, arguments: [peer.id])
            try db.execute(
                sql: """
                    INSERT INTO grdb_sync_refusedRecord (peer, zone, recordName, reason)
                    SELECT ?, 1, recordName, 1 FROM Author WHERE recordName <> 'Author|~|3'
                    """, arguments: [peer.id])
        }
        try lonely.shell("UPDATE Author SET name = 'X'")
        #expect(try await refuse(lonely).map(\.description) == ["Author|~|1", "Author|~|2"])
        #expect(try lonely.rows("SELECT recordName FROM Author") == ["Author|~|1", "Author|~|2"])
    }

    /// Nobody else has what waits here.
    @Test func whatWaitsIsNotForgottenByAMachineThatStartsOver() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|5'")
        #expect(try await alarms(b).count == 1)
        let other = try await b.store.peers.add(key: a.key, name: a.name)
        let zone = try await b.store.zones.all()[0]
        try await b.store.database.write { db in
            let current = try ChangeLog.current(db)
            _ = try b.store.exchange.startOver(db, with: other, in: [(zone, heldByPeer: current)])
        }
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'X'") != ["0"])
        #expect(try await alarms(b).count == 1)
    }

    @Test func whatWentBeforeTheAlarmComesBackHoweverLateItIsRefused() async throws {
        for number in 41...70 {
            try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
            try await a.sync(with: b)
        }
        #expect(try authors(b) == 100 - 11)
        clock.milliseconds += 20 * StoreFuse.window
        try await b.store.upkeep.purgeIfDue()
        try await refuse(b)
        try await expectEqual(b, a)
        #expect(try authors(a) == 100)
    }

    /// Nothing of it may stay.
    @Test func whatWaitsGoesWithADeletionForEver() async throws {
        try a.shell("UPDATE Author SET name = 'secret' WHERE recordName > 'Author|~|2'")
        try await a.sync(with: b)
        #expect(try await alarms(b).count == 1)
        let name = try RecordName("Author|~|50")
        try await b.store.database.write { _ = try b.store.deleteForever($0, name) }
        let waiting = try b.rows(
            "SELECT COUNT(*) FROM grdb_sync_withheldRecord WHERE recordName = 'Author|~|50'")
        #expect(waiting == ["0"])
    }

    @Test func anAppsOwnWritesAreNoAlarm() async throws {
        _ = try await b.store.write { db in try db.execute(sql: "DELETE FROM Book; DELETE FROM Author") }
        #expect(try await alarms(b).isEmpty)
    }

    @Test func whatWaitsOutlivesTheProgram() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        try await a.sync(with: b)
        let again = try RecordStore(
            b.store.database, schema: Library.schema(), replica: ReplicaID(rawValue: 2),
            now: { [clock] in clock.milliseconds })
        let alarm = try #require(try await again.database.read { try again.fuse.alarms($0) }.first)
        try await again.database.write { try again.fuse.allow($0, alarm) }
        try await expectEqual(b, a)
    }

    @Test func textsThatAreNoSettingAreRefused() {
        #expect(FuseSetting(share: 1.5, records: 50) == nil)
        #expect(FuseSetting(share: 0.5, records: 0) == nil)
        #expect(FuseSetting("off") == nil)
        #expect(FuseSetting(FuseSetting.standard.description) == .standard)
    }
}

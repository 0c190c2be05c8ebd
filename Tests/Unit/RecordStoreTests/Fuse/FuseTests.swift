import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// Much that would go at once waits for a person; everything else goes on.
struct FuseTests {
    private let scene: FuseScene
    private var clock: SetClock { scene.clock }
    private var a: Machine { scene.a }
    private var b: Machine { scene.b }
    private var c: Machine { scene.c }

    init() async throws { scene = try await FuseScene() }

    @Test func aPeerThatDeletesMuchIsAskedAboutAndTheRestGoesOn() async throws {
        try a.shell("DELETE FROM Author WHERE recordName <> 'Author|~|1'")
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'New')")
        try await a.sync(with: b)
        #expect(try b.authors() == 101)
        let alarm = try #require(try await b.alarms().first)
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
        try await b.allow()
        #expect(try await b.alarms().isEmpty)
        try await b.sync(with: c)
        try await c.allow()
        try await FuseScene.expectEqual(b, a, c)
        #expect(try a.authors() < 60)
    }

    @Test func whatIsRefusedComesBackOnAllMachines() async throws {
        let before = try b.everything()
        try a.shell(
            "DELETE FROM Author WHERE recordName > 'Author|~|5'; UPDATE Author SET name = 'X' WHERE recordName < 'Author|~|4'"
        )
        try await a.sync(with: b)
        try await a.sync(with: c)
        #expect(try await c.alarms().count == 1)
        try await b.refuse()
        #expect(try b.everything() == before)
        // The decision of one machine settles the others' alarms.
        try await FuseScene.expectEqual(b, a, c)
        #expect(try a.everything() == before)
        #expect(try await c.alarms().isEmpty)
    }

    @Test func aRecordTakesAlongWhatCountsWithIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|1'; DELETE FROM Book")
        try await a.sync(with: b)
        let alarm = try #require(try await b.alarms().first)
        #expect(alarm.deletedCount == 21)
        #expect(try b.rows("SELECT COUNT(*) FROM Book") == ["20"])
    }

    @Test func manySmallBatchesWithinTheTimeCountTogether() async throws {
        for number in 41...70 {
            try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
            try await a.sync(with: b)
            clock.milliseconds += 1000
        }
        #expect(try b.authors() == 100 - 11)
        #expect(try await b.alarms().first?.deletedCount == 19)
        // What went before the alarm comes back as well.
        try await b.refuse()
        try await FuseScene.expectEqual(b, a)
        #expect(try a.authors() == 100)
    }

    @Test func changesThatAreFarFromEachOtherDoNotCountTogether() async throws {
        for number in 41...70 {
            try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
            try await a.sync(with: b)
            clock.milliseconds += StoreFuse.window / 10
        }
        #expect(try await b.alarms().isEmpty)
        #expect(try await a.digest() == b.digest())
    }

    @Test func twoPeersBelowTheShareAreAboveItTogether() async throws {
        try await c.store.database.write { try c.store.fuse.set($0, nil) }
        try a.shell("DELETE FROM Author WHERE recordName BETWEEN 'Author|~|50' AND 'Author|~|57'")
        try await a.sync(with: b)
        #expect(try await b.alarms().isEmpty)
        try c.shell("UPDATE Author SET name = 'X' WHERE recordName BETWEEN 'Author|~|60' AND 'Author|~|67'")
        try await c.sync(with: b)
        let alarm = try #require(try await b.alarms().first)
        #expect(alarm.source == .peer("c"))
        #expect(alarm.overwrittenCount == 8)
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'X'") == ["0"])
        try await b.allow()
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'X'") == ["8"])
        try await FuseScene.expectEqual(b, a, c)
    }

    @Test func whatSomebodyWroteSinceSettlesIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|2'")
        try await a.sync(with: b)
        clock.milliseconds += 1000
        try c.shell("UPDATE Author SET name = name || '!' WHERE recordName > 'Author|~|2'")
        try await c.store.database.write { try c.store.fuse.set($0, nil) }
        try await b.store.database.write { try b.store.fuse.set($0, nil) }
        try await c.sync(with: b)
        #expect(try await b.alarms().isEmpty)
        try await FuseScene.expectEqual(b, a, c)
        #expect(try a.authors() == 100)
    }

    @Test func aFirstCopyAndFilledFieldsAreNoAlarm() async throws {
        let d = try Machine("d", number: 4, clock: clock)
        try await d.store.database.write { try d.store.fuse.set($0, FuseSetting(share: 0, records: 1)) }
        try await a.sync(with: d)
        try a.shell("UPDATE Author SET born = '1775-12-16'")
        try await a.sync(with: d)
        #expect(try await d.alarms().isEmpty)
        #expect(try await a.digest() == d.digest())
    }

    @Test func whatAProgramDeletedHereIsNotSentBeforeItIsAllowed() async throws {
        try b.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        let alarm = try #require(try await b.alarms().first)
        #expect(alarm.source == .programs)
        #expect(alarm.deletedCount == alarm.records.count)
        try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'New')")
        try await b.sync(with: a)
        #expect(try a.authors() == 101)
        try await b.allow()
        try await FuseScene.expectEqual(b, a)
        #expect(try a.authors() < 60)
    }

    /// A watch looks now and then, and a session may take in what a program wrote before it does. People hear of it once.
    @Test func whatWaitsIsToldWhoeverHasTakenItIn() async throws {
        var found = try await b.store.foldOthersWrites(since: nil)
        #expect(found.withheldCount == 0)
        try b.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        #expect(try await b.alarms().count == 1)
        for told in [try unsent(), 0] {
            found = try await b.store.foldOthersWrites(since: found.version)
            #expect(found.withheldCount == told)
        }
        try await b.allow()
        found = try await b.store.foldOthersWrites(since: found.version)
        #expect(found.withheldCount == 0)
        // The watch itself takes in what another process wrote.
        clock.milliseconds += StoreFuse.window * 2
        try b.shell("UPDATE Author SET name = name || '!'")
        found = try await b.store.foldOthersWrites(since: nil)
        #expect(found.hasFolded && found.withheldCount > 0)
        #expect(try found.withheldCount == unsent())
    }

    /// How many records the second machine does not send.
    private func unsent() throws -> Int {
        Int(try b.rows("SELECT COUNT(*) FROM grdb_sync_withheldRecord WHERE peer = 0")[0])!
    }

    @Test func whatAProgramDidHereComesBackWhenItIsRefused() async throws {
        let before = try b.everything()
        try b.shell(
            "DELETE FROM Author WHERE recordName > 'Author|~|5'; UPDATE Author SET name = 'X' WHERE recordName < 'Author|~|4'"
        )
        #expect(try await b.refuse().isEmpty)
        try await FuseScene.expectEqual(b, a)
        #expect(try b.everything() == before)
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
        #expect(try await lonely.refuse().count == 3)
        #expect(try lonely.rows("SELECT name FROM Author") == ["X", "X", "X"])
        #expect(try await lonely.alarms().isEmpty)
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
        #expect(try await lonely.refuse().map(\.description) == ["Author|~|1", "Author|~|2"])
        // The values that the peer has win over those that were refused, and over no others.
        let kept = try #require(try await lonely.state("Author|~|1")?.newestStamp)
        let yielded = try #require(try await lonely.state("Author|~|3")?.field("name")?.stamp)
        #expect(kept.time.milliseconds == clock.milliseconds)
        #expect(yielded.time.milliseconds == clock.milliseconds - 50 * 365 * 86_400_000)
    }

    /// In 2050, what lies 50 years before then was the time of other writes.
    @Test(arguments: [1_735_689_600_000, 2_556_144_000_000, 4_102_444_800_000] as [Int64])
    func theTimeOfARefusedValueLiesBeforeTheYear2000(now: Int64) {
        let now = HybridTime(milliseconds: now)
        let time = RefusedTime.time(at: now)
        #expect(time.milliseconds < 946_684_800_000)
        #expect(RefusedTime.contains(time) && !RefusedTime.contains(now))
        #expect(RefusedTime.time(at: HybridTime(rawValue: now.rawValue + 1)) != time)
    }

    /// Nobody else has what waits here.
    @Test func whatWaitsIsNotForgottenByAMachineThatStartsOver() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|5'")
        #expect(try await b.alarms().count == 1)
        let other = try await b.store.peers.add(key: a.key, name: a.name)
        let zone = try await b.store.zones.all()[0]
        try await b.store.database.write { db in
            let current = try ChangeLog.current(db)
            _ = try b.store.exchange.startOver(db, with: other, in: [(zone, heldByPeer: current)])
        }
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'X'") != ["0"])
        #expect(try await b.alarms().count == 1)
    }

    @Test func whatWentBeforeTheAlarmComesBackHoweverLateItIsRefused() async throws {
        for number in 41...70 {
            try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
            try await a.sync(with: b)
        }
        #expect(try b.authors() == 100 - 11)
        clock.milliseconds += 20 * StoreFuse.window
        try await b.store.upkeep.purgeIfDue()
        try await b.refuse()
        try await FuseScene.expectEqual(b, a)
        #expect(try a.authors() == 100)
    }

    /// Nothing of it may stay.
    @Test func whatWaitsGoesWithADeletionForEver() async throws {
        try a.shell("UPDATE Author SET name = 'secret' WHERE recordName > 'Author|~|2'")
        try await a.sync(with: b)
        #expect(try await b.alarms().count == 1)
        let name = try RecordName("Author|~|50")
        try await b.store.database.write { _ = try b.store.deleteForever($0, name) }
        let waiting = try b.rows(
            "SELECT COUNT(*) FROM grdb_sync_withheldRecord WHERE recordName = 'Author|~|50'")
        #expect(waiting == ["0"])
    }

    @Test func anAppsOwnWritesAreNoAlarm() async throws {
        _ = try await b.store.write { db in try db.execute(sql: "DELETE FROM Book; DELETE FROM Author") }
        #expect(try await b.alarms().isEmpty)
    }

    @Test func whatWaitsOutlivesTheProgram() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        try await a.sync(with: b)
        let again = try RecordStore(
            b.store.database, schema: Library.schema(), replica: ReplicaID(rawValue: 2),
            now: { [clock] in clock.milliseconds })
        let alarm = try #require(try await again.database.read { try again.fuse.alarms($0) }.first)
        try await again.database.write { try again.fuse.allow($0, alarm) }
        try await FuseScene.expectEqual(b, a)
    }

    @Test func textsThatAreNoSettingAreRefused() {
        #expect(FuseSetting(share: 1.5, records: 50) == nil)
        #expect(FuseSetting(share: 0.5, records: 0) == nil)
        #expect(FuseSetting("off") == nil)
        #expect(FuseSetting(FuseSetting.standard.description) == .standard)
    }
}

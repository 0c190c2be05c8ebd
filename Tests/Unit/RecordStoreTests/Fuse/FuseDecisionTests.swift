import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// A person decides about what they have seen, whatever ends, starts again or comes meanwhile.
struct FuseDecisionTests {
    private let scene: FuseScene
    private var clock: SetClock { scene.clock }
    private var a: Machine { scene.a }
    private var b: Machine { scene.b }
    private var c: Machine { scene.c }

    init() async throws { scene = try await FuseScene() }

    private func decide(_ alarm: FuseAlarm, isAllowed: Bool) async throws {
        try await b.store.database.write { [b] db in
            if isAllowed {
                try b.store.fuse.allow(db, alarm)
            } else {
                try b.store.fuse.refuse(db, alarm)
            }
        }
    }

    private func expectStale(_ alarm: FuseAlarm) async throws {
        for isAllowed in [true, false] {
            await #expect {
                try await decide(alarm, isAllowed: isAllowed)
            } throws: { error in
                (error as? RecordStoreError)?.code == .zonesChanged
            }
        }
    }

    // MARK: What was seen

    @Test func nobodyDecidesAboutMoreThanWasListed() async throws {
        try a.shell("DELETE FROM Author WHERE recordName BETWEEN 'Author|~|50' AND 'Author|~|80'")
        try await a.sync(with: b)
        let seen = try #require(try await b.alarms().first)
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|90'")
        try await a.sync(with: b)
        try await expectStale(seen)
        let now = try #require(try await b.alarms().first)
        #expect(now.id != seen.id)
        try await decide(now, isAllowed: true)
        #expect(try b.rows("SELECT 1 FROM Author WHERE recordName = 'Author|~|90'").isEmpty)
        // Somebody else has decided.
        try await expectStale(now)
    }

    /// The numbers are as before, and what would become of a record is not.
    @Test func anotherValueOfTheSameRecordIsAnotherAlarm() async throws {
        try a.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|50'")
        try await a.sync(with: b)
        let seen = try #require(try await b.alarms().first)
        #expect(try await b.alarms().first?.id == seen.id)
        clock.milliseconds += 1
        try a.shell("UPDATE Author SET name = 'Y' WHERE recordName = 'Author|~|60'")
        try await a.sync(with: b)
        #expect(try await b.alarms().first?.overwrittenCount == seen.overwrittenCount)
        try await expectStale(seen)
    }

    /// A peer may have tried until what it sends instead has the same six digits.
    @Test func aDecisionIsAboutMoreThanTheDigitsThatPeopleSee() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|50'")
        try await a.sync(with: b)
        let now = try #require(try await b.alarms().first)
        var hash = now.hash
        hash[hash.count - 1] ^= 1
        let seen = FuseAlarm(
            hash: hash, source: now.source, zone: now.zone, since: now.since, deletedCount: now.deletedCount,
            overwrittenCount: now.overwrittenCount, records: now.records, peer: now.peer,
            zoneRow: now.zoneRow)
        #expect(seen.id == now.id && seen != now)
        try await expectStale(seen)
        try await decide(now, isAllowed: true)
    }

    /// The digits depend on what only this store knows, so a peer cannot look for something else with the same ones.
    @Test func theSameHasOtherDigitsInAnotherStore() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|50'")
        try await a.sync(with: b)
        let seen = try #require(try await b.alarms().first)
        try await b.store.database.write { try SyncState.set($0, .fuseSalt, "that of another store") }
        #expect(try #require(try await b.alarms().first).id != seen.id)
        try await expectStale(seen)
    }

    /// A fuse that an earlier version has set has no secret yet.
    @Test func anOpeningDrawsTheSecretOfAFuseThatIsSet() async throws {
        let salt = "SELECT value FROM grdb_sync_syncState WHERE name = 'fuseSalt'"
        try b.shell("DELETE FROM grdb_sync_syncState WHERE name = 'fuseSalt'")
        #expect(try b.rows(salt).isEmpty)
        _ = try RecordStore(
            b.store.database, schema: b.store.schema, replica: b.store.replica, now: { 0 })
        let drawn = try b.rows(salt)
        #expect(drawn.count == 1)
        _ = try RecordStore(
            b.store.database, schema: b.store.schema, replica: b.store.replica, now: { 0 })
        #expect(try b.rows(salt) == drawn)
    }

    @Test func whatAProgramDoesMeanwhileIsAnotherAlarm() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|50'")
        let seen = try #require(try await b.alarms().first)
        try b.shell("DELETE FROM Author WHERE recordName = 'Author|~|60'")
        try await expectStale(seen)
    }

    /// What would go along with the listed records is part of what was seen.
    @Test func whatWouldGoAlongIsPartOfTheAlarm() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|50'")
        try await a.sync(with: b)
        let seen = try #require(try await b.alarms().first)
        try b.shell(
            "INSERT INTO Book (recordName, title, author) VALUES ('Book|~|new', 'T', 'Author|~|60')")
        try await expectStale(seen)
        #expect(try await b.alarms().first?.deletedCount == seen.deletedCount + 1)
    }

    /// Programs overwrite the same records once more.
    @Test func anotherWriteOfAProgramIsAnotherAlarm() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|50'")
        let seen = try #require(try await b.alarms().first)
        #expect(try await b.alarms().first?.id == seen.id)
        clock.milliseconds += 1
        try b.shell("UPDATE Author SET name = 'Y' WHERE recordName = 'Author|~|60'")
        try await expectStale(seen)
    }

    // MARK: Ends and beginnings

    @Test func aDecisionThatIsNotCommittedIsNone() async throws {
        struct PowerCut: Error {}
        let before = try b.everything()
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        try await a.sync(with: b)
        let alarm = try #require(try await b.alarms().first)
        for isAllowed in [true, false] {
            await #expect(throws: PowerCut.self) {
                try await b.store.database.write { [b] db in
                    if isAllowed {
                        try b.store.fuse.allow(db, alarm)
                    } else {
                        try b.store.fuse.refuse(db, alarm)
                    }
                    throw PowerCut()
                }
            }
            #expect(try await b.alarms() == [alarm])
            #expect(try b.everything() == before)
        }
        try await decide(alarm, isAllowed: false)
        try await FuseScene.expectEqual(b, a)
        #expect(try a.everything() == before)
    }

    /// As after a kill between the commit and the acknowledgement.
    @Test func whatComesTwiceWaitsOnce() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        try await a.sync(with: b)
        let alarm = try #require(try await b.alarms().first)
        let peer = try await b.store.peers.add(key: a.key, name: a.name)
        try await b.store.database.write { [b] in try PeerZone(store: b.store, peer: peer).voidReceived($0) }
        try await a.sync(with: b)
        #expect(try await b.alarms() == [alarm])
        try await decide(alarm, isAllowed: true)
        try await FuseScene.expectEqual(b, a)
    }

    @Test func whatAProgramTookWaitsAfterARestart() async throws {
        try b.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        let alarm = try #require(try await b.alarms().first)
        let again = try RecordStore(
            b.store.database, schema: Library.schema(), replica: ReplicaID(rawValue: 2),
            now: { [clock] in clock.milliseconds })
        #expect(try await again.database.read { try again.fuse.alarms($0) } == [alarm])
        try await b.sync(with: a)
        #expect(try a.authors() == 100)
    }

    // MARK: Three machines

    /// The one in the middle holds it back, and the other two meet as well.
    @Test(arguments: [true, false])
    func oneMachineOfThreeDecides(isAllowed: Bool) async throws {
        try await c.setFuse(nil)
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        let left = try { try a.authors() }()
        try await a.sync(with: b)
        try await a.sync(with: c)
        try await b.sync(with: c)
        #expect(try b.authors() == 100)
        #expect(try c.authors() == left)
        // Both have sent it.
        #expect(try await b.alarms().map(\.source) == [.peer("a"), .peer("c")])
        if isAllowed { try await b.allow() } else { try await b.refuse() }
        try await FuseScene.expectEqual(b, a, c)
        #expect(try a.authors() == (isAllowed ? left : 100))
        #expect(try await b.alarms().isEmpty)
    }

    /// Each of the two takes its own back, and relies on the other.
    @Test func twoRefusalsAtOnceLoseNothing() async throws {
        try b.shell("UPDATE Author SET name = 'B' WHERE recordName > 'Author|~|5'")
        try c.shell("UPDATE Author SET name = 'C' WHERE recordName > 'Author|~|6'")
        try await b.refuse()
        try await c.refuse()
        #expect(try b.authors() == 100 && c.authors() == 100)
        try await b.sync(with: c)
        #expect(try b.authors() == 100 && c.authors() == 100)
        #expect(try await b.alarms().isEmpty)
        #expect(try await c.alarms().isEmpty)
        // A third machine has the values of before.
        try await FuseScene.expectEqual(b, c, a)
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name IN ('B', 'C')") == ["0"])
        #expect(try await b.alarms().isEmpty)
        #expect(try await c.alarms().isEmpty)
    }

    /// What waits of one machine says nothing of another, so the digests still prove that the two hold the same.
    @Test func theProofHoldsWithMachinesThatHaveNoPartInIt() async throws {
        try a.shell("DELETE FROM Author WHERE recordName > 'Author|~|5'")
        try await a.sync(with: b)
        try await b.sync(with: c)
        func refused(_ machine: Machine) async throws -> Int {
            let zone = PeerZone(
                store: b.store, peer: try await b.store.peers.add(key: machine.key, name: machine.name))
            return try await b.store.database.read { try zone.summary($0).refused }
        }
        #expect(try await refused(a) > 0)
        #expect(try await refused(c) == 0)
        #expect(try await b.digest() == c.digest())
        // What this store sends nobody concerns all.
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|5'")
        try await b.store.foldPendingChanges()
        #expect(try await refused(c) > 0)
    }

    // MARK: What is not sent

    @Test func aPeerLacksWhatIsNotSentAlthoughItAcknowledgedMore() async throws {
        try b.shell("UPDATE Author SET name = 'X' WHERE recordName > 'Author|~|5'")
        let count = try #require(try await b.alarms().first).overwrittenCount
        try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'New')")
        try await b.sync(with: a)
        try await b.sync(with: c)
        let status = try await b.status()
        #expect(status.pendingByPeer["a"] == count)
        func isPending(_ name: String) async throws -> Bool {
            try await b.store.database.read { [b] in
                try b.store.listing.isPending($0, RecordName(name))
            }
        }
        #expect(try await isPending("Author|~|60"))
        #expect(try await !isPending("Author|~|new"))
        try await b.allow()
        try await b.sync(with: a)
        try await b.sync(with: c)
        #expect(try await !isPending("Author|~|60"))
    }

    /// The other machines have the records: a deletion that is forgotten could neither be allowed nor refused.
    @Test(arguments: [true, false])
    func aDeletionThatWaitsIsNotForgotten(isAllowed: Bool) async throws {
        try b.shell("DELETE FROM Author WHERE recordName > 'Author|~|2'")
        #expect(try await b.alarms().count == 1)
        try b.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|new', 'New')")
        try await b.sync(with: a)
        try await b.sync(with: c)
        clock.milliseconds += 2 * StoreUpkeep.defaultRetention
        try await b.store.upkeep.purgeIfDue()
        #expect(try await b.alarms().count == 1)
        if isAllowed { try await b.allow() } else { try await b.refuse() }
        try await c.setFuse(nil)
        try await FuseScene.expectEqual(b, a, c)
        #expect(try a.authors() == (isAllowed ? b.authors() : 101))
    }
}

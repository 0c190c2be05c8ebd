import PeerSyncModel
import PeerSyncStore
import TestSupport
import Testing

/// A clock that is ahead must not decide what the later write is, and what it has dated can be mended.
struct ClockSkewTests {
    private static let now: Int64 = 1_700_000_000_000
    private static let hour: Int64 = 3_600_000

    private let clock = SetClock(Self.now)
    private let a: Machine
    private let b: Machine

    init() throws {
        a = try Machine("a", number: 1, clock: clock)
        b = try Machine("b", number: 2, clock: SetClock(Self.now))
    }

    private func insert(_ number: Int, _ machine: Machine, ahead: Int64 = 0) async throws {
        clock.milliseconds = Self.now + ahead
        try machine.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'x')")
        _ = try await machine.store.foldPendingChanges()
        clock.milliseconds = Self.now
    }

    private func expectRefusal(_ number: Int) async {
        await #expect {
            try await a.send(to: b)
        } throws: { error in
            let error = error as? RecordStoreError
            return error?.code == .clockSkew && error?.message.contains("Author|~|\(number)") == true
                && error?.message.contains("2023-11-14T23:13:20Z") == true
                && error?.message.contains("2023-11-14T22:13:20Z") == true
        }
    }

    private func report() async throws -> ClockReport {
        try await a.store.database.read { [a] in try a.store.clock.report($0) }
    }

    @Test(arguments: [(0, true), (300_000, true), (300_001, false)])
    func fiveMinutesAreAllowed(ahead: Int64, isAllowed: Bool) async throws {
        try await insert(1, a, ahead: ahead)
        if isAllowed {
            try await a.send(to: b)
            #expect(try b.rows("SELECT name FROM Author") == ["x"])
        } else {
            await #expect(throws: RecordStoreError.self) { try await a.send(to: b) }
        }
    }

    /// That machine would give up for it what it has, and refuse it then.
    @Test func whatLiesInAMachinesFutureIsNotGivenToIt() async throws {
        try await insert(1, a, ahead: Self.hour)
        let exchange = a.store.exchange
        let club = try await a.store.zones.create("club").id
        let zones = try await a.store.zones.all().map(\.id).filter { $0 != club }
        let skew = StoreClock.defaultAllowedSkew
        await #expect {
            try await exchange.checkGiving(zones, at: Self.now, allowedSkew: skew)
        } throws: { error in
            let error = error as? RecordStoreError
            return error?.code == .clockSkew && error?.message.contains("Author|~|1") == true
                && error?.message.contains("nothing was replaced") == true
        }
        await #expect(throws: RecordStoreError.self) {
            try await exchange.checkGiving([club] + zones, at: Self.now, allowedSkew: skew)
        }
        try await exchange.checkGiving([club], at: Self.now, allowedSkew: skew)
        try await exchange.checkGiving(zones, at: Self.now, allowedSkew: Self.hour)
        try await exchange.checkGiving(zones, at: Self.now + Self.hour, allowedSkew: skew)
        // It has not said what its clock is.
        try await exchange.checkGiving(zones, at: 0, allowedSkew: skew)
        try await exchange.checkGiving(zones, at: .max, allowedSkew: skew)
    }

    /// Such a revival brings nothing back, and comes before the next write all the same.
    @Test func theClockSeesTheRevivalOfARecordThatWasDeletedForEver() async throws {
        let name = try RecordName("Author|~|1")
        let stamp = Stamp(time: HybridTime(milliseconds: Self.now), replica: ReplicaID(rawValue: 9))
        let revival = Stamp(
            time: HybridTime(milliseconds: Self.now + 200_000), replica: ReplicaID(rawValue: 9))
        let store = a.store
        _ = try await store.database.write { db in
            try store.merge(db, [RecordState(name: name, deletion: stamp, revival: revival, erasure: stamp)])
        }
        try await insert(1, a)
        let written = try #require(try await a.state("Author|~|1")?.newestWrite)
        #expect(written > revival)
    }

    /// The peer's clock is four minutes ahead, which is allowed. Whoever has seen what it wrote, and does something then, is
    /// the later one, several times within a millisecond.
    @Test func whatComesAfterAPeersWriteIsLaterAlsoWhereThePeersClockIsAhead() async throws {
        try await insert(1, a, ahead: 240_000)
        try await a.send(to: b)
        let name = try RecordName("Author|~|1")
        var last = try #require(try await b.state("Author|~|1")?.newestStamp)
        func expectLater(_ body: @escaping @Sendable (RecordStore) async throws -> Void) async throws {
            try await body(b.store)
            let stamp = try #require(try await b.state("Author|~|1")?.newestStamp)
            #expect(stamp > last)
            #expect(stamp.time.milliseconds == Self.now + 240_000)
            last = stamp
        }
        try await expectLater { store in
            _ = try await store.write { try $0.execute(sql: "UPDATE Author SET name = 'y'") }
        }
        try await expectLater { store in _ = try await store.write { try store.delete($0, name) } }
        try await expectLater { store in _ = try await store.write { try store.restore($0, name) } }
        try await expectLater { store in
            _ = try await store.write { try $0.execute(sql: "UPDATE Author SET name = 'z'") }
        }
        try await b.send(to: a)
        #expect(try a.rows("SELECT name FROM Author") == ["z"])
    }

    @Test func nothingOfARefusedBatchIsApplied() async throws {
        try await insert(1, a)
        try await insert(2, a, ahead: Self.hour)
        await expectRefusal(2)
        #expect(try b.rows("SELECT * FROM Author").isEmpty)
        #expect(try b.rows("SELECT * FROM grdb_sync_remoteRecord").isEmpty)
    }

    @Test func aRepairedStoreIsTakenAndKeepsTheOrderOfItsWrites() async throws {
        try await insert(1, a)
        try await insert(2, a, ahead: Self.hour)
        try a.shell("UPDATE Author SET name = 'after the clock was set' WHERE recordName = 'Author|~|1'")
        try await insert(3, a, ahead: 2 * Self.hour)
        let before = try await a.state("Author|~|3")
        #expect(before?.newestWrite?.time.milliseconds == Self.now + 2 * Self.hour)
        let found = try await report()
        #expect(found.newest == Self.now + 2 * Self.hour)
        #expect(found.records == 3)
        #expect(found.needsRepair)

        let store = a.store
        try await store.database.write { _ = try store.clock.repair($0) }

        #expect(try await !report().needsRepair)
        #expect(try await report().records == 0)
        var stamps: [Stamp] = []
        for number in [2, 1, 3] {
            stamps.append(try #require(try await a.state("Author|~|\(number)")?.newestWrite))
        }
        #expect(stamps == stamps.sorted())
        #expect(Set(stamps).count == 3)
        #expect(stamps.allSatisfy { $0.time.milliseconds == Self.now })
        // What was not in the future keeps its stamp.
        #expect(try await a.state("Author|~|1")?.field("born")?.stamp.time.counter == 0)
        try await a.sync(with: b)
        #expect(try await a.digest() == b.digest())
        let names = try b.rows("SELECT name FROM Author ORDER BY recordName")
        #expect(names == ["after the clock was set", "x", "x"])
    }

    @Test func deletionsAreRepairedToo() async throws {
        try await insert(1, a)
        try await a.sync(with: b)
        clock.milliseconds = Self.now + Self.hour
        try a.shell("DELETE FROM Author")
        _ = try await a.store.foldPendingChanges()
        clock.milliseconds = Self.now
        await expectRefusal(1)
        let store = a.store
        try await store.database.write { _ = try store.clock.repair($0) }
        try await a.sync(with: b)
        #expect(try b.rows("SELECT * FROM Author").isEmpty)
        #expect(try await b.status().tombstones == 1)
    }

    @Test func aHealthyStoreIsLeftAsItIs() async throws {
        try await insert(1, a)
        let before = try await a.state("Author|~|1")
        let store = a.store
        let report = try await store.database.write { try store.clock.repair($0) }
        #expect(!report.needsRepair)
        #expect(try await a.state("Author|~|1") == before)
    }

    /// Whoever wants no limit names a great number.
    @Test(arguments: [(.max, 0), (.min, 1)] as [(Int64, Int)])
    func aDistanceOutOfBoundsCountsAsTheNearestOne(skew: Int64, count: Int) async throws {
        try await insert(1, a, ahead: 1000)
        let store = a.store
        let report = try await store.database.read { try store.clock.report($0, allowedSkew: skew) }
        #expect(report.records == count && report.now == Self.now)
        let repaired = try await store.database.write { try store.clock.repair($0, allowedSkew: skew) }
        #expect(repaired == report)
    }
}

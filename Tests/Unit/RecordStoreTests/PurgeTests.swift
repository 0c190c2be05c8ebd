import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// When deletions are forgotten, and whom that waits for.
struct PurgeTests {
    private static let day: Int64 = 86_400_000

    private let clock = SetClock(1_700_000_000_000)
    private let a: Machine
    private let b: Machine

    /// Two machines with two authors.
    init() async throws {
        (a, b) = try await Machine.pair(
            clock,
            holding: "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'x'), ('Author|~|2', 'y')")
    }

    /// Deletes an author here, and lets the other machine know.
    private func delete(_ number: Int) async throws {
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|\(number)'")
        try await a.sync(with: b)
    }

    private func purgeNow() async throws -> Int {
        let store = a.store
        return try await store.database.write { try store.upkeep.purge($0, retention: 0) }
    }

    /// Notes a sync, which is when it is looked whether something is to be forgotten.
    private func syncIsNoted() async throws {
        try await a.store.peers.noteInSync(with: try #require(try await a.store.peers.all().first))
    }

    /// A purge, and a list of deleted records, hold all of them.
    @Test func theValuesOfADeletedRecordAreInMemoryOnce() async throws {
        try await delete(1)
        let store = a.store
        try await store.database.read { db in
            let record = try #require(try OutOfSight(db, store.tables).deleted.first)
            #expect(record.state.field("name")?.value == .text("x"))
            #expect(record.original?.stored.metadata.storedValues == [:])
        }
    }

    @Test func whoHasNeverAcknowledgedAnythingIsWaitedFor() async throws {
        try await delete(1)
        _ = try await a.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "new")
        #expect(try await purgeNow() == 0)
    }

    /// A machine that has no right to the zone has nothing of it, and need not hear of deletions.
    @Test func whoHasNoRightIsNotWaitedFor() async throws {
        try await delete(1)
        _ = try await a.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "stranger")
        try await a.store.zones.grant(.none, to: "stranger", in: "ScorebookData")
        #expect(try await purgeNow() == 1)
    }

    /// It holds what it had, and may get its rights back.
    @Test func whoHadRightsIsWaitedFor() async throws {
        try await a.store.zones.grant(.none, to: "b", in: "ScorebookData")
        try a.shell("DELETE FROM Author WHERE recordName = 'Author|~|1'")
        #expect(try await purgeNow() == 0)
        try await a.store.zones.grant(.write, to: "b", in: "ScorebookData")
        try await a.sync(with: b)
        #expect(try await purgeNow() == 1)
        #expect(try b.rows("SELECT recordName FROM Author") == ["Author|~|2"])
    }

    /// A program has written the record anew, and nobody has looked since.
    @Test func whatWasWrittenSinceTheDeletionIsTakenInFirst() async throws {
        try await delete(1)
        clock.milliseconds += 1000
        try a.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'again')")
        #expect(try await purgeNow() == 0)
        #expect(try await a.state("Author|~|1")?.deletion != nil)
        #expect(try await a.state("Author|~|1")?.isLive == true)
    }

    @Test func deletionsAreForgottenOnceADay() async throws {
        try await delete(1)
        clock.milliseconds += Self.day / 2
        try await delete(2)
        clock.milliseconds += StoreUpkeep.defaultRetention - Self.day / 2
        try await syncIsNoted()
        #expect(try await a.status().tombstones == 1)
        // The other is due now, and its turn comes with the next day's.
        clock.milliseconds += Self.day / 2
        try await syncIsNoted()
        #expect(try await a.status().tombstones == 1)
        clock.milliseconds += Self.day / 2
        try await syncIsNoted()
        #expect(try await a.status().tombstones == 0)
    }

    /// A clock that was ten years ahead for a while does not keep deletions for ten years.
    @Test func aClockThatWasSetBackDelaysNothing() async throws {
        clock.milliseconds += 3650 * Self.day
        try await syncIsNoted()
        clock.milliseconds -= 3650 * Self.day
        try await delete(1)
        clock.milliseconds += StoreUpkeep.defaultRetention
        try await syncIsNoted()
        clock.milliseconds += Self.day
        try await syncIsNoted()
        #expect(try await a.status().tombstones == 0)
    }

    @Test func aClockThatIsAheadForSomeHoursForgetsNothing() async throws {
        try await syncIsNoted()
        try await delete(1)
        clock.milliseconds += 365 * Self.day
        try await syncIsNoted()
        clock.milliseconds -= 365 * Self.day
        try await syncIsNoted()
        #expect(try await a.status().tombstones == 1)
        // Who was away for a year waits another day.
        clock.milliseconds += 365 * Self.day
        try await syncIsNoted()
        clock.milliseconds += Self.day
        try await syncIsNoted()
        #expect(try await a.status().tombstones == 0)
    }
}

import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// What a person asked for, and what takes nothing away, is no alarm.
struct FuseExemptionTests {
    private let scene: FuseScene
    private var clock: SetClock { scene.clock }
    private var a: Machine { scene.a }
    private var b: Machine { scene.b }

    /// The fuse asks about the second record.
    init() async throws {
        scene = try await FuseScene()
        try await scene.b.setFuse(FuseSetting(share: 0, records: 1))
    }

    /// As a migration, or a program that learns something about all records.
    @Test func aProgramThatFillsEmptyColumnsTakesNothingAway() async throws {
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        try b.shell("UPDATE Book SET pages = 400")
        #expect(try await b.alarms().isEmpty)
        try await b.sync(with: a)
        #expect(try await a.digest() == b.digest())
        try b.shell("UPDATE Author SET born = '1776-12-16T00:00:00Z'")
        #expect(try await b.alarms().first?.overwrittenCount == 100)
    }

    @Test func aProgramThatEmptiesColumnsIsAskedAbout() async throws {
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z'")
        try await b.sync(with: a)
        try b.shell("UPDATE Author SET born = NULL")
        #expect(try await b.alarms().first?.overwrittenCount == 100)
    }

    @Test func aProgramThatFillsOneColumnAndOverwritesAnotherIsAskedAbout() async throws {
        try b.shell("UPDATE Author SET born = '1775-12-16T00:00:00Z', name = 'X'")
        #expect(try await b.alarms().first?.overwrittenCount == 100)
    }

    @Test func newRecordsAreNoAlarm() async throws {
        try b.shell(
            "INSERT INTO Book (recordName, title, author) SELECT 'Book|~|b' || name, 'T', recordName FROM Author"
        )
        #expect(try await b.alarms().isEmpty)
    }

    @Test func anImportIsNoAlarm() async throws {
        let stamp = Stamp(
            time: HybridTime(milliseconds: clock.milliseconds), replica: ReplicaID(rawValue: 77))
        let states = try (1...100).map { number in
            RecordState(
                name: try RecordName("Author|~|\(number)"),
                fields: [RecordField(name: "name", value: .text("of a file"), stamp: stamp)])
        }
        _ = try await b.store.write { [b] in try b.store.merge($0, states) }
        #expect(try await b.alarms().isEmpty)
        #expect(try b.rows("SELECT COUNT(*) FROM Author WHERE name = 'of a file'") == ["100"])
    }

    @Test func aRepairIsNoAlarm() async throws {
        try await b.store.database.write { db in
            try CaptureTriggers.paused(db) { try db.execute(sql: "UPDATE Author SET name = 'past sync'") }
        }
        let found = try await b.store.database.write { [b] in try b.store.upkeep.repair($0) }
        #expect(found.findings.count == 100)
        #expect(try await b.alarms().isEmpty)
    }

    /// The app has changed its tables itself.
    @Test func whatAMigrationChangesIsNoAlarm() async throws {
        try await b.store.database.write { db in
            try RecordStore.stopCapturing(db, of: "Author")
            try db.execute(sql: "UPDATE Author SET name = upper(name)")
        }
        let again = try RecordStore(
            b.store.database, schema: Library.schema(), replica: ReplicaID(rawValue: 2),
            now: { [clock] in clock.milliseconds })
        #expect(try await again.database.read { try again.fuse.alarms($0) }.isEmpty)
        let names = try b.rows("SELECT COUNT(*) FROM Author WHERE name GLOB 'NAME*'")
        #expect(names == ["100"])
        try await b.sync(with: a)
        #expect(try a.everything() == b.everything())
    }

    @Test func aPersonWhoDeletesAndRestoresIsNoAlarm() async throws {
        _ = try await b.store.write { [b] in try b.store.delete($0, RecordName("Author|~|1")) }
        #expect(try b.authors() == 99)
        _ = try await b.store.write { [b] in try b.store.restore($0, RecordName("Author|~|1")) }
        #expect(try await b.alarms().isEmpty)
        try await b.sync(with: a)
        #expect(try await a.digest() == b.digest())
    }

    /// Of a few records that were here, a first copy may overwrite all.
    @Test func aFirstCopyIntoAnAlmostEmptyStoreIsNoAlarm() async throws {
        let d = try Machine("d", number: 4, clock: clock)
        try await d.setFuse(.standard)
        clock.milliseconds -= 10_000
        for number in 1...49 {
            try d.shell("INSERT INTO Author (recordName, name) VALUES ('Author|~|\(number)', 'Mine')")
        }
        try await d.store.foldPendingChanges()
        clock.milliseconds += 10_000
        try a.shell("UPDATE Author SET name = name || '!'")
        try await a.sync(with: d)
        #expect(try await d.alarms().isEmpty)
        #expect(try d.rows("SELECT COUNT(*) FROM Author WHERE name = 'Mine'") == ["0"])
        #expect(try await a.digest() == d.digest())
    }

    /// What the zone lost to a restored backup comes from the peers again.
    @Test func aMachineThatStartsOverIsNoAlarm() async throws {
        let other = try await b.store.peers.add(key: a.key, name: a.name)
        let zone = try await b.store.zones.all()[0]
        try await b.store.database.write { [b] db in
            let current = try ChangeLog.current(db)
            _ = try b.store.exchange.startOver(db, with: other, in: [(zone, heldByPeer: current)])
        }
        #expect(try b.authors() == 0)
        try await a.sync(with: b)
        #expect(try b.authors() == 100)
        #expect(try await b.alarms().isEmpty)
    }
}

import Foundation
import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// A machine that leaves removes what it shared, and nothing else.
struct ErasingTests {
    @Test func filesThatTheZoneDidNotHaveStay() async throws {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let directory = files.url
        let assets = AssetDirectory(at: directory)
        let album = try AssetReferenceTests.Album(assets)
        let shared = try assets.add([1, 2, 3])
        let own = try assets.add([4, 5, 6])
        // Somebody is adding a third, and has not said yet which record has it.
        let coming = try assets.add([7, 8, 9])
        try await album.write(
            "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [shared.json])
        let attic = try await album.store.zones.create("attic")
        try await album.store.database.write { [store = album.store] db in
            try db.execute(
                sql: "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|2', ?)", arguments: [own.json])
            _ = try store.fold(db, newIn: .one(attic))
        }
        _ = try await album.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "kitchen")
        let zones = try await album.store.peers.zonesToErase(whenForgetting: "kitchen")
        #expect(zones.map(\.name) == ["ScorebookData"])
        try await album.store.peers.forget("kitchen", erasing: zones)
        #expect(try album.rows("SELECT recordName FROM Photo") == ["Photo|~|2"])
        #expect(!assets.isHere(shared.hash))
        #expect(assets.isHere(own.hash))
        #expect(assets.isHere(coming.hash))
        #expect(try await album.store.peers.all().isEmpty)
        let zone = try #require(try await album.store.zones.all().first)
        #expect(!zone.isShared && zone.digest.count == 0)
    }

    @Test func aZoneOfItsOwnGoesWithItsRecords() async throws {
        let machine = try Machine("a", number: 1)
        let club = try await machine.store.zones.create("club")
        try await machine.store.database.write { [store = machine.store] db in
            try db.execute(sql: "INSERT INTO Author (recordName, name) VALUES ('Author|~|1', 'Jane')")
            _ = try store.fold(db, newIn: .one(club))
        }
        _ = try await machine.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "kitchen")
        try await machine.store.zones.grant(.read, to: "kitchen", in: "club")
        try await machine.store.peers.forget(
            "kitchen", erasing: machine.store.peers.zonesToErase(whenForgetting: "kitchen"))
        #expect(try await machine.store.zones.all().map(\.name) == ["ScorebookData"])
        #expect(
            try machine.rows(
                "SELECT recordName FROM Author UNION ALL SELECT remoteRecordID FROM grdb_sync_remoteRecord")
                == [])
    }

    @Test func aCopyIsAwaitedFromWhenThisOneIsGivenUpUntilItIsInSync() async throws {
        let machine = try Machine("a", number: 1)
        let store = machine.store
        let kitchen = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "kitchen")
        _ = try await store.zones.create("club")
        try await store.zones.delete("club")
        func awaited() async throws -> String? {
            try await store.database.read { try store.status($0).awaitedCopy }
        }
        #expect(try await awaited() == nil)
        let zone = try #require(try await store.zones.all().first)
        let theirs = ZoneID(name: .standard, owner: ReplicaID(rawValue: 7))
        let plan = ZonePlan(
            takenUp: [],
            defaultZone: .init(id: zone.id, isShared: zone.isShared, change: .replace(by: theirs)))
        _ = try await store.exchange.share(plan, with: kitchen, since: nil)
        #expect(try await awaited() == "kitchen")
        let attic = try await store.peers.add(key: [UInt8](repeating: 8, count: 32), name: "attic")
        try await store.peers.noteInSync(with: attic)
        #expect(try await awaited() == "kitchen")
        try await store.peers.noteInSync(with: kitchen)
        #expect(try await awaited() == nil)
    }

    /// The session of the copy was cut after it had told the number of its end. An older log of a mailbox does not have all.
    @Test(arguments: [(nil, 4, true), (9, 8, false), (9, 9, true)] as [(Int64?, Int64, Bool)])
    func aCopyThatCameThroughAMailboxIsNotAwaited(told: Int64?, read: Int64, isWhole: Bool) async throws {
        let machine = try Machine("a", number: 1)
        let store = machine.store
        let kitchen = try await store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "kitchen")
        let zone = try #require(try await store.zones.all().first)
        let theirs = ZoneID(name: .standard, owner: ReplicaID(rawValue: 7))
        let plan = ZonePlan(
            takenUp: [],
            defaultZone: .init(id: zone.id, isShared: zone.isShared, change: .replace(by: theirs)))
        _ = try await store.exchange.share(plan, with: kitchen, since: nil)
        let exchange = PeerZone(store: store, zone: .default, peer: kitchen)
        let awaited = try await store.database.write { db in
            if let told {
                let token = ChangeToken(generation: [1], sequence: told)
                _ = try exchange.apply(db, ChangeBatch(records: [], token: token, isLast: false))
            }
            let log = try ZoneLog(store, store.zones.all(db)[0])
            try log.noteRead(db, from: kitchen, upTo: read)
            return try store.status(db).awaitedCopy
        }
        #expect(awaited == (isWhole ? nil : "kitchen"))
    }

    /// Otherwise it would bring all machines of the one household into the next.
    @Test func whoLeavesTakesNoIntroductionsAlong() async throws {
        let machine = try Machine("a", number: 1)
        let peers = machine.store.peers
        _ = try await peers.add(key: [UInt8](repeating: 9, count: 32), name: "kitchen")
        _ = try await machine.store.household.introduce(by: [UInt8](repeating: 8, count: 32))
        #expect(try machine.rows("SELECT COUNT(*) FROM grdb_sync_introduction") == ["1"])
        try await peers.forget("kitchen", erasing: peers.zonesToErase(whenForgetting: "kitchen"))
        #expect(try machine.rows("SELECT COUNT(*) FROM grdb_sync_introduction") == ["0"])
    }
}

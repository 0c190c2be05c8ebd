import Foundation
import GRDB
import PeerSyncModel
import Synchronization
import TestSupport
import Testing

@testable import PeerSyncStore

/// A store knows which files its live records have, whoever writes them, and lets go of the others in time.
struct AssetReferenceTests {
    /// A shelf of photographs, and one of the machines that have it.
    final class Album: Sendable {
        let database: DatabaseQueue
        let store: RecordStore

        init(_ assets: AssetDirectory?, replica: UInt64 = 1) throws {
            database = try DatabaseQueue()
            try database.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE Photo (
                            recordName TEXT NOT NULL PRIMARY KEY, title TEXT, file BLOB, small BLOB,
                            modificationDate TEXT);
                        """)
            }
            let schema = try RecordSchema([
                RecordType(
                    "Photo",
                    [
                        FieldDefinition("title"), FieldDefinition("file", .asset),
                        FieldDefinition("small", .asset),
                    ])
            ])
            store = try RecordStore(
                database, schema: schema, replica: ReplicaID(rawValue: replica), assetDirectory: assets)
        }

        func write(_ sql: String, _ arguments: StatementArguments = []) async throws {
            try await store.write { try $0.execute(sql: sql, arguments: arguments) }
        }

        func rows(_ sql: String) throws -> [String] {
            try database.read { db in
                try Row.fetchAll(db, sql: sql).map { row in
                    row.databaseValues.map { $0.isNull ? "-" : String.fromDatabaseValue($0) ?? "\($0)" }
                        .joined(separator: "|")
                }
            }
        }

        var references: [String] {
            get throws {
                try rows(
                    "SELECT recordName, field, lower(hex(hash)), size FROM grdb_sync_assetReference ORDER BY 1, 2"
                )
            }
        }
    }

    static func asset(_ number: UInt8) -> (bytes: [UInt8], asset: Asset) {
        let bytes = [UInt8](repeating: number, count: 1000 + Int(number))
        let asset = try! withAssets { try $0.add(bytes) }
        return (bytes, asset)
    }

    private func withAlbum(_ body: (Album, AssetDirectory) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let assets = AssetDirectory(at: directory.appendingPathComponent("assets", isDirectory: true))
            try await body(try Album(assets), assets)
        }
    }

    @Test func whatRecordsReferToIsKnown() async throws {
        try await withAlbum { album, assets in
            let (first, second) = (Self.asset(1).asset, Self.asset(2).asset)
            try await album.write(
                "INSERT INTO Photo (recordName, file, small) VALUES ('Photo|~|1', ?, ?), ('Photo|~|2', ?, NULL)",
                [first.json, second.json, first.json])
            #expect(
                try album.references == [
                    "Photo|~|1|file|\(first.hash)|1001", "Photo|~|1|small|\(second.hash)|1002",
                    "Photo|~|2|file|\(first.hash)|1001",
                ])
            #expect(try await album.store.assets.status().missing.files == 2)
            #expect(try await album.store.assets.status().missing.bytes == 2003)
            _ = try assets.add(Self.asset(1).bytes)
            #expect(try await album.store.assets.status().missing.files == 1)

            try await album.write(
                "UPDATE Photo SET small = NULL, file = 'nothing' WHERE recordName = 'Photo|~|1'")
            #expect(try album.references == ["Photo|~|2|file|\(first.hash)|1001"])
            try await album.write("DELETE FROM Photo")
            #expect(try album.references == [])
            #expect(try album.rows("SELECT COUNT(*) FROM grdb_sync_assetLeftover") == ["2"])
            // A write that is newer than the deletion.
            try await album.write(
                "INSERT INTO Photo (recordName, small) VALUES ('Photo|~|2', ?)", [second.json])
            #expect(try album.references == ["Photo|~|2|small|\(second.hash)|1002"])
            #expect(try album.rows("SELECT COUNT(*) FROM grdb_sync_assetLeftover") == ["1"])
        }
    }

    @Test func aPictureInAColumnBecomesAFile() async throws {
        try await withAlbum { album, assets in
            let (bytes, asset) = Self.asset(3)
            try await album.write(
                "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [Data(bytes)])
            #expect(try album.rows("SELECT file FROM Photo") == [asset.json])
            #expect(try Data(contentsOf: assets.file(asset.hash)) == Data(bytes))
            #expect(try album.references == ["Photo|~|1|file|\(asset.hash)|1003"])
            // In other columns a BLOB is a BLOB.
            try await album.write("UPDATE Photo SET title = x'ffd8ff'")
            #expect(try album.rows("SELECT typeof(title) FROM Photo") == ["blob"])
            let check = try await album.store.database.read { [store = album.store] in
                try store.upkeep.check($0)
            }
            #expect(check.isSound)
        }
    }

    /// A large picture that cannot be put into a file waits in the store, and the record can be sent.
    @Test func aLargePictureWithoutRoomKeepsNothingFromBeingSent() async throws {
        try await withAlbum { album, assets in
            // A file where the directory should be.
            try Data([1]).write(to: assets.url)
            let (large, small) = (
                [UInt8](repeating: 7, count: 9 << 20), [UInt8](repeating: 8, count: 1000)
            )
            try await album.write(
                "INSERT INTO Photo (recordName, file, small) VALUES ('Photo|~|1', ?, ?)",
                [Data(large), Data(small)])
            let asset = try withAssets { try $0.add(large) }
            let thumbnail = Asset(describing: small)
            #expect(try album.rows("SELECT file, small FROM Photo") == [asset.json + "|" + thumbnail.json])
            let state = try await album.store.database.read { [store = album.store] in
                try store.state($0, of: RecordName("Photo|~|1"))
            }
            let kept = try #require(state)
            #expect(!kept.isTooLarge)
            #expect(try await album.store.assets.status().unstored.files == 2)

            try FileManager.default.removeItem(at: assets.url)
            try await album.write("UPDATE Photo SET title = 'Sea'")
            #expect(assets.isIntact(asset.hash) && assets.isIntact(thumbnail.hash))
            #expect(try album.rows("SELECT * FROM grdb_sync_assetUnstored") == [])
        }
    }

    /// A transaction that folds waits for no disk: the bytes are kept in the database, and become a file after it.
    @Test func filesAreWrittenAfterTheTransaction() async throws {
        try await withAlbum { album, assets in
            let (bytes, asset) = Self.asset(3)
            try await album.database.write { [store = album.store] db in
                try db.execute(
                    sql: "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)",
                    arguments: [Data(bytes)])
                _ = try store.fold(db)
            }
            #expect(!assets.isHere(asset.hash))
            #expect(try album.references == ["Photo|~|1|file|\(asset.hash)|1003"])
            #expect(try await album.store.assets.wanted(after: 0).list.isEmpty, "its bytes are here")
            try await album.store.assets.storeFiles()
            #expect(assets.isIntact(asset.hash))
            #expect(try album.rows("SELECT * FROM grdb_sync_assetUnstored") == [])
        }
    }

    /// Whoever only looks does not call a picture missing whose bytes are here.
    @Test func bytesThatFoundNoPlaceGetOneWithoutAnotherWrite() async throws {
        try await withAlbum { album, assets in
            let (bytes, asset) = Self.asset(3)
            try Data().write(to: assets.url)
            try await album.write(
                "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [Data(bytes)])
            #expect(try album.rows("SELECT COUNT(*) FROM grdb_sync_assetUnstored") == ["1"])
            let status = try await album.store.assets.status()
            #expect(status.unstored.files == 1 && status.unstored.bytes == asset.size)
            #expect(status.missing.files == 0)
            try FileManager.default.removeItem(at: assets.url)
            try await album.store.foldPendingChanges()
            #expect(assets.isIntact(asset.hash))
        }
    }

    /// Another program that could not write the file has made the table for its bytes, after this one has looked for it.
    @Test func bytesThatAnotherProgramKeptAreFound() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("album.sqlite").path
            let databases = (own: try DatabaseQueue(path: path), other: try DatabaseQueue(path: path))
            #expect(try await databases.own.read { try UnstoredAssets.first($0)?.bytes } == nil)
            _ = try await databases.other.write { try UnstoredAssets.keep($0, [1, 2, 3]) }
            #expect(try await databases.own.read { try UnstoredAssets.first($0)?.bytes } == Data([1, 2, 3]))
            #expect(try await databases.own.read { try UnstoredAssets.hashes($0).count } == 1)
        }
    }

    /// A peer may have asked for the file after the fold and before it was there.
    @Test func whoeverObservesTheStoreIsToldWhenTheFileIsThere() async throws {
        try await withAlbum { album, assets in
            let (bytes, asset) = Self.asset(3)
            let told = Mutex<[Bool]>([])
            let observation = album.store.observeWrites {
                told.withLock { $0.append(assets.isHere(asset.hash)) }
            }
            defer { observation.cancel() }
            try await album.database.write { [store = album.store] db in
                try db.execute(
                    sql: "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)",
                    arguments: [Data(bytes)])
                _ = try store.fold(db)
            }
            #expect(told.withLock { $0 } == [false])
            try await album.store.assets.storeFiles()
            #expect(told.withLock { $0 } == [false, true])
        }
    }

    /// SQLite tells its own connection nothing of these tables.
    @Test func whoeverObservesTheStoreIsToldOfAnotherChoice() async throws {
        try await withAlbum { album, _ in
            let told = Mutex(0)
            let observation = album.store.observeWrites { told.withLock { $0 += 1 } }
            defer { observation.cancel() }
            try await album.store.assets.setPolicy(.none)
            #expect(told.withLock { $0 } == 1)
            try await album.store.assets.setWished([Self.asset(3).asset.hash], true)
            #expect(told.withLock { $0 } == 2)
        }
    }

    /// Another program has found the file, and waits to write its record while a zone with the file is deleted.
    @Test func aFileThatSomebodyIsAddingStays() async throws {
        try await withAlbum { album, assets in
            let asset = try assets.add(Self.asset(3).bytes)
            let begin = Date(timeIntervalSinceNow: -60)
            try await album.store.zones.removeFiles([asset.hash], untouchedSince: begin)
            #expect(assets.isHere(asset.hash))
            try await album.store.zones.removeFiles([asset.hash], untouchedSince: begin + 120)
            #expect(!assets.isHere(asset.hash))
        }
    }

    @Test func aStoreWithoutADirectoryPassesOnWhatRecordsSay() async throws {
        let album = try Album(nil)
        let asset = Self.asset(4).asset
        try await album.write(
            "INSERT INTO Photo (recordName, file, small) VALUES ('Photo|~|1', x'ffd8ff', ?)", [asset.json])
        let state = try await album.store.database.read { [store = album.store] in
            try store.state($0, of: RecordName("Photo|~|1"))
        }
        #expect(state?.field("file")?.value == .blob([0xFF, 0xD8, 0xFF]))
        #expect(state?.field("small")?.value == .asset(asset))
    }

    @Test func aRepairFindsTheReferencesAgain() async throws {
        try await withAlbum { album, _ in
            let asset = Self.asset(5).asset
            try await album.write(
                "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [asset.json])
            let before = try album.references
            try await album.database.write { db in
                try db.execute(
                    sql:
                        "DELETE FROM grdb_sync_assetReference; UPDATE grdb_sync_recordZone SET recordCount = 7"
                )
            }
            try await album.store.database.write { [store = album.store] in _ = try store.upkeep.repair($0) }
            #expect(try album.references == before)
        }
    }

    @Test func whatIsWantedGoesByThePolicyAndByWishes() async throws {
        try await withAlbum { album, assets in
            let list = (1...4).map { Self.asset(UInt8($0 * 10)).asset }
            for (number, asset) in list.enumerated() {
                try await album.write(
                    "INSERT INTO Photo (recordName, file) VALUES (?, ?)", ["Photo|~|\(number)", asset.json])
            }
            func wanted(after id: Int64 = 0) async throws -> [AssetHash] {
                try await album.store.assets.wanted(after: id).list.map(\.hash)
            }
            #expect(try await wanted() == list.map(\.hash))
            try await album.store.assets.setPolicy(.under(1021))
            #expect(try await wanted() == [list[0].hash, list[1].hash])
            #expect(try await album.store.assets.status().excluded.files == 2)
            try await album.store.assets.setPolicy(.none)
            #expect(try await wanted() == [])
            try await album.store.assets.setWished([list[3].hash], true)
            #expect(try await wanted() == [list[3].hash])
            _ = try assets.add(Self.asset(40).bytes)
            #expect(try await wanted() == [])
            try await album.store.assets.setPolicy(.all)
            let last = try await album.store.assets.wanted(after: 0).last
            #expect(try await wanted(after: last) == [])
        }
    }

    /// Somebody names a wrong size, and mends it; and whatever others say, a file that is here is here.
    @Test func aSizeThatWasWrongIsMended() async throws {
        try await withAlbum { album, assets in
            let (bytes, asset) = Self.asset(20)
            let wrong = try #require(
                Asset(hash: asset.hash, size: 7, mediaType: asset.mediaType, name: asset.name))
            let larger = try #require(
                Asset(hash: asset.hash, size: 1 << 20, mediaType: asset.mediaType, name: asset.name))
            func wanted(after id: Int64 = 0) async throws -> [Int64] {
                try await album.store.assets.wanted(after: id).list.map(\.size)
            }
            try await album.write(
                "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [wrong.json])
            #expect(try await wanted() == [7])
            let last = try await album.store.assets.wanted(after: 0).last
            try await album.write("UPDATE Photo SET file = ?", [asset.json])
            #expect(try await wanted(after: last) == [asset.size])
            #expect(try album.references == ["Photo|~|1|file|\(asset.hash)|\(asset.size)"])
            #expect(try album.rows("SELECT * FROM grdb_sync_assetLeftover") == [])

            _ = try assets.add(bytes)
            #expect(try await wanted() == [])
            for (number, other) in [wrong, larger].enumerated() {
                try await album.write(
                    "INSERT INTO Photo (recordName, file) VALUES (?, ?)",
                    ["Photo|~|other\(number)", other.json])
                #expect(try await wanted() == [])
                #expect(try await album.store.assets.status().missing.files == 0)
            }
            try await album.write("DELETE FROM Photo WHERE recordName = 'Photo|~|1'")
            #expect(try await wanted() == [1 << 20], "no record names the size that the file has")
        }
    }

    /// Who waits for files sees that fewer are wanted.
    @Test func lettingGoOfAFileIsSeen() async throws {
        try await withAlbum { album, _ in
            var seen: Set<Int64> = [try await album.store.assets.wanted(after: 0).lastLeftover]
            for number in 1...3 {
                try await album.write(
                    "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)",
                    [Self.asset(UInt8(number)).asset.json])
                let before = try await album.store.assets.wanted(after: 0).lastLeftover
                #expect(seen.contains(before))
                try await album.write("DELETE FROM Photo")
                let after = try await album.store.assets.wanted(after: 0).lastLeftover
                #expect(seen.insert(after).inserted)
            }
        }
    }

    /// A peer is asked for files of the zones that it has, and does not hear of others.
    @Test func whatIsWantedOfAPeerGoesByZones() async throws {
        try await withAlbum { album, _ in
            let store = album.store
            let club = try await store.zones.create("club")
            let (shared, secret) = (Self.asset(1).asset, Self.asset(2).asset)
            for (zone, asset) in [(ZoneTarget.default, shared), (.one(club), shared), (.one(club), secret)] {
                try await store.database.write { db in
                    try db.execute(
                        sql: "INSERT INTO Photo (recordName, file) VALUES (?, ?)",
                        arguments: ["Photo|~|\(UUID().uuidString)", asset.json])
                    _ = try store.fold(db, newIn: zone)
                }
            }
            let home = try await store.zones.find(named: "ScorebookData")
            func wanted(_ zones: [Zone]?) async throws -> [AssetHash] {
                try await store.assets.wanted(after: 0, in: zones).list.map(\.hash)
            }
            #expect(try await wanted(nil) == [shared.hash, secret.hash])
            #expect(try await wanted([home]) == [shared.hash])
            #expect(try await wanted([club]) == [shared.hash, secret.hash])
            #expect(try await wanted([]) == [])
            #expect(try await store.assets.isReferred(secret.hash, in: [home]) == false)
        }
    }

    /// A file goes when no record has it, every peer knows that, and the time has passed; not before.
    @Test func whatNobodyNeedsGoesInTime() async throws {
        try await withAlbum { album, assets in
            let (bytes, asset) = Self.asset(6)
            _ = try assets.add(bytes)
            let stranger = try assets.add(Self.asset(7).bytes)
            try await album.write(
                "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [asset.json])
            let peer = try await album.store.peers.add(key: [UInt8](repeating: 9, count: 32), name: "attic")
            let peerZone = PeerZone(store: album.store, peer: peer)
            func acknowledgeAll() async throws {
                try await album.store.database.write { db in
                    try peerZone.acknowledge(db, peerZone.summary(db).current)
                }
            }
            func remove(retention: Int64) async throws -> Int {
                try await album.store.assets.removeUnreferred(retention: retention)
            }
            try await acknowledgeAll()
            // The clock has to have moved on since it was first seen that nobody needs it.
            #expect(try await remove(retention: 3_600_000) == 0)
            #expect(try await remove(retention: -1000) == 1)
            #expect(try assets.present().keys.contains(asset.hash))
            #expect(!assets.isHere(stranger.hash))

            try await album.write("DELETE FROM Photo")
            #expect(try await remove(retention: -1000) == 0, "the peer does not know of the deletion")
            try await acknowledgeAll()
            #expect(try await remove(retention: 3_600_000) == 0, "the time has not passed")
            #expect(assets.isHere(asset.hash))
            #expect(try await remove(retention: -1000) == 1)
            #expect(!assets.isHere(asset.hash))
            #expect(try album.rows("SELECT * FROM grdb_sync_assetLeftover") == [])
        }
    }

    // MARK: After the commit

    /// Whoever gets an error writes the same once more.
    @Test func nothingIsThrownForWhatIsCommitted() async throws {
        try await withAlbum { album, assets in
            try await album.database.write { db in
                try db.execute(sql: UnstoredAssets.create)
                try db.execute(
                    sql: """
                        CREATE TRIGGER broken BEFORE DELETE ON grdb_sync_assetUnstored
                        BEGIN SELECT RAISE(ABORT, 'broken'); END
                        """)
            }
            let (bytes, asset) = Self.asset(3)
            try await album.write(
                "INSERT INTO Photo (recordName, file) VALUES ('Photo|~|1', ?)", [Data(bytes)])
            try await album.store.foldPendingChanges()
            #expect(try album.rows("SELECT recordName FROM Photo") == ["Photo|~|1"])
            // The bytes wait, and who has the time for an error gets it.
            #expect(try await album.database.read { try UnstoredAssets.hashes($0) } == [asset.hash])
            await #expect(throws: DatabaseError.self) { try await album.store.assets.storeFiles() }
            try await album.database.write { try $0.execute(sql: "DROP TRIGGER broken") }
            try await album.store.foldPendingChanges()
            #expect(try await album.database.read { try UnstoredAssets.hashes($0) } == [])
            #expect(assets.isHere(asset.hash))
        }
    }

    // MARK: The policy

    @Test(
        arguments: [
            (.under(0), .none), (.under(-1), .none), (.under(.min), .none), (.under(1), .under(1)),
            (.under(999_999_999_999_999), .under(999_999_999_999_999)),
            (.under(1_000_000_000_000_000), .all), (.under(.max), .all), (.none, .none), (.all, .all),
        ] as [(AssetPolicy, AssetPolicy)])
    func aPolicyMeansTheSameAfterItIsStored(policy: AssetPolicy, stored: AssetPolicy) async throws {
        let album = try Album(nil)
        try await album.store.assets.setPolicy(policy)
        #expect(try await album.store.assets.policy() == stored)
    }

    @Test(arguments: ["under 9223372036854775807", "under 1000000GB"])
    func aGreatSizeThatAnEarlierVersionStoredFetchesAll(text: String) async throws {
        let album = try Album(nil)
        try await album.database.write { try SyncState.set($0, .assetPolicy, text) }
        #expect(try await album.store.assets.policy() == .all)
        #expect(AssetPolicy(text) == nil)
    }

    /// A later version may have written it, or an earlier one a size that nobody reads.
    @Test func aPolicyThatCannotBeReadFetchesNothing() async throws {
        let album = try Album(nil)
        #expect(try await album.store.assets.policy() == .all)
        try await album.database.write { try SyncState.set($0, .assetPolicy, "under 0GB") }
        #expect(try await album.store.assets.policy() == AssetPolicy.none)
    }
}

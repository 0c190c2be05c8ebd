import Foundation
import GRDB
import PeerSyncModel
import TestSupport
import Testing

@testable import PeerSyncStore

/// A column of files holds a text that names one, soon after a program has written the bytes. What a table or an app makes of
/// that text costs nobody a row or a picture.
struct AssetColumnTests {
    private static let picture = Asset(describing: [0xFF, 0xD8])

    /// Apps with a table whose column `photo` holds files.
    ///
    /// - Parameter photos: for each app, the declaration of the column, and what comes behind it.
    private static func withApps(
        _ photos: [String], _ body: ([VersionedApp], VersionedApp.Opening) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let assets = AssetDirectory(at: directory.appendingPathComponent("assets", isDirectory: true))
            let open: VersionedApp.Opening = { database, replica in
                try RecordStore(
                    database, tables: [SyncedTable("Item", files: ["photo"])], replica: replica,
                    assetDirectory: assets)
            }
            let apps = try photos.enumerated().map { number, photo in
                let sql = "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, title TEXT, photo \(photo))"
                return try VersionedApp(UInt64(number + 1), sql, open)
            }
            try body(apps, open)
        }
    }

    private func unsynced(_ app: VersionedApp) throws -> [String] {
        _ = try app.states()
        return try app.database.read { try app.store.status($0) }.unsynced.map { "\($0.name) \($0.reason)" }
    }

    private func held(_ app: VersionedApp) throws -> [RecordListEntry] {
        try app.database.read { try app.store.listing.held($0) }
    }

    private func rows(_ app: VersionedApp) throws -> [String] {
        try app.rows("SELECT id, title, hex(photo) FROM Item ORDER BY id")
    }

    // MARK: A table that takes no text

    @Test(arguments: ["BLOB", "INTEGER"])
    func aStrictColumnThatTakesNoTextIsRefused(type: String) async throws {
        let error = await #expect(throws: RecordStoreError.self) {
            try await Self.withApps(["\(type)) STRICT --"]) { _, _ in }
        }
        let reason = "Item.photo holds the description of a file, a text"
        #expect(error?.code == .tableMismatch)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    /// There the bytes travel like those of any other column.
    @Test func aStrictColumnOfBytesIsSyncedWithoutADirectory() throws {
        let sql = "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, photo BLOB) STRICT"
        let apps = try ([1, 2] as [UInt64]).map { number in
            try VersionedApp(number, sql) { database, replica in
                try RecordStore(
                    database, tables: [SyncedTable("Item", files: ["photo"])], replica: replica)
            }
        }
        try apps[0].execute("INSERT INTO Item VALUES ('1', x'ffd8')")
        try apps[0].sync(with: apps[1])
        #expect(try apps[1].rows("SELECT id, hex(photo) FROM Item") == ["1|FFD8"])
    }

    @Test func aStrictColumnOfAnyTypeKeepsItsRow() async throws {
        try await Self.withApps(["ANY) STRICT --", "TEXT) STRICT --"]) { apps, _ in
            try apps[0].execute("INSERT INTO Item VALUES ('1', 'x', x'ffd8')")
            try apps[0].sync(with: apps[1])
            for app in apps {
                #expect(try app.rows() == ["1|x|\(Self.picture.json)"])
                #expect(try unsynced(app) == [])
            }
        }
    }

    private static let bytesOnly = "BLOB CHECK (typeof(photo) IN ('blob', 'null'))"

    /// The row keeps what it has; the others get the file.
    @Test func aRowWhoseTableRefusesTheTextKeepsItsBytes() async throws {
        try await Self.withApps([Self.bytesOnly, "BLOB"]) { apps, open in
            let (a, b) = (apps[0], apps[1])
            try a.execute("INSERT INTO Item VALUES ('1', 'x', x'ffd8'), ('2', 'y', NULL)")
            try a.sync(with: b)
            #expect(try rows(a) == ["1|x|FFD8", "2|y|"])
            #expect(try b.rows() == ["1|x|\(Self.picture.json)", "2|y|-"])
            #expect(try unsynced(a) == ["Item|~|1 file"])
            #expect(try unsynced(b) == [])
            #expect(try held(a).isEmpty && held(b).isEmpty)
            // It travels, so the digests of the two have to be equal.
            #expect(try a.database.read { try UnsyncedRecords.count($0, zone: Zones.defaultID) } == 0)

            // What is written here and elsewhere, a repair and an opening leave it there.
            try a.execute("UPDATE Item SET title = 'z' WHERE id = '1'")
            try a.sync(with: b)
            try b.execute("UPDATE Item SET title = title || '!'")
            try a.sync(with: b)
            #expect(try rows(a) == ["1|z!|FFD8", "2|y!|"])
            _ = try a.database.write { try a.store.upkeep.repair($0) }
            try a.migrate("ALTER TABLE Item ADD COLUMN note TEXT DEFAULT 'new'", open)
            #expect(try rows(a) == ["1|z!|FFD8", "2|y!|"])
            #expect(try unsynced(a) == ["Item|~|1 file"])
            #expect(try a.isSound && b.isSound)
            // The next fold finds nothing to do.
            let changes = try a.database.read { $0.totalChangesCount }
            _ = try a.states()
            #expect(try a.database.read { $0.totalChangesCount } == changes)

            try a.execute("UPDATE Item SET photo = x'ffd9' WHERE id = '1'")
            try a.sync(with: b)
            #expect(try rows(a).first == "1|z!|FFD9")
            let second = Asset(describing: [0xFF, 0xD9])
            #expect(try b.rows("SELECT photo FROM Item WHERE id = '1'") == [second.json])
            #expect(try unsynced(a) == ["Item|~|1 file"])
            try a.execute("UPDATE Item SET photo = NULL WHERE id = '1'")
            #expect(try unsynced(a) == [])
            #expect(try a.isSound)
        }
    }

    @Test func aTableThatTakesTheTextMendsIt() async throws {
        try await Self.withApps([Self.bytesOnly]) { apps, open in
            try apps[0].execute("INSERT INTO Item VALUES ('1', 'x', x'ffd8'), ('2', 'y', x'ffd9')")
            #expect(try unsynced(apps[0]) == ["Item|~|1 file", "Item|~|2 file"])
            try apps[0].execute("DELETE FROM Item WHERE id = '2'")
            #expect(try unsynced(apps[0]) == ["Item|~|1 file"])
            try apps[0].migrate(
                """
                CREATE TABLE new_Item (id TEXT NOT NULL PRIMARY KEY, title TEXT, photo BLOB);
                INSERT INTO new_Item SELECT * FROM Item;
                DROP TABLE Item;
                ALTER TABLE new_Item RENAME TO Item;
                """, open)
            #expect(try apps[0].rows() == ["1|x|\(Self.picture.json)"])
            #expect(try unsynced(apps[0]) == [])
            #expect(try apps[0].isSound)
        }
    }

    /// What comes from elsewhere is held there as what any CHECK refuses. Each machine keeps its own rows.
    @Test func twoMachinesWhoseTablesRefuseTheTextKeepTheirOwnRows() async throws {
        try await Self.withApps([Self.bytesOnly, Self.bytesOnly]) { apps, _ in
            try apps[0].execute("INSERT INTO Item VALUES ('1', 'x', x'ffd8')")
            try apps[1].execute("INSERT INTO Item VALUES ('2', 'y', x'ffd8')")
            try apps[0].sync(with: apps[1])
            #expect(try rows(apps[0]) == ["1|x|FFD8"])
            #expect(try rows(apps[1]) == ["2|y|FFD8"])
            #expect(try held(apps[0]).map(\.name) == ["Item|~|2"])
            #expect(try held(apps[1]).map(\.name) == ["Item|~|1"])
            #expect(try (held(apps[0]) + held(apps[1])).allSatisfy { $0.waitsFor == .fields })
            #expect(try apps[0].isSound && apps[1].isSound)
        }
    }

    /// Bytes that are not the file which the record names could win over that file later.
    @Test func aRowKeepsNoBytesOfAnotherFile() async throws {
        try await Self.withApps([Self.bytesOnly, "BLOB"]) { apps, _ in
            try apps[0].execute("INSERT INTO Item VALUES ('1', 'x', x'ffd8')")
            try apps[0].sync(with: apps[1])
            try apps[1].execute("UPDATE Item SET photo = x'ffd9'")
            try apps[1].sync(with: apps[0])
            #expect(try rows(apps[0]) == [])
            #expect(try held(apps[0]).map(\.name) == ["Item|~|1"])
            #expect(try apps[1].rows() == ["1|x|\(Asset(describing: [0xFF, 0xD9]).json)"])
        }
    }

    /// An app that lets nobody change its rows keeps them, too.
    @Test func aRowThatATriggerDoesNotLetChangeKeepsItsBytes() async throws {
        try await Self.withApps(["BLOB", "BLOB"]) { apps, _ in
            try apps[0].execute(
                """
                CREATE TRIGGER keep BEFORE UPDATE ON Item BEGIN SELECT RAISE(ABORT, 'for ever'); END;
                INSERT INTO Item VALUES ('1', 'x', x'ffd8')
                """)
            try apps[0].sync(with: apps[1])
            #expect(try rows(apps[0]) == ["1|x|FFD8"])
            #expect(try apps[1].rows() == ["1|x|\(Self.picture.json)"])
            #expect(try unsynced(apps[0]) == ["Item|~|1 file"])
        }
    }

    // MARK: An app that reads the column as bytes

    /// It writes back what it has read, and has changed something else.
    @Test func theTextOfAFileWrittenBackAsBytesIsThatFile() async throws {
        try await Self.withApps(["BLOB", "BLOB"]) { apps, _ in
            let (a, b) = (apps[0], apps[1])
            try a.execute("INSERT INTO Item VALUES ('1', 'x', x'ffd8')")
            try a.sync(with: b)
            try b.execute("UPDATE Item SET title = 'renamed', photo = CAST(photo AS BLOB)")
            try b.sync(with: a)
            for app in apps {
                #expect(try app.rows() == ["1|renamed|\(Self.picture.json)"])
                #expect(try app.rows("SELECT typeof(photo) FROM Item") == ["text"])
                #expect(try app.isSound)
            }
            #expect(try b.database.read { try UnstoredAssets.hashes($0) } == [])
        }
    }

    @Test func aStoreWithoutADirectoryReadsSuchBytes() throws {
        let app = try VersionedApp(1, "CREATE TABLE Item (id TEXT NOT NULL PRIMARY KEY, photo BLOB)") {
            try RecordStore($0, tables: [SyncedTable("Item", files: ["photo"])], replica: $1)
        }
        try app.execute("INSERT INTO Item VALUES ('1', CAST('\(Self.picture.json)' AS BLOB)), ('2', x'ffd8')")
        let values = try app.states().map { $0.field("photo")?.value }
        #expect(values == [.asset(Self.picture), .blob([0xFF, 0xD8])])
    }

    // MARK: Records of GRDB

    private struct Item: Codable, Equatable, FetchableRecord, PersistableRecord {
        var id: String
        var title: String?
        var photo: Asset?
    }

    @Test func aRecordOfGRDBHasAFile() async throws {
        try await Self.withApps(["BLOB"]) { apps, _ in
            let items = [
                Item(id: "1", title: "x", photo: Self.picture), Item(id: "2", title: "y", photo: nil),
            ]
            try apps[0].database.write { db in for item in items { try item.insert(db) } }
            #expect(try apps[0].rows() == ["1|x|\(Self.picture.json)", "2|y|-"])
            #expect(try apps[0].database.read { try Item.order(Column("id")).fetchAll($0) } == items)
            #expect(try apps[0].states().first?.field("photo")?.value == .asset(Self.picture))
        }
    }
}

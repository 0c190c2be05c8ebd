import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import TestSupport

/// What the tests of this target share.
enum Support {
    /// 2021-08-01T00:00:00Z, later than every date in the test data.
    static let now: Int64 = 1_627_776_000_000

    /// A new, empty scorebook in memory.
    ///
    /// - Parameter assets: the directory for pictures, if there is to be one.
    static func scorebook(
        _ replica: UInt64 = 1, assets: URL? = nil, now: Int64 = now
    ) throws -> ScorebookStore {
        try ScorebookStore(
            DatabaseQueue(), replica: ReplicaID(rawValue: replica),
            assetDirectory: assets.map { AssetDirectory(at: $0) }, now: { now }
        ).with(Habits(timeZone: .gmt))
    }

    /// A file of the directory `Data` beside this source file.
    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: directory.appendingPathComponent("Data").appendingPathComponent(name))
    }

    static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    static func earlier() throws -> Data { try data("earlier.bgstats.json") }
    static func later() throws -> Data { try data("later.bgstats.json") }

    // MARK: Pictures

    /// A scorebook with a match of Catan that Ada played, and a directory for files of the test's own.
    static func withPictures(_ body: (ScorebookStore, URL, Match) async throws -> Void) async throws {
        let files = try TemporaryDirectory()
        defer { files.remove() }
        let directory = files.url
        let scorebook = try scorebook(assets: directory.appendingPathComponent("assets"))
        try await scorebook.addGame(NewGame(name: "Catan"))
        let match = try await scorebook.addMatch(
            NewMatch(
                game: "Catan", date: "2024-03-05", players: [NewPlayer("Ada Lovelace")], createsPersons: true)
        )
        try await body(scorebook, directory, match)
    }

    /// A file that begins as a JPEG does.
    static func picture(_ name: String, in directory: URL, _ content: String = "holiday") throws -> URL {
        let file = directory.appendingPathComponent(name)
        try Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(content.utf8)).write(to: file)
        return file
    }
}

extension ScorebookStore {
    func status() async throws -> StoreStatus {
        try await records.foldPendingChanges()
        return try await records.database.read { [records] in try records.status($0) }
    }

    func digest() async throws -> String { try await status().digest.hex }

    /// The rows of a query, each as its values joined with `|`.
    func rows(_ sql: String) async throws -> [String] {
        try await records.database.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { $0.isNull ? "null" : String.fromDatabaseValue($0) ?? "\($0)" }
                    .joined(separator: "|")
            }
        }
    }

    /// Runs SQL as another program would, and takes it in.
    func execute(_ sql: String) async throws {
        try await records.write { try $0.execute(sql: sql) }
    }

    /// Everything that the store knows, deletions included.
    func states() async throws -> [RecordState] {
        try await records.foldPendingChanges()
        return try await records.database.read { [records] db in
            try String.fetchAll(db, sql: "SELECT remoteRecordID FROM grdb_sync_remoteRecord ORDER BY 1")
                .compactMap { try records.state(db, of: RecordName($0)) }
        }
    }

    /// The states of what is there, for people.
    func shownStates() async throws -> [RecordState] {
        try await records.foldPendingChanges()
        return try await records.database.read { [records] db in
            var states: [RecordState] = []
            try records.listing.forEachLiveState(db) { states.append($0) }
            return states
        }
    }

    /// Takes in everything that another scorebook knows, as a sync does.
    func take(from other: ScorebookStore) async throws {
        let states = try await other.states()
        try await records.write { [records] db in _ = try records.merge(db, states) }
    }
}

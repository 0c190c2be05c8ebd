import Foundation
import GRDB
import PeerSync
import PeerSyncStore
import Scorebook

/// A scorebook for one measurement.
struct Household {
    let identity = Identity.generate()
    let database: DatabasePool
    let assets: AssetDirectory
    let scorebook: ScorebookStore

    init(in directory: URL, _ name: String) throws {
        database = try ScorebookDatabase.open(at: directory.appendingPathComponent("\(name).sqlite").path)
        assets = AssetDirectory(at: directory.appendingPathComponent("\(name)-assets", isDirectory: true))
        scorebook = try ScorebookStore(database, replica: identity.replicaID, assetDirectory: assets)
    }

    /// The same tables and indexes, without anything that captures writes.
    static func withoutCapture(in directory: URL, _ name: String) throws -> DatabasePool {
        let household = try Household(in: directory, name)
        try household.database.write { db in
            let triggers = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for trigger in triggers { try db.execute(sql: "DROP TRIGGER \(trigger)") }
        }
        return household.database
    }
}

/// A row that is to be inserted.
struct NewRow: Sendable {
    let table: String
    var columns: [String]
    var values: [DatabaseValue]

    init(_ table: String, _ values: KeyValuePairs<String, (any DatabaseValueConvertible)?>) {
        self.table = table
        columns = values.map(\.key)
        self.values = values.map { $0.value?.databaseValue ?? .null }
    }

    func insert(_ db: Database) throws {
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        try db.cachedStatement(
            sql: "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
        ).execute(arguments: StatementArguments(values))
    }
}

/// Single rows, for measurements that need some of one kind.
enum SimpleRows {
    private static let day = 86_400.0

    /// A record name; names of one type ascend with their number, as those do that the program itself gives.
    static func name(_ type: String, _ number: Int) -> String {
        String(format: "\(type)|~|01900000-%04x-7000-8000-%012x", number >> 16, number)
    }

    static func game(_ number: Int) -> NewRow {
        NewRow(
            "SBGame",
            ["recordName": name("SBGame", number), "name": "Game No. \(number)", "year": 1980 + number])
    }

    static func match(_ number: Int, game: Int, minutes: Int) -> NewRow {
        let date = Date(timeIntervalSince1970: 1_600_000_000 + Double(number) * day / 4)
        return NewRow(
            "SBMatch",
            [
                "recordName": name("SBMatch", number), "game": name("SBGame", game),
                "date": date.formatted(.iso8601), "durationMinutes": minutes, "ignored": 0,
            ])
    }
}

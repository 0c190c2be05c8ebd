import Foundation
import GRDB
import PeerSync
import RecordStore
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
        scorebook = try ScorebookStore(database, replica: identity.replicaID, assets: assets)
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
    let columns: [String]
    let values: [DatabaseValue]

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

/// Rows of the kinds and in the proportions that a household's scorebook has, the same in every run.
enum HouseholdRows {
    private static let persons = 12
    private static let games = 40
    private static let day = 86_400.0

    /// A record name; names of one type ascend with their number, as those do that the program itself gives.
    static func name(_ type: String, _ number: Int) -> String {
        String(format: "\(type)|~|01900000-%04x-7000-8000-%012x", number >> 16, number)
    }

    /// Persons and games first, then matches, each with a place, 2 to 4 players and their scores, until there are
    /// `count` records.
    static func rows(_ count: Int) -> [NewRow] {
        var chance = Chance(state: 19_951_125)
        var rows: [NewRow] = []
        for number in 0..<persons {
            rows.append(
                NewRow(
                    "SBPerson",
                    [
                        "recordName": name("SBPerson", number), "firstName": "Person",
                        "lastName": "No. \(number)",
                    ]))
        }
        for number in 0..<games { rows.append(game(number)) }
        var match = 0
        while rows.count < count {
            addMatch(match, &rows, &chance)
            match += 1
        }
        return Array(rows.prefix(count))
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

    private static func addMatch(_ number: Int, _ rows: inout [NewRow], _ chance: inout Chance) {
        rows.append(match(number, game: chance.next(games), minutes: 20 + chance.next(120)))
        rows.append(
            NewRow(
                "SBMatchLocation",
                [
                    "recordName": name("SBMatchLocation", number), "match": name("SBMatch", number),
                    "name": "Table No. \(chance.next(6))",
                ]))
        for seat in 0..<2 + chance.next(3) {
            let player = number * 4 + seat
            rows.append(
                NewRow(
                    "SBPlayer",
                    [
                        "recordName": name("SBPlayer", player), "match": name("SBMatch", number),
                        "person": name("SBPerson", chance.next(persons)), "seatOrder": seat,
                        "winner": seat == 0 ? 1 : 0,
                    ]))
            rows.append(
                NewRow(
                    "SBScore",
                    [
                        "recordName": name("SBScore", player), "player": name("SBPlayer", player),
                        "points": chance.next(200),
                    ]))
        }
    }
}

/// A generator of numbers that look random and are the same in every run (Knuth's MMIX constants).
struct Chance {
    var state: UInt64

    mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}

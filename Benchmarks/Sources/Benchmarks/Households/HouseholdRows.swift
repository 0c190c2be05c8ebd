import Foundation

/// The rows of a made-up household's scorebook, the same in every run: of the types, in the proportions and with as many
/// filled columns as a scorebook that was imported from a real player group (152 persons, 148 games, 792 matches, 757
/// places, 2,734 players, 1,099 scores).
///
/// Persons and games come first, then matches in order of time, each with what belongs to it. Names are UUIDs of version 7,
/// as the program itself gives them, so those of later matches are greater.
struct HouseholdRows: Sequence, IteratorProtocol {
    private let count: Int
    private let persons: Int
    private let games: Int
    private var made = 0
    private var matches = 0
    private var chance = Chance(state: 19_951_125)
    private var personNames: [String] = []
    private var gameNames: [String] = []
    /// Rows that are made and not given out, the next one last.
    private var waiting: [NewRow] = []

    /// - Parameter count: how many rows there are, at least 1.
    init(_ count: Int) {
        self.count = count
        persons = Swift.min(2_000, Swift.max(4, count / 40))
        games = persons
    }

    mutating func next() -> NewRow? {
        guard made < count else { return nil }
        made += 1
        if made <= persons { return person() }
        if made <= persons + games { return game() }
        if waiting.isEmpty { waiting = match().reversed() }
        return waiting.removeLast()
    }

    // MARK: Rows

    private static let firstDay = 1_500_000_000_000
    private static let minutesBetweenMatches = 90

    private mutating func person() -> NewRow {
        let name = newName("SBPerson", Self.firstDay + made)
        personNames.append(name)
        return NewRow(
            "SBPerson",
            [
                "recordName": name, "firstName": words(1), "lastName": words(1),
            ])
    }

    private mutating func game() -> NewRow {
        let name = newName("SBGame", Self.firstDay + made)
        gameNames.append(name)
        return NewRow(
            "SBGame",
            [
                "recordName": name, "name": words(3), "bggID": chance.next(400_000),
                "year": 1970 + chance.next(55), "minPlayers": 1 + chance.next(2),
                "maxPlayers": 3 + chance.next(5),
                "highestWins": 1, "noPoints": 0, "cooperative": chance.next(2), "usesTeams": 0,
            ])
    }

    /// A match with its place, its players and their scores.
    private mutating func match() -> [NewRow] {
        let time = Self.firstDay + 86_400_000 + matches * Self.minutesBetweenMatches * 60_000
        matches += 1
        let name = newName("SBMatch", time)
        let date = Date(timeIntervalSince1970: Double(time / 1000)).formatted(.iso8601)
        var rows = [
            NewRow(
                "SBMatch",
                [
                    "recordName": name, "game": gameNames[chance.next(gameNames.count)], "date": date,
                    "durationMinutes": chance.next(10) == 0 ? nil : 20 + chance.next(160),
                    "rounds": chance.next(50) == 0 ? 1 + chance.next(9) : nil,
                    "notes": chance.next(9) == 0 ? words(4) : nil,
                    "board": chance.next(7) == 0 ? words(2) : nil,
                    "ignored": 0,
                ])
        ]
        if chance.next(25) > 0 {
            rows.append(
                NewRow(
                    "SBMatchLocation",
                    [
                        "recordName": newName("SBMatchLocation", time), "match": name,
                        "name": "Location \(String(chance.next(9_000) + 4_096, radix: 16))",
                    ]))
        }
        let seats = 2 + chance.next(4)
        let areScored = chance.next(5) < 2
        for seat in 0..<seats { rows += player(seat, of: name, time, isScored: areScored) }
        return rows
    }

    private mutating func player(_ seat: Int, of match: String, _ time: Int, isScored: Bool) -> [NewRow] {
        let name = newName("SBPlayer", time)
        let player = NewRow(
            "SBPlayer",
            [
                "recordName": name, "match": match, "person": personNames[chance.next(personNames.count)],
                "seatOrder": seat + 1, "team": chance.next(6) == 0 ? "\(1 + seat % 2)" : nil,
                "role": chance.next(5) < 2 ? words(1) : nil,
                "rank": chance.next(2) == 0 ? seat + 1 : nil,
                "startPlayer": seat == 0 ? 1 : 0, "newPlayer": chance.next(8) == 0 ? 1 : 0,
                "winner": seat == 0 ? 1 : 0,
            ])
        guard isScored else { return [player] }
        let score = NewRow(
            "SBScore",
            ["recordName": newName("SBScore", time), "player": name, "points": chance.next(250)])
        return [player, score]
    }

    // MARK: Contents

    /// A record name with a UUID of version 7, made at `time` in milliseconds since 1970.
    private mutating func newName(_ type: String, _ time: Int) -> String {
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) { bytes in
            for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: time >> (8 * (5 - index))) }
            for index in 6..<16 { bytes[index] = UInt8(truncatingIfNeeded: chance.next(256)) }
            bytes[6] = 0x70 | (bytes[6] & 0x0F)
            bytes[8] = 0x80 | (bytes[8] & 0x3F)
        }
        return "\(type)|~|\(UUID(uuid: uuid).uuidString.lowercased())"
    }

    private static let vocabulary = [
        "draw", "evening", "turn", "great", "long", "again", "castle", "river", "trade", "north", "winter",
        "tower",
        "harbour", "quick", "second", "table",
    ]

    private mutating func words(_ count: Int) -> String {
        (0..<count).map { _ in Self.vocabulary[chance.next(Self.vocabulary.count)] }.joined(separator: " ")
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

import GRDB
import TestSupport

/// Made-up rows of a scorebook, always the same, in the proportions of a real player group: for each match a place, three to
/// four players and one to two scores.
struct HouseholdRows: IteratorProtocol {
    struct Row: Sendable {
        let table: String
        let values: [(column: String, value: DatabaseValue)]

        func insert(_ db: Database) throws {
            let names = values.map(\.column).joined(separator: ", ")
            let marks = values.map { _ in "?" }.joined(separator: ", ")
            try db.execute(
                sql: "INSERT INTO \(table) (\(names)) VALUES (\(marks))",
                arguments: StatementArguments(values.map(\.value)))
        }
    }

    private let records: Int
    private let persons: Int
    private var made = 0
    private var matches = 0
    private var random = SeededGenerator(seed: 1)
    /// Rows that belong to the last match, the next one last.
    private var waiting: [Row] = []

    init(records: Int) {
        self.records = records
        persons = max(4, records / 50)
    }

    mutating func next() -> Row? {
        guard made < records else { return nil }
        made += 1
        if made <= persons {
            return row(
                "SBPerson", made, [("firstName", word().databaseValue), ("lastName", word().databaseValue)])
        }
        if made <= 2 * persons {
            let name = "\(word()) \(word())".databaseValue
            return row(
                "SBGame", made,
                [
                    ("name", name), ("year", number(1970, 55)), ("bggID", number(1, 400_000)),
                    ("highestWins", 1.databaseValue),
                ])
        }
        if waiting.isEmpty { waiting = match().reversed() }
        return waiting.removeLast()
    }

    private mutating func match() -> [Row] {
        matches += 1
        let match = name("SBMatch", matches)
        let game = name("SBGame", persons + 1 + Int.random(in: 0..<persons, using: &random))
        let day = "20\(String(10 + matches % 16))-\(String(10 + matches % 3))-\(String(10 + matches % 18))"
        var rows = [
            row(
                "SBMatch", matches,
                [
                    ("game", game.databaseValue), ("date", "\(day)T19:30:00Z".databaseValue),
                    ("durationMinutes", number(20, 160)),
                ]),
            row(
                "SBMatchLocation", matches, [("match", match.databaseValue), ("name", word().databaseValue)]),
        ]
        for seat in 0..<(random.oneIn(2) ? 3 : 4) {
            let id = 10 * matches + seat
            let person = name("SBPerson", 1 + Int.random(in: 0..<persons, using: &random))
            rows.append(
                row(
                    "SBPlayer", id,
                    [
                        ("match", match.databaseValue), ("person", person.databaseValue),
                        ("seatOrder", seat.databaseValue),
                    ]))
            guard random.oneIn(3) else { continue }
            rows.append(
                row(
                    "SBScore", id,
                    [
                        ("player", name("SBPlayer", id).databaseValue), ("round", 1.databaseValue),
                        ("points", number(0, 120)),
                    ]))
        }
        return rows
    }

    private func row(_ table: String, _ id: Int, _ values: [(String, DatabaseValue)]) -> Row {
        Row(table: table, values: [("recordName", name(table, id).databaseValue)] + values)
    }

    /// As UUIDs of version 7 are: a time, and what a hash of the number gives.
    private func name(_ table: String, _ id: Int) -> String {
        var random = SeededGenerator(seed: UInt64(id) &* 2_654_435_761 &+ UInt64(table.utf8.count))
        let digits = String(UInt64(1_500_000_000_000 + id), radix: 16)
        let tail = String(random.next() | 1 << 63, radix: 16)
        let time = String(repeating: "0", count: 12 - digits.count) + digits
        return
            "\(table)|~|\(time.prefix(8))-\(time.suffix(4))-7\(tail.prefix(3))-8\(tail.dropFirst(3).prefix(3))-\(tail.suffix(10))00"
    }

    private mutating func number(_ first: Int, _ count: Int) -> DatabaseValue {
        Int.random(in: first..<first + count, using: &random).databaseValue
    }

    private mutating func word() -> String {
        let syllables = ["ka", "to", "ri", "mel", "an", "du", "so", "ve", "lin", "ber", "no", "sha"]
        return (0..<Int.random(in: 2...4, using: &random)).map { _ in syllables.randomElement(using: &random)!
        }
        .joined()
    }
}

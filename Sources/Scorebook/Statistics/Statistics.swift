/// Figures about the plays of a scorebook, of one person, of one game or of one year.
///
/// docs/statistics.md has the rules. A match counts as a play unless it is `ignored` or `unfinished`.
public struct Statistics: Sendable, Equatable {
    /// The number of plays.
    public internal(set) var plays = 0
    /// How long they took in all, in minutes, as far as anybody wrote it down.
    public internal(set) var minutes = 0
    /// The plays by kind. Wins are those of the person, if the figures are one person's. Otherwise a play is won if
    /// anybody won it, so that for competitive plays only the numbers of plays tell something.
    public internal(set) var results = Results()
    /// The largest number h for which h games were played at least h times each.
    public internal(set) var hIndex = 0
    /// The days with plays, on the clock of this machine, the first first.
    public internal(set) var days: [Day] = []
    /// The plays of each weekday, from Monday to Sunday.
    public internal(set) var weekdays = [Int](repeating: 0, count: 7)
    /// The plays of each hour of the day, from 0 to 23.
    public internal(set) var hours = [Int](repeating: 0, count: 24)
    /// The plays by number of persons.
    public internal(set) var tables: [Table] = []
    /// The games that were played, the most played first.
    public internal(set) var games: [GameLine] = []
    /// The persons who played, those with the most plays first; without the person whose figures these are.
    public internal(set) var persons: [PersonLine] = []
    /// The wins and losses in a row of the person whose figures these are; nil if they are not one person's.
    public internal(set) var streaks: Streaks?
    /// The best totals, if the figures are one game's: each person's best, the best of all first. If they are one
    /// person's: the person's best in each game, by the name of the game.
    public internal(set) var records: [Best] = []
    /// Who won against whom how often, among the ``rivals`` persons with the most plays, in the order of ``persons``; nothing if the
    /// figures are one person's, whose ``PersonLine/versus`` says it.
    public internal(set) var rivalries: [Rivalry] = []

    /// The maximum number of persons in ``rivalries``.
    public static let rivals = 10

    /// A day with plays.
    public struct Day: Sendable, Equatable, Encodable {
        /// As `2025-03-05`.
        public let day: String
        /// The number of plays on that day.
        public internal(set) var plays: Int
    }

    /// The plays of one number of persons.
    public struct Table: Sendable, Equatable, Encodable {
        /// The number of persons.
        public let persons: Int
        /// The plays by kind. Wins as in ``Statistics/results``.
        public internal(set) var results = Results()
    }

    /// The plays of one game.
    public struct GameLine: Sendable, Equatable {
        /// The record name of the game.
        public let recordName: String
        /// The name of the game; empty if it has none.
        public internal(set) var name = ""
        /// How long they took in all, in minutes, as far as anybody wrote it down.
        public internal(set) var minutes = 0
        /// The day of the first play; nil if nobody knows it.
        public internal(set) var firstDay: String?
        /// The day of the last play; nil if nobody knows it.
        public internal(set) var lastDay: String?
        /// Wins as in ``Statistics/results``.
        public internal(set) var results = Results()
    }

    /// The plays of one person.
    public struct PersonLine: Sendable, Equatable {
        /// The record name of the person.
        public let recordName: String
        /// The name of the person; empty if they have none.
        public internal(set) var name = ""
        /// The person's own wins.
        public internal(set) var results = Results()
        /// How both fared against each other; nil if the figures are not one person's.
        public internal(set) var versus: Versus?
    }

    /// How two persons fared in competitive plays in which they played against each other, and one of all won.
    public struct Versus: Sendable, Equatable, Encodable {
        /// The number of these plays.
        public internal(set) var plays = 0
        /// The plays that the person won whose figures these are, and the other one did not.
        public internal(set) var wins = 0
        /// The plays that the other one won.
        public internal(set) var losses = 0
        /// The plays that both won: they share the first place.
        public internal(set) var ties = 0
    }

    /// Competitive plays that one person won or lost in a row, in the order of their dates.
    public struct Streaks: Sendable, Equatable, Encodable {
        /// The wins since the last loss; below 0 the losses since the last win.
        public internal(set) var current = 0
        /// The most wins without a loss between them.
        public internal(set) var longestWins = 0
        /// The most losses without a win between them.
        public internal(set) var longestLosses = 0

        mutating func append(isWon: Bool) {
            current = isWon ? max(0, current) + 1 : min(0, current) - 1
            longestWins = max(longestWins, current)
            longestLosses = max(longestLosses, -current)
        }
    }

    /// The best total of one person in one game.
    public struct Best: Sendable, Equatable {
        /// The record name of the match.
        public let match: String
        /// The name of the person.
        public let person: String
        /// The name of the game.
        public let game: String
        /// The total of the person in that match.
        public let points: Double
        /// The day of the match; nil if nobody knows it.
        public let day: String?
    }

    /// How often one person won a competitive play against another one, who did not win it.
    public struct Rivalry: Sendable, Equatable, Encodable {
        /// The record name of the person who won.
        public let winner: String
        /// The record name of the other one.
        public let loser: String
        /// The number of these plays.
        public internal(set) var wins: Int
    }

    /// The person against whom the person whose figures these are lost most often beyond their wins; nil if there is none. Of
    /// several, the one with the most plays.
    public var nemesis: PersonLine? {
        func excess(_ line: PersonLine) -> Int { line.versus.map { $0.losses - $0.wins } ?? 0 }
        // Of equal ones, this is the first one.
        return persons.max { excess($0) < excess($1) }.flatMap { excess($0) > 0 ? $0 : nil }
    }

    /// The plays by year, as `2025`, without gaps from the first to the last year.
    public var years: [(year: Int, plays: Int)] {
        var counts: [Int: Int] = [:]
        for day in days {
            guard let year = Int(day.day.prefix(4)) else { continue }
            counts[year, default: 0] += day.plays
        }
        guard let first = counts.keys.min(), let last = counts.keys.max() else { return [] }
        return (first...last).map { ($0, counts[$0] ?? 0) }
    }

    /// The plays by month, as `2025-03`, without gaps from the first to the last month.
    public var months: [(month: String, plays: Int)] {
        // Months since the beginning of the year 0. Other programs may write dates that have no day.
        var counts: [Int: Int] = [:]
        for day in days {
            guard let year = Int(day.day.prefix(4)), let month = Int(day.day.dropFirst(5).prefix(2)),
                (0...9999).contains(year), (1...12).contains(month)
            else { continue }
            counts[year * 12 + month - 1, default: 0] += day.plays
        }
        guard let first = counts.keys.min(), let last = counts.keys.max() else { return [] }
        return (first...last).map { (Self.text(ofMonth: $0), counts[$0] ?? 0) }
    }

    /// As in `2025-03`.
    private static func text(ofMonth number: Int) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
        }
        return "\(digits(number / 12, 4))-\(digits(number % 12 + 1, 2))"
    }
}

/// Plays of one kind, and how many of them were won.
public struct Tally: Sendable, Equatable {
    /// The number of plays.
    public internal(set) var plays = 0
    /// The number of plays of which somebody knows the result.
    public internal(set) var decided = 0
    /// The number of plays that were won. A tie for the first place counts as won for each who shares it.
    public internal(set) var wins = 0

    /// Makes a tally of no plays.
    init() {}

    init(plays: Int, decided: Int, wins: Int) {
        self.plays = plays
        self.decided = decided
        self.wins = wins
    }

    /// The wins among the decided plays, from 0 to 1; nil if none is decided.
    public var rate: Double? { decided == 0 ? nil : Double(wins) / Double(decided) }

    mutating func count(isDecided: Bool, isWon: Bool) {
        plays += 1
        if isDecided { decided += 1 }
        if isDecided && isWon { wins += 1 }
    }

    static func += (tally: inout Tally, other: Tally) {
        tally.plays += other.plays
        tally.decided += other.decided
        tally.wins += other.wins
    }
}

extension Tally: Encodable {
    private enum CodingKeys: String, CodingKey { case plays, decided, wins, rate }

    /// Writes every key; the rate is null if no play is decided.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(plays, forKey: .plays)
        try container.encode(decided, forKey: .decided)
        try container.encode(wins, forKey: .wins)
        try container.encode(rate, forKey: .rate)
    }
}

/// Plays by kind. The kinds are never added up to one rate: to win against four is something else than to win with
/// four, or alone.
public struct Results: Sendable, Equatable, Encodable {
    /// Plays of players or teams against each other.
    public internal(set) var competitive = Tally()
    /// Plays that all win or lose together. What counts is the game's `cooperative`.
    public internal(set) var cooperative = Tally()
    /// Plays of one person alone, of any game.
    public internal(set) var solo = Tally()

    /// The number of plays of all kinds.
    public var plays: Int { competitive.plays + cooperative.plays + solo.plays }

    mutating func count(_ kind: Play.Kind, isDecided: Bool, isWon: Bool) {
        switch kind {
        case .competitive: competitive.count(isDecided: isDecided, isWon: isWon)
        case .cooperative: cooperative.count(isDecided: isDecided, isWon: isWon)
        case .solo: solo.count(isDecided: isDecided, isWon: isWon)
        }
    }

    static func += (results: inout Results, other: Results) {
        results.competitive += other.competitive
        results.cooperative += other.cooperative
        results.solo += other.solo
    }
}

import GRDB
import PeerSync

/// One line of a list of matches.
public struct MatchListing: RecordListing, Equatable {
    /// The match.
    public let recordName: RecordName
    /// ISO 8601 in UTC.
    public let date: String?
    /// The name of the game.
    public let game: String
    /// The name of the place.
    public let location: String?
    /// The names of the players, in the order of their seats.
    public let players: [String]
    /// The names of the winners, as far as known.
    public let winners: [String]
    /// Whether the match goes on later; nobody has won it yet.
    public let isUnfinished: Bool
    /// The result of all players together; see ``MatchSheet/result``.
    public let result: MatchSheet.Result?
    /// The name of its zone on this machine.
    public let zone: String

    private enum CodingKeys: String, CodingKey {
        case recordName, date, game, location, players, winners, unfinished, zone
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(date, forKey: .date)
        try container.encode(game, forKey: .game)
        try container.encode(location, forKey: .location)
        try container.encode(players, forKey: .players)
        try container.encode(winners, forKey: .winners)
        try container.encode(isUnfinished, forKey: .unfinished)
        try container.encode(zone, forKey: .zone)
    }
}

extension ScorebookStore {
    /// Lists matches, the latest first.
    public func matches(_ filter: MatchFilter = MatchFilter()) async throws -> [MatchListing] {
        try await matchPages(filter).reduce(into: []) { $0 += $1 }
    }

    /// Finds matches, the latest first, and reads them page by page as somebody looks at them.
    public func matchPages(_ filter: MatchFilter = MatchFilter()) async throws -> MatchPages {
        try await read { [self] db in
            var names = try matchNames(db, filter)
            if let winner = filter.winner {
                // The winner may follow from the scores alone, which only the sheets know.
                let person = try lookup(.person).find(db, winner)
                let part = filter.part
                names = try Array(won(db, names, by: person).dropFirst(part.offset).prefix(part.limit))
            }
            return MatchPages(scorebook: self, names: names)
        }
    }

    /// Reads the lines of some matches, in their order. Leaves out those that do not exist.
    func matchLines(_ names: [RecordName]) async throws -> [MatchListing] {
        try await read { db in
            let zones = try ZoneNames(db)
            return try MatchSheet.fetchAll(db, names).map { sheet in
                MatchListing(
                    recordName: sheet.recordName, date: sheet.date, game: sheet.game,
                    location: sheet.location,
                    players: sheet.players.sorted { ($0.seatOrder ?? .max) < ($1.seatOrder ?? .max) }.map(
                        \.person),
                    winners: sheet.players.filter { $0.winner == true }.map(\.person),
                    isUnfinished: sheet.isUnfinished, result: sheet.result,
                    zone: try zones.name(db, of: sheet.recordName.description))
            }
        }
    }

    /// Reads some matches whole, in their order. Leaves out those that do not exist.
    func matchSheets(_ names: [RecordName]) async throws -> [MatchSheet] {
        try await read { db in try MatchSheet.fetchAll(db, names) }
    }

    /// Returns those of some matches that a person has won.
    private func won(_ db: Database, _ names: [RecordName], by person: RecordName) throws -> [RecordName] {
        let parts = try Set(
            RecordName.fetchAll(
                db, sql: "SELECT recordName FROM SBPlayer WHERE person = ?", arguments: [person.description]))
        return try MatchSheet.fetchAll(db, names).filter { sheet in
            sheet.players.contains { $0.winner == true && parts.contains($0.recordName) }
        }.map(\.recordName)
    }

    private func matchNames(_ db: Database, _ filter: MatchFilter) throws -> [RecordName] {
        var request = Match.latestFirst.filter(sql: limits()).select(
            Column("recordName"), as: RecordName.self)
        if let game = filter.game {
            request = request.filter(
                Column("game") == (try lookup(.game).find(db, game)).description)
        }
        if let person = filter.person {
            let name = try lookup(.person).find(db, person)
            let isShort = filter.limit != nil && filter.winner == nil
            let inOrder = try isShort && Self.playsOften(db, name)
            request = request.filter(
                sql: inOrder ? Self.playedInOrder : Self.played, arguments: [name.description])
        }
        if let winner = filter.winner {
            request = request.filter(
                sql: Self.played, arguments: [try lookup(.person).find(db, winner).description])
        }
        if let since = filter.since {
            let begin = try time.day(since)?.lowerBound ?? time.moment(since)
            request = request.filter(Column("date") >= (try LocalTime.canonical(begin)))
        }
        if let until = filter.until {
            let end = try time.day(until)?.upperBound ?? time.moment(until)
            request = request.filter(Column("date") < (try LocalTime.canonical(end)))
        }
        if let place = filter.place {
            request = request.filter(
                sql: "recordName IN (SELECT match FROM SBMatchLocation WHERE \(Self.contains("name")))",
                arguments: [Self.pattern(place)])
        }
        if let text = filter.text {
            let conditions = ["notes", "board"].map(Self.contains).joined(separator: " OR ")
            let pattern = Self.pattern(text)
            request = request.filter(
                sql: """
                    (\(conditions)
                    OR recordName IN (SELECT match FROM SBMatchLocation WHERE \(Self.contains("name")))
                    OR recordName IN (SELECT match FROM SBMatchImage WHERE \(Self.contains("caption"))))
                    """, arguments: [pattern, pattern, pattern, pattern])
        }
        // The winner may follow from the scores alone, which SQL does not know.
        if filter.winner == nil, filter.limit != nil || filter.offset > 0 {
            request = request.limit(filter.part.limit, offset: filter.part.offset)
        }
        return try request.fetchAll(db)
    }

    /// SQL that is true for the matches of a person: SQLite takes all of them, and puts them in order.
    private static let played = "recordName IN (SELECT match FROM SBPlayer WHERE person = ?)"
    /// The same; SQLite looks at one match after the other, in the order of the list, until it has enough.
    private static let playedInOrder =
        "EXISTS (SELECT 1 FROM SBPlayer WHERE match = SBMatch.recordName AND +person = ?)"

    /// Whether somebody meets the matches of a person soon who looks at one after the other.
    private static func playsOften(_ db: Database, _ person: RecordName) throws -> Bool {
        let sql = "SELECT COUNT(*) > 1000 FROM (SELECT 1 FROM SBPlayer WHERE person = ? LIMIT 1001)"
        return try Bool.fetchOne(db, sql: sql, arguments: [person.description]) ?? false
    }

    private static func contains(_ column: String) -> String { "\(column) LIKE ? ESCAPE '\\'" }

    private static func pattern(_ text: String) -> String {
        "%" + text.trimmed.replacingScalars(["%": "\\%", "_": "\\_", "\\": "\\\\"]) + "%"
    }
}

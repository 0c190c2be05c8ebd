import GRDB
import PeerSyncModel
import PeerSyncStore

extension ScorebookStore {
    /// Adds a match with its players, scores and location, to the zone of its game.
    ///
    /// - Throws: ``ScorebookError``: `notFound` when there is no such game, or when a player is not in the game's zone
    ///   and ``NewMatch/createsPersons`` is false; `otherZone` for the record name of a person in another zone;
    ///   `invalidValue`. It adds nothing then.
    @discardableResult
    public func addMatch(_ new: NewMatch) async throws -> Match {
        try await write { [self] db in
            let game = try lookup(.game).find(db, new.game)
            let zone = try scope(db, of: game)
            let match = Match(
                game: game,
                date: try new.date.map(Bounds.date)
                    ?? ISO8601.text(milliseconds: now() / 1000 * 1000, fraction: .ifNeeded),
                durationMinutes: new.durationMinutes, rounds: new.rounds,
                notes: new.notes?.filled, board: new.board?.filled)
            try Self.check(match)
            try match.insert(db)
            var persons = MatchPersons(scope: zone, createsPersons: new.createsPersons)
            for (index, player) in new.players.enumerated() {
                try Self.insert(
                    db, player, try persons.person(db, player.person), seat: index + 1, match: match)
            }
            if let location = new.location {
                try MatchLocation(match: match.recordName, name: Bounds.name(location, "location")).insert(db)
            }
            return try settled(db, match.recordName, newIn: zone)
        }
    }

    private static func insert(
        _ db: Database, _ new: NewPlayer, _ person: RecordName, seat: Int, match: Match
    ) throws {
        let isSeated =
            try Player
            .filter(Column("match") == match.recordName.description && Column("person") == person.description)
            .fetchCount(db) > 0
        guard !isSeated else {
            throw ScorebookError(
                .invalidValue, "“\(new.person)” is listed twice among the players of this match")
        }
        let player = Player(
            match: match.recordName, person: person, seatOrder: seat, team: new.team?.filled,
            role: new.role?.filled,
            winner: new.isWinner)
        try player.insert(db)
        if let score = new.score?.filled {
            let value = ScoreValue(score)
            try Score(player: player.recordName, points: value.points, text: value.text).insert(db)
        }
    }

    private static func check(_ match: Match) throws {
        try Bounds.whole(match.durationMinutes, "duration in minutes", Bounds.minutes)
        try Bounds.whole(match.rounds, "number of rounds", Bounds.rounds)
    }

    /// Changes a match.
    @discardableResult
    public func editMatch(_ text: String, _ edit: MatchEdit) async throws -> Match {
        try await write { [self] db in
            let name = try lookup(.match).find(db, text)
            var match: Match = try Self.fetch(db, name)
            let old = match
            if let game = edit.game {
                match.game = try NameLookup(kind: .game, scope: scope(db, of: name)).find(db, game)
            }
            edit.date.apply(to: &match.date)
            if case .set(let date) = edit.date { match.date = try Bounds.date(date) }
            edit.durationMinutes.apply(to: &match.durationMinutes)
            edit.rounds.apply(to: &match.rounds)
            edit.notes.apply(to: &match.notes)
            edit.board.apply(to: &match.board)
            edit.rating.apply(to: &match.rating)
            edit.ignored.apply(to: &match.ignored)
            try Self.check(match)
            try match.updateChanges(db, from: old)
            try Self.edit(db, edit.location, of: name, records)
            return try settled(db, match.recordName)
        }
    }

    private static func edit(
        _ db: Database, _ location: Change<String>, of match: RecordName, _ records: RecordStore
    ) throws {
        let there = try MatchLocation.filter(Column("match") == match.description).order(Column("recordName"))
            .fetchAll(db)
        switch location {
        case .keep:
            break
        case .clear:
            for location in there { try records.delete(db, location.recordName) }
        case .set(let text):
            let name = try Bounds.name(text, "location")
            guard let first = there.first else {
                try MatchLocation(match: match, name: name).insert(db)
                return
            }
            var location = first
            location.name = name
            try location.updateChanges(db, from: first)
        }
    }
}

/// The persons of a match that is being added.
private struct MatchPersons {
    /// The zone of the match's game, where new persons go.
    let scope: ZoneScope
    let createsPersons: Bool
    /// The persons added for this match, by name in lower case. The lookup does not find them: they have no zone
    /// before the fold.
    private var added: [String: RecordName] = [:]

    init(scope: ZoneScope, createsPersons: Bool) {
        self.scope = scope
        self.createsPersons = createsPersons
    }

    /// Finds the person that a text names, or adds a new one.
    mutating func person(_ db: Database, _ text: String) throws -> RecordName {
        let lookup = NameLookup(kind: .person, scope: scope)
        guard createsPersons else { return try lookup.find(db, text) }
        if let name = try lookup.findIfThere(db, text) ?? added[text.trimmed.lowercased()] { return name }
        guard !text.contains(RecordName.separator) else {
            throw ScorebookError(.notFound, "there is no record \(text)")
        }
        let person = try ScorebookStore.insertPerson(db, text)
        added[person.name.lowercased()] = person.recordName
        return person.recordName
    }
}

/// One line of a list of matches.
public struct MatchListing: RecordListing, Equatable {
    public let recordName: RecordName
    /// ISO 8601 in UTC.
    public let date: String?
    /// The name of the game.
    public let game: String
    public let location: String?
    /// The names of the players, in the order of their seats.
    public let players: [String]
    /// The names of the winners, as far as known.
    public let winners: [String]
    public let zone: String

    private enum CodingKeys: String, CodingKey {
        case recordName, date, game, location, players, winners, zone
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
        try container.encode(zone, forKey: .zone)
    }
}

/// The choice of matches for a list.
public struct MatchFilter: Sendable {
    /// Only matches of this game: its name, record name or beginning of its UUID.
    public var game: String?
    /// Only matches in which this person took part.
    public var person: String?
    /// Only the latest matches, at most this many.
    public var limit: Int?

    public init(game: String? = nil, person: String? = nil, limit: Int? = nil) {
        self.game = game
        self.person = person
        self.limit = limit
    }
}

extension ScorebookStore {
    /// Lists matches, the latest first.
    public func matches(_ filter: MatchFilter = MatchFilter()) async throws -> [MatchListing] {
        try await read { [self] db in
            let names = try matchNames(db, filter)
            let zones = try ZoneNames(db)
            return try MatchSheet.fetchAll(db, names).map { sheet in
                MatchListing(
                    recordName: sheet.recordName, date: sheet.date, game: sheet.game,
                    location: sheet.location,
                    players: sheet.players.sorted { ($0.seatOrder ?? .max) < ($1.seatOrder ?? .max) }.map(
                        \.person),
                    winners: sheet.players.filter { $0.winner == true }.map(\.person),
                    zone: try zones.name(db, of: sheet.recordName.description))
            }
        }
    }

    private func matchNames(_ db: Database, _ filter: MatchFilter) throws -> [RecordName] {
        var request = Match.select(Column("recordName"), as: RecordName.self)
            .filter(sql: limits())
            .order(Column("date").desc, Column("recordName").desc)
        if let game = filter.game {
            request = request.filter(
                Column("game") == (try lookup(.game).find(db, game)).description)
        }
        if let person = filter.person {
            let name = try lookup(.person).find(db, person)
            request = request.filter(
                sql: "recordName IN (SELECT match FROM SBPlayer WHERE person = ?)",
                arguments: [name.description])
        }
        if let limit = filter.limit { request = request.limit(max(0, limit)) }
        return try request.fetchAll(db)
    }

    /// Reads one match with its players, scores and location.
    public func matchSheet(_ text: String) async throws -> MatchSheet {
        try await read { [self] db in try MatchSheet(db, lookup(.match).find(db, text)) }
    }
}

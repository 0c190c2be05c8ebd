import Foundation
import GRDB
import PeerSync

/// A game to add.
public struct NewGame: Sendable {
    /// The name, from 1 to 500 characters without line breaks.
    public var name: String
    /// The number at BoardGameGeek, from 1 to 2,147,483,647.
    public var bggID: Int?
    /// The year of publication, from -10,000 to 9999.
    public var year: Int?
    /// The smallest number of players, from 1 to 1,000.
    public var minPlayers: Int?
    /// The greatest number of players, from 1 to 1,000, and not below ``minPlayers``.
    public var maxPlayers: Int?
    /// Whether the highest score wins. If this is unknown, it does.
    public var highestWins: Bool?
    /// Whether the game is played without points.
    public var noPoints: Bool?
    /// Whether all players win or lose together.
    public var cooperative: Bool?
    /// Whether players form teams.
    public var usesTeams: Bool?
    /// The file of a picture.
    public var thumbnail: URL?

    /// Makes a game to add. What is nil is unknown.
    public init(
        name: String, bggID: Int? = nil, year: Int? = nil, minPlayers: Int? = nil, maxPlayers: Int? = nil,
        highestWins: Bool? = nil, noPoints: Bool? = nil, cooperative: Bool? = nil, usesTeams: Bool? = nil,
        thumbnail: URL? = nil
    ) {
        self.name = name
        self.bggID = bggID
        self.year = year
        self.minPlayers = minPlayers
        self.maxPlayers = maxPlayers
        self.highestWins = highestWins
        self.noPoints = noPoints
        self.cooperative = cooperative
        self.usesTeams = usesTeams
        self.thumbnail = thumbnail
    }
}

/// The changes of an edit to a game.
public struct GameEdit: Sendable {
    /// The name, as in ``NewGame``; it cannot be cleared.
    public var name: Change<String> = .keep
    /// The number at BoardGameGeek, from 1 to 2,147,483,647.
    public var bggID: Change<Int> = .keep
    /// The year of publication, from -10,000 to 9999.
    public var year: Change<Int> = .keep
    /// The smallest number of players, from 1 to 1,000.
    public var minPlayers: Change<Int> = .keep
    /// The greatest number of players, from 1 to 1,000, and not below ``minPlayers``.
    public var maxPlayers: Change<Int> = .keep
    /// Whether the highest score wins. If this is unknown, it does.
    public var highestWins: Change<Bool> = .keep
    /// Whether the game is played without points.
    public var noPoints: Change<Bool> = .keep
    /// Whether all players win or lose together.
    public var cooperative: Change<Bool> = .keep
    /// Whether players form teams.
    public var usesTeams: Change<Bool> = .keep
    /// The file of a picture.
    public var thumbnail: Change<URL> = .keep

    /// Whether it changes nothing.
    public var isEmpty: Bool {
        name == .keep && bggID == .keep && year == .keep && minPlayers == .keep && maxPlayers == .keep
            && highestWins == .keep && noPoints == .keep && cooperative == .keep && usesTeams == .keep
            && thumbnail == .keep
    }

    /// Makes an edit that changes nothing.
    public init() {}
}

/// A game, with the number of its matches.
public struct GameListing: RecordListing, Equatable {
    /// The game.
    public let game: Game
    /// The number of its matches.
    public let matches: Int
    /// The name of its zone on this machine.
    public let zone: String
    /// The name of the game's record.
    public var recordName: RecordName { game.recordName }

    private enum CodingKeys: String, CodingKey { case matches, zone }

    /// Writes the keys of the game's record, and `matches` and `zone` beside them.
    public func encode(to encoder: any Encoder) throws {
        try game.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(matches, forKey: .matches)
        try container.encode(zone, forKey: .zone)
    }
}

extension ScorebookStore {
    /// Adds a game.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue`; what ``storePicture(_:)-(URL)`` throws.
    @discardableResult
    public func addGame(_ new: NewGame) async throws -> Game {
        var game = Game(
            name: try Bounds.name(new.name, "name"), bggID: new.bggID, year: new.year,
            minPlayers: new.minPlayers, maxPlayers: new.maxPlayers, highestWins: new.highestWins,
            noPoints: new.noPoints, cooperative: new.cooperative, usesTeams: new.usesTeams)
        try Self.check(game)
        if let thumbnail = new.thumbnail { game.thumbnail = try await storePicture(thumbnail) }
        return try await write { [self, game] db in
            try game.insert(db)
            return try settled(db, game.recordName)
        }
    }

    /// Changes a game.
    @discardableResult
    public func editGame(_ text: String, _ edit: GameEdit) async throws -> Game {
        if case .set = edit.thumbnail { _ = try await find(.game, text) }
        let thumbnail = try await storePicture(edit.thumbnail)
        return try await write { [self] db in
            let name = try lookup(.game).find(db, text)
            var game: Game = try Self.fetch(db, name)
            let old = game
            edit.name.apply(to: &game.name)
            edit.bggID.apply(to: &game.bggID)
            edit.year.apply(to: &game.year)
            edit.minPlayers.apply(to: &game.minPlayers)
            edit.maxPlayers.apply(to: &game.maxPlayers)
            edit.highestWins.apply(to: &game.highestWins)
            edit.noPoints.apply(to: &game.noPoints)
            edit.cooperative.apply(to: &game.cooperative)
            edit.usesTeams.apply(to: &game.usesTeams)
            thumbnail.apply(to: &game.thumbnail)
            if edit.name != .keep { game.name = try Bounds.name(game.name ?? "", "name") }
            try Self.check(game, since: old)
            try game.updateChanges(db, from: old)
            if thumbnail == .clear { try Self.clear(db, name, "thumbnail") }
            return try settled(db, game.recordName)
        }
    }

    /// Checks what is new. What was there may come from elsewhere, as the two ends of a range from two machines.
    ///
    /// - Parameter old: the game of before; nil for a new one.
    private static func check(_ game: Game, since old: Game? = nil) throws {
        func new(_ field: KeyPath<Game, Int?>) -> Int? {
            game[keyPath: field] == old?[keyPath: field] ? nil : game[keyPath: field]
        }
        try Bounds.whole(new(\.bggID), "number at BoardGameGeek", Bounds.bggID)
        try Bounds.whole(new(\.year), "year", Bounds.year)
        try Bounds.whole(new(\.minPlayers), "smallest number of players", Bounds.players)
        try Bounds.whole(new(\.maxPlayers), "greatest number of players", Bounds.players)
        let isNewRange = new(\.minPlayers) != nil || new(\.maxPlayers) != nil
        if isNewRange, let least = game.minPlayers, let most = game.maxPlayers, least > most {
            throw ScorebookError(
                .invalidValue, "a game for at least \(least) players cannot be for at most \(most)")
        }
    }

    /// Lists all games, by name.
    public func games() async throws -> [GameListing] {
        try await read { [self] db in
            let matches = try Self.counts(db, "SELECT game, COUNT(*) FROM SBMatch GROUP BY game")
            let zones = try ZoneNames(db)
            let merged = try MergedRecords(db, .game)
            return try Game.filter(sql: limits()).fetchAll(db)
                .filter { !merged.contains($0.recordName.description) }
                .map { game in
                    let name = game.recordName.description
                    return GameListing(
                        game: game, matches: matches[name] ?? 0, zone: try zones.name(db, of: name))
                }
                .sorted {
                    SortKey($0.game.name ?? "", $0.game.recordName)
                        < SortKey($1.game.name ?? "", $1.game.recordName)
                }
        }
    }

    /// Finds one game.
    public func game(_ text: String) async throws -> GameListing {
        try await read { [self] db in
            let name = try lookup(.game).find(db, text)
            let sql = "SELECT COUNT(*) FROM SBMatch WHERE game = ?"
            return GameListing(
                game: try Self.fetch(db, name),
                matches: try Int.fetchOne(db, sql: sql, arguments: [name]) ?? 0,
                zone: try ZoneNames(db).name(db, of: name.description))
        }
    }
}

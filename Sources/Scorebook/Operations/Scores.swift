import GRDB
import PeerSync

/// A score to add.
public struct NewScore: Sendable {
    /// The match's record name or the beginning of its UUID; nil when ``player`` is a player's record name.
    public var match: String?
    /// The person who scored; without ``match``, the record name of an SBPlayer or the beginning of its UUID.
    public var player: String
    /// A plain number, or any other text.
    public var value: String
    /// 1 for the first round; nil for a score of the whole match.
    public var round: Int?

    /// Makes a score to add.
    public init(match: String? = nil, player: String, value: String, round: Int? = nil) {
        self.match = match
        self.player = player
        self.value = value
        self.round = round
    }
}

/// The changes of an edit to a score.
public struct ScoreEdit: Sendable {
    /// A plain number, or any other text.
    public var value: String?
    /// 1 for the first round; clearing makes it a score of the whole match.
    public var round: Change<Int> = .keep

    /// Makes an edit that changes what is given.
    public init(value: String? = nil, round: Change<Int> = .keep) {
        self.value = value
        self.round = round
    }
}

/// A score, with its match and its person.
public struct ScoreListing: RecordListing, Equatable {
    /// The score.
    public let score: Score
    /// The record name of the match.
    public let match: RecordName
    /// The name of the game.
    public let game: String
    /// When the match was played, in ISO 8601 and UTC.
    public let date: String?
    /// The name of the person who scored.
    public let person: String
    /// The name of its zone on this machine.
    public let zone: String
    /// The name of the score's record.
    public var recordName: RecordName { score.recordName }

    private enum CodingKeys: String, CodingKey { case match, game, date, person, zone }

    /// Writes the keys of the score's record, and `match`, `game`, `date`, `person` and `zone` beside them.
    public func encode(to encoder: any Encoder) throws {
        try score.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(match, forKey: .match)
        try container.encode(game, forKey: .game)
        try container.encode(date, forKey: .date)
        try container.encode(person, forKey: .person)
        try container.encode(zone, forKey: .zone)
    }
}

extension ScorebookStore {
    /// Adds a score to a player of a match.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue` when the player has a score for that round already.
    @discardableResult
    public func addScore(_ new: NewScore) async throws -> Score {
        try await write { [self] db in
            let player = try player(db, new)
            let value = try ScoreValue(typed: new.value)
            let match: Player = try Self.fetch(db, player)
            try Self.checkRound(db, new.round, match.match)
            let score = Score(player: player, round: new.round, points: value.points, text: value.text)
            try Self.checkIsFree(db, score)
            try score.insert(db)
            return try settled(db, score.recordName)
        }
    }

    /// Changes a score.
    @discardableResult
    public func editScore(_ text: String, _ edit: ScoreEdit) async throws -> Score {
        try await write { [self] db in
            var score: Score = try Self.fetch(db, lookup(.score).find(db, text))
            let old = score
            if let text = edit.value {
                let value = try ScoreValue(typed: text)
                (score.points, score.text) = (value.points, value.text)
            }
            edit.round.apply(to: &score.round)
            let player: Player = try Self.fetch(db, score.player)
            try Self.checkRound(db, edit.round == .keep ? nil : score.round, player.match)
            if score.round != old.round { try Self.checkIsFree(db, score) }
            try score.updateChanges(db, from: old)
            return try settled(db, score.recordName)
        }
    }

    /// Lists the scores of a match, or all scores, by match, seat and round.
    public func scores(match text: String? = nil) async throws -> [ScoreListing] {
        try await read { [self] db in
            let match = try text.map { try lookup(.match).find(db, $0) }
            return try listings(
                db, "? IS NULL OR SBPlayer.match = ?", [match?.description, match?.description])
        }
    }

    /// Finds one score.
    public func score(_ text: String) async throws -> ScoreListing {
        try await read { [self] db in
            let name = try lookup(.score).find(db, text)
            let listing = try listings(db, "SBScore.recordName = ?", [name.description]).first
            guard let listing else { throw ScorebookError(.notFound, "there is no record \(name)") }
            return listing
        }
    }

    private func listings(
        _ db: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> [ScoreListing] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT SBScore.*, SBPlayer.match, SBMatch.date AS matchDate, SBGame.name AS gameName,
                    \(PersonName.sql) AS personName
                FROM SBScore
                JOIN SBPlayer ON SBPlayer.recordName = SBScore.player
                LEFT JOIN SBMatch ON SBMatch.recordName = SBPlayer.match
                LEFT JOIN SBGame ON SBGame.recordName = SBMatch.game
                JOIN SBPerson ON SBPerson.recordName = SBPlayer.person
                WHERE (\(condition)) AND \(limits("SBScore.recordName"))
                ORDER BY SBPlayer.match, seatOrder, SBPlayer.recordName, round, SBScore.recordName
                """, arguments: arguments)
        let zones = try ZoneNames(db)
        var listings: [ScoreListing] = []
        while let row = try rows.next() {
            listings.append(
                ScoreListing(
                    score: try Score(row: row), match: try row.recordName("match"),
                    game: row["gameName"] ?? "", date: row["matchDate"], person: row["personName"],
                    zone: try zones.name(db, of: row["recordName"])))
        }
        return listings
    }

    private func player(_ db: Database, _ new: NewScore) throws -> RecordName {
        guard let match = new.match else { return try lookup(.player).find(db, new.player) }
        let matchName = try lookup(.match).find(db, match)
        return try self.player(db, new.player, of: matchName).recordName
    }

    /// Finds a player of a match by the record name, or by the person's name. People who did not play count only if no player fits.
    func player(_ db: Database, _ text: String, of match: RecordName) throws -> Player {
        if text.hasPrefix(RecordKind.player.recordType + RecordName.separator) {
            let player: Player = try Self.fetch(db, lookup(.player).find(db, text))
            guard player.match == match else {
                throw ScorebookError(.invalidValue, "\(player.recordName) is not a player of \(match)")
            }
            return player
        }
        let lookup = lookup(.person, in: try scope(db, of: match))
        let players = try Player.filter(Column("match") == match.description).fetchAll(db)
        let person = try lookup.amongPlayers(of: match).findIfThere(db, text) ?? lookup.find(db, text)
        let parts = players.filter { $0.person == person }
        guard let player = parts.first else {
            let sheet = try MatchSheet(db, match)
            throw ScorebookError(
                .notFound, "“\(Display.printable(text))” took no part in \(sheet.shortTitle(time))",
                hint:
                    "its players are \(sheet.players.map { Display.printable($0.person) }.joined(separator: ", "))"
            )
        }
        guard parts.count == 1 else {
            let names = parts.map(\.recordName.description).joined(separator: ", ")
            throw ScorebookError(
                .ambiguous, "“\(Display.printable(text))” has several parts in \(match): \(names)",
                hint: "give the record name of one, in quotes")
        }
        return player
    }

    static func checkIsFree(_ db: Database, _ score: Score) throws {
        let sql = "SELECT EXISTS (SELECT 1 FROM SBScore WHERE player = ? AND round IS ? AND recordName <> ?)"
        let isTaken = try Bool.fetchOne(
            db, sql: sql, arguments: [score.player.description, score.round, score.recordName.description])
        guard isTaken == true else { return }
        let what = score.round.map { "round \($0)" } ?? "the whole match"
        throw ScorebookError(
            .invalidValue, "there is a score for \(what) already",
            hint:
                "`score set` changes it, and in `play` a line such as `set \(score.round.map { "\($0): " } ?? "")Ada=7`"
        )
    }
}

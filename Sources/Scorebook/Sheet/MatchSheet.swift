import GRDB
import PeerSync

/// One match with its players, scores and location, as `match show` prints it.
public struct MatchSheet: Sendable, Equatable {
    /// One player's line.
    public struct Line: Sendable, Equatable {
        /// The record name of the SBPlayer.
        public let recordName: RecordName
        /// The person's name.
        public let person: String
        /// The record name of the person.
        public let personRecord: RecordName
        /// 1 for the first seat.
        public let seatOrder: Int?
        /// The name of the team; nil if the player is in none.
        public let team: String?
        /// What the player was in the game, as “Medic”.
        public let role: String?
        /// Whether the player began.
        public let startPlayer: Bool?
        /// Whether it was the person's first match of this game.
        public let newPlayer: Bool?
        /// Whether the player won: as recorded, otherwise as the scores say; nil if neither tells.
        public internal(set) var winner: Bool?
        /// The place, 1 for the first: as recorded, otherwise as the scores say; nil if neither tells.
        public internal(set) var rank: Int?
        /// The scores by round; those of the whole match last.
        public let scores: [Entry]
        /// The sum of the points; nil if there are none, or if a score is not a plain number.
        public let total: Double?
    }

    /// The result of a match in which all win or lose together.
    public enum Result: String, Sendable {
        /// All have won, or all have lost.
        case won, lost
    }

    /// One score.
    public struct Entry: Sendable, Equatable {
        /// The record name of the SBScore.
        public let recordName: RecordName
        /// 1 for the first round; nil for a score of the whole match.
        public let round: Int?
        /// The score as a number; nil if it is no plain number.
        public let points: Double?
        /// The score as written, if it is no plain number.
        public let text: String?
    }

    /// The record name of the match.
    public let recordName: RecordName
    /// The name of the game.
    public let game: String
    /// The record name of the game.
    public let gameRecord: RecordName
    /// ISO 8601 in UTC.
    public let date: String?
    /// The name of the place.
    public let location: String?
    /// How long the match took, in minutes.
    public let durationMinutes: Int?
    /// The number of rounds, as somebody wrote it down; there may be scores of more, or of fewer.
    public let rounds: Int?
    /// The board, map or variant.
    public let board: String?
    /// What somebody noted about the match.
    public let notes: String?
    /// How good it was, from 0 to 10; nil if nobody said it.
    public let rating: Double?
    /// Whether statistics leave the match out.
    public let isIgnored: Bool
    /// Whether the match goes on later; nobody has won it yet.
    public let isUnfinished: Bool
    /// The result of all players together, or of one who plays alone and has lost; nil if there is none.
    public let result: Result?
    /// The players by place, as far as it is known, then by seat.
    public let players: [Line]

    /// The round that the next scores are for: the last one until each player has a score in it, then the one after it; nil if all scores
    /// that there are are of the whole match.
    public var nextRound: Int? {
        let rounds = players.flatMap { $0.scores.map(\.round) }
        guard rounds.isEmpty || rounds.contains(where: { $0 != nil }) else { return nil }
        let last = Bounds.lastRound(rounds.compactMap(\.self).max())
        let isOpen = players.contains { line in !line.scores.contains { $0.round == last } }
        return last > 0 && isOpen ? last : last + 1
    }

    /// Puts the parts together. Players and scores may be in any order.
    ///
    /// - Parameter game: nil if the store has none. A program without foreign keys may have deleted it.
    init(
        match: Match, game: Game?, location: String?,
        players: [(player: Player, person: String, scores: [Score])]
    ) {
        recordName = match.recordName
        gameRecord = match.game
        self.game = game?.name ?? ""
        date = match.date
        self.location = location
        durationMinutes = match.durationMinutes
        rounds = match.rounds
        board = match.board
        notes = match.notes
        rating = match.rating
        isIgnored = match.ignored == true
        isUnfinished = match.unfinished == true
        result = Self.result(players.map(\.player), game)
        var lines = players.map { Line($0.player, person: $0.person, scores: $0.scores) }
        Self.rank(&lines, Ranking(game), isOver: !isUnfinished)
        self.players = lines.sorted { left, right in
            let leftKey = (left.rank ?? .max, left.seatOrder ?? .max)
            let rightKey = (right.rank ?? .max, right.seatOrder ?? .max)
            return leftKey == rightKey ? left.recordName < right.recordName : leftKey < rightKey
        }
    }

    /// In other matches nobody has won when all have not.
    private static func result(_ players: [Player], _ game: Game?) -> Result? {
        let winners = players.map(\.winner)
        let isTogether = game?.cooperative == true
        guard !players.isEmpty, isTogether || Set(players.map(\.person)).count == 1 else { return nil }
        if winners.allSatisfy({ $0 == false }) { return .lost }
        return isTogether && winners.allSatisfy { $0 == true } ? .won : nil
    }

    /// Fills in the places and winners that nobody recorded.
    private static func rank(_ lines: inout [Line], _ ranking: Ranking, isOver: Bool) {
        var entries = lines.map {
            Ranking.Entry(total: $0.total, team: $0.team, rank: $0.rank, isWinner: $0.winner)
        }
        ranking.complete(&entries, persons: Set(lines.map(\.personRecord)).count, isOver: isOver)
        for (index, entry) in entries.enumerated() {
            lines[index].rank = entry.rank
            lines[index].winner = entry.isWinner
        }
    }
}

extension MatchSheet.Line {
    fileprivate init(_ player: Player, person: String, scores: [Score]) {
        recordName = player.recordName
        self.person = person
        personRecord = player.person
        seatOrder = player.seatOrder
        // Other programs may write an empty team, which is none.
        team = player.team?.filled
        role = player.role
        startPlayer = player.startPlayer
        newPlayer = player.newPlayer
        winner = player.winner
        rank = player.rank
        self.scores =
            scores
            .sorted { left, right in
                let leftRound = left.round ?? .max
                let rightRound = right.round ?? .max
                return leftRound == rightRound ? left.recordName < right.recordName : leftRound < rightRound
            }
            .map {
                MatchSheet.Entry(recordName: $0.recordName, round: $0.round, points: $0.points, text: $0.text)
            }
        let points = scores.compactMap(\.points)
        let isComplete = !points.isEmpty && points.count == scores.count
        total = isComplete ? Ranking.total(points.reduce(0, +), of: points.count) : nil
    }
}

extension MatchSheet {
    /// The number of matches that one statement of each kind reads. SQLite takes 32,766 arguments.
    private static let chunk = 1000

    /// Reads one match.
    init(_ db: Database, _ name: RecordName) throws {
        let sheet = try Self.fetchAll(db, [name]).first
        guard let sheet else { throw ScorebookError(.notFound, "there is no record \(name)") }
        self = sheet
    }

    /// Reads matches, in the order of `names`. Leaves out those that do not exist.
    static func fetchAll(_ db: Database, _ names: [RecordName]) throws -> [MatchSheet] {
        var sheets: [MatchSheet] = []
        sheets.reserveCapacity(names.count)
        for start in stride(from: 0, to: names.count, by: chunk) {
            sheets += try fetchChunk(db, Array(names[start..<min(start + chunk, names.count)]))
        }
        return sheets
    }

    private static func fetchChunk(_ db: Database, _ names: [RecordName]) throws -> [MatchSheet] {
        let matches: [RecordName: Match] = try byName(db, names)
        let games: [RecordName: Game] = try byName(db, Set(matches.values.map(\.game)))
        let locations = try MatchLocation.filter(names.contains(Column("match"))).order(Column("recordName"))
            .fetchAll(db)
        let players = try Player.filter(names.contains(Column("match"))).fetchAll(db)
        let persons: [RecordName: Person] = try byName(db, Set(players.map(\.person)))
        let scores = try Score.filter(
            sql: """
                player IN (SELECT recordName FROM SBPlayer
                    WHERE match IN (\(names.map { _ in "?" }.joined(separator: ", "))))
                """, arguments: StatementArguments(names)
        ).fetchAll(db)

        let scoresByPlayer = Dictionary(grouping: scores, by: \.player)
        let playersByMatch = Dictionary(grouping: players, by: \.match)
        let locationsByMatch = Dictionary(grouping: locations, by: \.match)
        return names.compactMap { name in
            guard let match = matches[name] else { return nil }
            return MatchSheet(
                match: match, game: games[match.game],
                location: locationsByMatch[name]?.compactMap(\.name).first,
                players: (playersByMatch[name] ?? []).map { player in
                    (player, persons[player.person]?.name ?? "", scoresByPlayer[player.recordName] ?? [])
                })
        }
    }

    private static func byName<Record: ScorebookRecord>(
        _ db: Database, _ names: some Collection<RecordName>
    ) throws -> [RecordName: Record] {
        let records = try Record.filter(names.contains(Column("recordName"))).fetchAll(db)
        return Dictionary(uniqueKeysWithValues: records.map { ($0.recordName, $0) })
    }
}

extension ScorebookStore {
    /// Reads one match with its players, scores and location.
    public func matchSheet(_ text: String) async throws -> MatchSheet {
        try await read { [self] db in try MatchSheet(db, lookup(.match).find(db, text)) }
    }
}

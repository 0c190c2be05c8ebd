import GRDB
import PeerSync

/// Scores of one match, to write down in one step.
public struct NewScores: Sendable {
    /// The round of the scores.
    public enum Round: Sendable, Equatable {
        /// None: they are scores of the whole match.
        case none
        /// 1 for the first round.
        case number(Int)
        /// The round after the last one that has scores.
        case next
    }

    /// A text that names the match.
    public var match: String
    /// The round of all of them.
    public var round: Round
    /// The score of each player: texts that name the player, and what people write for the score.
    public var values: [(player: String, value: String)]
    /// Whether these scores take the place of those that are there already.
    public var replaces: Bool

    /// Makes scores to write down.
    ///
    /// - Parameter round: by default they are scores of the whole match.
    public init(
        match: String, round: Round = .none, values: [(player: String, value: String)], replaces: Bool = false
    ) {
        self.match = match
        self.round = round
        self.values = values
        self.replaces = replaces
    }
}

/// Scores that were written down.
public struct AddedScores: Sendable {
    /// The scores as they are now, in the order of ``NewScores/values``.
    public let scores: [Score]
    /// The scores in whose place some of them are, as they were.
    let replaced: [Score]
    /// The further scores that were there and went: of machines that did not see each other, each may have written one.
    let deleted: [RecordName]
    /// The match with them.
    public let sheet: MatchSheet
}

extension ScorebookStore {
    /// Adds scores to players of a match, or sets those that are there; all of them or none.
    ///
    /// - Throws: ``ScorebookError`` `invalidValue` for a score that looks like a number and is none, for a round far behind the
    ///   last one, and, unless the new ones replace others, for a player who has a score in that round already.
    @discardableResult
    public func addScores(_ new: NewScores) async throws -> AddedScores {
        try await write { [self] db in
            let match = try lookup(.match).find(db, new.match)
            let round: Int?
            switch new.round {
            case .none: round = nil
            case .number(let number): round = number
            case .next: round = try Self.lastRound(db, match) + 1
            }
            try Self.checkRound(db, round, match)
            var (replaced, deleted) = ([Score](), [RecordName]())
            let scores = try new.values.map { player, value in
                let value = try ScoreValue(typed: value)
                let score = Score(
                    player: try self.player(db, player, of: match).recordName, round: round,
                    points: value.points,
                    text: value.text)
                let present = new.replaces ? try Self.present(db, score) : []
                if let first = present.first {
                    var changed = first
                    (changed.points, changed.text) = (score.points, score.text)
                    try changed.updateChanges(db, from: first)
                    replaced.append(first)
                    for other in present.dropFirst() {
                        try records.delete(db, other.recordName)
                        deleted.append(other.recordName)
                    }
                    return first.recordName
                }
                try Self.checkIsFree(db, score)
                try score.insert(db)
                return score.recordName
            }
            let written: [Score] = try scores.map { try settled(db, $0) }
            return AddedScores(
                scores: written, replaced: replaced, deleted: deleted, sheet: try MatchSheet(db, match))
        }
    }

    /// Returns the scores that a player has in the round of another one: several, if machines that did not see each other wrote one
    /// each.
    static func present(_ db: Database, _ score: Score) throws -> [Score] {
        try Score.filter(Column("player") == score.player.description && Column("round") == score.round)
            .order(Column("recordName")).fetchAll(db)
    }

    /// Returns the last round of a match that has scores, 0 if none has.
    static func lastRound(_ db: Database, _ match: RecordName) throws -> Int {
        let sql =
            "SELECT max(round) FROM SBScore WHERE player IN (SELECT recordName FROM SBPlayer WHERE match = ?)"
        return Bounds.lastRound(try Int.fetchOne(db, sql: sql, arguments: [match.description]))
    }

    /// Refuses a round that is out of bounds, or so far behind the last one that it is a typing error.
    static func checkRound(_ db: Database, _ round: Int?, _ match: RecordName) throws {
        guard let round else { return }
        try Bounds.whole(round, "round", 1...Bounds.rounds.upperBound)
        let last = try lastRound(db, match)
        guard round > last + Bounds.roundGap else { return }
        throw ScorebookError(
            .invalidValue,
            "round \(round) is far behind "
                + (last == 0 ? "the first one" : "round \(last), the last one with scores"),
            hint: "write a round up to \(last + Bounds.roundGap)")
    }
}

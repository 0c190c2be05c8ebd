import Foundation
import GRDB
import PeerSync

/// One play of a game.
public struct Match: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.match

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name of the game's record.
    public var game: RecordName
    /// The time of play, ISO 8601 in UTC as `2024-03-05T19:30:00Z`.
    public var date: String?
    /// How long the match took, in minutes.
    public var durationMinutes: Int?
    /// The number of rounds, as somebody wrote it down.
    public var rounds: Int?
    /// What somebody noted about the match.
    public var notes: String?
    /// The board, map or variant.
    public var board: String?
    /// How good the match was, from 0 to 10.
    public var rating: Double?
    /// Whether statistics leave the match out.
    public var ignored: Bool?
    /// Whether the match goes on later. Nobody has won it yet, and statistics leave it out.
    public var unfinished: Bool?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a match that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.match), game: RecordName, date: String? = nil,
        durationMinutes: Int? = nil, rounds: Int? = nil, notes: String? = nil, board: String? = nil,
        rating: Double? = nil, ignored: Bool? = nil, unfinished: Bool? = nil
    ) {
        self.recordName = recordName
        self.game = game
        self.date = date
        self.durationMinutes = durationMinutes
        self.rounds = rounds
        self.notes = notes
        self.board = board
        self.rating = rating
        self.ignored = ignored
        self.unfinished = unfinished
    }

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        game = try row.recordName("game")
        date = row.lenient("date")
        durationMinutes = row.lenient("durationMinutes")
        rounds = row.lenient("rounds")
        notes = row.lenient("notes")
        board = row.lenient("board")
        rating = row.lenient("rating")
        ignored = row.lenient("ignored")
        unfinished = row.lenient("unfinished")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, game, date, durationMinutes, rounds, notes, board, rating, ignored, unfinished,
            modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(game, forKey: .game)
        try container.encode(date, forKey: .date)
        try container.encode(durationMinutes, forKey: .durationMinutes)
        try container.encode(rounds, forKey: .rounds)
        try container.encode(notes, forKey: .notes)
        try container.encode(board, forKey: .board)
        try container.encode(rating, forKey: .rating)
        try container.encode(ignored, forKey: .ignored)
        try container.encode(unfinished, forKey: .unfinished)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}

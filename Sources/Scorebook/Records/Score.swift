import Foundation
import GRDB
import PeerSync

/// A player's score, in one round or in the whole match.
public struct Score: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.score

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name of the player's record.
    public var player: RecordName
    /// 1 for the first round; nil for a score of the whole match.
    public var round: Int?
    /// The score as a number; nil if it is no plain number.
    public var points: Double?
    /// The score as written, if it is not a plain number.
    public var text: String?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a score that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.score), player: RecordName, round: Int? = nil,
        points: Double? = nil, text: String? = nil
    ) {
        self.recordName = recordName
        self.player = player
        self.round = round
        self.points = points
        self.text = text
    }

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        player = try row.recordName("player")
        round = row.lenient("round")
        points = row.lenient("points")
        text = row.lenient("text")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, player, round, points, text, modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(player, forKey: .player)
        try container.encode(round, forKey: .round)
        try container.encode(points, forKey: .points)
        try container.encode(text, forKey: .text)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}

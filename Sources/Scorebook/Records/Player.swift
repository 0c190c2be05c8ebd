import Foundation
import GRDB
import PeerSync

/// The part of one person in one match.
public struct Player: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.player

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name of the match's record.
    public var match: RecordName
    /// The name of the person's record.
    public var person: RecordName
    /// 1 for the first seat.
    public var seatOrder: Int?
    /// The name of the team; players of one match with the same one are together.
    public var team: String?
    /// What the player was in the game, as “Medic”.
    public var role: String?
    /// 1 for the first place.
    public var rank: Int?
    /// Whether the player began.
    public var startPlayer: Bool?
    /// Whether it was the person's first match of this game.
    public var newPlayer: Bool?
    /// Whether the player won. Where nobody said it of any player, the scores decide.
    public var winner: Bool?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a player that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.player), match: RecordName, person: RecordName,
        seatOrder: Int? = nil, team: String? = nil, role: String? = nil, rank: Int? = nil,
        startPlayer: Bool? = nil, newPlayer: Bool? = nil, winner: Bool? = nil
    ) {
        self.recordName = recordName
        self.match = match
        self.person = person
        self.seatOrder = seatOrder
        self.team = team
        self.role = role
        self.rank = rank
        self.startPlayer = startPlayer
        self.newPlayer = newPlayer
        self.winner = winner
    }

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        match = try row.recordName("match")
        person = try row.recordName("person")
        seatOrder = row.lenient("seatOrder")
        team = row.lenient("team")
        role = row.lenient("role")
        rank = row.lenient("rank")
        startPlayer = row.lenient("startPlayer")
        newPlayer = row.lenient("newPlayer")
        winner = row.lenient("winner")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, match, person, seatOrder, team, role, rank, startPlayer, newPlayer, winner,
            modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(match, forKey: .match)
        try container.encode(person, forKey: .person)
        try container.encode(seatOrder, forKey: .seatOrder)
        try container.encode(team, forKey: .team)
        try container.encode(role, forKey: .role)
        try container.encode(rank, forKey: .rank)
        try container.encode(startPlayer, forKey: .startPlayer)
        try container.encode(newPlayer, forKey: .newPlayer)
        try container.encode(winner, forKey: .winner)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}

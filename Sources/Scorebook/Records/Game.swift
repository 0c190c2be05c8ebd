import GRDB
import PeerSync

/// A game that can be played.
public struct Game: ScorebookRecord, Equatable {
    /// The kind of these records.
    public static let kind = RecordKind.game

    /// The record's name, which is the key of its row.
    public var recordName: RecordName
    /// The name of the game.
    public var name: String?
    /// The number at BoardGameGeek.
    public var bggID: Int?
    /// The year of publication.
    public var year: Int?
    /// The smallest number of players.
    public var minPlayers: Int?
    /// The greatest number of players.
    public var maxPlayers: Int?
    /// Whether the highest score wins. If this is unknown, it does.
    public var highestWins: Bool?
    /// Whether the game is played without points.
    public var noPoints: Bool?
    /// Whether all players win or lose together.
    public var cooperative: Bool?
    /// Whether players form teams.
    public var usesTeams: Bool?
    /// A picture; its file is in the scorebook's directory of assets.
    public var thumbnail: Asset?
    /// The date of the last change, ISO 8601. The engine keeps it.
    public private(set) var modificationDate: String?

    /// Makes a game that is not in the scorebook yet.
    public init(
        recordName: RecordName = .new(.game), name: String? = nil, bggID: Int? = nil,
        year: Int? = nil, minPlayers: Int? = nil, maxPlayers: Int? = nil, highestWins: Bool? = nil,
        noPoints: Bool? = nil, cooperative: Bool? = nil, usesTeams: Bool? = nil,
        thumbnail: Asset? = nil
    ) {
        self.recordName = recordName
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

    /// Reads a row, as ``ScorebookRecord`` says.
    public init(row: Row) throws {
        recordName = try row.recordName("recordName")
        name = row.lenient("name")
        bggID = row.lenient("bggID")
        year = row.lenient("year")
        minPlayers = row.lenient("minPlayers")
        maxPlayers = row.lenient("maxPlayers")
        highestWins = row.lenient("highestWins")
        noPoints = row.lenient("noPoints")
        cooperative = row.lenient("cooperative")
        usesTeams = row.lenient("usesTeams")
        thumbnail = row.lenient("thumbnail")
        modificationDate = row.lenient("modificationDate")
    }

    private enum CodingKeys: String, CodingKey {
        case recordName, name, bggID, year, minPlayers, maxPlayers, highestWins, noPoints,
            cooperative, usesTeams, thumbnail, modificationDate
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(name, forKey: .name)
        try container.encode(bggID, forKey: .bggID)
        try container.encode(year, forKey: .year)
        try container.encode(minPlayers, forKey: .minPlayers)
        try container.encode(maxPlayers, forKey: .maxPlayers)
        try container.encode(highestWins, forKey: .highestWins)
        try container.encode(noPoints, forKey: .noPoints)
        try container.encode(cooperative, forKey: .cooperative)
        try container.encode(usesTeams, forKey: .usesTeams)
        try container.encode(thumbnail, forKey: .thumbnail)
        try container.encode(modificationDate, forKey: .modificationDate)
    }
}

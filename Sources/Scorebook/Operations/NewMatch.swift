import Foundation
import GRDB
import PeerSync

/// A match to add.
public struct NewMatch: Sendable {
    /// The game's name, record name or beginning of its UUID.
    public var game: String
    /// What ``LocalTime/moment(_:)`` reads; nil for now.
    public var date: String?
    /// The players, in the order of their seats.
    public var players: [NewPlayer]
    /// The name of the place, from 1 to 500 characters.
    public var location: String?
    /// How long the match took, in minutes: from 0 to 527,040, which is a year.
    public var durationMinutes: Int?
    /// The number of rounds, from 0 to 100,000.
    public var rounds: Int?
    /// Any text; one of blanks alone counts as none.
    public var notes: String?
    /// The board, map or variant; a text of blanks alone counts as none.
    public var board: String?
    /// Whether the match goes on later.
    public var isUnfinished: Bool
    /// Whether the operation adds unknown players as persons. If not, it refuses them.
    public var createsPersons: Bool
    /// Whether the operation adds the game if nobody knows it.
    public var createsGame: Bool
    /// What is said of the players by their names: winners, the result, who began, teams and roles.
    public var parts = PlayersEdit()
    /// How a game is won that the operation adds.
    public var newGameRule = NewGameRule.highestScore
    /// An id that whoever begins the match may give it, so that one that comes again is known.
    public var entry: UUID?

    /// The name of the match's record, if there is an ``entry``. Another game, or others who play, are another match: who goes back in a
    /// browser sends them under the same id.
    public var recordName: RecordName? {
        entry.map { entry in
            let key = UUID(
                derivedFrom: "scorebook-peer new match 1", entry.uuidString, game,
                players.map(\.person).joined(separator: "\n"))
            return RecordName.named(.match, key.uuidString.lowercased())
        }
    }

    /// How a new game is won.
    public enum NewGameRule: String, Sendable, Decodable {
        /// The highest score wins, or the lowest.
        case highestScore, lowestScore
        /// Somebody says who has won.
        case noPoints
        /// All win or lose together.
        case together
    }

    /// Makes a match to add.
    public init(
        game: String, date: String? = nil, players: [NewPlayer] = [], location: String? = nil,
        durationMinutes: Int? = nil, rounds: Int? = nil, notes: String? = nil, board: String? = nil,
        isUnfinished: Bool = false, createsPersons: Bool = false, createsGame: Bool = false
    ) {
        self.game = game
        self.date = date
        self.players = players
        self.location = location
        self.durationMinutes = durationMinutes
        self.rounds = rounds
        self.notes = notes
        self.board = board
        self.isUnfinished = isUnfinished
        self.createsPersons = createsPersons
        self.createsGame = createsGame
    }
}

/// A player of a match to add.
public struct NewPlayer: Sendable {
    /// The person's name, record name or beginning of their UUID.
    public var person: String
    /// The score of the whole match: a plain number, or any other text.
    public var score: String?
    /// The name of the team; a text of blanks alone counts as none.
    public var team: String?
    /// What the player was in the game; a text of blanks alone counts as none.
    public var role: String?
    /// Whether this player won. With one player, the whole team wins.
    public var isWinner: Bool?
    /// Whether this player began.
    public var isStarter: Bool?

    /// Makes a player.
    ///
    /// - Parameter person: the name, record name or beginning of the UUID.
    public init(
        _ person: String, score: String? = nil, team: String? = nil, role: String? = nil,
        isWinner: Bool? = nil, isStarter: Bool? = nil
    ) {
        self.person = person
        self.score = score
        self.team = team
        self.role = role
        self.isWinner = isWinner
        self.isStarter = isStarter
    }
}

/// The changes of an edit to a match.
public struct MatchEdit: Sendable {
    /// The game's name, record name or beginning of its UUID.
    public var game: String?
    /// What ``LocalTime/moment(_:)`` reads.
    public var date: Change<String> = .keep
    /// How long the match took, in minutes: from 0 to 527,040, which is a year.
    public var durationMinutes: Change<Int> = .keep
    /// The number of rounds, from 0 to 100,000.
    public var rounds: Change<Int> = .keep
    /// What somebody noted about the match.
    public var notes: Change<String> = .keep
    /// The board, map or variant.
    public var board: Change<String> = .keep
    /// How good the match was, from 0 to 10.
    public var rating: Change<Double> = .keep
    /// Whether statistics leave the match out.
    public var ignored: Change<Bool> = .keep
    /// Whether the match goes on later; clearing it ends the match.
    public var unfinished: Change<Bool> = .keep
    /// The place of the match. Clearing it deletes the match's location records.
    public var location: Change<String> = .keep
    /// The changes to those who played.
    public var players = PlayersEdit()

    /// Whether the edit changes nothing.
    public var isEmpty: Bool {
        game == nil && date == .keep && durationMinutes == .keep && rounds == .keep && notes == .keep
            && board == .keep && rating == .keep && ignored == .keep && unfinished == .keep
            && location == .keep
            && players.isEmpty
    }

    /// Makes an edit that changes nothing.
    public init() {}
}

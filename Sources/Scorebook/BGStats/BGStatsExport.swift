/// A file that the BG Stats app exports. The import ignores all keys that are not listed here.
///
/// Objects refer to each other by small numbers, which are valid within one file only. UUIDs identify them across
/// files.
struct BGStatsExport: Decodable {
    var players: [Player]
    var locations: [Location]?
    var games: [Game]
    var plays: [Play]
    var deletedObjects: [DeletedObject]?

    struct Player: Decodable {
        var uuid: String
        var id: WholeNumber
        var name: String
        var modificationDate: String
        var bggUsername: String?
    }

    struct Location: Decodable {
        var uuid: String
        var id: WholeNumber
        var name: String
        var modificationDate: String
    }

    struct Game: Decodable {
        var uuid: String
        var id: WholeNumber
        var name: String
        var modificationDate: String
        var bggId: WholeNumber?
        var bggYear: WholeNumber?
        var minPlayerCount: WholeNumber?
        var maxPlayerCount: WholeNumber?
        var highestWins: Bool?
        var noPoints: Bool?
        var cooperative: Bool?
        var usesTeams: Bool?
    }

    struct Play: Decodable {
        var uuid: String
        var modificationDate: String
        var playDate: String
        var gameRefId: WholeNumber
        var locationRefId: WholeNumber?
        var durationMin: WholeNumber?
        var rounds: WholeNumber?
        var comments: String?
        var board: String?
        var rating: Double?
        var ignored: Bool?
        var playerScores: [PlayerScore]
    }

    struct PlayerScore: Decodable {
        var playerRefId: WholeNumber
        var score: String?
        var team: String?
        var role: String?
        var rank: WholeNumber?
        var seatOrder: WholeNumber?
        var startPlayer: Bool?
        var newPlayer: Bool?
        var winner: Bool?
    }

    struct DeletedObject: Decodable {
        var uuid: String
        var modificationDate: String
        var objectType: String
    }
}

/// A whole number in a file.
///
/// If a number does not fit into an `Int`, the error names its place in the file. Foundation's decoder does not.
struct WholeNumber: Decodable {
    let value: Int

    init(from decoder: any Decoder) throws {
        let number = try? decoder.singleValueContainer().decode(Double.self)
        guard let number, let value = Int(exactly: number) else {
            throw ImportFileError.at(ImportFileError.path(decoder.codingPath), "should be a whole number")
        }
        self.value = value
    }
}

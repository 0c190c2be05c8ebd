import PeerSync

/// A play that somebody logged at BoardGameGeek.
struct BGGPlay {
    struct Player {
        let username: String?
        let name: String?
        let startPosition: String?
        /// A colour or a team; people use it for both.
        let color: String?
        let score: String?
        let isNew: Bool?
        let hasWon: Bool?
    }

    /// More plays in one entry are taken for a mistake.
    static let mostPlays = 1000

    /// BoardGameGeek's number of the play.
    let id: Int
    /// Milliseconds since 1970, at noon in UTC; nil if nobody knows the day.
    let date: Int64?
    /// How many plays the entry stands for; 0 for one that does not count.
    let quantity: Int
    /// The minutes of all of them; 0 if nobody knows.
    let minutes: Int
    let isIncomplete: Bool
    /// Whether wins do not count.
    let hasNoWins: Bool
    let location: String?
    let comments: String?
    let game: BGGGame
    let players: [Player]

    init(_ element: XMLRecords.Element) throws {
        let values = NumberReader(place: "line \(element.line)")
        func number(_ key: String) throws -> Int? { try values.number(element.attributes[key], key) }
        guard let id = try number("id"), id > 0 else {
            throw ImportFileError.at(values.place, "has a play without an id")
        }
        guard let item = element.first("item"),
            let game = try values.number(item.attributes["objectid"], "objectid")
        else { throw ImportFileError.at(values.place, "has a play without a game") }
        quantity = try number("quantity") ?? 1
        guard 0...Self.mostPlays ~= quantity else {
            throw ImportFileError.at(
                values.place, "has the quantity \(quantity); it goes from 0 to \(Self.mostPlays)")
        }
        self.id = id
        self.game = BGGGame(id: game, name: item.attributes["name"]?.filled)
        date = try Self.date(element.attributes["date"], at: values.place)
        minutes = max(0, try number("length") ?? 0)
        isIncomplete = try number("incomplete") == 1
        hasNoWins = try number("nowinstats") == 1
        location = element.attributes["location"]?.filled
        comments = element.first("comments")?.text.filled
        players = try (element.first("players")?.children ?? []).filter { $0.name == "player" }.map {
            player in
            let values = NumberReader(place: "line \(player.line)")
            func flag(_ key: String) throws -> Bool? {
                try values.number(player.attributes[key], key).map { $0 == 1 }
            }
            return Player(
                username: player.attributes["username"]?.filled, name: player.attributes["name"]?.filled,
                startPosition: player.attributes["startposition"]?.filled,
                color: player.attributes["color"]?.filled, score: player.attributes["score"]?.filled,
                isNew: try flag("new"), hasWon: try flag("win"))
        }
    }

    /// Reads a day such as `2026-04-30`. BoardGameGeek knows no times: noon in UTC is on that day almost everywhere.
    private static func date(_ text: String?, at place: String) throws -> Int64? {
        guard let text = text?.filled, text != "0000-00-00" else { return nil }
        guard text.utf8.count == 10, let date = ISO8601.milliseconds(canonical: text + "T12:00:00Z") else {
            throw ImportFileError.at(
                place, "has the date “\(Display.printable(text.prefix(60)))”; a date looks like 2026-04-30")
        }
        return date
    }
}

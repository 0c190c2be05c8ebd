import ArgumentParser
import Scorebook

/// The options that say what players of a match are and did.
struct MatchParts: ParsableArguments {
    @Option(name: .customLong("winner"), help: "A player or a team that won; may be given several times.")
    var winners: [String] = []

    @Flag(help: "All have won together.")
    var won = false

    @Flag(help: "All have lost together.")
    var lost = false

    @Option(help: "The player who began.")
    var first: String?

    @Option(
        name: .customLong("team"),
        help: ArgumentHelp("The team of a player; may be given several times.", valueName: "person=team"))
    var teams: [String] = []

    @Option(
        name: .customLong("role"),
        help: ArgumentHelp("The role of a player; may be given several times.", valueName: "person=role"))
    var roles: [String] = []

    func validate() throws {
        guard [won, lost, !winners.isEmpty].filter(\.self).count <= 1 else {
            throw ValidationError("give one of --winner, --won and --lost")
        }
        guard (teams + roles).allSatisfy({ $0.contains("=") }) else {
            throw ValidationError("write a team or a role behind its player, as in Ada=red")
        }
    }

    /// The teams and roles, each behind its player; nil for an empty text, which takes it away.
    static func pairs(_ texts: [String]) -> [(player: String, value: String?)] {
        texts.map { text in
            let equals = text.lastIndex(of: "=") ?? text.endIndex
            let value = String(text[equals...].dropFirst())
            return (String(text[..<equals]), value.isEmpty ? nil : value)
        }
    }

    /// Returns the players of a new match with what the options say of them.
    func applied(to players: [NewPlayer]) throws -> [NewPlayer] {
        var players = players
        func index(_ text: String, _ what: String) throws -> Int {
            let names = players.map { $0.person.lowercased() }
            let beginnings = names.indices.filter { names[$0].hasPrefix(text.lowercased()) }
            let found =
                names.firstIndex(of: text.lowercased()) ?? (beginnings.count == 1 ? beginnings[0] : nil)
            guard let found else {
                throw Failure(.dataError, "the \(what) “\(Display.printable(text))” is not among the players")
            }
            return found
        }
        if won || lost { for index in players.indices { players[index].isWinner = won } }
        if let first { players[try index(first, "player")].isStarter = true }
        for (player, team) in Self.pairs(teams) { players[try index(player, "player")].team = team }
        for (player, role) in Self.pairs(roles) { players[try index(player, "player")].role = role }
        for winner in winners {
            let team = players.indices.filter { players[$0].team?.lowercased() == winner.lowercased() }
            for index in team.isEmpty ? [try index(winner, "winner")] : team {
                players[index].isWinner = true
            }
        }
        return players
    }
}

extension NewPlayer {
    /// Reads a player with an optional score, as in `Ada=10`.
    init(argument text: String) {
        guard let equals = text.lastIndex(of: "=") else {
            self.init(text)
            return
        }
        self.init(String(text[..<equals]), score: String(text[text.index(after: equals)...]))
    }
}

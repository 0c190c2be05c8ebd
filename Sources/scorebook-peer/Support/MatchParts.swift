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

    /// Says of the players of a match what the options say.
    func put(into players: inout PlayersEdit) {
        // An empty text leaves it to the scores again.
        if !winners.isEmpty { players.winners = winners == [""] ? .clear : .set(winners) }
        if won || lost { players.result = won }
        if let first { players.starter = first.isEmpty ? .clear : .set(first) }
        players.teams = Self.pairs(teams)
        players.roles = Self.pairs(roles)
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

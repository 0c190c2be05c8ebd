import Hummingbird
import PeerSync
import Scorebook

/// A game, and what statistics say of it. docs/statistics.md has the rules.
extension Pages {
    func addGames(to router: Router<PageContext>) {
        router.get("games/:id") { _, context in try await game(record(.game, context), context) }
    }

    private func game(_ name: RecordName, _ context: PageContext) async throws -> Response {
        let game: Game = try await scorebook.record("\(name)")
        let figures = try await figures.statistics(StatisticsFilter(game: "\(name)"))
        let matches = try await scorebook.matches(MatchFilter(game: "\(name)", limit: 10))
        let reader = context.reader
        let charts = FigureCharts(figures: figures, reader: reader)
        return try render(
            "game", title: Self.displayName(game.name), section: "/games",
            [
                "pictures": try await pictures(of: name, game.name ?? ""),
                "path": Self.path(name), "query": Self.query("game", name),
                "hasPlays": figures.plays > 0,
                "rule": Self.rule(game), "tiles": ["tiles": Self.tiles(figures, isGame: true, reader)],
                "about": ["facts": Self.facts(figures, of: game, reader)], "plays": charts.plays(),
                "tables": charts.tables(), "winners": charts.winners(), "matrix": charts.matrix(),
                "hasBest": !figures.records.isEmpty,
                "best": figures.records.prefix(10).map { best in
                    [
                        "person": Self.displayName(best.person),
                        "points": reader.points(best.points),
                        "day": best.day.map(reader.calendarDay) ?? "–", "path": Self.link(best.match) ?? "",
                    ]
                },
                "persons": figures.persons.prefix(20).map {
                    Self.line($0.name, .person, $0.recordName, $0.results, reader)
                },
                "matches": matches.map { Self.line($0, reader) },
            ], context)
    }

    /// How the game is won, in words.
    static func rule(_ game: Game) -> String {
        if game.cooperative == true { return "all win or lose together" }
        if game.noPoints == true { return "without points" }
        return game.highestWins == false ? "lowest score wins" : "highest score wins"
    }
}

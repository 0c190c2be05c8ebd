import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// A person, and what statistics say of them. docs/statistics.md has the rules.
extension Pages {
    func addPersons(to router: Router<PageContext>) {
        router.get("people/:id") { _, context in try await person(record(.person, context), context) }
    }

    private func person(_ name: RecordName, _ context: PageContext) async throws -> Response {
        let person: Person = try await scorebook.record("\(name)")
        let figures = try await figures.statistics(StatisticsFilter(person: "\(name)"))
        let matches = try await scorebook.matches(MatchFilter(person: "\(name)", limit: 10))
        let reader = context.reader
        let charts = FigureCharts(figures: figures, reader: reader)
        return try render(
            "person", title: Self.displayName(person.name), section: "/people",
            [
                "pictures": try await pictures(of: name, person.name), "path": Self.path(name),
                "query": Self.query("person", name), "hasPlays": figures.plays > 0,
                "tiles": ["tiles": Self.tiles(figures, reader)],
                "about": ["facts": Self.facts(figures, of: name, reader)], "plays": charts.plays(),
                "rates": charts.rates(), "games": charts.games(),
                "others": figures.persons.prefix(20).map { other in
                    var line = Self.line(other.name, .person, other.recordName, other.results, reader)
                    line["versus"] =
                        other.versus.map { versus in
                            [
                                "wins": reader.number(versus.wins), "losses": reader.number(versus.losses),
                                "ties": reader.number(versus.ties),
                            ]
                        }.shown
                    return line
                },
                "hasBest": !figures.records.isEmpty,
                "best": figures.records.map { best in
                    [
                        "game": Self.displayName(best.game),
                        "points": reader.points(best.points),
                        "day": best.day.map(reader.calendarDay) ?? "–", "path": Self.link(best.match) ?? "",
                    ]
                },
                "matches": matches.map { Self.line($0, reader) },
            ], context)
    }

    /// A game of a person, or a person of a game.
    static func line(
        _ name: String, _ kind: RecordKind, _ record: String, _ results: Results, _ reader: Reader
    ) -> [String: Any] {
        [
            "name": displayName(name), "plays": reader.number(results.plays),
            "path": (try? RecordName(record)).map(path) ?? "",
            "rate": (results.competitive.rate ?? results.cooperative.rate).map(reader.percent) ?? "–",
        ]
    }

    /// A query that limits a list of matches to a record.
    static func query(_ name: String, _ record: RecordName) -> String { query(name, "\(record)") }

    static func query(_ name: String, _ value: String) -> String {
        "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
}

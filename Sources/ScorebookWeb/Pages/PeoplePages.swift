import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// The persons, and what statistics say of one. docs/statistics.md has the rules.
extension Pages {
    func addPersons(to router: Router<PageContext>) {
        router.get("people") { _, context in
            let persons = try await scorebook.recentPersons()
            return try render(
                "people", title: "People", section: "/people",
                ["persons": persons.map { Self.line($0, context.reader) }], context)
        }
        router.get("people/:id") { _, context in try await person(record(.person, context), context) }
    }

    /// A person or game as lists show it.
    static func line(_ record: RecentRecord, _ reader: Reader) -> [String: Any] {
        [
            "path": path(record.recordName), "name": record.name.isEmpty ? "(no name)" : record.name,
            "matches": reader.number(record.matches), "last": record.lastDate.map(reader.day).shown,
        ]
    }

    private func person(_ name: RecordName, _ context: PageContext) async throws -> Response {
        let person = try await scorebook.person("\(name)").person
        let figures = try await scorebook.statistics(StatisticsFilter(person: "\(name)"))
        let matches = try await scorebook.matches(MatchFilter(person: "\(name)", limit: 10))
        let reader = context.reader
        return try render(
            "person", title: person.name.isEmpty ? "(no name)" : person.name, section: "/people",
            [
                "path": Self.path(name), "query": Self.query("person", name),
                "plays": reader.number(figures.plays),
                "results": Self.lines(figures.results, reader),
                "longestWins": (figures.streaks?.longestWins ?? 0) > 0
                    ? reader.number(figures.streaks?.longestWins ?? 0) : false as Any,
                "games": figures.games.prefix(20).map {
                    Self.line($0.name, .game, $0.recordName, $0.results, reader)
                },
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
                "matches": matches.map { Self.line($0, reader) },
            ], context)
    }

    /// Plays and rate of wins by kind. Kinds without plays are left out.
    static func lines(_ results: Results, _ reader: Reader) -> [[String: Any]] {
        [
            ("against each other", results.competitive), ("together", results.cooperative),
            ("alone", results.solo),
        ]
        .filter { $1.plays > 0 }
        .map { name, tally in
            [
                "name": name, "plays": reader.number(tally.plays), "wins": reader.number(tally.wins),
                "rate": tally.rate.map(reader.percent).shown,
            ]
        }
    }

    /// A game of a person, or a person of a game.
    static func line(
        _ name: String, _ kind: RecordKind, _ record: String, _ results: Results, _ reader: Reader
    ) -> [String: Any] {
        [
            "name": name.isEmpty ? "(no name)" : name, "plays": reader.number(results.plays),
            "path": (try? RecordName(record)).map(path) ?? "",
            "rate": results.competitive.rate.map(reader.percent) ?? "",
        ]
    }

    /// A query that limits a list of matches to a record.
    static func query(_ name: String, _ record: RecordName) -> String { query(name, "\(record)") }

    static func query(_ name: String, _ value: String) -> String {
        "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }
}

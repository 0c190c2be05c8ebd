import Foundation
import GRDB
import Scorebook

/// What somebody waits for who looks at a large scorebook: statistics, and the first page of the list of matches. Beside them, SQLite alone
/// reads every match with its players once.
struct Reading {
    /// How many records the scorebook has; a match has seven on average.
    let records: Int

    private static let everyRow = """
        SELECT COUNT(*), SUM(LENGTH(m.game)), SUM(LENGTH(m.date)), SUM(LENGTH(p.person)), SUM(p.rank), SUM(p.winner)
        FROM SBMatch AS m LEFT JOIN SBPlayer AS p ON p.match = m.recordName
        """

    func run(rounds: Int) async throws -> [Figure] {
        try await withTemporaryDirectory { directory in
            let source = try await SourceStore(in: directory, "source", records: records)
            let household = try Household(in: source.directory, source.name)
            let scorebook = household.scorebook
            let all = try await scorebook.statistics()
            let (person, game) = (all.persons.first?.recordName, all.games.first?.recordName)
            let year = all.days.last.flatMap { Int($0.day.prefix(4)) }
            let filters: [(name: String, filter: StatisticsFilter)] = [
                ("all plays", StatisticsFilter()), ("one person", StatisticsFilter(person: person)),
                ("one game", StatisticsFilter(game: game)), ("one year", StatisticsFilter(year: year)),
            ]
            var figures = filters.map { name, _ in
                Figure(
                    "statistics of \(name) among \(grouped(all.plays)), against reading every row", .seconds,
                    goal: .atMost(4))
            }
            var page = Figure(
                "first page of \(grouped(all.plays)) matches, against reading every row", .seconds,
                goal: .atMost(2))
            for _ in 0..<rounds {
                let beside = try await seconds {
                    try household.database.read { try Row.fetchAll($0, sql: Self.everyRow) }
                }
                for (index, filter) in filters.enumerated() {
                    figures[index].add(
                        try await seconds { try await scorebook.statistics(filter.filter) }, beside: beside)
                }
                let first = try await seconds {
                    try await scorebook.matchPages().first { _ in true }
                }
                page.add(first, beside: beside)
            }
            try household.database.close()
            return figures + [page]
        }
    }
}

import Foundation
import Hummingbird
import PeerSync
import Scorebook

/// The figures of everything, of a year, a person or a game. docs/statistics.md has the rules.
extension Pages {
    /// The number of names that a field offers while somebody types.
    private static let offeredNames = 50

    func addStatistics(to router: Router<PageContext>) {
        router.get("statistics") { request, context in try await statistics(request, context) }
    }

    /// What somebody asked for.
    private struct Asked {
        var year: Int?
        var person: Person?
        var game: Game?

        var filter: StatisticsFilter {
            StatisticsFilter(
                person: person.map { "\($0.recordName)" }, game: game.map { "\($0.recordName)" }, year: year)
        }
    }

    private func asked(_ request: Request) async throws -> Asked {
        var asked = Asked()
        if let text = request.query("year") {
            guard let year = Int(text), (1...9999).contains(year) else {
                throw PageError(.unprocessableContent, "“\(text)” is no year.")
            }
            asked.year = year
        }
        if let text = request.query("person") { asked.person = try await scorebook.record(text) }
        if let text = request.query("game") { asked.game = try await scorebook.record(text) }
        return asked
    }

    private func statistics(_ request: Request, _ context: PageContext) async throws -> Response {
        let asked = try await asked(request)
        var wholeFilter = asked.filter
        wholeFilter.year = nil
        let whole = try await figures.statistics(wholeFilter)
        let shown = asked.year == nil ? whole : try await figures.statistics(asked.filter)
        let charts = FigureCharts(figures: shown, reader: context.reader)
        var content = Self.charts(charts, of: asked.person != nil, asked.game != nil)
        if let year = asked.year ?? shown.years.last?.year, shown.plays > 0 {
            content["calendar"] = charts.calendar(year)
        }
        if let year = asked.year, shown.plays > 0 {
            content["review"] = ["facts": Self.review(year, shown, whole, context.reader)]
        }
        content["isEmpty"] = shown.plays == 0
        content["tiles"] = [
            "tiles": Self.tiles(shown, isGame: asked.game != nil, context.reader),
            "hIndex": (asked.game == nil ? Self.hIndex(shown.hIndex, context.reader) : nil).shown,
        ]
        content["years"] = years(whole, asked)
        content["person"] = asked.person.map { Self.displayName($0.name) } ?? ""
        content["game"] = asked.game.map { Self.displayName($0.name) } ?? ""
        content["year"] = asked.year.map(String.init) ?? ""
        content["isYear"] = asked.year != nil
        content["isFiltered"] = asked.person != nil || asked.game != nil
        content["about"] = [
            asked.person.map { ["path": Self.path($0.recordName), "name": Self.displayName($0.name)] },
            asked.game.map { ["path": Self.path($0.recordName), "name": Self.displayName($0.name)] },
        ].compactMap(\.self)
        content["personNames"] = whole.persons.prefix(Self.offeredNames).map(\.name)
        content["gameNames"] = whole.games.prefix(Self.offeredNames).map(\.name)
        return try render("statistics", title: Self.title(asked), section: "/statistics", content, context)
    }

    /// All charts that figures have something for.
    static func charts(_ charts: FigureCharts, of isPerson: Bool, _ isGame: Bool) -> [String: Any] {
        let hasDays = !charts.figures.days.isEmpty
        return [
            "plays": charts.plays(), "tables": charts.tables(),
            "weekdays": hasDays ? charts.weekdays() : false as Any,
            "hours": hasDays ? charts.hours() : false as Any,
            "games": isGame ? false : charts.games(), "winners": isPerson ? false : charts.winners(),
            "rates": isPerson ? charts.rates() : false, "matrix": isPerson ? false : charts.matrix(),
        ]
    }

    private static func title(_ asked: Asked) -> String {
        let names = [asked.person.map { displayName($0.name) }, asked.game.map { displayName($0.name) }]
            .compactMap(\.self)
        switch (names.isEmpty, asked.year) {
        case (true, nil): return "Statistics"
        case (true, let year?): return "\(year) in review"
        case (false, nil): return names.joined(separator: ", ")
        case (false, let year?): return "\(names.joined(separator: ", ")) in \(year)"
        }
    }

    /// Links to each year with plays, and to all of them, the last one first.
    private func years(_ whole: Statistics, _ asked: Asked) -> [[String: Any]] {
        let years = whole.years.filter { $0.plays > 0 }.map(\.year).reversed()
        return ([nil] + years.map(Optional.some)).map { year in
            let path = Self.path(
                "/statistics",
                [
                    ("person", asked.person.map { "\($0.recordName)" }),
                    ("game", asked.game.map { "\($0.recordName)" }), ("year", year.map { "\($0)" }),
                ])
            return [
                "path": path, "name": year.map(String.init) ?? "All years", "isHere": year == asked.year,
            ]
        }
    }

    /// What the h-index means.
    static func hIndex(_ number: Int, _ reader: Reader) -> String {
        number == 1
            ? "h-index 1: one game was played at least once."
            : "h-index \(reader.number(number)): \(reader.number(number)) games were played at least \(reader.number(number)) times each."
    }

    /// The numbers above everything else.
    static func tiles(_ figures: Statistics, isGame: Bool = false, _ reader: Reader) -> [[String: Any]] {
        var tiles: [(String, String)] = [("Plays", reader.number(figures.plays))]
        if figures.minutes > 0 { tiles.append(("Time", reader.duration(minutes: figures.minutes))) }
        if !figures.days.isEmpty { tiles.append(("Days", reader.number(figures.days.count))) }
        if !isGame { tiles.append(("Games", reader.number(figures.games.count))) }
        let others = figures.streaks == nil ? "People" : "Others"
        tiles.append((others, reader.number(figures.persons.count)))
        if !isGame { tiles.append(("h-index", reader.number(figures.hIndex))) }
        return tiles.map { ["name": $0, "value": $1] }
    }
}

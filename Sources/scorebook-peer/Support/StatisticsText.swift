import Foundation
import Scorebook

/// Figures as tables and small charts for a terminal.
struct StatisticsText {
    private let figures: Statistics
    private let title: String
    private let filter: StatisticsFilter

    /// The number of lines that a list shows of persons and games. `--json` has all.
    private static let longest = 15
    /// The width of the longest bar, in columns.
    private static let barWidth = 30

    init(_ figures: Statistics, of title: String, _ filter: StatisticsFilter) {
        self.figures = figures
        self.title = title
        self.filter = filter
    }

    var text: String {
        guard figures.plays > 0 else { return "\(Display.printable(title)): no plays yet" }
        let parts = [
            heading, person, games, persons, tables, records, months, weekdays, hours,
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private var heading: String {
        var facts = [figures.plays.counted("play")]
        if figures.minutes > 0 {
            facts.append("\((figures.minutes / 60).grouped) h \(figures.minutes % 60) min")
        }
        if figures.days.count == 1 { facts.append("on \(figures.days[0].day)") }
        if let first = figures.days.first, let last = figures.days.last, figures.days.count > 1 {
            facts.append("on \(figures.days.count.counted("day")) from \(first.day) to \(last.day)")
        }
        var text = "\(Display.printable(title)): \(facts.joined(separator: ", "))\n"
        if filter.game == nil {
            text +=
                "h-index \(figures.hIndex): "
                + (figures.hIndex == 1
                    ? "one game was played at least once"
                    : "\(figures.hIndex) games were played at least \(figures.hIndex) times each") + "\n"
        }
        let kinds = [
            ("against each other", figures.results.competitive), ("together", figures.results.cooperative),
            ("alone", figures.results.solo),
        ].filter { $0.1.plays > 0 }
        if filter.person == nil, kinds.count > 1 {
            text += kinds.map { "\($0.1.plays.grouped) \($0.0)" }.joined(separator: ", ") + "\n"
        }
        return text
    }

    /// The wins of the person whose figures these are.
    private var person: String {
        guard filter.person != nil, let streaks = figures.streaks else { return "" }
        var table = TextTable([.left(""), .right("PLAYS"), .right("WON"), .right("RATE")])
        let kinds = [
            ("against others", figures.results.competitive), ("together", figures.results.cooperative),
            ("alone", figures.results.solo),
        ]
        for (name, tally) in kinds where tally.plays > 0 {
            table.append([name, tally.plays.grouped, Self.won(tally), Self.rate(tally)])
        }
        let current = streaks.current
        var text = table.text
        if streaks.longestWins > 0 || streaks.longestLosses > 0 {
            text +=
                "longest run: \(streaks.longestWins.counted("win")), \(streaks.longestLosses) lost; now: "
                + (current >= 0 ? current.counted("win") : "\(-current) lost") + "\n"
        }
        return text
    }

    private var games: String {
        guard filter.game == nil else { return "" }
        let isPerson = filter.person != nil
        var table = TextTable(
            [.left("GAME"), .right("PLAYS")] + (isPerson ? [.right("WON"), .right("RATE")] : [])
                + [.left("LAST")])
        for line in figures.games.prefix(Self.longest) {
            // A game is played in one way, apart from plays of one alone.
            let tally =
                line.results.cooperative.plays > 0 ? line.results.cooperative : line.results.competitive
            table.append(
                [line.name, line.results.plays.grouped]
                    + (isPerson ? [Self.won(tally), Self.rate(tally)] : []) + [line.lastDay ?? ""])
        }
        return table.text + Self.rest(figures.games.count, "game")
    }

    private var persons: String {
        guard !figures.persons.isEmpty else { return "" }
        let hasCooperative = figures.persons.contains { $0.results.cooperative.plays > 0 }
        let hasSolo = figures.persons.contains { $0.results.solo.plays > 0 }
        let isPerson = filter.person != nil
        var columns: [TextTable.Column] = [.left(isPerson ? "WITH" : "PERSON"), .right("PLAYS")]
        if isPerson {
            columns += [.right("AGAINST"), .right("WON"), .right("LOST"), .right("TIED")]
        } else {
            columns += [.right("WON"), .right("RATE")]
            if hasCooperative { columns += [.right("TOGETHER"), .right("RATE")] }
            if hasSolo { columns.append(.right("ALONE")) }
        }
        var table = TextTable(columns)
        for line in figures.persons.prefix(Self.longest) {
            var cells = [line.name, line.results.plays.grouped]
            if isPerson {
                let versus = line.versus
                cells += [versus?.plays, versus?.wins, versus?.losses, versus?.ties].map { ($0 ?? 0).grouped }
            } else {
                cells += [Self.won(line.results.competitive), Self.rate(line.results.competitive)]
                if hasCooperative {
                    cells += [Self.won(line.results.cooperative), Self.rate(line.results.cooperative)]
                }
                if hasSolo { cells.append(line.results.solo.plays.grouped) }
            }
            table.append(cells)
        }
        return table.text + Self.rest(figures.persons.count, "person")
    }

    private var tables: String {
        guard figures.tables.count > 1 else { return "" }
        let isPerson = filter.person != nil
        var table = TextTable(
            [.left("PERSONS"), .right("PLAYS")] + (isPerson ? [.right("WON"), .right("RATE")] : []))
        for line in figures.tables {
            table.append(
                ["\(line.persons)", line.results.plays.grouped]
                    + (isPerson
                        ? [Self.won(line.results.competitive), Self.rate(line.results.competitive)] : []))
        }
        return table.text
    }

    private var records: String {
        guard !figures.records.isEmpty else { return "" }
        let isGame = filter.game != nil
        var table = TextTable([
            .left(isGame ? "BEST SCORE OF" : "BEST SCORE IN"), .right("POINTS"), .left("DATE"),
        ])
        for best in figures.records.prefix(Self.longest) {
            table.append([isGame ? best.person : best.game, Self.points(best.points), best.day ?? ""])
        }
        return table.text + Self.rest(figures.records.count, isGame ? "person" : "game")
    }

    // MARK: Charts

    /// The last twelve months with plays, or all of a year.
    private var months: String {
        Self.bars(figures.months.suffix(12).map { ($0.month, $0.plays) })
    }

    private var weekdays: String {
        Self.bars(Array(zip(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], figures.weekdays)))
    }

    private var hours: String {
        let hours = figures.hours.enumerated().filter { $1 > 0 }.map { $0.offset }
        guard let first = hours.first, let last = hours.last else { return "" }
        return Self.bars((first...last).map { ("\($0) h", figures.hours[$0]) })
    }

    private static func bars(_ values: [(name: String, count: Int)]) -> String {
        guard let most = values.map(\.count).max(), most > 0 else { return "" }
        var table = TextTable([.left(""), .right(""), .left("")])
        for (name, count) in values {
            table.append([name, count.grouped, bar(count, of: most)])
        }
        return table.text
    }

    /// A bar in eighths of a column; what is not nothing has at least one.
    private static func bar(_ count: Int, of most: Int) -> String {
        let eighths = count == 0 ? 0 : max(1, count * barWidth * 8 / most)
        let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + rest[eighths % 8]
    }

    // MARK: Cells

    private static func won(_ tally: Tally) -> String {
        tally.decided == 0 ? "" : "\(tally.wins.grouped)/\(tally.decided.grouped)"
    }

    private static func rate(_ tally: Tally) -> String {
        tally.rate.map { "\(Int(($0 * 100).rounded())) %" } ?? ""
    }

    private static func points(_ points: Double) -> String {
        Int(exactly: points).map(String.init) ?? "\(points)"
    }

    private static func rest(_ count: Int, _ noun: String) -> String {
        count > longest ? "and \((count - longest).counted("more \(noun)"))\n" : ""
    }
}

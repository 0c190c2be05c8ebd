import PeerSync
import Scorebook

/// Figures as templates show them: images with a table of the same numbers, and tables with bars.
struct FigureCharts {
    let figures: Statistics
    let reader: Reader

    /// The number of lines of a table with bars.
    private static let longest = 12
    /// More months than these are shown as years.
    private static let months = 96

    // MARK: Images

    /// The plays of each month, or of each year if there are many.
    func plays() -> Any {
        let months = figures.months
        guard months.count > 1 else { return false }
        guard months.count <= Self.months else {
            let bars = figures.years.map {
                BarChart.Bar(name: "\($0.year)", value: $0.plays, mark: "\($0.year)")
            }
            return chart(
                "plays", "Plays per year", "Year", BarChart(bars: bars, marksBegin: bars.count > 8))
        }
        let isOneYear = months.count <= 12
        let bars = months.map { month in
            BarChart.Bar(
                name: reader.calendarMonth(month.month), value: month.plays,
                mark: isOneYear
                    ? reader.month(Int(month.month.suffix(2)) ?? 1, .abbreviated)
                    : month.month.hasSuffix("-01") ? String(month.month.prefix(4)) : nil)
        }
        return chart("plays", "Plays per month", "Month", BarChart(bars: bars, marksBegin: !isOneYear))
    }

    func weekdays() -> [String: Any] {
        let bars = figures.weekdays.enumerated().map { weekday, plays in
            BarChart.Bar(
                name: reader.weekday(weekday, .wide), value: plays,
                mark: reader.weekday(weekday, .abbreviated))
        }
        return chart("weekdays", "Weekdays", "Weekday", BarChart(bars: bars))
    }

    func hours() -> [String: Any] {
        let bars = figures.hours.enumerated().map { hour, plays in
            BarChart.Bar(name: "\(hour):00", value: plays, mark: hour % 6 == 0 ? "\(hour)" : nil)
        }
        return chart("hours", "Hours of the day", "Hour", BarChart(bars: bars))
    }

    /// The plays by number of persons.
    func tables() -> Any {
        guard let most = figures.tables.last?.persons, figures.tables.count > 1 else { return false }
        let plays = Dictionary(uniqueKeysWithValues: figures.tables.map { ($0.persons, $0.results.plays) })
        let bars = (figures.tables[0].persons...max(most, 1)).prefix(24).map {
            BarChart.Bar(name: $0 == 1 ? "1 person" : "\($0) persons", value: plays[$0] ?? 0, mark: "\($0)")
        }
        return chart("tables", "People at the table", "At the table", BarChart(bars: bars))
    }

    private func chart(_ id: String, _ title: String, _ first: String, _ chart: BarChart) -> [String: Any] {
        let shown = chart.bars.filter { $0.value > 0 }
        let best = shown.max { $0.value < $1.value }
        let label = title + (best.map { ": most in \($0.name), \(reader.number($0.value))" } ?? "")
        return [
            "id": id, "title": title, "images": [chart.svg(label: label, reader)],
            "columns": [first, "Plays"],
            "rows": shown.map { ["name": $0.name, "cells": [reader.number($0.value)]] as [String: Any] },
        ]
    }

    /// The days of a year.
    func calendar(_ year: Int) -> [String: Any] {
        let ofYear = figures.days.filter { Int($0.day.prefix(4)) == year }
        let plays = Dictionary(uniqueKeysWithValues: ofYear.map { ($0.day, $0.plays) })
        let months = Dictionary(grouping: ofYear) { $0.day.prefix(7) }.sorted { $0.key < $1.key }
        return [
            "id": "calendar", "title": "Days of \(year)", "isCalendar": true,
            "most": reader.number(max(4, plays.values.max() ?? 0)),
            "images": HeatMap(year: year, plays: plays).halves(reader),
            "columns": ["Month", "Plays", "Days", "Most on a day"],
            "rows": months.map { month, days in
                [
                    "name": reader.calendarMonth(String(month)),
                    "cells": [
                        reader.number(days.reduce(0) { $0 + $1.plays }), reader.number(days.count),
                        reader.number(days.map(\.plays).max() ?? 0),
                    ],
                ] as [String: Any]
            },
        ]
    }

    // MARK: Tables with bars

    func games() -> Any {
        let most = Double(figures.games.first?.results.plays ?? 1)
        let isPerson = figures.streaks != nil
        return ranking(
            "games", "Most played games", ["Game", "Plays", isPerson ? "Won" : "Time", "Last"],
            figures.games.prefix(Self.longest).map { game in
                line(
                    game.name, .game, game.recordName, Double(game.results.plays) / most,
                    [
                        reader.number(game.results.plays),
                        isPerson
                            ? game.results.competitive.rate.map(reader.percent) ?? "–"
                            : game.minutes > 0 ? reader.duration(minutes: game.minutes) : "–",
                        game.lastDay.map(reader.calendarDay) ?? "–",
                    ])
            })
    }

    /// The winners of plays against each other.
    func winners() -> Any {
        let winners = figures.persons.filter { $0.results.competitive.wins > 0 }
            .sorted { $0.results.competitive.wins > $1.results.competitive.wins }.prefix(Self.longest)
        let most = Double(winners.first?.results.competitive.wins ?? 1)
        return ranking(
            "winners", "Who wins", ["Person", "Wins", "Of", "Rate"],
            winners.map { person in
                let tally = person.results.competitive
                return line(
                    person.name, .person, person.recordName, Double(tally.wins) / most,
                    [
                        reader.number(tally.wins), reader.number(tally.decided),
                        tally.rate.map(reader.percent) ?? "–",
                    ])
            })
    }

    /// The rates of wins by number of persons, of the person whose figures these are.
    func rates() -> Any {
        let tables = figures.tables.filter { $0.results.competitive.decided > 0 }
        return ranking(
            "rates", "Wins by number of players", ["Players", "Plays", "Won", "Rate"],
            tables.map { table in
                let tally = table.results.competitive
                return [
                    "name": reader.number(table.persons), "bar": SVGImage.meter(tally.rate ?? 0),
                    "cells": [
                        reader.number(tally.decided), reader.number(tally.wins),
                        tally.rate.map(reader.percent) ?? "–",
                    ],
                ]
            })
    }

    private func ranking(_ id: String, _ title: String, _ columns: [String], _ rows: [[String: Any]]) -> Any {
        guard !rows.isEmpty else { return false }
        return ["id": id, "title": title, "columns": columns, "rows": rows] as [String: Any]
    }

    private func line(
        _ name: String, _ kind: RecordKind, _ record: String, _ part: Double, _ cells: [String]
    ) -> [String: Any] {
        [
            "name": name.isEmpty && kind == .game ? "(no game)" : Pages.displayName(name),
            "path": (try? RecordName(record)).map(Pages.path).shown, "bar": SVGImage.meter(part),
            "cells": cells,
        ]
    }

    // MARK: Who wins against whom

    /// The plays that the person of a line won against the person of a column; nothing if fewer than two played.
    func matrix() -> Any {
        let rivals = figures.persons.prefix(Statistics.rivals).filter { person in
            figures.rivalries.contains { $0.winner == person.recordName || $0.loser == person.recordName }
        }
        guard rivals.count > 1 else { return false }
        var wins: [String: [String: Int]] = [:]
        for rivalry in figures.rivalries { wins[rivalry.winner, default: [:]][rivalry.loser] = rivalry.wins }
        let names = Self.shortened(rivals.map { Pages.displayName($0.name) })
        return [
            "columns": names,
            "rows": zip(rivals, names).map { row, name in
                [
                    "name": row.name.isEmpty ? name : row.name,
                    "cells": rivals.map { column in
                        cell(
                            isSame: row.recordName == column.recordName,
                            won: wins[row.recordName]?[column.recordName] ?? 0,
                            lost: wins[column.recordName]?[row.recordName] ?? 0)
                    },
                ] as [String: Any]
            },
        ] as [String: Any]
    }

    private func cell(isSame: Bool, won: Int, lost: Int) -> [String: Any] {
        guard !isSame, won + lost > 0 else { return ["text": isSame ? "" : "–", "level": "none"] }
        let level = min(4, won * 5 / (won + lost))
        return ["text": "\(reader.number(won)):\(reader.number(lost))", "level": "\(level)"]
    }

    /// Leaves out last names where the first ones tell people apart.
    private static func shortened(_ names: [String]) -> [String] {
        let first = names.map { String($0.prefix { $0 != " " }) }
        return zip(names, first).map { name, short in first.count { $0 == short } > 1 ? name : short }
    }
}

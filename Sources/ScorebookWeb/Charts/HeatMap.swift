import Foundation

/// The days of a year with their plays, a column for each week: the first half of the year, and the second one, so that a phone shows each in
/// its width.
struct HeatMap {
    let year: Int
    /// The plays by day, as `2025-03-05`.
    let plays: [String: Int]

    /// The distance of two days in pixels, and the side of a day.
    private static let pitch = 12
    private static let side = 10
    private static let left = 16
    private static let top = 16
    /// A half that begins on a Sunday has days in 28 weeks.
    private static let columns = 28
    /// The number of colours of days with plays.
    private static let levels = 4

    /// Both halves.
    func halves(_ reader: Reader) -> [String] { [half(1...6, reader), half(7...12, reader)] }

    private func half(_ months: ClosedRange<Int>, _ reader: Reader) -> String {
        var image = SVGImage(
            label: label(months, reader), height: Self.top + 7 * Self.pitch,
            width: Self.left + Self.columns * Self.pitch)
        for weekday in [0, 2, 4] {
            image.add(
                "text", ["x": "0", "y": "\(Self.top + weekday * Self.pitch + 9)", "class": "mark"],
                text: String(reader.weekday(weekday, .narrow)))
        }
        var days = [String](repeating: "", count: Self.levels + 1)
        var position = Self.weekday(year, months.lowerBound)
        for month in months {
            // The name stands over the first week that begins in the month.
            let column = (position + 6) / 7
            image.add(
                "text", ["x": "\(Self.left + column * Self.pitch)", "y": "10", "class": "mark"],
                text: reader.month(month, .abbreviated))
            for day in 1...Self.days(year, month) {
                let (column, row) = (position / 7 * Self.pitch, position % 7 * Self.pitch)
                // A line as wide as a day is long: a square in the fewest characters.
                days[level(plays[Self.text(year, month, day)] ?? 0)] +=
                    "M\(Self.left + column) \(Self.top + row + Self.side / 2)h\(Self.side)"
                position += 1
            }
        }
        // One element for all days of a colour: a page of a busy year stays small.
        for (level, shapes) in days.enumerated() where !shapes.isEmpty {
            image.add("path", ["d": shapes, "class": "heat\(level)"])
        }
        return image.text
    }

    private func label(_ months: ClosedRange<Int>, _ reader: Reader) -> String {
        let counts = months.map { month in
            (
                month,
                plays.filter { $0.key.hasPrefix(Self.text(year, month, 1).prefix(8)) }.values.reduce(0, +)
            )
        }
        return "Plays on the days of \(year), "
            + counts.map { "\(reader.month($0, .wide)) \(reader.number($1))" }.joined(separator: ", ")
    }

    /// The colour of a day, from 0 for none to 4 for as many as on the busiest day.
    private func level(_ count: Int) -> Int {
        let most = max(Self.levels, plays.values.max() ?? 0)
        return min(Self.levels, (count * Self.levels + most - 1) / most)
    }

    // MARK: Days

    private static func days(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The weekday of the first day of a month, 0 for Monday.
    private static func weekday(_ year: Int, _ month: Int) -> Int {
        let before = (1..<month).reduce(0) { $0 + days(year, $1) }
        let leaps = (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400
        // The first day of the year 1 was a Monday.
        return ((year - 1) * 365 + leaps + before) % 7
    }

    private static func text(_ year: Int, _ month: Int, _ day: Int) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }
}

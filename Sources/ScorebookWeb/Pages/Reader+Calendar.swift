import Foundation

/// Days, months and hours that are on no clock any more: statistics have put them on that of this machine.
extension Reader {
    /// The length of a name.
    enum NameLength { case narrow, abbreviated, wide }

    /// Writes a day, given as `2025-03-05`, as in “5 Mar 2025”.
    func calendarDay(_ day: String) -> String {
        text(day, .dateTime.day().month(.abbreviated).year()) ?? day
    }

    /// Writes a month, given as `2025-03`, as in “March 2025”.
    func calendarMonth(_ month: String) -> String {
        text(month + "-01", .dateTime.month(.wide).year()) ?? month
    }

    /// Writes the name of a month, 1 to 12.
    func month(_ month: Int, _ length: NameLength) -> String {
        let day = "2024-\(month < 10 ? "0" : "")\(month)-01"
        return text(day, .dateTime.month(length == .wide ? .wide : .abbreviated)) ?? "\(month)"
    }

    /// Writes the name of a weekday, 0 for Monday.
    func weekday(_ weekday: Int, _ length: NameLength) -> String {
        let style: Date.FormatStyle.Symbol.Weekday =
            switch length {
            case .narrow: .narrow
            case .abbreviated: .abbreviated
            case .wide: .wide
            }
        // The first of January 2024 was a Monday.
        return text("2024-01-0\(weekday + 1)", .dateTime.weekday(style)) ?? "\(weekday + 1)"
    }

    /// Writes minutes, as in “1 h 10 min”, or “1,240 h” where the minutes tell nothing.
    func duration(minutes: Int) -> String {
        if minutes < 60 { return "\(number(minutes)) min" }
        if minutes < 120 && minutes % 60 > 0 { return "\(number(minutes / 60)) h \(minutes % 60) min" }
        return "\(number((minutes + 30) / 60)) h"
    }

    private func text(_ day: String, _ style: Date.FormatStyle) -> String? {
        guard let date = try? Date(day, strategy: .iso8601.year().month().day()) else { return nil }
        var style = style.locale(locale)
        style.timeZone = .gmt
        return date.formatted(style)
    }
}

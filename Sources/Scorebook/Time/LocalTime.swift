import Foundation
import PeerSync

/// The clock and the time zone of the person at the machine: reads the dates that people type, and writes dates for them.
///
/// A scorebook holds moments in UTC.
public struct LocalTime: Sendable {
    /// The zone of dates that name no other.
    public let zone: TimeZone
    /// The present, in milliseconds since 1970.
    private let now: Int64

    /// - Parameter now: the present, in milliseconds since 1970.
    public init(zone: TimeZone, now: Int64) {
        self.zone = zone
        self.now = now
    }

    private static let day: Int64 = 86_400_000

    /// Whether a moment is after tomorrow: for a match that was played, the date is a slip.
    ///
    /// - Parameter moment: milliseconds since 1970.
    public func isAfterTomorrow(_ moment: Int64) -> Bool {
        moment >= utc((local(now) / Self.day + 2) * Self.day)
    }

    // MARK: Reading

    /// Reads a moment: a day, a time of today, both, or ISO 8601 with `Z` or an offset.
    ///
    /// `2024-03-05`, `5.3.2024 19:30`, `yesterday 20:15`, `20:15`, `2024-03-05T19:30:00+01:00`. A day alone is its
    /// beginning. Without `Z` and offset the time is that of ``zone``.
    ///
    /// - Returns: milliseconds since 1970.
    /// - Throws: ``ScorebookError`` `invalidValue`.
    public func moment(_ text: String) throws -> Int64 {
        let canonical = text.trimmed.uppercased().replacing(" ", with: "T", maxReplacements: 1)
        if canonical.hasSuffix("Z"), let moment = ISO8601.milliseconds(canonical: canonical) { return moment }
        if let match = canonical.wholeMatch(of: /(.+T[0-9:.]+)([+-])([0-9]{2}):?([0-9]{2})/),
            let local = Self.local(String(match.1)), let hours = Int64(match.3), let minutes = Int64(match.4),
            hours <= 14, minutes < 60
        {
            return local - (match.2 == "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000
        }
        let words = text.trimmed.replacing(/([0-9])[Tt]([0-9])/) { "\($0.output.1) \($0.output.2)" }
            .split(separator: " ", maxSplits: 1).map(String.init)
        let isDay = Self.dayWord(text) || words.count < 2
        if let day = midnight(isDay ? text.trimmed : words[0]) {
            guard !isDay else { return utc(day) }
            if let time = Self.time(words[1]) { return utc(day + time) }
        } else if let time = Self.time(text.trimmed), let today = midnight("today") {
            return utc(today + time)
        }
        throw ScorebookError(
            .invalidValue,
            "“\(Display.printable(text))” is no date; write 2024-03-05, “5.3.2024 19:30”, “yesterday 20:15” or "
                + "2024-03-05T19:30:00+01:00")
    }

    /// Reads when a match was played: as ``moment(_:)``, but a day alone is its noon, or now, if it is today and noon has not come. So it is
    /// the same day in most other zones.
    ///
    /// - Returns: milliseconds since 1970.
    /// - Throws: ``ScorebookError`` `invalidValue`.
    func played(_ text: String) throws -> Int64 {
        let moment = try moment(text)
        guard let midnight = midnight(text.trimmed), utc(midnight) == moment else { return moment }
        let noon = utc(midnight + Self.day / 2)
        return midnight == self.midnight("today") ? min(noon, now / 1000 * 1000) : noon
    }

    /// Returns the day that a text names, from its beginning to the beginning of the next one, in milliseconds since
    /// 1970; nil if it names none.
    func day(_ text: String) -> Range<Int64>? {
        midnight(text.trimmed).map { utc($0)..<utc($0 + Self.day) }
    }

    /// Returns the beginning of a day as if ``zone`` were UTC.
    private func midnight(_ text: String) -> Int64? {
        let today = (local(now) / Self.day) * Self.day
        switch text.lowercased() {
        case "today": return today
        case "yesterday": return today - Self.day
        case let word:
            if let weekday = Self.weekdays.firstIndex(where: { $0 == word }) {
                // 1970-01-01 was a Thursday. The weekday of today means the one a week ago.
                let back = (Int(today / Self.day) + 3 - weekday) % 7
                return today - Int64(back == 0 ? 7 : back) * Self.day
            }
            if let parts = word.wholeMatch(of: /([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})/) {
                return Self.local("\(parts.3)-\(Self.two(parts.2))-\(Self.two(parts.1))T00:00")
            }
            guard word.wholeMatch(of: /-?[0-9]{4,}-[0-9]{2}-[0-9]{2}/) != nil else { return nil }
            return Self.local("\(word)T00:00")
        }
    }

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    private static func dayWord(_ text: String) -> Bool {
        text.contains(/^[0-9]{1,2}\. ?[0-9]{1,2}\. [0-9]{4}$/)
    }

    private static func two(_ digits: Substring) -> String { digits.count == 1 ? "0\(digits)" : "\(digits)" }

    /// Reads a time of day, in milliseconds after midnight.
    private static func time(_ text: String) -> Int64? {
        guard let parts = text.trimmed.wholeMatch(of: /([0-9]{1,2}):([0-9]{2})(:[0-9]{2})?/) else {
            return nil
        }
        return local("1970-01-01T\(two(parts.1)):\(parts.2)\(parts.3 ?? "")")
    }

    /// Reads a day and a time as if they were in UTC.
    private static func local(_ text: String) -> Int64? {
        let seconds = text.utf8.count == 16 ? ":00" : ""
        return ISO8601.milliseconds(canonical: "\(text)\(seconds)Z")
    }

    // MARK: Writing

    /// Returns the canonical text of a moment, ISO 8601 in UTC.
    static func canonical(_ milliseconds: Int64) throws -> String {
        guard let text = ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) else {
            throw ScorebookError(.invalidValue, "a year goes from 0 to 9999")
        }
        return text
    }

    /// Returns a date of a record for people, as in `2024-03-05 19:30`, in ``zone``. Other texts stay as they are.
    public func text(_ date: String) -> String {
        guard let moment = ISO8601.milliseconds(canonical: date),
            let text = ISO8601.text(milliseconds: local(moment), fraction: .ifNeeded)
        else { return date }
        return text.prefix(10) + " " + text.dropFirst(11).prefix(5)
    }

    /// Returns a moment to the second for people, as in `2024-03-05 19:30:12`, in ``zone``. Other texts stay as they are.
    public func exactText(_ date: String) -> String {
        guard let moment = ISO8601.milliseconds(canonical: date),
            let text = ISO8601.text(milliseconds: local(moment), fraction: .ifNeeded)
        else { return date }
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }

    /// Returns the day of a date of a record, as in `2024-03-05`, in ``zone``.
    public func dayText(_ date: String) -> String { String(text(date).prefix(10)) }

    // MARK: The zone

    private func offset(_ milliseconds: Int64) -> Int64 {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        return Int64(zone.secondsFromGMT(for: date)) * 1000
    }

    private func local(_ utc: Int64) -> Int64 { utc + offset(utc) }

    /// Returns the moment at which a clock in ``zone`` shows a time.
    ///
    /// A time that the zone skips in spring becomes the one an hour later; of a time that it has twice in autumn, this is the
    /// first.
    ///
    /// - Parameter local: the time, in milliseconds since 1970 as if ``zone`` were UTC.
    func utc(_ local: Int64) -> Int64 {
        // What the zone had the day before, and has the day after.
        let (before, after) = (local - offset(local - Self.day), local - offset(local + Self.day))
        return self.local(before) == local ? before : self.local(after) == local ? after : before
    }
}

import Foundation
import PeerSync
import Scorebook

/// How somebody reads dates and numbers: in the language of the browser, on the clock of this machine.
struct Reader: Sendable {
    let locale: Locale
    private let zone: TimeZone

    /// - Parameter languages: the header `Accept-Language`; its first language counts.
    init(languages: String? = nil, zone: TimeZone = .current) {
        let first = languages?.prefix { $0 != "," && $0 != ";" } ?? ""
        let isTag = first.wholeMatch(of: /[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}/) != nil
        locale = Locale(identifier: isTag ? String(first) : "en-GB")
        self.zone = zone
    }

    /// Writes the date of a record with its time, as in “5 March 2024 at 19:30”. Texts that are no date stay as they are.
    func moment(_ date: String) -> String { text(date, .dateTime.day().month(.wide).year().hour().minute()) }

    /// Writes the date of a record, as in “5 Mar 2024”.
    func day(_ date: String) -> String { text(date, .dateTime.day().month(.abbreviated).year()) }

    /// Writes the day of a moment, in milliseconds since 1970.
    func day(milliseconds: Int64) -> String {
        day(ISO8601.text(milliseconds: milliseconds, fraction: .ifNeeded) ?? "")
    }

    /// Writes the time of a record's date, as in “19:30”.
    func time(_ date: String) -> String { text(date, .dateTime.hour().minute()) }

    private func text(_ date: String, _ style: Date.FormatStyle) -> String {
        guard let moment = ISO8601.milliseconds(canonical: date) else { return date }
        var style = style.locale(locale)
        style.timeZone = zone
        return Date(timeIntervalSince1970: Double(moment) / 1000).formatted(style)
    }

    func number(_ number: Int) -> String { number.formatted(.number.locale(locale)) }

    /// Writes a score or a total, as in “1,234.5”.
    func points(_ points: Double) -> String {
        points.formatted(.number.precision(.fractionLength(0...6)).locale(locale))
    }

    /// Writes a number of bytes, as in “5.4 MB”.
    func bytes(_ count: Int64) -> String { count.formatted(.byteCount(style: .file).locale(locale)) }

    /// Writes a rate of 0 to 1 in per cent.
    func percent(_ rate: Double) -> String {
        rate.formatted(.percent.precision(.fractionLength(0)).locale(locale))
    }
}

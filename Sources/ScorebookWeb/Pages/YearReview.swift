import PeerSync
import Scorebook

/// A year in sentences.
extension Pages {
    /// - Parameters:
    ///   - shown: the figures of the year.
    ///   - whole: those of all years.
    static func review(
        _ year: Int, _ shown: Statistics, _ whole: Statistics, _ reader: Reader
    ) -> [[String: Any]] {
        var facts: [[String: Any]] = []
        func add(_ name: String, _ text: String, path: String? = nil, more: String = "") {
            facts.append(fact(name, text, path: path, more: more))
        }
        if let before = whole.years.first(where: { $0.year == year - 1 })?.plays {
            let difference = shown.plays - before
            add(
                "Plays", reader.number(shown.plays),
                more: difference == 0
                    ? ", as many as in \(year - 1)"
                    : ", \(reader.number(abs(difference))) \(difference > 0 ? "more" : "fewer") than in \(year - 1)"
            )
        }
        if let game = shown.games.first {
            add(
                "Game of the year", displayName(game.name), path: link(game.recordName),
                more: ", \(plays(game.results.plays, reader))")
        }
        let new = whole.games.filter { $0.firstDay.flatMap { Int($0.prefix(4)) } == year }
        if shown.streaks == nil, !new.isEmpty {
            let names = new.prefix(5).map { displayName($0.name) }
            add(
                "First time on the table", reader.number(new.count),
                more: ": " + names.joined(separator: ", ") + (new.count > names.count ? "…" : ""))
        }
        if let day = shown.days.max(by: { $0.plays < $1.plays }) {
            add(
                "Busiest day", reader.calendarDay(day.day),
                path: "/matches?since=\(day.day)&until=\(day.day)", more: ", \(plays(day.plays, reader))")
        }
        if let month = shown.months.max(by: { $0.plays < $1.plays }), shown.months.count > 1 {
            add("Busiest month", reader.calendarMonth(month.month), more: ", \(plays(month.plays, reader))")
        }
        if let person = shown.persons.first {
            add(
                shown.streaks == nil ? "Most at the table" : "Most with",
                displayName(person.name),
                path: link(person.recordName), more: ", \(plays(person.results.plays, reader))")
        }
        let winner = shown.persons.max { $0.results.competitive.wins < $1.results.competitive.wins }
        if shown.streaks == nil, let winner, winner.results.competitive.wins > 0 {
            let tally = winner.results.competitive
            add(
                "Most wins", displayName(winner.name), path: link(winner.recordName),
                more: ", \(reader.number(tally.wins)) of \(reader.number(tally.decided))")
        }
        return facts
    }

    /// Returns the path of a record's page by its record name.
    static func link(_ record: String) -> String? { (try? RecordName(record)).map(path) }

    static func plays(_ count: Int, _ reader: Reader) -> String {
        "\(reader.number(count)) \(count == 1 ? "play" : "plays")"
    }
}

import PeerSync
import Scorebook

/// What figures say of a person or a game, in sentences.
extension Pages {
    static func facts(_ figures: Statistics, of person: RecordName, _ reader: Reader) -> [[String: Any]] {
        var facts = wins(figures.results, reader)
        if let streaks = figures.streaks, streaks.longestWins + streaks.longestLosses > 0 {
            let now = streaks.current
            facts.append(
                fact(
                    "In a row",
                    "\(reader.number(streaks.longestWins)) won and \(reader.number(streaks.longestLosses)) lost at most, "
                        + "now \(reader.number(abs(now))) \(now >= 0 ? "won" : "lost")"))
        }
        if let friend = figures.persons.first {
            facts.append(
                fact(
                    "Best friend at the table", displayName(friend.name),
                    path: link(friend.recordName), more: ", \(plays(friend.results.plays, reader)) together"))
        }
        if let nemesis = figures.nemesis, let versus = nemesis.versus {
            facts.append(
                fact(
                    "Nemesis", displayName(nemesis.name),
                    path: link(nemesis.recordName),
                    more: ", \(reader.number(versus.losses)) lost and \(reader.number(versus.wins)) won"))
        }
        return facts + ends(figures, query("person", person), reader)
    }

    static func facts(_ figures: Statistics, of game: Game, _ reader: Reader) -> [[String: Any]] {
        var facts: [[String: Any]] = []
        let kinds = [
            ("against each other", figures.results.competitive), ("together", figures.results.cooperative),
            ("alone", figures.results.solo),
        ].filter { $1.plays > 0 }
        if kinds.count > 1 {
            let parts = kinds.map { "\(reader.number($1.plays)) \($0)" }
            facts.append(fact("Played", parts.joined(separator: ", ")))
        }
        if let rate = figures.results.cooperative.rate {
            facts.append(fact("Won together", reader.percent(rate)))
        }
        if let best = figures.records.first {
            facts.append(
                fact(
                    "Best score", reader.points(best.points), path: link(best.match),
                    more: " by \(displayName(best.person))"))
        }
        return facts + ends(figures, query("game", game.recordName), reader)
    }

    /// Wins and their rate by kind. Kinds without results are left out.
    private static func wins(_ results: Results, _ reader: Reader) -> [[String: Any]] {
        [
            ("Won against others", results.competitive), ("Won together", results.cooperative),
            ("Won alone", results.solo),
        ].compactMap { name, tally in
            tally.rate.map { rate in
                fact(
                    name,
                    "\(reader.number(tally.wins)) of \(reader.number(tally.decided)), \(reader.percent(rate))"
                )
            }
        }
    }

    /// The first and the last day, with links to their matches.
    ///
    /// - Parameter query: limits a list of matches to those of the figures.
    private static func ends(_ figures: Statistics, _ query: String, _ reader: Reader) -> [[String: Any]] {
        guard let first = figures.days.first?.day, let last = figures.days.last?.day else { return [] }
        func day(_ name: String, _ day: String) -> [String: Any] {
            fact(name, reader.calendarDay(day), path: "/matches?\(query)&since=\(day)&until=\(day)")
        }
        return first == last
            ? [day("Played on", first)] : [day("First match", first), day("Last match", last)]
    }

    static func fact(_ name: String, _ text: String, path: String? = nil, more: String = "") -> [String: Any]
    {
        ["name": name, "text": text, "path": path.shown, "more": more]
    }
}

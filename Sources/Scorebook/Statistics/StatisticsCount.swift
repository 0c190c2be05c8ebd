/// Counts plays one by one, so that no scorebook is too large for it. A pure function of the plays.
struct StatisticsCount {
    /// The record name of the person whose figures are wanted; nil for everybody's.
    let person: String?
    /// Whether totals are compared, and for what.
    let records: Records
    /// The record names of the games in which the lowest total wins.
    var lowestWins: Set<String> = []

    /// What a record is the best of.
    enum Records {
        case none
        /// Each person's best. For the figures of one game.
        case byPerson
        /// The best of ``StatisticsCount/person`` in each game.
        case byGame
    }

    private var figures = Statistics()
    private var days: [String: Int] = [:]
    private var tables: [Int: Results] = [:]
    private var games: [String: Statistics.GameLine] = [:]
    private var persons: [String: Statistics.PersonLine] = [:]
    private var bests: [String: Statistics.Best] = [:]
    private var course: [(day: String, hour: Int, match: String, isWon: Bool)] = []

    init(person: String? = nil, records: Records = .none, lowestWins: Set<String> = []) {
        self.person = person
        self.records = records
        self.lowestWins = lowestWins
    }

    mutating func count(_ play: Play) {
        let isDecided = play.isDecided
        let own = person.flatMap { person in play.parts.first { $0.person == person } }
        guard person == nil || own != nil else { return }
        let isWon = own.map { $0.hasWon == true } ?? play.parts.contains { $0.hasWon == true }
        figures.plays += 1
        figures.minutes += play.minutes
        figures.results.count(play.kind, isDecided: isDecided, isWon: isWon)
        if let time = play.time {
            days[time.day, default: 0] += 1
            figures.weekdays[time.weekday] += 1
            figures.hours[time.hour] += 1
        }
        tables[play.parts.count, default: Results()].count(play.kind, isDecided: isDecided, isWon: isWon)
        countGame(play, isDecided, isWon)
        for part in play.parts where part.person != person { countPerson(part, play, isDecided, own) }
        countRecords(play)
        if own != nil, play.kind == .competitive, isDecided {
            course.append((play.time?.day ?? "", play.time?.hour ?? 0, play.match, isWon))
        }
    }

    private mutating func countGame(_ play: Play, _ isDecided: Bool, _ isWon: Bool) {
        games[play.game, default: Statistics.GameLine(recordName: play.game)].count(play, isDecided, isWon)
    }

    private mutating func countPerson(
        _ part: Play.Part, _ play: Play, _ isDecided: Bool, _ own: Play.Part?
    ) {
        var line = persons[part.person] ?? Statistics.PersonLine(recordName: part.person)
        line.results.count(play.kind, isDecided: isDecided, isWon: part.hasWon == true)
        if let own {
            var versus = line.versus ?? Statistics.Versus()
            let areTogether = own.team != nil && own.team == part.team
            if play.kind == .competitive, isDecided, !areTogether { versus.count(own, part) }
            line.versus = versus
        }
        persons[part.person] = line
    }

    private mutating func countRecords(_ play: Play) {
        guard records != .none, play.kind != .solo else { return }
        for part in play.parts where records == .byPerson || part.person == person {
            guard let points = part.total else { continue }
            let key = records == .byPerson ? part.person : play.game
            let best = Statistics.Best(
                match: play.match, person: part.person, game: play.game, points: points, day: play.time?.day)
            if bests[key].map({ isBetter(best, $0) }) ?? true { bests[key] = best }
        }
    }

    /// Returns the figures, with names in place of record names where people read them.
    func figures(personNames: [String: String], gameNames: [String: String]) -> Statistics {
        var figures = figures
        figures.days = days.map { Statistics.Day(day: $0, plays: $1) }.sorted { $0.day < $1.day }
        figures.tables = tables.map { Statistics.Table(persons: $0, results: $1) }
            .sorted { $0.persons < $1.persons }
        figures.games = games.values.map { line in
            var line = line
            line.name = gameNames[line.recordName] ?? ""
            return line
        }.sorted {
            Self.isBefore(
                ($0.results.plays, $0.name, $0.recordName), ($1.results.plays, $1.name, $1.recordName))
        }
        figures.persons = persons.values.map { line in
            var line = line
            line.name = personNames[line.recordName] ?? ""
            return line
        }.sorted {
            Self.isBefore(
                ($0.results.plays, $0.name, $0.recordName), ($1.results.plays, $1.name, $1.recordName))
        }
        figures.hIndex = Self.hIndex(figures.games.map(\.results.plays))
        figures.streaks = person.map { _ in streaks() }
        figures.records = bests.values.sorted(by: isBetter).map { best in
            Statistics.Best(
                match: best.match, person: personNames[best.person] ?? "", game: gameNames[best.game] ?? "",
                points: best.points, day: best.day)
        }
        // Totals of different games cannot be compared.
        if records == .byGame { figures.records.sort { ($0.game, $0.match) < ($1.game, $1.match) } }
        return figures
    }

    /// The order of lists: more plays first, then by name.
    private static func isBefore(
        _ left: (plays: Int, name: String, recordName: String),
        _ right: (plays: Int, name: String, recordName: String)
    ) -> Bool {
        left.plays == right.plays
            ? (left.name, left.recordName) < (right.name, right.recordName) : left.plays > right.plays
    }

    /// Whether a total is better than another one in the same game. The first one to reach a total keeps the record.
    private func isBetter(_ left: Statistics.Best, _ right: Statistics.Best) -> Bool {
        guard left.points == right.points else {
            return lowestWins.contains(left.game) ? left.points < right.points : left.points > right.points
        }
        return (left.day ?? "", left.match) < (right.day ?? "", right.match)
    }

    private func streaks() -> Statistics.Streaks {
        var streaks = Statistics.Streaks()
        for play in course.sorted(by: { ($0.day, $0.hour, $0.match) < ($1.day, $1.hour, $1.match) }) {
            streaks.append(isWon: play.isWon)
        }
        return streaks
    }

    /// - Parameter plays: the plays of each game, the most first.
    static func hIndex(_ plays: [Int]) -> Int {
        plays.enumerated().prefix { $1 >= $0 + 1 }.count
    }
}

extension Statistics.GameLine {
    fileprivate mutating func count(_ play: Play, _ isDecided: Bool, _ isWon: Bool) {
        minutes += play.minutes
        results.count(play.kind, isDecided: isDecided, isWon: isWon)
        lastDay = max(lastDay ?? "", play.time?.day ?? "").filled
    }
}

extension Statistics.Versus {
    fileprivate mutating func count(_ own: Play.Part, _ other: Play.Part) {
        plays += 1
        switch (own.hasWon == true, other.hasWon == true) {
        case (true, true): ties += 1
        case (true, false): wins += 1
        case (false, true): losses += 1
        case (false, false): break
        }
    }
}

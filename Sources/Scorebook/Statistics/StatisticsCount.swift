/// Counts plays one by one, so that no scorebook is too large for it. A pure function of the plays.
struct StatisticsCount: Sendable {
    /// The number of the person whose figures are wanted; nil for everybody's.
    let person: Int?
    /// Whether totals are compared, and for what.
    let records: Records
    /// The numbers of the games in which the lowest total wins.
    var lowestWins: Set<Int> = []

    /// What a record is the best of.
    enum Records: Sendable {
        case none
        /// Each person's best. For the figures of one game.
        case byPerson
        /// The best of ``StatisticsCount/person`` in each game.
        case byGame
    }

    private struct GameCount {
        var minutes = 0
        var firstDay: Int?
        var lastDay: Int?
        var results = Results()

        mutating func takeDays(_ first: Int?, _ last: Int?) {
            if let first { firstDay = min(firstDay ?? first, first) }
            if let last { lastDay = max(lastDay ?? last, last) }
        }

        static func += (count: inout GameCount, other: GameCount) {
            count.minutes += other.minutes
            count.results += other.results
            count.takeDays(other.firstDay, other.lastDay)
        }
    }

    private struct PersonCount {
        var results = Results()
        var versus: Statistics.Versus?
    }

    /// A person who won against another one, by their numbers, in one play. Only those who play most are rivals, and nobody knows them
    /// before the last play. So wins are small and added up at the end: a sum for each pair would have to be looked up each time.
    private struct Win {
        let winner: Int32
        let loser: Int32
    }

    private struct Best {
        let match: String
        let person: Int
        let game: Int
        let points: Double
        let time: Play.LocalTime?
    }

    private var figures = Statistics()
    private var days: [Int: Int] = [:]
    private var tables = Numbered<Results>()
    private var games = Numbered<GameCount>()
    private var persons = Numbered<PersonCount>()
    private var wins: [Win] = []
    private var bests: [Int: Best] = [:]
    private var course: [(seconds: Int, match: String, isWon: Bool)] = []

    init(person: Int? = nil, records: Records = .none, lowestWins: Set<Int> = []) {
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
        tables.update(play.parts.count, from: Results()) {
            $0.count(play.kind, isDecided: isDecided, isWon: isWon)
        }
        games.update(play.game, from: GameCount()) { game in
            game.minutes += play.minutes
            game.results.count(play.kind, isDecided: isDecided, isWon: isWon)
            game.takeDays(play.time?.day, play.time?.day)
        }
        for part in play.parts where part.person != person { countPerson(part, play, isDecided, own) }
        countRecords(play)
        if person == nil, play.kind == .competitive, isDecided { countWins(play) }
        if own != nil, play.kind == .competitive, isDecided {
            course.append((play.time?.seconds ?? .min, play.match, isWon))
        }
    }

    /// Adds the plays of another count. Neither may be one person's or compare totals.
    ///
    /// - Parameter numbers: the numbers that the records of the other count have in this one, by their numbers there.
    mutating func add(_ other: StatisticsCount, numbers: [Int]) {
        figures.plays += other.figures.plays
        figures.minutes += other.figures.minutes
        figures.results += other.figures.results
        for index in figures.weekdays.indices { figures.weekdays[index] += other.figures.weekdays[index] }
        for index in figures.hours.indices { figures.hours[index] += other.figures.hours[index] }
        days.merge(other.days, uniquingKeysWith: +)
        for (players, results) in other.tables.all {
            tables.update(players, from: Results()) { $0 += results }
        }
        for (number, count) in other.games.all {
            games.update(numbers[number], from: GameCount()) { $0 += count }
        }
        for (number, count) in other.persons.all {
            persons.update(numbers[number], from: PersonCount()) { $0.results += count.results }
        }
        wins += other.wins.map {
            Win(winner: Int32(numbers[Int($0.winner)]), loser: Int32(numbers[Int($0.loser)]))
        }
    }

    private mutating func countPerson(
        _ part: Play.Part, _ play: Play, _ isDecided: Bool, _ own: Play.Part?
    ) {
        persons.update(part.person, from: PersonCount()) { line in
            line.results.count(play.kind, isDecided: isDecided, isWon: part.hasWon == true)
            guard let own else { return }
            var versus = line.versus ?? Statistics.Versus()
            let areTogether = own.team != nil && own.team == part.team
            if play.kind == .competitive, isDecided, !areTogether { versus.count(own, part) }
            line.versus = versus
        }
    }

    private mutating func countWins(_ play: Play) {
        for winner in play.parts where winner.hasWon == true {
            for loser in play.parts where loser.hasWon != true {
                let areTogether = winner.team != nil && winner.team == loser.team
                guard !areTogether else { continue }
                wins.append(Win(winner: Int32(winner.person), loser: Int32(loser.person)))
            }
        }
    }

    private mutating func countRecords(_ play: Play) {
        guard records != .none, play.kind != .solo else { return }
        for part in play.parts where records == .byPerson || part.person == person {
            guard let points = part.total else { continue }
            let key = records == .byPerson ? part.person : play.game
            let best = Best(
                match: play.match, person: part.person, game: play.game, points: points, time: play.time)
            if bests[key].map({ isBetter(best, $0) }) ?? true { bests[key] = best }
        }
    }

    /// Returns the figures, with names in place of numbers.
    ///
    /// - Parameters:
    ///   - recordNames: the record names, by number.
    ///   - personNames: the names of persons, by record name.
    ///   - gameNames: the names of games, likewise.
    func figures(
        recordNames: [String], personNames: [String: String], gameNames: [String: String]
    ) -> Statistics {
        var figures = figures
        let day = Play.LocalTime.text
        figures.days = days.sorted { $0.key < $1.key }.map {
            Statistics.Day(day: day($0.key), plays: $0.value)
        }
        figures.tables = tables.all.map { Statistics.Table(persons: $0.number, results: $0.value) }
        figures.games = games.all.map { number, count in
            let record = recordNames[number]
            return Statistics.GameLine(
                recordName: record, name: gameNames[record] ?? "", minutes: count.minutes,
                firstDay: count.firstDay.map(day), lastDay: count.lastDay.map(day), results: count.results)
        }.sorted {
            Self.isBefore(
                ($0.results.plays, $0.name, $0.recordName), ($1.results.plays, $1.name, $1.recordName))
        }
        figures.persons = persons.all.map { number, count in
            let record = recordNames[number]
            return Statistics.PersonLine(
                recordName: record, name: personNames[record] ?? "", results: count.results,
                versus: count.versus)
        }.sorted {
            Self.isBefore(
                ($0.results.plays, $0.name, $0.recordName), ($1.results.plays, $1.name, $1.recordName))
        }
        figures.hIndex = Self.hIndex(figures.games.map(\.results.plays))
        figures.rivalries = rivalries(figures.persons, recordNames)
        figures.streaks = person.map { _ in streaks() }
        figures.records = bests.values.sorted(by: isBetter).map { best in
            Statistics.Best(
                match: best.match, person: personNames[recordNames[best.person]] ?? "",
                game: gameNames[recordNames[best.game]] ?? "",
                points: best.points, day: best.time.map { day($0.day) })
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
    private func isBetter(_ left: Best, _ right: Best) -> Bool {
        guard left.points == right.points else {
            return lowestWins.contains(left.game) ? left.points < right.points : left.points > right.points
        }
        return (left.time?.seconds ?? .min, left.match) < (right.time?.seconds ?? .min, right.match)
    }

    /// - Parameter persons: the persons who played, those with the most plays first.
    private func rivalries(_ persons: [Statistics.PersonLine], _ recordNames: [String]) -> [Statistics
        .Rivalry]
    {
        let rivals = persons.prefix(Statistics.rivals).map(\.recordName)
        let places = recordNames.map { rivals.firstIndex(of: $0) }
        var counts = [Int](repeating: 0, count: rivals.count * rivals.count)
        for win in wins {
            guard let winner = places[Int(win.winner)], let loser = places[Int(win.loser)] else { continue }
            counts[winner * rivals.count + loser] += 1
        }
        return counts.enumerated().filter { $1 > 0 }.map { place, wins in
            Statistics.Rivalry(
                winner: rivals[place / rivals.count], loser: rivals[place % rivals.count], wins: wins)
        }
    }

    private func streaks() -> Statistics.Streaks {
        var streaks = Statistics.Streaks()
        for play in course.sorted(by: { ($0.seconds, $0.match) < ($1.seconds, $1.match) }) {
            streaks.append(isWon: play.isWon)
        }
        return streaks
    }

    /// - Parameter plays: the plays of each game, the most first.
    static func hIndex(_ plays: [Int]) -> Int {
        plays.enumerated().prefix { $1 >= $0 + 1 }.count
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

import GRDB

/// Reads the plays that statistics count, one match at a time: a scorebook may have more than fit into memory.
///
/// Two statements go through the matches in step, one reads each match and the other its players: a single one would hand out a match
/// again with each player. Points are read only for matches whose winner nobody recorded, or if the caller wants all totals: most of
/// the time would go there.
struct PlayReader {
    /// The choice of plays.
    struct Choice {
        /// SQL that is true for the matches of the zones to read.
        var zones = "1"
        /// The record name of a person who took part.
        var person: String?
        /// The record name of the game.
        var game: String?
        /// The year on the clock of this machine.
        var year: Int?
        /// The rows of the matches.
        var rows = Rows()
    }

    /// Rows of matches. What is nil does not limit them.
    struct Rows {
        var from: Int64?
        var before: Int64?
    }

    let choice: Choice
    /// Whether every part has its total, if there is one.
    let readsTotals: Bool
    /// The numbers of persons and games in the plays.
    let numbers = RecordNumbers()

    /// Whether somebody looks at the names of matches.
    private var readsMatches: Bool { readsTotals || choice.person != nil }

    /// Calls `body` with each play, the first added first.
    func forEach(_ db: Database, _ body: (Play) throws -> Void) throws {
        let rankings = try Dictionary(
            uniqueKeysWithValues: Game.fetchAll(db).map {
                (numbers.number(of: $0.recordName.description), Ranking($0))
            })
        let totals = try db.makeStatement(sql: Self.totals)
        let arguments = StatementArguments(arguments)
        let matches = try Row.fetchCursor(db, sql: matches, arguments: arguments)
        let players = try Row.fetchCursor(db, sql: players, arguments: arguments)
        var player = try players.next()
        var seats: [Seat] = []
        while let match = try matches.next() {
            let head = head(match)
            seats.removeAll(keepingCapacity: true)
            while let row = player, row[0] == head.match {
                if let seat = seat(row) { seats.append(seat) }
                player = try players.next()
            }
            try body(play(head, seats, rankings[head.game] ?? Ranking(nil), totals))
        }
    }

    // The SQL makes numbers of what is to be one: so nothing has to look at it again. SQLite hands out anything as a text.

    private func head(_ row: Row) -> Head {
        let seconds: Int? = row[2]
        let minutes: Int? = row[3]
        return Head(
            match: row[0], name: readsMatches ? row[4] : "", game: numbers.number(of: row[1]),
            time: seconds.map(Play.LocalTime.init(seconds:)),
            minutes: min(max(0, minutes ?? 0), Bounds.minutes.upperBound))
    }

    /// - Returns: nil for a player without a person.
    private func seat(_ row: Row) -> Seat? {
        guard let person: String = row[2] else { return nil }
        return Seat(
            player: row[1], person: numbers.number(of: person),
            entry: Ranking.Entry(team: (row[3] as String?)?.filled, rank: row[4], isWinner: row[5]))
    }

    /// A match without its players.
    private struct Head {
        /// The row of the match.
        let match: Int64
        let name: String
        let game: Int
        let time: Play.LocalTime?
        let minutes: Int
    }

    private struct Seat {
        /// The row of the player.
        let player: Int64
        let person: Int
        var entry: Ranking.Entry
    }

    // MARK: One play

    private func play(_ head: Head, _ seats: [Seat], _ ranking: Ranking, _ totals: Statement) throws -> Play {
        let persons = seats.indices.count { index in
            !seats[..<index].contains { $0.person == seats[index].person }
        }
        var entries = seats.map(\.entry)
        let isUndecided = entries.allSatisfy { $0.isWinner == nil && $0.rank == nil }
        if readsTotals || isUndecided && ranking.isByTotals && persons > 1 {
            let found = try Self.read(totals, head.match)
            for index in entries.indices { entries[index].total = found[seats[index].player] }
        }
        ranking.complete(&entries, persons: persons)
        let kind: Play.Kind =
            persons == 1 ? .solo : ranking.rule == .together ? .cooperative : .competitive
        return Play(
            match: head.name, game: head.game, time: head.time, minutes: head.minutes,
            parts: Self.parts(seats, entries), kind: kind)
    }

    /// Puts the seats of one person together.
    private static func parts(_ seats: [Seat], _ entries: [Ranking.Entry]) -> [Play.Part] {
        var parts: [Play.Part] = []
        parts.reserveCapacity(seats.count)
        for (seat, entry) in zip(seats, entries) {
            if let index = parts.firstIndex(where: { $0.person == seat.person }) {
                // With two hands, a person has won with either of them, and has no single total.
                parts[index].total = nil
                parts[index].hasWon = parts[index].hasWon == true ? true : entry.isWinner
            } else {
                parts.append(
                    Play.Part(
                        person: seat.person, team: entry.team, total: entry.total, hasWon: entry.isWinner))
            }
        }
        return parts
    }

    /// Returns the totals of a match by the row of the player. A player with a score that is no number has none.
    private static func read(_ statement: Statement, _ match: Int64) throws -> [Int64: Double] {
        let rows = try Row.fetchCursor(statement, arguments: [match])
        var totals: [Int64: Double] = [:]
        while let row = try rows.next() {
            totals[row[0]] = (row[1] as Double?).map { Ranking.total($0, of: row[2]) }
        }
        return totals
    }

    // MARK: SQL

    private static let totals = """
        SELECT p.rowid, CASE WHEN count(*) = count(CASE WHEN typeof(s.points) IN ('integer', 'real') THEN 1 END)
            THEN total(s.points) END, count(*)
        FROM SBPlayer AS p JOIN SBScore AS s ON s.player = p.recordName
        WHERE p.match = (SELECT recordName FROM SBMatch WHERE rowid = ?) GROUP BY p.rowid
        """

    private var matches: String {
        chosen(
            """
            m.rowid, COALESCE(m.game, ''), \(Play.LocalTime.sql("m.date")), \(Self.whole("m.durationMinutes")),
                \(readsMatches ? "CAST(m.recordName AS TEXT)" : "''")
            """)
    }

    private var players: String {
        """
        SELECT m.id, p.rowid, p.person, p.team, \(Self.whole("p.rank")), \(Self.yesOrNo("p.winner"))
        FROM (\(chosen("m.rowid AS id, m.recordName"))) AS m CROSS JOIN SBPlayer AS p ON p.match = m.recordName
        """
    }

    /// Returns SQL for columns of the chosen matches, in the order in which they were added. The limit keeps SQLite from joining other
    /// tables before it has put the matches in order.
    private func chosen(_ columns: String) -> String {
        var conditions = ["m.ignored IS NOT 1", "m.unfinished IS NOT 1", choice.zones]
        if choice.person != nil {
            conditions.append("m.recordName IN (SELECT match FROM SBPlayer WHERE person = :person)")
        }
        if choice.game != nil { conditions.append("m.game = :game") }
        if let from = choice.rows.from { conditions.append("m.rowid >= \(from)") }
        if let before = choice.rows.before { conditions.append("m.rowid < \(before)") }
        if choice.year != nil { conditions.append("strftime('%Y', m.date, 'localtime') = :year") }
        return """
            SELECT \(columns) FROM SBMatch AS m WHERE \(conditions.joined(separator: " AND ")) ORDER BY m.rowid LIMIT -1
            """
    }

    /// Returns SQL for a whole number in a column where other programs may write anything; NULL for texts and bytes, which SQLite
    /// takes for greater than any number.
    private static func whole(_ column: String) -> String { "CASE WHEN \(column) < '' THEN \(column) END" }

    /// Returns SQL for yes or no in a column where other programs may write anything; NULL for all but the integers 1 and 0.
    private static func yesOrNo(_ column: String) -> String {
        "CASE WHEN \(column) IN (0, 1) THEN \(column) END"
    }

    private var arguments: [String: (any DatabaseValueConvertible)?] {
        var arguments: [String: (any DatabaseValueConvertible)?] = [:]
        if let person = choice.person { arguments["person"] = person }
        if let game = choice.game { arguments["game"] = game }
        if let year = choice.year {
            let digits = String(year)
            arguments["year"] = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
        return arguments
    }
}

import GRDB

/// Reads the plays that statistics count, one match at a time: a scorebook may have more than fit into memory.
///
/// One statement reads the matches with their players. Points are read only for matches whose winner nobody recorded,
/// or if the caller wants all totals: most of the time would go there.
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
    }

    let choice: Choice
    /// Whether every part has its total, if there is one.
    let readsTotals: Bool

    /// Calls `body` with each play, the first added first.
    func forEach(_ db: Database, _ body: (Play) throws -> Void) throws {
        let games = try Dictionary(
            uniqueKeysWithValues: Game.fetchAll(db).map { ($0.recordName.description, $0) })
        let totals = try db.makeStatement(sql: Self.totals)
        let rows = try Row.fetchCursor(db, sql: sql, arguments: StatementArguments(arguments))
        var head: Head?
        var seats: [Seat] = []
        func finish() throws {
            guard let head else { return }
            try body(play(head, seats, games[head.game], totals))
            seats.removeAll(keepingCapacity: true)
        }
        while let row = try rows.next() {
            guard let match = String.fromDatabaseValue(row[0]) else { continue }
            if head?.match != match {
                try finish()
                head = Head(match, row)
            }
            if let seat = Seat(row) { seats.append(seat) }
        }
        try finish()
    }

    /// What the rows of one match have in common.
    private struct Head {
        let match: String
        let game: String
        let time: Play.LocalTime?
        let minutes: Int

        init(_ match: String, _ row: Row) {
            self.match = match
            game = String.fromDatabaseValue(row[1]) ?? ""
            time = String.fromDatabaseValue(row[2]).flatMap(Play.LocalTime.init)
            minutes = min(max(0, Int.fromDatabaseValue(row[3]) ?? 0), Bounds.minutes.upperBound)
        }
    }

    private struct Seat {
        let player: String
        let person: String
        var entry: Ranking.Entry

        /// Makes nil for a match without players.
        init?(_ row: Row) {
            guard let player = String.fromDatabaseValue(row[4]), let person = String.fromDatabaseValue(row[5])
            else { return nil }
            self.player = player
            self.person = person
            entry = Ranking.Entry(
                team: String.fromDatabaseValue(row[6]), rank: Int.fromDatabaseValue(row[7]),
                isWinner: Bool.fromDatabaseValue(row[8]))
        }
    }

    // MARK: One play

    private func play(_ head: Head, _ seats: [Seat], _ game: Game?, _ totals: Statement) throws -> Play {
        let ranking = Ranking(game)
        let persons = Set(seats.map(\.person)).count
        var entries = seats.map(\.entry)
        let isUndecided = entries.allSatisfy { $0.isWinner == nil && $0.rank == nil }
        if readsTotals || isUndecided && ranking.isByTotals && persons > 1 {
            let found = try Self.read(totals, head.match)
            for index in entries.indices { entries[index].total = found[seats[index].player] }
        }
        // One person alone has always the best total. Only a record says whether they won.
        if persons > 1 { ranking.complete(&entries) }
        let kind: Play.Kind =
            persons == 1 ? .solo : game?.cooperative == true ? .cooperative : .competitive
        return Play(
            match: head.match, game: head.game, time: head.time, minutes: head.minutes,
            parts: Self.parts(seats, entries), kind: kind)
    }

    /// Puts the seats of one person together.
    private static func parts(_ seats: [Seat], _ entries: [Ranking.Entry]) -> [Play.Part] {
        var parts: [Play.Part] = []
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

    /// Returns the totals of a match by player. A player with a score that is no number has none.
    private static func read(_ statement: Statement, _ match: String) throws -> [String: Double] {
        let rows = try Row.fetchCursor(statement, arguments: [match])
        var totals: [String: Double] = [:]
        while let row = try rows.next() {
            guard let player = String.fromDatabaseValue(row[0]) else { continue }
            totals[player] = Double.fromDatabaseValue(row[1])
        }
        return totals
    }

    // MARK: SQL

    private static let totals = """
        SELECT p.recordName, CASE WHEN count(*) = count(CASE WHEN typeof(s.points) IN ('integer', 'real') THEN 1 END)
            THEN total(s.points) END
        FROM SBPlayer AS p JOIN SBScore AS s ON s.player = p.recordName
        WHERE p.match = ? GROUP BY p.recordName
        """

    private var sql: String {
        var conditions = ["m.ignored IS NOT 1", "m.unfinished IS NOT 1", choice.zones]
        if choice.person != nil {
            conditions.append("m.recordName IN (SELECT match FROM SBPlayer WHERE person = :person)")
        }
        if choice.game != nil { conditions.append("m.game = :game") }
        if choice.year != nil { conditions.append("strftime('%Y', m.date, 'localtime') = :year") }
        return """
            SELECT m.recordName, m.game, \(Play.LocalTime.sql("m.date")), m.durationMinutes,
                p.recordName, p.person, p.team, p.rank, p.winner
            FROM SBMatch AS m LEFT JOIN SBPlayer AS p ON p.match = m.recordName
            WHERE \(conditions.joined(separator: " AND "))
            ORDER BY m.rowid
            """
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

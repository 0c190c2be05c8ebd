import Foundation

extension MatchSheet {
    /// The sheet for people, with the time in UTC; see ``text(_:)``.
    public var text: String { text(LocalTime(zone: .gmt, now: 0)) }

    /// The sheet for people, in several lines.
    ///
    /// ```
    /// Catan · 2024-03-05 19:30 · Ada's kitchen · 75 min
    ///
    ///      Player        1   2  Total
    /// * 1  Ada Lovelace  6   4     10
    ///   2  Grace Hopper  5   3      8
    /// ```
    ///
    /// Winners have a star. Rounds have columns if there is more than one.
    ///
    /// - Parameter time: the clock of the reader.
    public func text(_ time: LocalTime) -> String {
        var text = title(time) + "\n"
        if !players.isEmpty { text += "\n" + table.text }
        if let notes, !notes.trimmed.isEmpty {
            text += "\n"
            for line in notes.split(separator: "\n", omittingEmptySubsequences: false) {
                text += Display.printable(line) + "\n"
            }
        }
        return text
    }

    /// The game and the time, as in “Catan, 2024-03-05 19:30”.
    public func shortTitle(_ time: LocalTime) -> String {
        let game = game.isEmpty ? recordName.description : game
        return Display.printable([game, date.map(time.text)].compactMap(\.self).joined(separator: ", "))
    }

    private func title(_ time: LocalTime) -> String {
        var parts = [game.isEmpty ? recordName.description : game]
        if let date { parts.append(time.text(date)) }
        if let location, !location.isEmpty { parts.append(location) }
        if let board, !board.isEmpty { parts.append(board) }
        if let durationMinutes, durationMinutes > 0 { parts.append(Self.duration(durationMinutes)) }
        // Otherwise the columns tell it.
        if let rounds, rounds > 0, roundColumns.isEmpty {
            parts.append(rounds == 1 ? "1 round" : "\(rounds) rounds")
        }
        if let rating { parts.append("\(Entry.written(rating))/10") }
        if let result { parts.append(result.rawValue) }
        if isUnfinished { parts.append("unfinished") }
        if isIgnored { parts.append("ignored") }
        return parts.map { Display.printable($0) }.joined(separator: " · ")
    }

    private static func duration(_ minutes: Int) -> String {
        guard minutes >= 120 else { return "\(minutes) min" }
        let rest = minutes % 60
        return "\(minutes / 60) h" + (rest == 0 ? "" : " \(rest) min")
    }

    // MARK: The table

    private var table: TextTable {
        let rounds = roundColumns
        // Otherwise nobody could see why the total is not the sum of the rounds.
        let hasOthers = !rounds.isEmpty && players.contains { $0.scores.contains { $0.round == nil } }
        let hasTeams = players.contains { $0.team?.isEmpty == false }
        let hasRoles = players.contains { $0.role?.isEmpty == false }
        let hasScores = players.contains { !$0.scores.isEmpty }
        let hasPlaces = players.contains { $0.rank != nil || $0.winner == true }
        var columns: [TextTable.Column] = hasPlaces ? [.right("")] : []
        columns.append(.left("Player"))
        if hasTeams { columns.append(.left("Team")) }
        if hasRoles { columns.append(.left("Role")) }
        columns += rounds.map { .right("\($0)") }
        if hasOthers { columns.append(.right("other")) }
        if hasScores { columns.append(.right(rounds.isEmpty ? "Score" : "Total")) }
        var table = TextTable(columns)
        for player in players {
            var cells = hasPlaces ? [Self.place(player)] : []
            cells.append(
                (player.person.isEmpty ? "(no name)" : player.person)
                    + (player.startPlayer == true ? " (began)" : ""))
            if hasTeams { cells.append(player.team ?? "") }
            if hasRoles { cells.append(player.role ?? "") }
            cells += rounds.map { round in
                Self.written(player.scores.filter { $0.round == round })
            }
            if hasOthers { cells.append(Self.written(player.scores.filter { $0.round == nil })) }
            if hasScores { cells.append(Self.result(player, hasRounds: !rounds.isEmpty)) }
            table.append(cells)
        }
        return table
    }

    /// The rounds that have scores, if there is more than one, or points of no round beside them.
    private var roundColumns: [Int] {
        let rounds = Set(players.flatMap { $0.scores.map(\.round) })
        return rounds.count > 1 ? rounds.compactMap(\.self).sorted() : []
    }

    private static func written(_ scores: [Entry]) -> String { scores.map(\.written).joined(separator: "+") }

    private static func place(_ player: Line) -> String {
        let star = player.winner == true ? "*" : " "
        return player.rank.map { "\(star) \($0)" } ?? "\(star)  "
    }

    /// Returns the total. If there is none, returns the scores as written, unless columns show them.
    private static func result(_ player: Line, hasRounds: Bool) -> String {
        if let total = player.total { return Entry.written(total) }
        return hasRounds ? "" : player.scores.map(\.written).joined(separator: " + ")
    }
}

extension MatchSheet.Line {
    /// The total as people write it; nil if there is none.
    public var writtenTotal: String? { total.map(MatchSheet.Entry.written) }
}

extension MatchSheet.Entry {
    /// The score as people write it; empty if there is none.
    public var written: String { text ?? points.map(Self.written) ?? "" }

    /// Writes a number; a whole one without a fraction.
    public static func written(_ points: Double) -> String {
        guard let whole = Int64(exactly: points) else { return "\(points)" }
        return "\(whole)"
    }
}

// MARK: JSON

extension MatchSheet: Encodable {
    private enum CodingKeys: String, CodingKey {
        case recordName, game, date, location, durationMinutes, rounds, board, notes, rating, ignored,
            unfinished, result, players
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(game, forKey: .game)
        try container.encode(date, forKey: .date)
        try container.encode(location, forKey: .location)
        try container.encode(durationMinutes, forKey: .durationMinutes)
        try container.encode(rounds, forKey: .rounds)
        try container.encode(board, forKey: .board)
        try container.encode(notes, forKey: .notes)
        try container.encode(rating, forKey: .rating)
        try container.encode(isIgnored, forKey: .ignored)
        try container.encode(isUnfinished, forKey: .unfinished)
        try container.encode(result?.rawValue, forKey: .result)
        try container.encode(players, forKey: .players)
    }
}

extension MatchSheet.Line: Encodable {
    private enum CodingKeys: String, CodingKey {
        case recordName, person, seatOrder, team, role, startPlayer, newPlayer, winner, rank, scores, total
    }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(person, forKey: .person)
        try container.encode(seatOrder, forKey: .seatOrder)
        try container.encode(team, forKey: .team)
        try container.encode(role, forKey: .role)
        try container.encode(startPlayer, forKey: .startPlayer)
        try container.encode(newPlayer, forKey: .newPlayer)
        try container.encode(winner, forKey: .winner)
        try container.encode(rank, forKey: .rank)
        try container.encode(scores, forKey: .scores)
        try container.encode(total, forKey: .total)
    }
}

extension MatchSheet.Entry: Encodable {
    private enum CodingKeys: String, CodingKey { case recordName, round, points, text }

    /// Writes every key; unknown values are null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(recordName, forKey: .recordName)
        try container.encode(round, forKey: .round)
        try container.encode(points, forKey: .points)
        try container.encode(text, forKey: .text)
    }
}

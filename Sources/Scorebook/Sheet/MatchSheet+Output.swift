import Foundation

extension MatchSheet {
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
    public var text: String {
        var text = title + "\n"
        if !players.isEmpty { text += "\n" + table.text }
        if let notes, !notes.trimmed.isEmpty {
            text += "\n"
            for line in notes.split(separator: "\n", omittingEmptySubsequences: false) {
                text += Display.printable(line) + "\n"
            }
        }
        return text
    }

    private var title: String {
        var parts = [game.isEmpty ? recordName.description : game]
        if let date { parts.append(Self.shortDate(date)) }
        if let location, !location.isEmpty { parts.append(location) }
        if let board, !board.isEmpty { parts.append(board) }
        if let durationMinutes, durationMinutes > 0 { parts.append(Self.duration(durationMinutes)) }
        return parts.map { Display.printable($0) }.joined(separator: " · ")
    }

    /// Shortens ISO 8601 in UTC to `2024-03-05 19:30`; leaves other texts as they are.
    package static func shortDate(_ date: String) -> String {
        guard date.utf8.count >= 20, date.hasSuffix("Z"), date.dropFirst(10).first == "T" else { return date }
        return date.prefix(10) + " " + date.dropFirst(11).prefix(5)
    }

    private static func duration(_ minutes: Int) -> String {
        guard minutes >= 120 else { return "\(minutes) min" }
        let rest = minutes % 60
        return "\(minutes / 60) h" + (rest == 0 ? "" : " \(rest) min")
    }

    // MARK: The table

    private var table: TextTable {
        let rounds = roundColumns
        let hasTeams = players.contains { $0.team?.isEmpty == false }
        let hasRoles = players.contains { $0.role?.isEmpty == false }
        let hasScores = players.contains { !$0.scores.isEmpty }
        let hasPlaces = players.contains { $0.rank != nil || $0.winner == true }
        var columns: [TextTable.Column] = hasPlaces ? [.right("")] : []
        columns.append(.left("Player"))
        if hasTeams { columns.append(.left("Team")) }
        if hasRoles { columns.append(.left("Role")) }
        columns += rounds.map { .right("\($0)") }
        if hasScores { columns.append(.right(rounds.isEmpty ? "Score" : "Total")) }
        var table = TextTable(columns)
        for player in players {
            var cells = hasPlaces ? [Self.place(player)] : []
            cells.append(player.person.isEmpty ? "(no name)" : player.person)
            if hasTeams { cells.append(player.team ?? "") }
            if hasRoles { cells.append(player.role ?? "") }
            cells += rounds.map { round in
                player.scores.filter { $0.round == round }.map(\.written).joined(separator: "+")
            }
            if hasScores { cells.append(Self.result(player, hasRounds: !rounds.isEmpty)) }
            table.append(cells)
        }
        return table
    }

    /// The rounds that have scores, if there is more than one.
    private var roundColumns: [Int] {
        let rounds = Set(players.flatMap { $0.scores.compactMap(\.round) }).sorted()
        return rounds.count > 1 ? rounds : []
    }

    private static func place(_ player: Line) -> String {
        let star = player.winner == true ? "*" : " "
        return player.rank.map { "\(star) \($0)" } ?? "\(star)  "
    }

    /// Returns the total. If there is none, returns the scores that no column shows, as written.
    private static func result(_ player: Line, hasRounds: Bool) -> String {
        if let total = player.total { return Entry.written(total) }
        return player.scores.filter { !hasRounds || $0.round == nil }.map(\.written).joined(separator: " + ")
    }
}

extension MatchSheet.Entry {
    fileprivate var written: String {
        text ?? points.map(Self.written) ?? ""
    }

    /// Writes a number; a whole one without a fraction.
    fileprivate static func written(_ points: Double) -> String {
        guard let whole = Int64(exactly: points) else { return "\(points)" }
        return "\(whole)"
    }
}

// MARK: JSON

extension MatchSheet: Encodable {
    private enum CodingKeys: String, CodingKey {
        case recordName, game, date, location, durationMinutes, rounds, board, notes, players
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

import PeerSync

extension CSVText {
    /// The titles of ``ScorebookStore/csvLines(of:)``.
    public static let matchTitles = [
        "date", "game", "place", "minutes", "player", "team", "role", "score", "rank", "won", "unfinished",
        "zone", "record name",
    ]
}

extension ScorebookStore {
    /// Returns matches as lines of CSV without their ends, one for each player, below ``CSVText/matchTitles``.
    ///
    /// - Throws: errors of SQLite.
    public func csvLines(of matches: [MatchListing]) async throws -> [String] {
        let zones = Dictionary(matches.map { ($0.recordName, $0.zone) }, uniquingKeysWith: { $1 })
        let time = time
        return try await matchSheets(matches.map(\.recordName)).flatMap { sheet in
            sheet.csvRows(time, zone: zones[sheet.recordName] ?? "").map(CSVText.line)
        }
    }
}

extension MatchSheet {
    /// One row for each player, in the order of the seats; one without a player for a match that has none.
    ///
    /// - Parameters:
    ///   - time: the clock for the date.
    ///   - zone: the name of the match's zone.
    fileprivate func csvRows(_ time: LocalTime, zone: String) -> [[String]] {
        let match = [
            date.map(time.text) ?? "", game, location ?? "", durationMinutes.map(String.init) ?? "",
        ]
        let ending = [isUnfinished ? "yes" : "no", zone, "\(recordName)"]
        let rows = bySeat.map { line in
            match + [
                line.person, line.team ?? "", line.role ?? "", line.writtenResult,
                line.rank.map(String.init) ?? "", line.winner.map { $0 ? "yes" : "no" } ?? "",
            ] + ending
        }
        return rows.isEmpty ? [match + Array(repeating: "", count: 6) + ending] : rows
    }
}

extension MatchSheet.Line {
    /// The total; or the scores that are no numbers, as somebody wrote them.
    fileprivate var writtenResult: String {
        writtenTotal ?? scores.map(\.written).filter { !$0.isEmpty }.joined(separator: " ")
    }
}

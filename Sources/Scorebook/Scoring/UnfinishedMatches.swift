import GRDB
import PeerSync

extension ScorebookStore {
    /// The number of matches among which ``unfinishedMatches(limit:)`` looks.
    private static let latestMatches = 1000

    /// Lists the unfinished ones among the latest 1,000 matches, the latest first. So it takes little time in a large scorebook, too.
    ///
    /// - Parameter limit: the maximum number of matches.
    public func unfinishedMatches(limit: Int) async throws -> [MatchListing] {
        let names = try await read { [self] db in
            try RecordName.fetchAll(
                db,
                sql: """
                    SELECT recordName FROM (
                        SELECT recordName, unfinished, date FROM SBMatch WHERE \(limits())
                        ORDER BY date DESC LIMIT \(Self.latestMatches)
                    ) WHERE unfinished = 1 ORDER BY date DESC, recordName LIMIT ?
                    """, arguments: [limit])
        }
        return try await matchLines(names)
    }

    /// Finds a match that somebody may go on with.
    ///
    /// - Parameter text: names one that is not finished, as if there were no others; nil for the latest.
    /// - Throws: ``ScorebookError`` `notFound` also when the match is finished, or when none is unfinished.
    public func unfinishedMatch(_ text: String?) async throws -> RecordName {
        try await read { [self] db in
            do {
                let name = try lookup(.match).amongUnfinished().find(db, text ?? "last")
                // A number or a whole name may lead to any match.
                guard try !MatchSheet(db, name).isUnfinished else { return name }
            } catch let error as ScorebookError where error.code == .notFound {
                guard text != nil else {
                    throw ScorebookError(
                        .notFound, "there is no unfinished match",
                        hint:
                            "`play GAME PLAYERS` begins one; `match edit last --unfinished` opens the last one again"
                    )
                }
            }
            let match = try MatchSheet(db, lookup(.match).find(db, text ?? "last"))
            let id = try ShortIDs(db, RecordKind.match.recordType).id(match.recordName)
            throw ScorebookError(
                .notFound, "\(match.shortTitle(time)) is finished",
                hint: "`match edit \(id) --unfinished` opens it again")
        }
    }
}

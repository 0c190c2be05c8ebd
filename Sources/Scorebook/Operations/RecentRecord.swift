import GRDB
import PeerSync

/// A person or a game, with the last match.
public struct RecentRecord: Sendable, Equatable {
    public let recordName: RecordName
    public let name: String
    /// The number of matches.
    public let matches: Int
    /// The date of the last match, ISO 8601 in UTC; nil if there is none, or if nobody wrote a date down.
    public let lastDate: String?
}

extension ScorebookStore {
    /// Lists the games, those that were played last first, those that nobody has played by name behind them.
    public func recentGames() async throws -> [RecentRecord] {
        try await recent(
            .game, "COALESCE(name, '')",
            played: """
                SELECT game AS subject, COUNT(*) AS matches, max(date) AS lastDate FROM SBMatch GROUP BY game
                """)
    }

    /// Lists the persons, those who played last first, those who never played by name behind them.
    public func recentPersons() async throws -> [RecentRecord] {
        try await recent(
            .person, PersonName.sql,
            played: """
                SELECT person AS subject, COUNT(DISTINCT match) AS matches, max(date) AS lastDate
                FROM SBPlayer JOIN SBMatch ON SBMatch.recordName = SBPlayer.match GROUP BY person
                """)
    }

    /// Lists the names of all persons or games, by name. It does not look at matches, so it takes little time.
    ///
    /// - Parameter kind: `person` or `game`; the list is empty for any other kind.
    public func names(_ kind: RecordKind) async throws -> [(recordName: RecordName, name: String)] {
        try await read { [self] db in
            try lookup(kind).names(db).map { (try RecordName($0.recordName), $0.name) }
                .sorted { SortKey($0.1, $0.0) < SortKey($1.1, $1.0) }
        }
    }

    /// - Parameter played: SQL for the number of matches and the date of the last one, by record.
    private func recent(_ kind: RecordKind, _ name: String, played: String) async throws -> [RecentRecord] {
        try await read { [self] db in
            let merged = try MergedRecords(db, kind)
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT recordName, \(name) AS name, COALESCE(matches, 0) AS matches, lastDate FROM \(kind.recordType)
                    LEFT JOIN (\(played)) ON subject = recordName
                    WHERE \(limits())
                    ORDER BY lastDate DESC, lower(name), recordName
                    """)
            var records: [RecentRecord] = []
            while let row = try rows.next() {
                let recordName = try row.recordName("recordName")
                guard !merged.contains(recordName.description) else { continue }
                records.append(
                    RecentRecord(
                        recordName: recordName, name: row.lenient("name") ?? "", matches: row["matches"],
                        lastDate: row.lenient("lastDate")))
            }
            return records
        }
    }
}

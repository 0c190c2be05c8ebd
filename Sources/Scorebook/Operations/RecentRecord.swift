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
            matches: "SELECT game AS subject, recordName AS match, date FROM SBMatch")
    }

    /// Lists the persons, those who played last first, those who never played by name behind them.
    public func recentPersons() async throws -> [RecentRecord] {
        try await recent(
            .person, PersonName.sql,
            matches: """
                SELECT DISTINCT person AS subject, match, date
                FROM SBPlayer JOIN SBMatch ON SBMatch.recordName = SBPlayer.match
                """)
    }

    private func recent(_ kind: RecordKind, _ name: String, matches: String) async throws -> [RecentRecord] {
        try await read { [self] db in
            let merged = try MergedRecords(db, kind)
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT recordName, \(name) AS name, COALESCE(matches, 0) AS matches, lastDate FROM \(kind.recordType)
                    LEFT JOIN (
                        SELECT subject, COUNT(*) AS matches, max(date) AS lastDate FROM (\(matches)) GROUP BY subject
                    ) ON subject = recordName
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

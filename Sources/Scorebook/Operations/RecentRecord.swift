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
        // Matches come first and stand for themselves by a number: SQLite looks each up once, and compares numbers.
        try await recent(
            .person, PersonName.sql,
            played: """
                SELECT p.person AS subject, COUNT(DISTINCT m.id) AS matches, max(m.date) AS lastDate
                FROM (SELECT rowid AS id, recordName, date FROM SBMatch ORDER BY rowid LIMIT -1) AS m
                CROSS JOIN SBPlayer AS p ON p.match = m.recordName GROUP BY p.person
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

    /// Whether there is any person or game.
    public func hasNames() async throws -> Bool {
        try await records.database.read { db in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM SBPerson) OR EXISTS (SELECT 1 FROM SBGame)")
                ?? false
        }
    }

    /// The number of matches that ``recentNames(_:)`` looks at.
    private static let recentMatches = 1000

    /// Lists the names of all persons or games: those of the last 1,000 matches first, the last one first, then all others by name. So it
    /// takes little time in a large scorebook, too.
    ///
    /// - Parameter kind: `person` or `game`; the list is empty for any other kind.
    public func recentNames(_ kind: RecordKind) async throws -> [(recordName: RecordName, name: String)] {
        let last = try await read { [self] db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT \(kind == .person ? "CAST(p.person AS TEXT)" : "m.game") AS subject FROM (
                        SELECT recordName, CAST(game AS TEXT) AS game, date FROM SBMatch WHERE \(limits())
                        ORDER BY date DESC LIMIT \(Self.recentMatches)
                    ) AS m \(kind == .person ? "CROSS JOIN SBPlayer AS p ON p.match = m.recordName" : "")
                    WHERE subject IS NOT NULL GROUP BY subject ORDER BY max(m.date) DESC, subject
                    """)
        }
        let places = Dictionary(uniqueKeysWithValues: zip(last, last.indices))
        let names = try await names(kind)
        // The list of names is in order already; equal places keep it.
        return names.enumerated().sorted {
            let (left, right) = (places["\($0.element.recordName)"], places["\($1.element.recordName)"])
            return (left ?? .max, $0.offset) < (right ?? .max, $1.offset)
        }.map(\.element)
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

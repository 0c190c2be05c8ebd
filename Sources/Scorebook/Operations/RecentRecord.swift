import GRDB
import PeerSync

/// A person or a game, with the last match.
public struct RecentRecord: Sendable, Equatable {
    /// The person or the game.
    public let recordName: RecordName
    /// The name; empty if there is none.
    public let name: String
    /// The number of matches.
    public let matches: Int
    /// The date of the last match, ISO 8601 in UTC; nil if there is none, or if nobody wrote a date down.
    public let lastDate: String?
}

extension ScorebookStore {
    /// Lists the games, those that were played last first, those that nobody has played by name behind them.
    public func recentGames() async throws -> [RecentRecord] {
        try await recent(.game, "COALESCE(name, '')") { db in
            try Row.fetchAll(db, sql: "SELECT game, COUNT(*), max(date) FROM SBMatch GROUP BY game")
                .reduce(into: [:]) { played, row in
                    guard let game = String.fromDatabaseValue(row[0]) else { return }
                    played[game] = Played(matches: row[1], lastDate: String.fromDatabaseValue(row[2]))
                }
        }
    }

    /// Lists the persons, those who played last first, those who never played by name behind them.
    public func recentPersons() async throws -> [RecentRecord] {
        try await recent(.person, PersonName.sql, played: Self.playedByPersons)
    }

    /// The matches of a person or a game.
    private struct Played {
        var matches = 0
        var lastDate: String?
        /// The row of the match that was counted last.
        var lastMatch: Int64?
    }

    /// Counts the matches of each person. SQLite would sort all players by the record names of the persons, which takes twice as long.
    private static func playedByPersons(_ db: Database) throws -> [String: Played] {
        let numbers = RecordNumbers()
        var played = Numbered<Played>()
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT m.rowid, m.date, CAST(p.person AS TEXT) FROM SBMatch AS m CROSS JOIN SBPlayer AS p ON p.match = m.recordName
                """)
        var match: Int64?
        var date: String?
        while let row = try rows.next() {
            if row[0] != match {
                match = row[0]
                date = String.fromDatabaseValue(row[1])
            }
            guard let person: String = row[2] else { continue }
            played.update(numbers.number(of: person), from: Played()) { person in
                // Who plays with two hands takes part once.
                guard person.lastMatch != match else { return }
                person.lastMatch = match
                person.matches += 1
                if let date, date > person.lastDate ?? "" { person.lastDate = date }
            }
        }
        return Dictionary(uniqueKeysWithValues: played.all.map { (numbers.names[$0.number], $0.value) })
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

    /// - Parameters:
    ///   - name: SQL for the name of a record.
    ///   - played: returns what was played, by record name.
    private func recent(
        _ kind: RecordKind, _ name: String,
        played: @escaping @Sendable (Database) throws -> [String: Played]
    ) async throws -> [RecentRecord] {
        try await read { [self] db in
            let merged = try MergedRecords(db, kind)
            let played = try played(db)
            let rows = try Row.fetchCursor(
                db, sql: "SELECT recordName, \(name) AS name FROM \(kind.recordType) WHERE \(limits())")
            var records: [RecentRecord] = []
            while let row = try rows.next() {
                let recordName = try row.recordName("recordName")
                guard !merged.contains(recordName.description) else { continue }
                let own = played[recordName.description]
                records.append(
                    RecentRecord(
                        recordName: recordName, name: row.lenient("name") ?? "", matches: own?.matches ?? 0,
                        lastDate: own?.lastDate))
            }
            return records.map { (key: SortKey($0.name, $0.recordName), record: $0) }.sorted {
                let (left, right) = ($0.record.lastDate ?? "", $1.record.lastDate ?? "")
                return left == right ? $0.key < $1.key : left > right
            }.map(\.record)
        }
    }
}

import GRDB
import PeerSync

/// The choice of plays for statistics. What is nil does not limit them.
public struct StatisticsFilter: Sendable, Hashable {
    /// A person who took part: a text as all operations take it. The figures are then that person's.
    public var person: String?
    /// The game, likewise.
    public var game: String?
    /// The year on the clock of this machine, from 1 to 9999.
    public var year: Int?

    public init(person: String? = nil, game: String? = nil, year: Int? = nil) {
        self.person = person
        self.game = game
        self.year = year
    }
}

extension ScorebookStore {
    /// Counts plays in one snapshot of the scorebook. docs/statistics.md has the rules.
    ///
    /// - Throws: ``ScorebookError`` `notFound` or `ambiguous` for a person or game; `invalidValue` for a year out of
    ///   range.
    public func statistics(_ filter: StatisticsFilter = StatisticsFilter()) async throws -> Statistics {
        try Bounds.whole(filter.year, "year", 1...9999)
        return try await read { [self] db in
            let person = try filter.person.map { try lookup(.person).find(db, $0).description }
            let game = try filter.game.map { try lookup(.game).find(db, $0).description }
            let records: StatisticsCount.Records = game != nil ? .byPerson : person != nil ? .byGame : .none
            let reader = PlayReader(
                choice: .init(zones: limits("m.recordName"), person: person, game: game, year: filter.year),
                readsTotals: records != .none)
            let lowestWins = try String.fetchAll(
                db, sql: "SELECT recordName FROM SBGame WHERE NOT highestWins")
            var count = StatisticsCount(
                person: person.map(reader.numbers.number(of:)), records: records,
                lowestWins: Set(lowestWins.map(reader.numbers.number(of:))))
            try reader.forEach(db) { count.count($0) }
            return count.figures(
                recordNames: reader.numbers.names,
                personNames: try Self.names(db, "SELECT recordName, \(PersonName.sql) FROM SBPerson"),
                gameNames: try Self.names(db, "SELECT recordName, COALESCE(name, '') FROM SBGame"))
        }
    }

    private static func names(_ db: Database, _ sql: String) throws -> [String: String] {
        try Row.fetchAll(db, sql: sql).reduce(into: [:]) { names, row in
            guard let record = String.fromDatabaseValue(row[0]) else { return }
            names[record] = String.fromDatabaseValue(row[1])
        }
    }
}

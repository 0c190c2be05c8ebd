import Foundation
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

    /// Makes a filter. What is nil limits nothing.
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
        let processors = min(ProcessInfo.processInfo.activeProcessorCount, 4)
        return try await statistics(filter, maximumParts: processors, matchesOfAPart: 20_000)
    }

    /// Counts in several parts at the same time, as far as each of them has so many matches that it pays.
    func statistics(
        _ filter: StatisticsFilter, maximumParts: Int, matchesOfAPart: Int
    ) async throws -> Statistics {
        try Bounds.whole(filter.year, "year", 1...9999)
        let (whole, parts) = try await read { db -> (Statistics?, [PlayReader.Rows]) in
            let parts = try Self.parts(db, filter, maximumParts, matchesOfAPart)
            return (parts.count > 1 ? nil : try self.count(db, filter).figures(db), parts)
        }
        if let whole { return whole }
        guard let snapshots = try await snapshots(parts.count) else {
            return try await read { try self.count($0, filter).figures($0) }
        }
        return try await withThrowingTaskGroup(of: PlayCount.self) { group in
            for (rows, snapshot) in zip(parts, snapshots) {
                group.addTask { try await snapshot.read { try self.count($0, filter, rows) } }
            }
            var sum: PlayCount?
            for try await part in group { sum = sum.map { $0.adding(part) } ?? part }
            return try await snapshots[0].read { [sum] db in try sum?.figures(db) ?? Statistics() }
        }
    }

    /// Returns the rows of the matches of each part; nothing where all are to be counted at once. The first part has no beginning and
    /// the last one no end, so each row is in one part, whatever somebody commits before the snapshots.
    private static func parts(
        _ db: Database, _ filter: StatisticsFilter, _ maximum: Int, _ size: Int
    ) throws -> [PlayReader.Rows] {
        // The plays of one person or game are found by an index, and its order matters for records.
        guard filter.person == nil, filter.game == nil else { return [] }
        let row = try Row.fetchOne(db, sql: "SELECT MIN(rowid), MAX(rowid), COUNT(*) FROM SBMatch")
        // Other programs may choose any rows. Of one below 0, another one may be too far away for a number.
        guard let row, let first: Int64 = row[0], let last: Int64 = row[1], first >= 0 else { return [] }
        let count = min(maximum, row[2] / size)
        guard count > 1 else { return [] }
        let ends = (1..<count).map { first + (last - first) / Int64(count) * Int64($0) }
        return zip([nil] + ends, ends + [nil]).map(PlayReader.Rows.init)
    }

    /// Returns snapshots that have the same commits; nil if others commit without a pause, and for a scorebook in memory.
    private func snapshots(_ count: Int) async throws -> [DatabaseSnapshot]? {
        guard let pool = records.database as? DatabasePool, let commits = try CommitCounter(self) else {
            return nil
        }
        for _ in 0..<3 {
            let before = try await commits.count()
            let snapshots = try (0..<count).map { _ in try pool.makeSnapshot() }
            if try await commits.count() == before { return snapshots }
        }
        return nil
    }

    /// - Parameter rows: the rows of the matches to count.
    private func count(
        _ db: Database, _ filter: StatisticsFilter, _ rows: PlayReader.Rows = .init()
    ) throws -> PlayCount {
        let person = try filter.person.map { try lookup(.person).find(db, $0).description }
        let game = try filter.game.map { try lookup(.game).find(db, $0).description }
        let records: StatisticsCount.Records = game != nil ? .byPerson : person != nil ? .byGame : .none
        let reader = PlayReader(
            choice: .init(
                zones: limits("m.recordName"), person: person, game: game, year: filter.year, rows: rows),
            readsTotals: records != .none)
        let lowestWins = try String.fetchAll(
            db, sql: "SELECT recordName FROM SBGame WHERE highestWins = 0")
        var count = StatisticsCount(
            person: person.map(reader.numbers.number(of:)), records: records,
            lowestWins: Set(lowestWins.map(reader.numbers.number(of:))))
        try reader.forEach(db) { count.count($0) }
        return PlayCount(count: count, recordNames: reader.numbers.names)
    }
}

/// What was counted in some matches.
private struct PlayCount: Sendable {
    var count: StatisticsCount
    /// The record names of the persons and games in the count, by their numbers.
    var recordNames: [String]

    func adding(_ other: PlayCount) -> PlayCount {
        var sum = self
        let numbers = RecordNumbers(recordNames)
        sum.count.add(other.count, numbers: other.recordNames.map(numbers.number(of:)))
        sum.recordNames = numbers.names
        return sum
    }

    func figures(_ db: Database) throws -> Statistics {
        count.figures(
            recordNames: recordNames,
            personNames: try Self.names(db, "SELECT recordName, \(PersonName.sql) FROM SBPerson"),
            gameNames: try Self.names(db, "SELECT recordName, COALESCE(name, '') FROM SBGame"))
    }

    private static func names(_ db: Database, _ sql: String) throws -> [String: String] {
        try Row.fetchAll(db, sql: sql).reduce(into: [:]) { names, row in
            guard let record = String.fromDatabaseValue(row[0]) else { return }
            names[record] = String.fromDatabaseValue(row[1])
        }
    }
}

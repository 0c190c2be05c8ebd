import Foundation
import GRDB

/// What local writers pay for sync: the same writes to the same tables, with and without the capture triggers. And what it
/// costs to take in for sync what was captured, which the engine does when it next looks.
struct LocalWrites {
    /// How many rows with ``large`` a transaction.
    let rows: Int
    /// How many rows with one a transaction.
    let singles: Int

    private static let large = 10_000
    private static let kinds = ["insert", "update of one column", "delete"]

    func run(rounds: Int) async throws -> [Figure] {
        var figures: [Figure] = []
        for (size, count) in [(1, singles), (Self.large, rows)] {
            let transactions = "\(grouped(size)) a transaction"
            var captured = Self.kinds.map {
                Figure("\($0), \(transactions), against no triggers", .perSecond, goal: .atLeast(0.6))
            }
            var takenIn = Self.kinds.map {
                Figure("\($0), \(transactions), and taken in, against no triggers", .perSecond)
            }
            for round in 0..<rounds {
                // Whoever comes second may find warmer caches, so they take turns.
                let capturedFirst = round.isMultiple(of: 2)
                let first = try await measure(count, size, captured: capturedFirst)
                let second = try await measure(count, size, captured: !capturedFirst)
                let (with, without) = capturedFirst ? (first, second) : (second, first)
                for index in Self.kinds.indices {
                    let plain = Double(count) / without[index].written
                    captured[index].add(Double(count) / with[index].written, beside: plain)
                    takenIn[index].add(
                        Double(count) / (with[index].written + with[index].takenIn), beside: plain)
                }
            }
            figures += captured
            // Taking in costs the same however many transactions it was.
            if size > 1 { figures += takenIn }
        }
        return figures
    }

    private typealias Times = (written: Double, takenIn: Double)

    /// The seconds of the three kinds of writes, in order.
    private func measure(_ count: Int, _ size: Int, captured: Bool) async throws -> [Times] {
        try await withTemporaryDirectory { directory in
            let household = captured ? try Household(in: directory, "scorebook") : nil
            let database =
                try household?.database ?? Household.withoutCapture(in: directory, "scorebook")
            try await database.write { try SimpleRows.game(0).insert($0) }
            try await household?.scorebook.records.foldPendingChanges()
            let rows = (0..<count).map { SimpleRows.match($0, game: 0, minutes: 30) }
            let names = rows.map { $0.values[0] }
            return [
                try await times(household) { try Self.write(database, rows, size) { try $1.insert($0) } },
                try await times(household) {
                    try Self.write(database, names, size) { db, name in
                        try db.cachedStatement(
                            sql: "UPDATE SBMatch SET durationMinutes = 45 WHERE recordName = ?"
                        )
                        .execute(arguments: [name])
                    }
                },
                try await times(household) {
                    try Self.write(database, names, size) { db, name in
                        try db.cachedStatement(sql: "DELETE FROM SBMatch WHERE recordName = ?")
                            .execute(arguments: [name])
                    }
                },
            ]
        }
    }

    private func times(_ household: Household?, _ body: () throws -> Void) async throws -> Times {
        let written = try await seconds { try body() }
        guard let household else { return (written, 0) }
        return (written, try await seconds { try await household.scorebook.records.foldPendingChanges() })
    }

    /// Writes items, `size` in a transaction.
    private static func write<Item>(
        _ database: DatabasePool, _ items: [Item], _ size: Int, _ body: (Database, Item) throws -> Void
    ) throws {
        try database.writeWithoutTransaction { db in
            for start in stride(from: 0, to: items.count, by: size) {
                try db.inTransaction {
                    for item in items[start..<min(start + size, items.count)] { try body(db, item) }
                    return .commit
                }
            }
        }
    }
}

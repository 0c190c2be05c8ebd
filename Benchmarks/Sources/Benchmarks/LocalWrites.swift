import Foundation
import GRDB

/// What local writers pay for sync: the same writes to the same tables, with and without the capture triggers.
///
/// Nobody syncs meanwhile, so the journal of changes grows, as it does while no peer program runs.
struct LocalWrites {
    /// How many rows with ``large`` a transaction.
    let rows: Int
    /// How many rows with one a transaction.
    let singles: Int

    private static let large = 10_000
    private static let kinds = ["insert", "update one column", "delete"]

    func run(rounds: Int) async throws -> ResultTable {
        var comparisons: [Comparison] = []
        for (size, count) in [(1, singles), (Self.large, rows)] {
            let names = Self.kinds.map { "\($0), \(size == 1 ? "1" : "10,000") a transaction" }
            var group = names.map(Comparison.init)
            for round in 0..<rounds {
                // Whoever comes second may find warmer caches, so they take turns.
                let capturedFirst = round.isMultiple(of: 2)
                let first = try await measure(count, size, captured: capturedFirst)
                let second = try await measure(count, size, captured: !capturedFirst)
                let (captured, plain) = capturedFirst ? (first, second) : (second, first)
                for index in group.indices {
                    group[index].add(speed: captured[index], baseline: plain[index])
                }
            }
            comparisons += group
        }
        return ResultTable(
            title: "local writes", baseline: "plain", subject: "captured", comparisons: comparisons)
    }

    /// The speeds of the three kinds of writes, in order.
    private func measure(_ count: Int, _ size: Int, captured: Bool) async throws -> [Double] {
        try await withTemporaryDirectory { directory in
            let database =
                captured
                ? try Household(in: directory, "scorebook").database
                : try Household.withoutCapture(in: directory, "scorebook")
            try await database.write { try HouseholdRows.game(0).insert($0) }
            let rows = (0..<count).map { HouseholdRows.match($0, game: 0, minutes: 30) }
            let names = rows.map { $0.values[0] }
            return [
                try await speed(of: count) {
                    try Self.write(database, rows, size) { try $1.insert($0) }
                },
                try await speed(of: count) {
                    try Self.write(database, names, size) { db, name in
                        try db.cachedStatement(
                            sql: "UPDATE SBMatch SET durationMinutes = 45 WHERE recordName = ?"
                        )
                        .execute(arguments: [name])
                    }
                },
                try await speed(of: count) {
                    try Self.write(database, names, size) { db, name in
                        try db.cachedStatement(sql: "DELETE FROM SBMatch WHERE recordName = ?")
                            .execute(arguments: [name])
                    }
                },
            ]
        }
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

import Foundation
import GRDB

/// How many times a second something would be done that was done `count` times in `body`.
func speed<Value>(of count: Int, _ body: () async throws -> Value) async throws -> Double {
    try await Double(count) / seconds(of: body)
}

/// How long `body` takes.
func seconds<Value>(of body: () async throws -> Value) async throws -> Double {
    let begin = ContinuousClock.now
    _ = try await body()
    return (ContinuousClock.now - begin) / .seconds(1)
}

/// Calls `body` with a directory that is gone afterwards.
func withTemporaryDirectory<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
    let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("scorebook-benchmark-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

/// The size of a SQLite database that nobody has open, once its write-ahead log is part of it.
func storeBytes(_ path: String) throws -> Int {
    let database = try DatabaseQueue(path: path)
    return try database.writeWithoutTransaction { db in
        _ = try db.checkpoint(.truncate)
        let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
        return try pages * (Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0)
    }
}

/// A number with its thousands apart.
func grouped(_ number: Int) -> String {
    var digits = String(number)
    var groups: [Substring] = []
    while digits.count > 3 {
        groups.insert(digits.suffix(3), at: 0)
        digits.removeLast(3)
    }
    return ([digits[...]] + groups).joined(separator: ",")
}

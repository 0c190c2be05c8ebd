import Foundation
import GRDB

/// A scorebook with many records, filled as an app fills it: some at a time, captured and taken in for sync.
struct SourceStore {
    let directory: URL
    let name: String
    let records: Int
    /// Bytes of all fields' values as the columns hold them: texts, references and dates as text, integers in the fewest
    /// bytes, 8 bytes for other numbers. Record names are not counted.
    let valueBytes: Int

    private static let rowsInTransaction = 1_000

    /// Makes one in a directory, and closes it.
    init(in directory: URL, _ name: String, records: Int) async throws {
        let household = try Household(in: directory, name)
        self.directory = directory
        self.name = name
        self.records = records
        var valueBytes = 0
        var chunk: [NewRow] = []
        for row in HouseholdRows(records) {
            valueBytes += row.valueBytes
            chunk.append(row)
            guard chunk.count == Self.rowsInTransaction else { continue }
            try await Self.insert(chunk, household)
            chunk.removeAll(keepingCapacity: true)
        }
        try await Self.insert(chunk, household)
        self.valueBytes = valueBytes
        try household.database.close()
    }

    /// Of the database's file.
    var path: String { directory.appendingPathComponent("\(name).sqlite").path }

    private static func insert(_ rows: [NewRow], _ household: Household) async throws {
        try await household.scorebook.records.write { db in
            for row in rows { try row.insert(db) }
        }
    }
}

extension NewRow {
    /// Of all columns but the name.
    var valueBytes: Int {
        values.dropFirst().reduce(0) { sum, value in
            switch value.storage {
            case .null: sum
            case .int64(let number):
                sum + (number == 0 ? 0 : (64 - number.magnitude.leadingZeroBitCount) / 8 + 1)
            case .double: sum + 8
            case .string(let text): sum + text.utf8.count
            case .blob(let bytes): sum + bytes.count
            }
        }
    }
}

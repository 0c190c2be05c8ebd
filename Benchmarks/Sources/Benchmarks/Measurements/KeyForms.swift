import Foundation
import GRDB
import PeerSync
import PeerSyncStore

/// The size of a store whose keys are UUIDs in 16 bytes, against the same store with whole record names as keys, as a
/// scorebook has them. The size of each is also held against the same rows without sync.
///
/// The tables are those of a scorebook, with their references and indexes, without their checks and without
/// `modificationDate`.
struct KeyForms {
    /// How many records there are.
    let records: Int

    private enum Form: String, CaseIterable {
        case recordNames = "record names"
        case uuids = "UUIDs"

        var key: String { self == .recordNames ? "recordName" : "id" }
        var type: String { self == .recordNames ? "TEXT" : "BLOB" }

        /// The form of a key, or of a reference to one.
        func value(_ recordName: DatabaseValue) throws -> DatabaseValue {
            guard self == .uuids, let name = String.fromDatabaseValue(recordName) else { return recordName }
            guard let uuid = UUID(uuidString: String(name.suffix(36))) else { throw NoUUID(name: name) }
            return uuid.databaseValue
        }
    }

    private struct NoUUID: Error {
        let name: String
    }

    /// A table of a scorebook, and what its references lead to, by column.
    private struct Table {
        let name: String
        let columns: [ColumnInfo]
        let targets: [String: String]
    }

    func run() async throws -> [Figure] {
        try await withTemporaryDirectory { directory in
            let tables = try await Self.tables(in: directory)
            let size = grouped(records)
            var figures: [Figure] = []
            var synced: [Double] = []
            for form in Form.allCases {
                synced.append(try await store(of: tables, form, isSynced: true, in: directory))
                var figure = Figure(
                    "store of \(size) records with \(form.rawValue) as keys, against no sync", .bytes)
                figure.add(
                    synced.last!, beside: try await store(of: tables, form, isSynced: false, in: directory))
                figures.append(figure)
            }
            var figure = Figure(
                "store of \(size) records with UUIDs as keys, against record names", .bytes, goal: .atMost(1))
            figure.add(synced[1], beside: synced[0])
            return figures + [figure]
        }
    }

    /// The tables of a scorebook, each after those that it refers to.
    private static func tables(in directory: URL) async throws -> [Table] {
        try await Household(in: directory, "scorebook").database.read { db in
            let names = ["SBPerson", "SBGame", "SBMatch", "SBPlayer", "SBScore", "SBMatchLocation"]
            return try names.map { name in
                let references = try db.foreignKeys(on: name)
                return Table(
                    name: name,
                    columns: try db.columns(in: name).filter {
                        !["recordName", "modificationDate"].contains($0.name)
                    },
                    targets: Dictionary(
                        uniqueKeysWithValues: references.map { ($0.originColumns[0], $0.destinationTable) }))
            }
        }
    }

    /// Fills a database, and returns its size.
    private func store(
        of tables: [Table], _ form: Form, isSynced: Bool, in directory: URL
    ) async throws -> Double {
        let path = directory.appendingPathComponent("\(form)-\(isSynced).sqlite").path
        let database = try DatabasePool(path: path)
        try await database.write { db in
            for table in tables { try Self.create(db, table, form) }
        }
        let store =
            try isSynced
            ? RecordStore(
                database, tables: tables.map { SyncedTable($0.name) }, replica: Identity.generate().replicaID)
            : nil
        let targets = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.targets) })
        try await database.write { [records] db in
            for row in HouseholdRows(records) {
                try Self.insert(db, row, form, references: targets[row.table] ?? [:])
            }
        }
        try await store?.foldPendingChanges()
        try database.close()
        return Double(try storeBytes(path))
    }

    private static func create(_ db: Database, _ table: Table, _ form: Form) throws {
        let columns = table.columns.map { column in
            guard let target = table.targets[column.name] else { return "\(column.name) \(column.type)" }
            return """
                \(column.name) \(form.type) NOT NULL REFERENCES \(target) (\(form.key))
                    ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
                """
        }
        let key = "\(form.key) \(form.type) NOT NULL PRIMARY KEY"
        try db.execute(
            sql: "CREATE TABLE \(table.name) (\(([key] + columns).joined(separator: ", ")))")
        for column in table.targets.keys.sorted() {
            try db.execute(
                sql: "CREATE INDEX \(table.name)_\(column) ON \(table.name) (\(column))")
        }
    }

    private static func insert(
        _ db: Database, _ row: NewRow, _ form: Form, references: [String: String]
    ) throws {
        var row = row
        for (index, column) in row.columns.enumerated() {
            guard column == "recordName" || references[column] != nil else { continue }
            row.values[index] = try form.value(row.values[index])
            if column == "recordName" { row.columns[index] = form.key }
        }
        try row.insert(db)
    }
}

import Foundation
import GRDB
import PeerSync
import Scorebook

/// What it takes to sync two scorebooks of many records that differ in few: bytes on the connection, handshake included,
/// and time. The other machine's scorebook is a copy that became a replica of its own.
struct LargeStores {
    let records: Int

    /// A sync, and what it took.
    struct Sync {
        let name: String
        let report: SyncReport
    }

    func run() async throws -> [Sync] {
        try await withTemporaryDirectory { directory in
            let server = try Household(in: directory, "server")
            let rows = HouseholdRows.rows(records)
            try await server.scorebook.records.write { db in
                for row in rows { try row.insert(db) }
            }
            let copy = directory.appendingPathComponent("client.sqlite")
            try await server.database.writeWithoutTransaction { db in
                try db.execute(sql: "VACUUM INTO ?", arguments: [copy.path])
            }
            let client = try Household(in: directory, "client")
            let listening = try await ListeningHousehold(server, name: "server")
            defer { listening.end() }
            let engine = SyncEngine(
                store: client.scorebook.records, identity: client.identity, displayName: "client")
            let code = await listening.code()
            var syncs: [Sync] = []
            syncs.append(
                Sync(
                    name: "first meeting of equal scorebooks",
                    report: try await SyncConnector(engine, to: listening.address, code: code).syncOnce()))
            let connector = SyncConnector(engine, to: listening.address)
            syncs.append(Sync(name: "nothing to sync", report: try await connector.syncOnce()))
            try await change(100, of: server, by: 1)
            syncs.append(Sync(name: "100 changes", report: try await connector.syncOnce()))
            for differences in [0, 1, 10, 100, 1000] where differences <= records / 10 {
                try await changeUnnoticed(differences, of: client, by: 1 + differences)
                syncs.append(
                    Sync(name: "verify, \(differences) differences", report: try await connector.verify()))
            }
            return syncs
        }
    }

    /// Changes players all over the scorebook.
    private func change(_ count: Int, of household: Household, by value: Int) async throws {
        try await household.database.write { db in try Self.change(db, count, value) }
    }

    /// The same past the triggers, so that nobody knows before all is compared.
    private func changeUnnoticed(_ count: Int, of household: Household, by value: Int) async throws {
        try await household.database.write { db in
            try db.execute(sql: "INSERT INTO capturePause (id) VALUES (1)")
            try Self.change(db, count, value)
            try db.execute(sql: "DELETE FROM capturePause")
        }
    }

    private static func change(_ db: Database, _ count: Int, _ value: Int) throws {
        guard count > 0 else { return }
        let all = try String.fetchAll(db, sql: "SELECT recordName FROM SBPlayer ORDER BY recordName")
        let step = all.count / count
        for number in 0..<count {
            try db.execute(
                sql: "UPDATE SBPlayer SET seatOrder = ? WHERE recordName = ?",
                arguments: [1000 + value, all[number * step]])
        }
    }
}

extension [LargeStores.Sync] {
    func print(records: Int) {
        Swift.print("\n| \(records) records | records moved | bytes | seconds |")
        Swift.print("| --- | ---: | ---: | ---: |")
        for sync in self {
            let statistics = sync.report.statistics
            let moved = statistics.recordsSent + statistics.recordsReceived
            let bytes = statistics.bytesSent + statistics.bytesReceived
            Swift.print(
                "| \(sync.name) | \(moved) | \(bytes) | \(String(format: "%.2f", statistics.seconds)) |")
        }
    }
}

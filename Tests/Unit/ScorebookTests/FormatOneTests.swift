import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore
import Scorebook
import Testing

/// A scorebook that a program of format 1 has left is brought over, and loses nothing.
struct FormatOneTests {
    private let database: DatabaseQueue
    private let replica = ReplicaID(rawValue: 0xf984_95bc_d012_3024)

    init() throws {
        database = try DatabaseQueue()
        let dump = String(decoding: try Support.data("store-format-1.sql"), as: UTF8.self)
        try database.writeWithoutTransaction { db in
            // The tables stand there by name, and not each behind those to which it refers.
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            try db.execute(sql: dump)
            try db.execute(sql: "PRAGMA foreign_keys = ON")
        }
    }

    private func rows(_ sql: String) throws -> [String] {
        try database.read { try String.fetchAll($0, sql: sql) }
    }

    @Test func whatItHoldsIsThere() async throws {
        let tables = try rows("SELECT name FROM sqlite_master WHERE name GLOB 'SB*' AND type = 'table'")
        #expect(tables.count == 7)
        let contents = "SELECT group_concat(recordName || modificationDate) FROM "
        let before = try tables.filter { $0 != "SBGame" }.map { try rows(contents + $0) }
        let club = try rows("SELECT hex(digestSum) FROM recordZone WHERE name = 'club'")
        #expect(try await database.read { try StorePeers.isAny($0) })

        let scorebook = try ScorebookStore(database, replica: replica)
        #expect(try tables.filter { $0 != "SBGame" }.map { try rows(contents + $0) } == before)
        let status = try await database.read { try scorebook.records.status($0) }
        #expect(status.zones.map(\.name) == ["ScorebookData", "club"])
        #expect(try rows("SELECT hex(digestSum) FROM grdb_sync_recordZone WHERE name = 'club'") == club)
        #expect(try await scorebook.records.peers.all().map(\.name) == ["study"])
    }

    @Test func whatWaitsIsTakenInWithItsTime() async throws {
        let scorebook = try ScorebookStore(database, replica: replica)
        try await scorebook.records.foldPendingChanges()
        #expect(try rows("SELECT remoteRecordID FROM remoteRecord WHERE status = 1 ORDER BY 1").count == 2)
        #expect(
            try rows("SELECT name FROM SBGame ORDER BY name") == ["Azul", "Bridge", "Catan, later", "Go"])
        let name = try RecordName("SBGame|~|00000000-0000-4000-8000-000000000001")
        let state = try await database.read { try scorebook.records.state($0, of: name) }
        #expect(state?.newestStamp?.time.milliseconds == 1_795_425_042_916)
        #expect(try await database.read { try scorebook.records.upkeep.check($0) }.isSound)
    }

    /// Programs find what sync knows of a record where they found it before.
    @Test func remoteRecordIsAView() async throws {
        let before = try rows("SELECT remoteRecordID FROM remoteRecord")
        _ = try ScorebookStore(database, replica: replica)
        let after = try rows("SELECT remoteRecordID FROM remoteRecord")
        #expect(before.count == 19 && after.count == 20 && Set(after).isSuperset(of: before))
        #expect(try rows("SELECT type FROM sqlite_master WHERE name = 'remoteRecord'") == ["view"])
    }
}

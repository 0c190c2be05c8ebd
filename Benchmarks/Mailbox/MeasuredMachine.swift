import Foundation
import GRDB
import MailboxSupport
import PeerSync
import PeerSyncMailbox
import PeerSyncModel
import PeerSyncStore
import Scorebook
import TestSupport

/// A machine with a scorebook, whose mailbox counts.
final class MeasuredMachine: Sendable {
    let storage: MemoryStorage
    let mailbox: Mailbox
    private let scorebook: ScorebookStore
    private let identity: Identity
    private let name: String

    var store: RecordStore { scorebook.records }

    init(
        _ name: String, _ disk: MemoryDisk, database: any DatabaseWriter, assets: URL? = nil
    ) async throws {
        self.name = name
        identity = .generate()
        scorebook = try ScorebookStore(
            database, replica: identity.replicaID, assetDirectory: assets.map { AssetDirectory(at: $0) })
        storage = MemoryStorage(disk)
        let entry = try await scorebook.records.mailboxes.add("box", location: "")
        let engine = SyncEngine(
            app: .scorebook, store: scorebook.records, identity: identity, displayName: name, discovery: .off)
        mailbox = Mailbox(engine, entry, in: storage)
    }

    /// Makes all of them peers of each other, and members of one household.
    static func pair(_ machines: [MeasuredMachine]) async throws {
        let zone = try await machines[0].store.zones.all()[0].id
        for machine in machines {
            try await machine.store.database.write { db in
                if try machine.store.zones.find(db, zone) == nil { try machine.store.zones.adopt(db, zone) }
            }
            for other in machines where other !== machine {
                let introduction = Introduction(
                    of: other.identity.publicKey.bytes, name: other.name, rights: .all,
                    by: machines[0].identity.publicKey.bytes, time: 1)
                _ = try await machine.store.peers.add(
                    key: other.identity.publicKey.bytes, name: other.name, introducing: introduction)
            }
        }
    }

    /// Lets all sync until nobody puts anything.
    static func settle(_ machines: [MeasuredMachine]) async throws {
        for _ in 0..<20 {
            var isQuiet = true
            for machine in machines {
                let report = try await machine.mailbox.syncOnce()
                if report.hasPutHead || report.segmentsPut > 0 || report.segmentsRead > 0 { isQuiet = false }
            }
            if isQuiet { return }
        }
        throw BrokenInvariant(description: "the machines do not come to rest")
    }

    /// Makes a scorebook with some records in a file.
    static func fill(_ path: String, records: Int) async throws {
        let machine = try await MeasuredMachine("file", MemoryDisk(), database: DatabaseQueue(path: path))
        try await machine.fill(records)
    }

    // MARK: Writing

    private static let rowsInTransaction = 500

    func fill(_ records: Int) async throws {
        var rows = HouseholdRows(records: records)
        var isLast = false
        while !isLast {
            var chunk: [HouseholdRows.Row] = []
            while chunk.count < Self.rowsInTransaction, let row = rows.next() { chunk.append(row) }
            isLast = chunk.count < Self.rowsInTransaction
            try await store.write { [chunk] db in for row in chunk { try row.insert(db) } }
        }
    }

    /// Changes one field of one match.
    func change(_ number: Int) async throws {
        try await store.write { db in
            try db.execute(
                sql: """
                    UPDATE SBMatch SET durationMinutes = ? WHERE rowid =
                        (SELECT rowid FROM SBMatch ORDER BY rowid LIMIT 1 OFFSET ? % (SELECT COUNT(*) FROM SBMatch))
                    """, arguments: [number, number])
        }
    }

    func write(_ sql: String, _ arguments: StatementArguments = StatementArguments()) async throws {
        try await store.write { try $0.execute(sql: sql, arguments: arguments) }
    }
}

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
final class MeasuredMachine: MailboxUser {
    let storage: MemoryStorage
    let mailbox: Mailbox
    private let scorebook: ScorebookStore
    private let identity: Identity
    let name: String

    var store: RecordStore { scorebook.records }
    var key: [UInt8] { identity.publicKey.bytes }

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

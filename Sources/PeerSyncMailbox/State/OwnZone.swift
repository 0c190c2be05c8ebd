import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// What this machine says of a zone in a mailbox, beside its log (`grdb_sync_mailboxZone`).
struct OwnZone: Sendable, Equatable {
    let mailbox: Int64
    let zone: Int64
    /// Which zone it is; a union may change it.
    var identity: String
    var history: HistoryID
    /// All that could read the last head, ascending.
    var readers: [ReplicaID]
    var fileEpoch: FileEpoch

    init(mailbox: Int64, _ zone: Zone) {
        self.mailbox = mailbox
        self.zone = zone.row
        identity = zone.id.description
        history = .random()
        readers = []
        fileEpoch = .random()
    }

    static func find(_ db: Database, mailbox: Int64, zone: Int64) throws -> OwnZone? {
        try Row.fetchOne(
            db, sql: "SELECT * FROM grdb_sync_mailboxZone WHERE mailbox = ? AND zone = ?",
            arguments: [mailbox, zone]
        ).map(OwnZone.init)
    }

    private init(_ row: Row) throws {
        let blob = { (column: String) in (row[column] as Data?).map(Array.init) ?? [] }
        guard let history = HistoryID(blob("history")), let epoch = FileEpoch(blob("fileEpoch")) else {
            throw RecordStoreError(.corrupt, "what the store knows of a mailbox is damaged")
        }
        mailbox = row["mailbox"]
        zone = row["zone"]
        identity = row["identity"]
        self.history = history
        fileEpoch = epoch
        var reader = ByteReader(blob("readers"))
        readers = []
        while !reader.isAtEnd { readers.append(ReplicaID(rawValue: try reader.bigEndian())) }
    }

    func save(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO grdb_sync_mailboxZone (mailbox, zone, identity, history, readers, fileEpoch)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                mailbox, zone, identity, Data(history.bytes),
                Data(readers.flatMap { [UInt8].number($0.rawValue) }),
                Data(fileEpoch.bytes),
            ])
    }
}

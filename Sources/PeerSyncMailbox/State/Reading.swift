import Foundation
import GRDB
import PeerSyncStore

/// How far this machine has read a peer's log (`grdb_sync_mailboxReading`).
struct Reading: Sendable, Equatable {
    let history: HistoryID
    let log: LogID
    let segment: Int

    static func find(_ db: Database, mailbox: Int64, peer: Int64, zone: Int64) throws -> Reading? {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT history, log, segment FROM grdb_sync_mailboxReading WHERE mailbox = ? AND peer = ? AND zone = ?
                """, arguments: [mailbox, peer, zone])
        guard let row, let history = HistoryID(Array(row[0] as Data)), let log = LogID(Array(row[1] as Data))
        else {
            return nil
        }
        return Reading(history: history, log: log, segment: row[2])
    }

    func save(_ db: Database, mailbox: Int64, peer: Int64, zone: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO grdb_sync_mailboxReading (mailbox, peer, zone, history, log, segment)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [mailbox, peer, zone, Data(history.bytes), Data(log.bytes), segment])
    }
}

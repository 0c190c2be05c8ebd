import GRDB
import SyncModel

/// The table `unsettledRecord`: records that came with a stream that has not ended, and that a deletion concerns.
enum Unsettled {
    static func insert(_ db: Database, _ name: RecordName, from peer: Int64) throws {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO unsettledRecord (peer, recordName) VALUES (?, ?)")
            .execute(arguments: [peer, name.description])
    }

    /// Loads what a peer's stream has left to settle, now that it has ended, as if it had come just now.
    ///
    /// - Parameter zone: the zone whose stream has ended, since each has one of its own; nil for all.
    static func take(_ db: Database, from peer: Int64, in zone: Int64?, into working: WorkingSet) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT recordName FROM unsettledRecord
                LEFT JOIN remoteRecord ON remoteRecordID = recordName
                WHERE peer = ?1 AND (?2 IS NULL OR zone IS NULL OR zone = ?2)
                """)
        let names = try String.fetchAll(statement, arguments: [peer, zone])
        guard !names.isEmpty else { return }
        for text in names {
            guard let record = try working.known(RecordName(text)) else { continue }
            record.announced = WorkingRecord.Fate(nil)
        }
        for name in names {
            try db.cachedStatement(sql: "DELETE FROM unsettledRecord WHERE peer = ? AND recordName = ?")
                .execute(arguments: [peer, name])
        }
    }
}

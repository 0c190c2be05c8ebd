import GRDB
import SyncModel

/// The table `unsettledRecord`: records that came with a stream that has not ended, and that a deletion concerns.
enum Unsettled {
    static func insert(_ db: Database, _ name: RecordName, from peer: Int64) throws {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO unsettledRecord (peer, recordName) VALUES (?, ?)")
            .execute(arguments: [peer, name.description])
    }

    /// Loads what a peer's stream has left to settle, now that it has ended, as if it had come just now.
    static func take(_ db: Database, from peer: Int64, into working: WorkingSet) throws {
        let statement = try db.cachedStatement(sql: "SELECT recordName FROM unsettledRecord WHERE peer = ?")
        let names = try String.fetchAll(statement, arguments: [peer])
        guard !names.isEmpty else { return }
        for text in names {
            guard let record = try working.known(RecordName(text)) else { continue }
            record.announced = WorkingRecord.Fate(nil)
        }
        try db.execute(sql: "DELETE FROM unsettledRecord WHERE peer = ?", arguments: [peer])
    }
}

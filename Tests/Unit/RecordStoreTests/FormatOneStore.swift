import GRDB
import PeerSyncModel

/// Stores of format 1, made from those of now: their tables, indexes and triggers had no prefix.
enum FormatOneStore {
    private static let prefix = "grdb_sync_"

    /// Takes the prefix away.
    ///
    /// - Parameter events: the triggers that stay, by the end of their names.
    static func make(_ db: Database, withTriggers events: Set<String>) throws {
        // Format 1 had no households, no pairing codes, no mailboxes, no history and no fuse.
        for table in [
            "mailboxFile", "mailboxReading", "mailboxAuthor", "mailboxLeftOut", "mailboxLog", "mailboxZone",
            "mailbox", "declinedZone", "dueIntroduction", "peerHint", "introduction", "pairingCode",
            "listener", "history", "withheldRecord", "recentLoss", "ownRefusal",
        ] {
            try db.execute(sql: "DROP TABLE \(prefix)\(table)")
        }
        let objects = try Row.fetchAll(
            db,
            sql: "SELECT type, name, sql FROM sqlite_master WHERE name GLOB '\(prefix)*' AND sql IS NOT NULL")
        for object in objects where object["type"] == "table" {
            let name: String = object["name"]
            try db.execute(sql: "ALTER TABLE \(name) RENAME TO \(name.dropFirst(prefix.count))")
        }
        for object in objects where object["type"] != "table" {
            let name: String = object["name"]
            try db.execute(sql: "DROP \(object["type"] as String) \(name)")
            guard object["type"] == "index" || events.contains(where: { name.hasSuffix($0) }) else {
                continue
            }
            try db.execute(sql: (object["sql"] as String).replacing(prefix, with: ""))
        }
        try db.execute(sql: "UPDATE syncState SET value = 1 WHERE name = 'formatVersion'")
    }
}

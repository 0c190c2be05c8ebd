import Foundation
import GRDB
import PeerSyncModel

/// The table `grdb_sync_introduction`: the household's set.
enum HouseholdTable {
    /// Stores of format 2 got this table before the first release, so an opening makes it where it is missing.
    static let create = """
        -- The machines of the household: who introduced whom, and who removed an introduction. Each row stays for good. id: the
        -- hash of the introduction. rights: 1 read, 2 all. Times: milliseconds since 1970.
        CREATE TABLE IF NOT EXISTS grdb_sync_introduction (
            id BLOB PRIMARY KEY,
            nonce BLOB NOT NULL,
            publicKey BLOB NOT NULL,
            name TEXT NOT NULL,
            rights INTEGER NOT NULL,
            introducedBy BLOB NOT NULL,
            introducedAt INTEGER NOT NULL,
            removedBy BLOB,
            removedAt INTEGER
        ) WITHOUT ROWID;

        -- The addresses that others have told of a peer, the newest with the greatest id.
        CREATE TABLE IF NOT EXISTS grdb_sync_peerHint (
            id INTEGER PRIMARY KEY,
            peer INTEGER NOT NULL REFERENCES grdb_sync_peer (id) ON DELETE CASCADE,
            address TEXT NOT NULL,
            UNIQUE (peer, address)
        );

        -- The peers whose code this machine has typed, and whom it has not introduced yet: it does so when the two agree on zones.
        CREATE TABLE IF NOT EXISTS grdb_sync_dueIntroduction (
            peer INTEGER PRIMARY KEY REFERENCES grdb_sync_peer (id) ON DELETE CASCADE
        );
        """

    /// Reads the set. Rows that somebody has changed by hand do not fit their hash any more. They count as not there, until another
    /// machine tells them again, which it does once this process has read the set anew: see ``KnownHousehold``.
    static func load(_ db: Database) throws -> Household {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, nonce, publicKey, name, rights, introducedBy, introducedAt, removedBy, removedAt
                FROM grdb_sync_introduction
                """)
        var entries: [HouseholdEntry] = []
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            if let entry = entry(row) { entries.append(entry) }
        }
        return Household(entries)
    }

    private static func entry(_ row: Row) -> HouseholdEntry? {
        guard let rights = UInt8.fromDatabaseValue(row[4]).flatMap(Introduction.Rights.init),
            let name = String.fromDatabaseValue(row[3]),
            let time = Int64.fromDatabaseValue(row[6]),
            let introduction = Introduction(
                nonce: row.bytes(at: 1), key: row.bytes(at: 2), name: name, rights: rights,
                introducer: row.bytes(at: 5), time: time),
            introduction.id.bytes == row.bytes(at: 0)
        else { return nil }
        let removal = Int64.fromDatabaseValue(row[8]).flatMap {
            HouseholdEntry.Removal(by: row.bytes(at: 7), time: $0)
        }
        return HouseholdEntry(introduction, removal: removal)
    }

    /// Whether this machine has to introduce a peer.
    static func isDue(_ peer: Int64, _ db: Database) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_dueIntroduction WHERE peer = ?)", [peer])
    }

    static func setDue(_ peer: Int64, _ isDue: Bool, _ db: Database) throws {
        try db.execute(
            sql: isDue
                ? "INSERT OR IGNORE INTO grdb_sync_dueIntroduction VALUES (?)"
                : "DELETE FROM grdb_sync_dueIntroduction WHERE peer = ?",
            arguments: [peer])
    }

    /// Forgets the set.
    static func removeAll(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_introduction")
        try SyncSettings.noteChanged(db)
    }

    /// Writes the entries of a set that differ from what the table holds, and tells the sessions of all processes.
    static func save(_ db: Database, _ set: Household, over former: Household) throws {
        let entries = Set(set.entries)
        let before = Set(former.entries)
        for entry in before.subtracting(entries) {
            try db.executeCached("DELETE FROM grdb_sync_introduction WHERE id = ?", [Data(entry.id.bytes)])
        }
        for entry in entries.subtracting(before) {
            let introduction = entry.introduction
            try db.executeCached(
                "INSERT OR REPLACE INTO grdb_sync_introduction VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    Data(entry.id.bytes), Data(introduction.nonce), Data(introduction.key), introduction.name,
                    introduction.rights.rawValue, Data(introduction.introducer), introduction.time,
                    entry.removal.map { Data($0.remover) }, entry.removal?.time,
                ])
        }
        try SyncSettings.noteChanged(db)
    }
}

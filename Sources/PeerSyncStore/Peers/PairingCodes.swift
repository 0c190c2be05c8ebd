import GRDB
import PeerSyncModel

/// The rights that a machine gets when it pairs with the code that this one shows. In zones of their own, which a person shares machine by
/// machine, it gets none by that, unless the one zone is named.
public struct Welcome: Sendable, Hashable {
    /// The rights in the zones.
    public let rights: ZoneRights
    /// The name of the only zone; nil for the default zone, beside what the machine may do in other zones already.
    public let zone: String?

    /// Makes a value of its parts.
    public init(_ rights: ZoneRights, in zone: String? = nil) {
        self.rights = rights
        self.zone = zone
    }
}

/// What has become of a pairing code.
public enum PairingCodeState: Sendable, Hashable {
    /// It pairs a machine; so many attempts are left, with one that runs at this moment.
    case shown(attemptsLeft: Int)
    /// The machine of this name has paired with it.
    case paired(String)
    /// It has expired or is used up, or another code is shown.
    case over
}

/// The table `grdb_sync_pairingCode`: the code that this machine shows, with what became of it.
///
/// It is in the store, so that one program shows a code and another, which listens, takes the connection.
enum PairingCodes {
    static let create = """
        -- The pairing code that this machine shows: one row at most. code: six digits, empty when nobody may try it any more.
        -- expires: milliseconds since 1970. rights, zone: what the machine gets that pairs with it: 1 read, 2 write, in the
        -- zone of this name alone, or if that is NULL in the default one; rights NULL: what every paired machine gets. process, start: the
        -- process in which an attempt runs. peer: who has paired with the code.
        CREATE TABLE IF NOT EXISTS main.grdb_sync_pairingCode (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            code TEXT NOT NULL,
            expires INTEGER NOT NULL,
            attemptsLeft INTEGER NOT NULL,
            rights INTEGER,
            zone TEXT,
            process INTEGER,
            start TEXT,
            peer INTEGER
        );

        -- The processes that listen for other machines, and their ports. One that was killed leaves its row here; start is that
        -- of grdb_sync_peerSession.
        CREATE TABLE IF NOT EXISTS main.grdb_sync_listener (
            process INTEGER NOT NULL,
            start TEXT,
            port INTEGER NOT NULL,
            PRIMARY KEY (process, port)
        ) WITHOUT ROWID;
        """

    /// A row whose code can be tried.
    struct Valid {
        let id: Int64
        let code: String
        let attemptsLeft: Int
        let isBeingTried: Bool
    }

    static func show(
        _ db: Database, _ code: String, until expires: Int64, attempts: Int, welcome: Welcome?
    ) throws -> Int64 {
        if let zone = welcome?.zone { _ = try Zones.find(db, named: zone) }
        try db.execute(sql: "DELETE FROM grdb_sync_pairingCode")
        try db.execute(
            sql:
                "INSERT INTO grdb_sync_pairingCode (code, expires, attemptsLeft, rights, zone) VALUES (?, ?, ?, ?, ?)",
            arguments: [code, expires, attempts, welcome?.rights.rawValue, welcome?.zone])
        let id = db.lastInsertedRowID
        try SyncSettings.noteChanged(db)
        return id
    }

    static func valid(_ db: Database, now: Int64) throws -> Valid? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT id, code, attemptsLeft, process, start FROM grdb_sync_pairingCode
                WHERE code <> '' AND attemptsLeft > 0 AND expires > ?
                """, arguments: [now]
        ).map { Valid(id: $0[0], code: $0[1], attemptsLeft: $0[2], isBeingTried: isBeingTried($0)) }
    }

    /// Whether an attempt with the code of a row runs. A process that was killed in the middle of one leaves its number there.
    private static func isBeingTried(_ row: Row) -> Bool {
        guard let number = row["process"] as Int32? else { return false }
        return RunningProcess(number: number, start: row["start"]).isRunning
    }

    static func state(_ db: Database, _ id: Int64, now: Int64) throws -> PairingCodeState {
        let name = try String.fetchOne(
            db,
            sql: """
                SELECT peer.name FROM grdb_sync_pairingCode AS shown JOIN grdb_sync_peer AS peer ON peer.id = shown.peer
                WHERE shown.id = ?
                """, arguments: [id])
        if let name { return .paired(name) }
        // The last attempt may still succeed.
        let row = try Row.fetchOne(
            db, sql: "SELECT attemptsLeft, expires, process, start FROM grdb_sync_pairingCode WHERE id = ?",
            arguments: [id])
        guard let row else { return .over }
        let left: Int = row[0]
        if isBeingTried(row) { return .shown(attemptsLeft: left + 1) }
        return left > 0 && row[1] > now ? .shown(attemptsLeft: left) : .over
    }

    /// Counts an attempt that begins now.
    static func begin(_ db: Database, _ id: Int64) throws {
        let current = RunningProcess.current
        try db.execute(
            sql: """
                UPDATE grdb_sync_pairingCode SET attemptsLeft = attemptsLeft - 1, process = ?, start = ? WHERE id = ?
                """, arguments: [current.number, current.start, id])
    }

    /// Ends an attempt.
    ///
    /// - Returns: how many are left; 0 if another code is shown since then.
    static func end(_ db: Database, _ id: Int64, succeeded: Bool) throws -> Int {
        try db.execute(
            sql: """
                UPDATE grdb_sync_pairingCode SET process = NULL, start = NULL,
                    attemptsLeft = CASE WHEN ?2 THEN 0 ELSE attemptsLeft END,
                    code = CASE WHEN ?2 OR attemptsLeft = 0 THEN '' ELSE code END
                WHERE id = ?1
                """, arguments: [id, succeeded])
        let left =
            try Int.fetchOne(
                db, sql: "SELECT attemptsLeft FROM grdb_sync_pairingCode WHERE id = ?", arguments: [id]) ?? 0
        if left == 0 { try SyncSettings.noteChanged(db) }
        return left
    }

    /// Takes a code back.
    static func remove(_ db: Database, _ id: Int64) throws {
        try db.execute(sql: "DELETE FROM grdb_sync_pairingCode WHERE id = ?", arguments: [id])
        if db.changesCount > 0 { try SyncSettings.noteChanged(db) }
    }

    /// Gives a machine what the owner of this one has said when they showed the code.
    ///
    /// - Returns: what that is; nil for what every paired machine gets.
    /// - Throws: `unavailable` when the code is not shown any more.
    static func welcome(_ db: Database, _ peer: Peer, with id: Int64) throws -> Welcome? {
        // The code pairs one machine. The program may be killed before it ends the attempt.
        try db.execute(
            sql: "UPDATE grdb_sync_pairingCode SET peer = ?, code = '', attemptsLeft = 0 WHERE id = ?",
            arguments: [peer.id, id])
        let row = try Row.fetchOne(
            db, sql: "SELECT rights, zone FROM grdb_sync_pairingCode WHERE id = ?", arguments: [id])
        guard let row, let rights = (row[0] as Int64?).flatMap({ ZoneRights(rawValue: $0) }) else {
            // Somebody took the code back during the attempt, so nobody knows any more what it was to give.
            guard row != nil else { throw StorePairing.Refusal.unavailable }
            return nil
        }
        guard let only = row[1] as String? else {
            // Somebody may have given it another zone before, or taken it back.
            try Zones.setRights(db, peer: peer.id, zone: Zones.defaultID, rights)
            return Welcome(rights)
        }
        for zone in try Zones.all(db) {
            try Zones.setRights(db, peer: peer.id, zone: zone.row, only == zone.name ? rights : .none)
        }
        return Welcome(rights, in: only)
    }

    // MARK: Listeners

    /// The ports on which processes of this machine listen for this store.
    static func listeners(_ db: Database) throws -> [Int] {
        try Row.fetchAll(db, sql: "SELECT process, start, port FROM grdb_sync_listener ORDER BY port")
            .filter { RunningProcess(number: $0[0], start: $0[1]).isRunning }.map { $0[2] }
    }

    static func setListening(_ db: Database, on port: Int, _ isListening: Bool) throws {
        let current = RunningProcess.current
        for row in try Row.fetchAll(db, sql: "SELECT process, start FROM grdb_sync_listener") {
            let process = RunningProcess(number: row[0], start: row[1])
            guard !process.isRunning else { continue }
            try db.execute(
                sql: "DELETE FROM grdb_sync_listener WHERE process = ?", arguments: [process.number])
        }
        try db.execute(
            sql: isListening
                ? "INSERT OR REPLACE INTO grdb_sync_listener (process, start, port) VALUES (?1, ?2, ?3)"
                : "DELETE FROM grdb_sync_listener WHERE process = ?1 AND ?2 IS ?2 AND port = ?3",
            arguments: [current.number, current.start, port])
    }
}

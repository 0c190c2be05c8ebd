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
        let isBeingTried: Bool
    }

    static func valid(_ db: Database, now: Int64) throws -> Valid? {
        try Row.fetchOne(
            db,
            sql: """
                SELECT id, code, process, start FROM grdb_sync_pairingCode
                WHERE code <> '' AND attemptsLeft > 0 AND expires > ?
                """, arguments: [now]
        ).map { Valid(id: $0[0], code: $0[1], isBeingTried: isBeingTried($0)) }
    }

    /// Whether an attempt with the code of a row runs. A process that was killed in the middle of one leaves its number there.
    static func isBeingTried(_ row: Row) -> Bool {
        guard let number = row["process"] as Int32? else { return false }
        return RunningProcess(number: number, start: row["start"]).isRunning
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
}

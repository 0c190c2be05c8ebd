import GRDB
import PeerSyncModel

/// What this store and peers tell each other in a mailbox of records that one has refused of the other's.
extension ZoneLog {
    /// What this store has refused of a peer's records, by name.
    ///
    /// - Parameter limit: how many it names at most.
    /// - Returns: the names, each with the reason as on the wire, and the number of further ones.
    package func refused(
        _ db: Database, of peer: Peer, limit: Int
    ) throws -> (named: [(name: RecordName, reason: Int)], further: Int) {
        try OwnRefusals.all(db, peer: peer.id, zone: row(db), limit: limit)
    }

    /// Forgets what this store has refused of a peer's records, because they come again.
    package func forgetRefusals(_ db: Database, of peer: Peer) throws {
        try OwnRefusals.forget(db, of: peer.id, in: row(db))
    }

    /// Takes what a peer says in a mailbox that it has refused, in place of what it said there before.
    ///
    /// What it refused in a session stays, unless it names the record here, too: from then on this mailbox says when that ends. A
    /// refusal for reason 1 stays as it is: it says what to send again when the peer lets this machine write.
    ///
    /// - Parameters:
    ///   - refused: the names, each with the reason as on the wire. It passes over reasons that it does not know.
    ///   - token: up to where the peer had read this store's changes. A record that was too large and has changed since is
    ///     on its way.
    ///   - mailbox: the row of the mailbox.
    /// - Returns: what was not known as refused.
    package func takeRefusals(
        _ db: Database, _ refused: [(name: RecordName, reason: Int)], upTo token: ChangeToken?, by peer: Peer,
        mailbox: Int64
    ) throws -> [Refusal] {
        let (peer, zone) = (peer.id, try row(db))
        let refused = refused.compactMap { entry in
            Refusal.Reason(rawValue: Int64(entry.reason)).map { (name: entry.name, reason: $0) }
        }
        let names = Set(refused.map(\.name.description))
        try Self.removeAll(db, but: names, peer: peer, zone: zone, mailbox: mailbox)
        var news = RefusedNames()
        for (name, reason) in refused where reason != .readOnly {
            let isKnown = try db.fetchBoolCached(
                "SELECT 1 FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? AND recordName = ?",
                [peer, zone, name.description])
            if isKnown {
                try db.executeCached(
                    """
                    UPDATE grdb_sync_refusedRecord SET reason = ?1, mailbox = COALESCE(mailbox, ?2)
                    WHERE peer = ?3 AND zone = ?4 AND recordName = ?5 AND reason <> 1
                        AND (reason <> ?1 OR mailbox IS NULL)
                    """, [reason.rawValue, mailbox, peer, zone, name.description])
            } else if try RefusedRecords.counts(db, name, reason, upTo: token?.sequence ?? 0, zone: zone) {
                try db.executeCached(
                    """
                    INSERT INTO grdb_sync_refusedRecord (peer, zone, recordName, reason, mailbox)
                    VALUES (?, ?, ?, ?, ?)
                    """, [peer, zone, name.description, reason.rawValue, mailbox])
                try RefusedRecords.notify(db)
                news[reason, default: []].append(name)
            }
        }
        return Refusal.list(news)
    }

    private static func removeAll(
        _ db: Database, but names: Set<String>, peer: Int64, zone: Int64, mailbox: Int64
    ) throws {
        let known = try String.fetchAll(
            db.cachedStatement(
                sql:
                    "SELECT recordName FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? AND mailbox = ?"
            ), arguments: [peer, zone, mailbox])
        for name in known where !names.contains(name) {
            try RefusedRecords.remove(db, try RecordName(name), peer: peer, zone: zone)
        }
    }

    /// Forgets what a peer has said in a mailbox that it refused, in all zones.
    package static func endRefusals(_ db: Database, by peer: Int64, mailbox: Int64) throws {
        try db.execute(
            sql: "DELETE FROM grdb_sync_refusedRecord WHERE peer = ? AND mailbox = ?",
            arguments: [peer, mailbox])
        try RefusedRecords.notify(db)
    }

    /// Whether a peer has said in a mailbox that it refused anything, in any zone.
    package static func isAnyRefused(_ db: Database, by peer: Peer, mailbox: Int64) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_refusedRecord WHERE peer = ? AND mailbox = ?)",
            [peer.id, mailbox])
    }

    /// Keeps what peers said in a mailbox that this machine no longer uses, as if they had said it in a session.
    package static func keepRefusals(_ db: Database, of mailbox: Int64) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_refusedRecord SET mailbox = NULL WHERE mailbox = ?", arguments: [mailbox])
    }
}

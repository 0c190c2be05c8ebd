import GRDB
import PeerSyncModel

/// What peers say in a mailbox that they have refused of this store's records.
enum MailboxRefusals {
    /// Takes what a peer says in a mailbox in place of what it said there before.
    ///
    /// What it refused in a session stays, unless it names the record here, too: from then on this mailbox says when that ends. A
    /// refusal for reason 1 stays as it is: it says what to send again when the peer lets this machine write.
    ///
    /// - Parameters:
    ///   - refused: what the peer names.
    ///   - sequence: the number of this store up to which the peer had read. A record that was too large and has changed
    ///     since is on its way.
    /// - Returns: what was not known as refused.
    static func replace(
        _ db: Database, with refused: [(name: RecordName, reason: Refusal.Reason)], upTo sequence: Int64,
        peer: Int64, zone: Int64, mailbox: Int64
    ) throws -> [Refusal] {
        try removeAll(db, but: Set(refused.map(\.name.description)), peer: peer, zone: zone, mailbox: mailbox)
        var news = RefusedNames()
        for (name, reason) in refused where reason != .readOnly {
            if try isKnown(db, name, peer: peer, zone: zone) {
                try db.cachedStatement(
                    sql: """
                        UPDATE grdb_sync_refusedRecord SET reason = ?1, mailbox = COALESCE(mailbox, ?2)
                        WHERE peer = ?3 AND zone = ?4 AND recordName = ?5 AND reason <> 1
                            AND (reason <> ?1 OR mailbox IS NULL)
                        """
                ).execute(arguments: [reason.rawValue, mailbox, peer, zone, name.description])
            } else if try RefusedRecords.counts(db, name, reason, upTo: sequence, zone: zone) {
                try db.cachedStatement(
                    sql: """
                        INSERT INTO grdb_sync_refusedRecord (peer, zone, recordName, reason, mailbox)
                        VALUES (?, ?, ?, ?, ?)
                        """
                ).execute(arguments: [peer, zone, name.description, reason.rawValue, mailbox])
                try RefusedRecords.notify(db)
                news[reason, default: []].append(name)
            }
        }
        return news.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            Refusal(names: $0.value, reason: $0.key)
        }
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

    private static func isKnown(_ db: Database, _ name: RecordName, peer: Int64, zone: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT 1 FROM grdb_sync_refusedRecord WHERE peer = ? AND zone = ? AND recordName = ?"),
            arguments: [peer, zone, name.description]) ?? false
    }

    /// Keeps what peers said in a mailbox that this machine no longer uses, as if they had said it in a session.
    static func keep(_ db: Database, of mailbox: Int64) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_refusedRecord SET mailbox = NULL WHERE mailbox = ?", arguments: [mailbox])
    }
}

extension ZoneLog {
    /// What this store has refused of a peer's records, by name: ``MailboxRefusals``.
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
    /// - Parameters:
    ///   - refused: the names, each with the reason as on the wire. It passes over reasons that it does not know.
    ///   - token: up to where the peer had read this store's changes.
    ///   - mailbox: the row of the mailbox.
    /// - Returns: what was not known as refused.
    package func takeRefusals(
        _ db: Database, _ refused: [(name: RecordName, reason: Int)], upTo token: ChangeToken?, by peer: Peer,
        mailbox: Int64
    ) throws -> [Refusal] {
        try MailboxRefusals.replace(
            db,
            with: refused.compactMap { entry in
                Refusal.Reason(rawValue: Int64(entry.reason)).map { (entry.name, $0) }
            },
            upTo: token?.sequence ?? 0, peer: peer.id, zone: row(db), mailbox: mailbox)
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
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM grdb_sync_refusedRecord WHERE peer = ? AND mailbox = ?)"),
            arguments: [peer.id, mailbox]) ?? false
    }

    /// Keeps what peers said in a mailbox that this machine no longer uses.
    package static func keepRefusals(_ db: Database, of mailbox: Int64) throws {
        try MailboxRefusals.keep(db, of: mailbox)
    }
}

import Foundation
import GRDB
import PeerSyncModel

/// The tables `grdb_sync_peer` and `grdb_sync_peerZone`.
enum PeerTable {
    static func all(_ db: Database) throws -> [Peer] {
        try Row.fetchAll(db.cachedStatement(sql: "\(everything) ORDER BY name")).map { try peer(db, $0) }
    }

    /// For each zone its name, the rights of a peer, when both were last in sync, what the peer lacks, the rights of this
    /// machine there, whether it is the default one, and whether nobody has set the peer's rights. SQLite reads the index of changes from the peer's number on.
    static let countBehind = """
        SELECT held.name, \(Zones.rights("noted.rights", in: "held.id")), noted.lastSync,
            (SELECT COUNT(*) FROM grdb_sync_remoteRecord AS known
                WHERE known.zone = held.id AND \(lacks(peer: "?1", zone: "held.id")))
            + (SELECT COUNT(*) FROM grdb_sync_withheldRecord AS waiting
                JOIN grdb_sync_remoteRecord AS unsent ON unsent.remoteRecordID = waiting.recordName
                WHERE waiting.peer = \(FuseTables.here) AND waiting.zone = held.id
                    AND unsent.changeSequence <= COALESCE(noted.acknowledgedSequence, 0)
                    AND \(Zones.rights("noted.rights", in: "held.id")) > 0), noted.ownRights, held.id = \(Zones.defaultID),
            noted.rights IS NULL
        FROM grdb_sync_recordZone AS held
            LEFT JOIN grdb_sync_peerZone AS noted ON noted.peer = ?1 AND noted.zone = held.id
        ORDER BY held.id
        """

    /// SQL for whether a peer lacks the last change of `known`, a row of `grdb_sync_remoteRecord`.
    ///
    /// - Parameters:
    ///   - zone: the row's zone.
    ///   - isUnsent: SQL for whether it lacks the change although it may have acknowledged a later one.
    static func lacks(peer: String, zone: String, orIf isUnsent: String = "FALSE") -> String {
        let place = "FROM grdb_sync_peerZone AS place WHERE place.peer = \(peer) AND place.zone = \(zone)"
        return """
            (known.changeSequence > COALESCE((SELECT place.acknowledgedSequence \(place)), 0) OR \(isUnsent))
                AND (known.sourcePeer IS NULL OR known.sourcePeer <> \(peer))
                AND \(Zones.rights("(SELECT place.rights \(place))", in: zone)) > 0
            """
    }

    /// SQL for ``Peer/awaitsChanges`` of `machine`, a row of `grdb_sync_peer`.
    static let isAwaiting = "(machine.introducedBy IS NULL OR machine.lastSeen IS NOT NULL)"

    /// SQL for what ``peer(_:_:)`` reads.
    private static let everything = "SELECT *, \(isAwaiting) AS awaitsChanges FROM grdb_sync_peer AS machine"

    static func isAnyAwaiting(_ db: Database) throws -> Bool {
        try db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM grdb_sync_peer AS machine WHERE \(isAwaiting))")
    }

    /// SQL for whether a peer lacks `known`, a row of `grdb_sync_remoteRecord`, whatever it has acknowledged: this store does not
    /// send the record, or the peer has refused it.
    static func hasPassedOver(_ peer: String) -> String {
        """
        (\(WithheldRecords.isKnownUnsent) OR EXISTS (SELECT 1 FROM grdb_sync_refusedRecord AS refusal
            WHERE refusal.peer = \(peer) AND refusal.zone = known.zone
                AND refusal.recordName = known.remoteRecordID))
        """
    }

    /// How it stands with a peer in each zone, the default one first. Reads an index entry for each change that the peer
    /// has not acknowledged.
    static func zones(_ db: Database, _ peer: Peer) throws -> [PeerZoneStatus] {
        try Row.fetchAll(db.cachedStatement(sql: countBehind), arguments: [peer.id]).map {
            PeerZoneStatus(
                peer: peer.name, zone: $0[0], rights: ZoneRights(rawValue: $0[1]) ?? .none, pending: $0[3],
                ownRights: ($0[4] as Int64?).flatMap(ZoneRights.init), lastSync: $0[2],
                isDefault: $0[5], isUndecided: $0[6])
        }
    }

    static func isPresent(_ db: Database, _ id: Int64) throws -> Bool {
        try db.fetchBoolCached("SELECT 1 FROM grdb_sync_peer WHERE id = ?", [id])
    }

    static func find(_ db: Database, key: [UInt8]) throws -> Peer? {
        try Row.fetchOne(
            db.cachedStatement(sql: "\(everything) WHERE publicKey = ?"), arguments: [Data(key)]
        ).map { try peer(db, $0) }
    }

    /// What the machines of this table are, for errors.
    static let kind = "paired machine"

    /// The peer of that name, or with a key that begins with these hexadecimal digits (at least 8).
    static func find(_ db: Database, nameOrKey text: String) throws -> Peer {
        try all(db).find(text, among: kind)
    }

    /// Pairs with a key; a paired key stays as it is. If the name is taken, it appends a number.
    ///
    /// - Parameters:
    ///   - own: what this machine itself is called, which is taken, too; nil if that is not known.
    ///   - introducer: the static key of the machine that introduced this one; nil if a user paired it.
    static func insert(
        _ db: Database, key: [UInt8], name: String, besides own: String? = nil,
        introducedBy introducer: [UInt8]? = nil, now: Int64
    ) throws -> Peer {
        let pairedAt = ISO8601.text(milliseconds: now, fraction: .ifNeeded)
        if let known = try find(db, key: key) {
            guard introducer == nil, known.introducedBy != nil else { return known }
            try db.execute(
                sql: "UPDATE grdb_sync_peer SET introducedBy = NULL WHERE id = ?", arguments: [known.id])
            return try find(db, key: key)!
        }
        var taken = Set(try String.fetchAll(db.cachedStatement(sql: "SELECT name FROM grdb_sync_peer")))
        if let own { taken.insert(own) }
        var unique = name
        var number = 2
        while taken.contains(unique) {
            unique = "\(name) \(number)"
            number += 1
        }
        let formerID = try Int64.fetchOne(
            db.cachedStatement(sql: "DELETE FROM grdb_sync_formerPeer WHERE publicKey = ? RETURNING id"),
            arguments: [Data(key)])
        try db.executeCached(
            "INSERT INTO grdb_sync_peer (id, publicKey, name, pairedAt, introducedBy) VALUES (?, ?, ?, ?, ?)",
            [formerID, Data(key), unique, pairedAt, introducer.map { Data($0) }])
        return try find(db, key: key)!
    }

    /// Makes a member of the household a peer.
    ///
    /// - Returns: nil if it is one, or a user has forgotten it here: only a pairing ends that.
    static func introduce(
        _ db: Database, _ introduction: Introduction, besides own: String?, by introducer: [UInt8],
        now: Int64
    ) throws -> Peer? {
        guard try find(db, key: introduction.key) == nil, try !isForgotten(db, key: introduction.key) else {
            return nil
        }
        return try insert(
            db, key: introduction.key, name: introduction.name, besides: own, introducedBy: introducer,
            now: now)
    }

    /// Whether a user of this machine has ended the pairing with the machine of that key, and nobody has paired it again.
    static func isForgotten(_ db: Database, key: [UInt8]) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT 1 FROM grdb_sync_formerPeer WHERE publicKey = ? AND removedBy IS NULL", [Data(key)])
    }

    /// Ends a pairing. The store keeps what it knows of the machine's records and tokens: the machine may come back
    /// with its records, and the store must not take old records for new ones.
    ///
    /// - Parameter remover: the static key of the machine that removed it from the household; nil if a user of this machine
    ///   forgets it here only.
    static func remove(_ db: Database, _ peer: Peer, removedBy remover: [UInt8]? = nil) throws {
        try WithheldRecords.drop(db, of: peer.id)
        try db.execute(
            sql: "INSERT INTO grdb_sync_formerPeer (id, publicKey, removedBy) VALUES (?, ?, ?)",
            arguments: [peer.id, Data(peer.publicKey), remover.map { Data($0) }])
        for sql in [
            "UPDATE grdb_sync_peerZone SET rights = NULL, lastSync = NULL, ownRights = NULL WHERE peer = ?",
            "DELETE FROM grdb_sync_refusedRecord WHERE peer = ?",
            "DELETE FROM grdb_sync_ownRefusal WHERE peer = ?",
            "DELETE FROM grdb_sync_peerSession WHERE peer = ?",
            "DELETE FROM grdb_sync_peer WHERE id = ?",
        ] {
            try db.execute(sql: sql, arguments: [peer.id])
        }
        try SyncSettings.noteChanged(db)
    }

    static func progress(_ db: Database, peer: Int64, zone: Int64) throws -> PeerProgress {
        let statement = try db.cachedStatement(
            sql: """
                SELECT acknowledgedSequence, receivedGeneration, receivedSequence, receivedHorizon, comparedSequence
                FROM grdb_sync_peerZone WHERE peer = ? AND zone = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [peer, zone]) else {
            return PeerProgress(acknowledgedSequence: 0, received: nil)
        }
        var received: ChangeToken?
        if let generation = row[1] as Data? {
            received = ChangeToken(generation: Array(generation), sequence: row[2], horizon: row[3])
        }
        return PeerProgress(acknowledgedSequence: row[0], received: received, comparedSequence: row[4])
    }

    /// Notes how far this store has a peer's changes.
    ///
    /// The token never goes back within a generation: two processes may have sessions with the peer, and the slower one
    /// may apply an older batch last. Without a token the store begins anew: it reads logs from their beginning, and passes over nothing.
    static func setReceived(_ db: Database, peer: Int64, zone: Int64, _ token: ChangeToken?) throws {
        if token == nil || token == .start { try MailboxTables.forgetReadings(db, of: peer, in: zone) }
        try db.executeCached(
            """
            INSERT INTO grdb_sync_peerZone (peer, zone, receivedGeneration, receivedSequence, receivedHorizon)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (peer, zone) DO UPDATE SET
                receivedGeneration = excluded.receivedGeneration,
                receivedSequence = excluded.receivedSequence,
                receivedHorizon = excluded.receivedHorizon,
                comparedSequence = iif(excluded.receivedSequence = 0, 0, comparedSequence)
            WHERE receivedGeneration IS NOT excluded.receivedGeneration
                OR receivedSequence <= excluded.receivedSequence
            """, [peer, zone, token.map { Data($0.generation) }, token?.sequence ?? 0, token?.horizon ?? 0])
    }

    /// Notes that the two compare everything, and that the peer goes on after a token: it does not tell what it had deleted before.
    ///
    /// In the middle of a session the peer goes on where it was, and has told all of that.
    static func noteCompared(_ db: Database, peer: Int64, zone: Int64, _ token: ChangeToken) throws {
        try db.executeCached(
            """
            INSERT INTO grdb_sync_peerZone (peer, zone, comparedSequence) VALUES (?1, ?2, ?3)
            ON CONFLICT (peer, zone) DO UPDATE SET comparedSequence = MAX(comparedSequence, ?3)
            WHERE receivedGeneration IS NOT ?4 OR receivedSequence <> ?3
            """, [peer, zone, token.sequence, Data(token.generation)])
    }

    /// Notes that this store has read all of a peer's changes up to a number, deletions among them.
    static func noteRead(_ db: Database, peer: Int64, zone: Int64, upTo sequence: Int64) throws {
        try db.executeCached(
            """
            UPDATE grdb_sync_peerZone SET comparedSequence = 0
            WHERE peer = ? AND zone = ? AND comparedSequence <= ?
            """, [peer, zone, sequence])
    }

    /// Takes all received tokens for those of comparisons: nobody knows which are. What this store has passed over in mailboxes by
    /// them, it reads.
    static func noteUnknownComparisons(_ db: Database) throws {
        try db.execute(sql: "UPDATE grdb_sync_peerZone SET comparedSequence = receivedSequence")
        try MailboxTables.forgetReadings(db)
    }

    /// Forgets how far this store has the changes of all peers, in one zone or in all, and makes the tokens void that they
    /// hold. So every peer compares everything in the next session.
    static func startOver(_ db: Database, in zone: Int64? = nil) throws {
        try db.execute(
            sql: """
                UPDATE grdb_sync_peerZone
                SET receivedGeneration = NULL, receivedSequence = 0, receivedHorizon = 0, comparedSequence = 0
                WHERE ?1 IS NULL OR zone = ?1
                """, arguments: [zone])
        try MailboxTables.forgetReadings(db, in: zone)
        try Generations.startOver(db)
    }

    /// Notes that a peer has made everything up to a number durable.
    ///
    /// - Parameter mayGoBack: whether the peer may hold less than before. Two processes may have sessions with the peer, and
    ///   the slower one may note an older number last.
    static func setAcknowledged(
        _ db: Database, peer: Int64, zone: Int64, _ sequence: Int64, mayGoBack: Bool
    ) throws {
        try db.executeCached(
            """
            INSERT INTO grdb_sync_peerZone (peer, zone, acknowledgedSequence) VALUES (?, ?, ?)
            ON CONFLICT (peer, zone) DO UPDATE SET acknowledgedSequence = excluded.acknowledgedSequence
            WHERE ? OR acknowledgedSequence < excluded.acknowledgedSequence
            """, [peer, zone, sequence, mayGoBack])
        try db.notifyIfChanged("grdb_sync_peerZone")
    }

    // MARK: Sessions

    private static func processes(_ db: Database, peer: Int64) throws -> Set<RunningProcess> {
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT process, start FROM grdb_sync_peerSession WHERE peer = ?"),
            arguments: [peer])
        return Set(rows.map { RunningProcess(number: $0[0], start: $0[1]) })
    }

    /// Notes whether this process has sessions with a peer. It also removes the notes of ended processes: a killed
    /// process could not do that itself.
    static func setConnected(_ db: Database, peer: Int64, _ isConnected: Bool) throws {
        let current = RunningProcess.current
        let ended = try processes(db, peer: peer).filter { !$0.isRunning }.map(\.number)
        for process in isConnected ? ended : ended + [current.number] {
            try db.execute(
                sql: "DELETE FROM grdb_sync_peerSession WHERE peer = ? AND process = ?",
                arguments: [peer, process])
        }
        guard isConnected else { return }
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO grdb_sync_peerSession (peer, process, start)
                SELECT id, ?, ? FROM grdb_sync_peer WHERE id = ?
                """, arguments: [current.number, current.start, peer])
    }

    private static func peer(_ db: Database, _ row: Row) throws -> Peer {
        Peer(
            id: row["id"], publicKey: row.bytes("publicKey"), name: row["name"], address: row["address"],
            pairedAt: row["pairedAt"], lastSeen: row["lastSeen"], lastSync: row["lastSync"],
            lastError: row["lastError"], introducedBy: (row["introducedBy"] as Data?).map { Array($0) },
            awaitsChanges: row["awaitsChanges"], hints: try PeerHints.all(db, of: row["id"]),
            errorCode: row["lastError"] == nil ? nil : row["lastErrorCode"],
            processes: try processes(db, peer: row["id"]))
    }
}

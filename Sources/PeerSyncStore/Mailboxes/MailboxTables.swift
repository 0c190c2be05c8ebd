import GRDB

/// The tables of mailboxes, which PeerSyncMailbox reads and writes. Protocol/ "Store format" describes them.
enum MailboxTables {
    /// Stores of format 2 got these tables before the first release, so an opening makes them where they are missing.
    static let create = """
        -- The mailboxes of this machine. location: where it is, in the words of the program; no secrets. counter: the greatest
        -- counter that a head of this machine may have had there. published: that of its last head. content: hashes of what that
        -- one said: of all but the damaged objects that it named, and of all. restores: how often a head was there that this store did not write, since that was last forgotten; restoredAt: when
        -- the last time, in milliseconds. missing: how often in a row the last head was not there. checkedAt: when this machine last read
        -- what it has put, in milliseconds. headHash: a hash of its last head as it put it. process, start: the program that uses it now.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailbox (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            location TEXT NOT NULL,
            addedAt TEXT NOT NULL,
            counter INTEGER NOT NULL DEFAULT 0,
            published INTEGER NOT NULL DEFAULT 0,
            content BLOB,
            restores INTEGER NOT NULL DEFAULT 0,
            missing INTEGER NOT NULL DEFAULT 0,
            lastSync TEXT,
            lastError TEXT,
            lastErrorCode TEXT,
            process INTEGER,
            start TEXT,
            restoredAt INTEGER,
            checkedAt INTEGER,
            headHash BLOB
        );

        -- What this machine says of a zone there. identity: the zone's name and owner, which a union changes. history: the span in which its tokens are valid. readers: the replica ids, 8 bytes
        -- each, that could read the last head. fileEpoch: names the key of new files.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailboxZone (
            mailbox INTEGER NOT NULL REFERENCES grdb_sync_mailbox (id) ON DELETE CASCADE,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id) ON DELETE CASCADE,
            identity TEXT NOT NULL,
            history BLOB NOT NULL,
            readers BLOB NOT NULL,
            fileEpoch BLOB NOT NULL,
            PRIMARY KEY (mailbox, zone)
        ) WITHOUT ROWID;

        -- The logs of this machine. phase: 0 its base is being written, 1 the head names it, 2 another one has taken its place, since
        -- replacedAt in milliseconds. base: the segments of its base, 0 as long as it is not finished. ends: the sequences of the
        -- segments from the last of the base on, as varints, each as the difference from the one before. generation, sequence,
        -- horizon: the token where the next segment goes on.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailboxLog (
            mailbox INTEGER NOT NULL REFERENCES grdb_sync_mailbox (id) ON DELETE CASCADE,
            log BLOB NOT NULL,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id) ON DELETE CASCADE,
            phase INTEGER NOT NULL,
            isWhole INTEGER NOT NULL,
            base INTEGER NOT NULL DEFAULT 0,
            segments INTEGER NOT NULL DEFAULT 0,
            baseBytes INTEGER NOT NULL DEFAULT 0,
            changeBytes INTEGER NOT NULL DEFAULT 0,
            ends BLOB NOT NULL DEFAULT X'',
            generation BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            horizon INTEGER NOT NULL,
            replacedAt INTEGER,
            PRIMARY KEY (mailbox, log)
        ) WITHOUT ROWID;

        -- The peers whose records a log leaves out, and the history in which they have them.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailboxLeftOut (
            mailbox INTEGER NOT NULL,
            log BLOB NOT NULL,
            peer INTEGER NOT NULL,
            history BLOB NOT NULL,
            PRIMARY KEY (mailbox, log, peer),
            FOREIGN KEY (mailbox, log) REFERENCES grdb_sync_mailboxLog (mailbox, log) ON DELETE CASCADE
        ) WITHOUT ROWID;

        -- The peers that write there. author: the name of their folder. head: the last one, as it lies there;
        -- empty if a later one says nothing to this machine. heardAt: when it was
        -- seen first. problem: why this machine does not read on, and its code. furtherRefused: how many records of this machine it has
        -- refused beyond those that it names. silentCounter: the greatest counter of a head that says nothing to this machine, since one
        -- said something; 0 if there is none.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailboxAuthor (
            mailbox INTEGER NOT NULL REFERENCES grdb_sync_mailbox (id) ON DELETE CASCADE,
            peer INTEGER NOT NULL,
            author BLOB NOT NULL,
            counter INTEGER NOT NULL,
            head BLOB NOT NULL,
            heardAt TEXT NOT NULL,
            problem TEXT,
            problemCode TEXT,
            furtherRefused INTEGER NOT NULL DEFAULT 0,
            silentCounter INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (mailbox, peer)
        ) WITHOUT ROWID;

        -- Up to which segment of a peer's log this machine has read.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailboxReading (
            mailbox INTEGER NOT NULL REFERENCES grdb_sync_mailbox (id) ON DELETE CASCADE,
            peer INTEGER NOT NULL,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id) ON DELETE CASCADE,
            history BLOB NOT NULL,
            log BLOB NOT NULL,
            segment INTEGER NOT NULL,
            PRIMARY KEY (mailbox, peer, zone)
        ) WITHOUT ROWID;

        -- The files of this machine there. sequence: the number up to which a reader must have read to know of the file.
        -- isThere: whether all pieces are.
        CREATE TABLE IF NOT EXISTS grdb_sync_mailboxFile (
            mailbox INTEGER NOT NULL REFERENCES grdb_sync_mailbox (id) ON DELETE CASCADE,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id) ON DELETE CASCADE,
            hash BLOB NOT NULL,
            size INTEGER NOT NULL,
            epoch BLOB NOT NULL,
            sequence INTEGER NOT NULL,
            isThere INTEGER NOT NULL,
            PRIMARY KEY (mailbox, zone, hash)
        ) WITHOUT ROWID;
        """

    /// Notes that a peer may have lost records that the logs of this machine leave out, or will leave out with the next segment, because they
    /// came from it. No history is the one of this note, so each such log gets a successor, from its beginning (Protocol/mailbox.md section 5.3).
    static func noteLoss(_ db: Database, by peer: Int64, in zone: Int64) throws {
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO grdb_sync_mailboxLeftOut (mailbox, log, peer, history)
                SELECT log.mailbox, log.log, ?1, zeroblob(16) FROM grdb_sync_mailboxLog AS log
                WHERE log.zone = ?2 AND (log.phase = 1 OR log.phase = 0 AND log.base > 0) AND (EXISTS (
                    SELECT 1 FROM grdb_sync_mailboxLeftOut AS leftOut
                    WHERE leftOut.mailbox = log.mailbox AND leftOut.log = log.log AND leftOut.peer = ?1
                ) OR EXISTS (
                    SELECT 1 FROM grdb_sync_remoteRecord
                    WHERE zone = ?2 AND changeSequence > log.sequence AND sourcePeer = ?1))
                """, arguments: [peer, zone])
    }

    /// Forgets what an earlier identity of this machine wrote and read: under the new one it is another author.
    static func forgetIdentity(_ db: Database) throws {
        for table in ["Zone", "Log", "Author", "Reading", "File"] {
            try db.execute(sql: "DELETE FROM grdb_sync_mailbox\(table)")
        }
        try db.execute(
            sql:
                "UPDATE grdb_sync_mailbox SET counter = 0, published = 0, content = NULL, restores = 0, missing = 0, checkedAt = NULL, headHash = NULL"
        )
    }

    /// Forgets up to where this machine has read the logs of a peer, or of all, so that it reads them again from their beginning. What it
    /// refused of them comes again.
    static func forgetReadings(_ db: Database, of peer: Int64? = nil, in zone: Int64? = nil) throws {
        try db.executeCached(
            """
            DELETE FROM grdb_sync_mailboxReading
            WHERE (?1 IS NULL OR peer = ?1) AND (?2 IS NULL OR zone = ?2)
            """, [peer, zone])
        try OwnRefusals.forget(db, of: peer, in: zone)
    }
}

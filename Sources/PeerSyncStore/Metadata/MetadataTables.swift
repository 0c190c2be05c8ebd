import Foundation
import GRDB
import PeerSyncModel

/// The engine's own tables. Protocol/ "Store format" describes them for programs that read a store.
enum MetadataTables {
    /// The format of the tables below. From the first release on, it grows by one with each change. A store refuses a greater version.
    static let formatVersion: Int64 = 2

    /// The beginning of the names of all tables, indexes and triggers of the engine. So they meet no name of an app, and
    /// GRDB takes them for its own: `eraseDatabaseOnSchemaChange` does not see them.
    static let prefix = "grdb_sync_"

    static let create = """
        -- One value per name: formatVersion, replica, clock, lastSequence, lastPurge, assetPolicy,
        -- isSyncOff, settingsVersion, schemaVersion, sqliteVersion, erasures, awaitsDefault, historySize, fuse,
        -- fuseSalt, and for each type captured:<type>, fieldKinds:<type>, table:<type>, contested:<type>, left:<type>.
        CREATE TABLE grdb_sync_syncState (
            name TEXT PRIMARY KEY,
            value
        ) WITHOUT ROWID;

        -- The zones of this store, each with the digest of its live records. name: what it is called here. zoneName and
        -- owner: which zone it is, everywhere; the owner as 16 hexadecimal digits. isShared: whether another machine has
        -- ever had it. purgedSequence: the greatest changeSequence of a deletion that was forgotten.
        CREATE TABLE grdb_sync_recordZone (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            zoneName TEXT NOT NULL DEFAULT '\(ZoneName.standard)',
            owner TEXT NOT NULL DEFAULT '',
            isShared INTEGER NOT NULL DEFAULT 0,
            recordCount INTEGER NOT NULL DEFAULT 0,
            digestSum BLOB NOT NULL DEFAULT (zeroblob(32)),
            purgedSequence INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO grdb_sync_recordZone (id, name) VALUES (1, '\(ZoneName.standard)');
        CREATE UNIQUE INDEX grdb_sync_recordZoneID ON grdb_sync_recordZone (zoneName, owner);

        -- One row for each record that sync knows, tombstones included. A record without a row is new and local.
        -- status: 0 in its table, 1 deleted, 2 held, 3 hidden. changeGroup: the first changeSequence of the records that were
        -- changed together with this one. sourcePeer: the peer that sent exactly this state, if any.
        CREATE TABLE grdb_sync_remoteRecord (
            remoteRecordID TEXT PRIMARY KEY,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id),
            status INTEGER NOT NULL,
            changeSequence INTEGER NOT NULL,
            changeGroup INTEGER NOT NULL,
            sourcePeer INTEGER,
            remoteRecord BLOB NOT NULL
        ) WITHOUT ROWID;
        -- With sourcePeer, so that what a peer has sent itself is passed over without a look at the records.
        CREATE INDEX grdb_sync_remoteRecordChange ON grdb_sync_remoteRecord (zone, changeSequence, sourcePeer);
        CREATE INDEX grdb_sync_remoteRecordOffTable ON grdb_sync_remoteRecord (zone, status) WHERE status <> 0;

        -- The references that no row shows: of records without a row, and of rows in which they are empty because what they
        -- lead to is out of sight.
        CREATE TABLE grdb_sync_heldReference (
            recordName TEXT NOT NULL,
            target TEXT NOT NULL,
            PRIMARY KEY (recordName, target)
        ) WITHOUT ROWID;
        CREATE INDEX grdb_sync_heldReferenceTarget ON grdb_sync_heldReference (target);

        -- The field names that records have had, so that a record's metadata need not repeat them.
        CREATE TABLE grdb_sync_recordShape (
            id INTEGER PRIMARY KEY,
            fieldNames TEXT NOT NULL UNIQUE
        );

        -- The journal that the triggers write. recordType: the type. changedColumns: -1 inserted, -2 about to be
        -- deleted, 0 deleted, otherwise one bit for each synced column in order of name. time: milliseconds since 1970. formerValues: those of a row that
        -- was deleted, or of which a reference became empty.
        CREATE TABLE grdb_sync_pendingChange (
            id INTEGER PRIMARY KEY,
            recordName TEXT NOT NULL,
            changedColumns INTEGER NOT NULL,
            time INTEGER NOT NULL,
            recordType TEXT,
            formerValues TEXT
        );

        -- The rows and records of this store that stay here. recordType: the type. reason: 1 recordName is the row's
        -- key, which has no name, and the row has no zone; 2 the record is too large to travel; 3 it travels, but its row keeps
        -- the bytes of a file.
        CREATE TABLE grdb_sync_unsyncedRecord (
            recordType TEXT NOT NULL,
            recordName NOT NULL,
            zone INTEGER,
            reason INTEGER NOT NULL,
            PRIMARY KEY (recordType, recordName)
        ) WITHOUT ROWID;
        CREATE INDEX grdb_sync_unsyncedRecordZone ON grdb_sync_unsyncedRecord (zone) WHERE zone IS NOT NULL;

        -- Has a row only inside a transaction in which the engine itself writes: the triggers then stay silent.
        \(CapturePause.create)

        -- Each run of a program that numbered changes has an id of its own, so that a store that was restored from
        -- a backup does not take a token for one of its own that it has never given out.
        CREATE TABLE grdb_sync_storeGeneration (
            id BLOB PRIMARY KEY,
            firstSequence INTEGER NOT NULL
        ) WITHOUT ROWID;

        -- The machines this one is paired with. lastErrorCode: a stable name of the kind of lastError. introducedBy: the
        -- static key of the machine that introduced this one; NULL if somebody paired it here.
        CREATE TABLE grdb_sync_peer (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            publicKey BLOB NOT NULL UNIQUE,
            name TEXT NOT NULL,
            address TEXT,
            pairedAt TEXT NOT NULL,
            lastSeen TEXT,
            lastSync TEXT,
            lastError TEXT,
            lastErrorCode TEXT,
            introducedBy BLOB
        );

        -- The processes that have live sessions with a peer. One that was killed leaves its number here, and another may get
        -- it: start tells the two apart.
        CREATE TABLE grdb_sync_peerSession (
            peer INTEGER NOT NULL REFERENCES grdb_sync_peer (id) ON DELETE CASCADE,
            process INTEGER NOT NULL,
            start TEXT,
            PRIMARY KEY (peer, process)
        ) WITHOUT ROWID;

        -- Attempts to pair with this machine that did not succeed, or not yet. address: an IPv4 address, or the /64 of an
        -- IPv6 one. time: milliseconds since 1970.
        CREATE TABLE grdb_sync_pairingAttempt (
            id INTEGER PRIMARY KEY,
            address TEXT NOT NULL,
            time INTEGER NOT NULL
        );

        -- The files that live records refer to. id grows, so that what is new is found.
        CREATE TABLE grdb_sync_assetReference (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            recordName TEXT NOT NULL,
            field TEXT NOT NULL,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id),
            hash BLOB NOT NULL,
            size INTEGER NOT NULL,
            UNIQUE (recordName, field)
        );
        CREATE INDEX grdb_sync_assetReferenceHash ON grdb_sync_assetReference (hash);

        -- Files that no live record of a zone refers to any more. changeSequence: that of the change that let go of it.
        -- since: when that was noticed, in milliseconds since 1970.
        CREATE TABLE grdb_sync_assetLeftover (
            hash BLOB NOT NULL,
            zone INTEGER NOT NULL,
            changeSequence INTEGER NOT NULL,
            since INTEGER,
            PRIMARY KEY (hash, zone)
        ) WITHOUT ROWID;

        -- Files that somebody asked for although the policy would not fetch them.
        CREATE TABLE grdb_sync_assetWish (
            hash BLOB PRIMARY KEY
        ) WITHOUT ROWID;

        -- The records of which a peer has not taken this store's state. reason: 1 the peer lets this machine read only,
        -- 2 the peer has a record of that name in another zone, 3 the record is too large for the peer. mailbox: the one in
        -- which the peer said so; NULL if it did so in a session.
        CREATE TABLE grdb_sync_refusedRecord (
            peer INTEGER NOT NULL REFERENCES grdb_sync_peer (id) ON DELETE CASCADE,
            zone INTEGER NOT NULL,
            recordName TEXT NOT NULL,
            reason INTEGER NOT NULL,
            mailbox INTEGER,
            PRIMARY KEY (peer, zone, recordName)
        ) WITHOUT ROWID;

        \(OwnRefusals.create)

        -- How far the exchange with a peer has come, per zone: what of ours it has acknowledged, what of its we have. This
        -- outlives the pairing: the machine may come back with what it holds. lastSync: when the digests were last equal.
        -- rights: what the peer may do in the zone; 0 nothing, 1 read, 2 write; NULL is 2 in zone 1 and 0 in others.
        -- ownRights: what this machine may do in the zone at the peer, as that one said last; the same numbers; NULL if it never did.
        -- comparedSequence: the number of the peer's changes up to which this store may lack deletions, because the two
        -- compared everything; 0 if it lacks none.
        CREATE TABLE grdb_sync_peerZone (
            peer INTEGER NOT NULL,
            zone INTEGER NOT NULL REFERENCES grdb_sync_recordZone (id),
            acknowledgedSequence INTEGER NOT NULL DEFAULT 0,
            receivedGeneration BLOB,
            receivedSequence INTEGER NOT NULL DEFAULT 0,
            receivedHorizon INTEGER NOT NULL DEFAULT 0,
            rights INTEGER,
            lastSync TEXT,
            ownRights INTEGER,
            comparedSequence INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (peer, zone)
        ) WITHOUT ROWID;

        -- The machines that this one is no longer paired with. Each gets its number back when it is paired again. removedBy:
        -- the static key of the machine that removed it from the household; NULL if a user forgot it here, and then only a
        -- pairing here brings it back.
        CREATE TABLE grdb_sync_formerPeer (
            id INTEGER PRIMARY KEY,
            publicKey BLOB NOT NULL UNIQUE,
            removedBy BLOB
        );

        \(HouseholdTable.create)

        \(DeclinedZones.create)

        \(MailboxTables.create)

        \(HistoryTable.create)

        \(FuseTables.create)
        """

    /// Creates the tables, or updates those of an older format.
    ///
    /// - Throws: `newerFormat` when the store's format is newer than ours, before it changes anything.
    /// - Returns: whether the store was last written under other rules between records.
    static func migrate(_ db: Database) throws -> Bool {
        try checkFormat(db)
        guard try !db.hasTable("grdb_sync_syncState") else {
            try addColumns(db)
            return false
        }
        try db.execute(sql: create)
        try db.execute(sql: PairingCodes.create)
        let areRulesNew = try FormatOne.isPresent(db) && FormatOne.bringOver(db)
        try PeerTable.noteUnknownComparisons(db)
        try SyncState.set(db, .formatVersion, formatVersion)
        return areRulesNew
    }

    /// Adds the columns and tables that format 2 did not have at first. A program that does not know them leaves them alone.
    private static func addColumns(_ db: Database) throws {
        if try !db.hasTable("grdb_sync_listener") { try db.execute(sql: PairingCodes.create) }
        try db.execute(sql: OwnRefusals.create)
        try db.execute(sql: MailboxTables.create)
        let notesComparisons = try db.hasColumn("comparedSequence", of: "\(prefix)peerZone")
        for (table, column, type) in [
            ("peer", "lastErrorCode", "TEXT"), ("peerZone", "lastSync", "TEXT"),
            ("peerZone", "ownRights", "INTEGER"),
            ("peerZone", "comparedSequence", "INTEGER NOT NULL DEFAULT 0"),
            ("peer", "introducedBy", "BLOB"),
            ("formerPeer", "removedBy", "BLOB"),
            ("mailbox", "restoredAt", "INTEGER"), ("mailbox", "checkedAt", "INTEGER"),
            ("mailbox", "headHash", "BLOB"),
            ("mailboxAuthor", "furtherRefused", "INTEGER NOT NULL DEFAULT 0"),
            ("mailboxAuthor", "silentCounter", "INTEGER NOT NULL DEFAULT 0"),
            ("refusedRecord", "mailbox", "INTEGER"),
        ]
        where try !db.hasColumn(column, of: prefix + table) {
            try db.execute(sql: "ALTER TABLE main.\(prefix)\(table) ADD COLUMN \(column) \(type)")
        }
        if !notesComparisons { try PeerTable.noteUnknownComparisons(db) }
        try db.execute(sql: HouseholdTable.create)
        try db.execute(sql: DeclinedZones.create)
        try db.execute(sql: HistoryTable.create)
        try db.execute(sql: FuseTables.create)
    }

    /// Refuses a store that a newer version wrote, and a damaged one. Only reads.
    static func checkFormat(_ db: Database) throws {
        if try db.hasTable("grdb_sync_syncState") {
            try check(db, prefix, isOf: 2...formatVersion)
        } else if try FormatOne.isPresent(db) {
            try check(db, "", isOf: 1...1)
        }
    }

    /// - Parameter prefix: what the names of the tables begin with.
    private static func check(_ db: Database, _ prefix: String, isOf versions: ClosedRange<Int64>) throws {
        let version =
            try !db.hasColumn("value", of: "\(prefix)syncState")
            ? nil
            : Int64.fetchOne(
                db, sql: "SELECT value FROM main.\(prefix)syncState WHERE name = 'formatVersion'")
        guard let version, version >= versions.lowerBound else {
            throw RecordStoreError(.corrupt, "the store's format version is missing; the file may be damaged")
        }
        guard version <= versions.upperBound else {
            throw RecordStoreError(
                .newerFormat,
                "this store was written by a newer version of the program (format \(version); this one knows "
                    + "\(formatVersion)); install the newer version to open it")
        }
        // Those that triggers and openings need, and the last ones that were added.
        let columns = [
            ("recordZone", "digestSum"), ("remoteRecord", "changeSequence"),
            ("pendingChange", "changedColumns"),
            ("capturePause", "id"), ("unsyncedRecord", "zone"), ("formerPeer", "id"),
            ("peerSession", "start"),
        ]
        let hasAll = try columns.allSatisfy { try db.hasColumn($1, of: prefix + $0) }
        guard hasAll else {
            throw RecordStoreError(
                .corrupt,
                "the store lacks tables of its format: the file is damaged, or a program from before the first release "
                    + "wrote it")
        }
    }

    /// Removes the triggers and tables of the engine, also those of a damaged store.
    ///
    /// One table stays, empty, while a trigger or a view of the app's names it: SQLite would refuse the writes that fire the trigger.
    static func remove(_ db: Database) throws {
        // Whichever of two tables that refer to each other goes first. Those of mailboxes that refer to two tables go before both:
        // in a damaged store, one may be missing that the removal of the other would look at.
        try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
        let objects = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name FROM main.sqlite_master WHERE name GLOB ? AND type IN ('trigger', 'table')
                ORDER BY type = 'table', name NOT GLOB ?
                """, arguments: [prefix + "*", prefix + "mailbox?*"])
        let isPauseNamed = try CapturePause.isNamedByApp(db)
        for object in objects {
            let (type, name): (String, String) = (object[0], object[1])
            if isPauseNamed, name == CapturePause.table {
                try db.execute(sql: "DELETE FROM main.\(name)")
                continue
            }
            try db.execute(sql: "DROP \(type) main.\(name.sqlName)")
        }
        try FormatOne.remove(db)
    }
}

extension Row {
    /// A BLOB column as bytes; empty when the column holds something else.
    ///
    /// Only a wrong write leaves something else there. No key, hash, digest or metadata is empty, so the code that
    /// decodes the bytes finds the error and names it.
    func bytes(_ column: String) -> [UInt8] {
        (try? withUnsafeData(named: column) { $0.map { Array($0) } }) ?? []
    }

    /// The same of the column at an index. Finding a column by its name takes longer than reading it.
    func bytes(at index: Int) -> [UInt8] {
        (try? withUnsafeData(atIndex: index) { $0.map { Array($0) } }) ?? []
    }
}

import Foundation
import GRDB
import PeerSyncModel
import PeerSyncStore

/// A log that this machine writes, as its store remembers it (`grdb_sync_mailboxLog`).
struct OwnLog: Sendable, Equatable {
    enum Phase: Int64, Sendable {
        /// Its base is being written; the head does not name it yet.
        case building = 0
        /// The head names it.
        case named = 1
        /// Another log has taken its place.
        case replaced = 2
    }

    let mailbox: Int64
    let log: LogID
    let zone: Int64
    var phase: Phase
    /// Whether every reader reads it from its first segment on.
    let isWhole: Bool
    /// The number of segments of its base; 0 as long as that is not finished.
    var base = 0
    var segments = 0
    var baseBytes: Int64 = 0
    var changeBytes: Int64 = 0
    /// The sequences of the tokens of the segments from the last of the base on.
    var ends: [Int64] = []
    /// Where the next segment goes on.
    var token: ChangeToken
    /// When another one took its place, in milliseconds since 1970.
    var replacedAt: Int64?

    var isComplete: Bool { base > 0 }
    var changes: Int { segments - base }

    init(mailbox: Int64, zone: Int64, isWhole: Bool, token: ChangeToken) {
        self.mailbox = mailbox
        log = .random()
        self.zone = zone
        phase = .building
        self.isWhole = isWhole
        self.token = token
    }

    /// Notes that a segment is there.
    mutating func append(_ batch: ChangeBatch, bytes: Int) {
        segments += 1
        token = batch.token
        if isComplete {
            changeBytes += Int64(bytes)
            ends.append(batch.token.sequence)
        } else {
            baseBytes += Int64(bytes)
            if batch.isLast {
                base = segments
                ends = [batch.token.sequence]
            }
        }
    }
}

extension OwnLog {
    private init(_ row: Row) throws {
        let blob = { (column: String) in (row[column] as Data?).map(Array.init) ?? [] }
        guard let log = LogID(blob("log")), let phase = Phase(rawValue: row["phase"]) else {
            throw RecordStoreError(.corrupt, "what the store knows of a mailbox is damaged")
        }
        mailbox = row["mailbox"]
        self.log = log
        zone = row["zone"]
        self.phase = phase
        isWhole = row["isWhole"]
        base = row["base"]
        segments = row["segments"]
        baseBytes = row["baseBytes"]
        changeBytes = row["changeBytes"]
        ends = try Self.decode(blob("ends"))
        token = ChangeToken(
            generation: blob("generation"), sequence: row["sequence"], horizon: row["horizon"])
        replacedAt = row["replacedAt"]
    }

    private static func decode(_ bytes: [UInt8]) throws -> [Int64] {
        var reader = ByteReader(bytes)
        var ends: [Int64] = []
        while !reader.isAtEnd { ends.append((ends.last ?? 0) + Int64(try reader.variableLengthInteger())) }
        return ends
    }

    private var encodedEnds: [UInt8] {
        var bytes: [UInt8] = []
        var last: Int64 = 0
        for end in ends {
            VariableLengthInteger.append(UInt64(end - last), to: &bytes)
            last = end
        }
        return bytes
    }

    static func all(_ db: Database, mailbox: Int64, zone: Int64? = nil) throws -> [OwnLog] {
        try Row.fetchAll(
            db, sql: "SELECT * FROM grdb_sync_mailboxLog WHERE mailbox = ?1 AND (?2 IS NULL OR zone = ?2)",
            arguments: [mailbox, zone]
        ).map(OwnLog.init)
    }

    func save(_ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO grdb_sync_mailboxLog (mailbox, log, zone, phase, isWhole, base, segments, baseBytes, changeBytes, ends,
                    generation, sequence, horizon, replacedAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (mailbox, log) DO UPDATE SET phase = excluded.phase, base = excluded.base,
                    segments = excluded.segments, baseBytes = excluded.baseBytes, changeBytes = excluded.changeBytes,
                    ends = excluded.ends, generation = excluded.generation, sequence = excluded.sequence,
                    horizon = excluded.horizon, replacedAt = excluded.replacedAt
                """,
            arguments: [
                mailbox, Data(log.bytes), zone, phase.rawValue, isWhole, base, segments, baseBytes,
                changeBytes,
                Data(encodedEnds), Data(token.generation), token.sequence, token.horizon, replacedAt,
            ])
    }

    func delete(_ db: Database) throws {
        try db.execute(
            sql: "DELETE FROM grdb_sync_mailboxLog WHERE mailbox = ? AND log = ?",
            arguments: [mailbox, Data(log.bytes)])
    }

    /// Puts this log, whose base is finished, in the place of the one that was named before.
    mutating func takePlace(_ db: Database, now: Int64) throws {
        for var other in try Self.all(db, mailbox: mailbox, zone: zone) where other.phase == .named {
            other.phase = .replaced
            other.replacedAt = now
            try other.save(db)
        }
        phase = .named
        try save(db)
    }

    /// Makes the places void where logs go on: this store is not the one that wrote their segments. Each zone then gets a new log.
    static func voidAll(_ db: Database, mailbox: Int64) throws {
        try db.execute(
            sql:
                "UPDATE grdb_sync_mailboxLog SET generation = X'', sequence = ? WHERE mailbox = ? AND phase <> ?",
            arguments: [Int64.max, mailbox, Phase.replaced.rawValue])
    }

    /// Ends the logs of a zone that nobody may read any more. No reader has to see another one first, so nothing keeps them from going.
    static func giveUpAll(_ db: Database, mailbox: Int64, zone: Int64) throws {
        try db.execute(
            sql: "UPDATE grdb_sync_mailboxLog SET phase = ?, replacedAt = 0 WHERE mailbox = ? AND zone = ?",
            arguments: [Phase.replaced.rawValue, mailbox, zone])
    }

    /// The names of its segments.
    func names(by secrets: AuthorSecrets) -> [MailboxObjectName] {
        guard segments > 0 else { return [] }
        let key = secrets.key(of: log)
        return (1...UInt64(segments)).map { Segment.name($0, of: secrets.author.id, logKey: key) }
    }

    // MARK: Peers that it leaves out

    /// The peers whose records the log leaves out, each with the history in which they have them.
    func leftOut(_ db: Database) throws -> [Int64: HistoryID] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT peer, history FROM grdb_sync_mailboxLeftOut WHERE mailbox = ? AND log = ?",
            arguments: [mailbox, Data(log.bytes)])
        return Dictionary(
            uniqueKeysWithValues: rows.compactMap { row in
                HistoryID(Array(row[1] as Data)).map { (row[0], $0) }
            })
    }

    func noteLeftOut(_ db: Database, _ peer: Int64, _ history: HistoryID) throws {
        try db.execute(
            sql:
                "INSERT OR IGNORE INTO grdb_sync_mailboxLeftOut (mailbox, log, peer, history) VALUES (?, ?, ?, ?)",
            arguments: [mailbox, Data(log.bytes), peer, Data(history.bytes)])
    }
}

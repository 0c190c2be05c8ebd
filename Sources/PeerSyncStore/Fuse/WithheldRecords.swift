import Foundation
import GRDB
import PeerSyncModel

/// The table `grdb_sync_withheldRecord`.
enum WithheldRecords {
    /// A state that waits for a person.
    struct Entry {
        let peer: Int64
        let state: RecordState
    }

    /// Tells those who observe the table what the last statement has changed.
    private static func notify(_ db: Database) throws { try db.notifyIfChanged("grdb_sync_withheldRecord") }

    static func isAny(_ db: Database) throws -> Bool {
        try db.fetchBoolCached("SELECT EXISTS (SELECT 1 FROM grdb_sync_withheldRecord)")
    }

    static func isAny(_ db: Database, peer: Int64, zone: Int64) throws -> Bool {
        try db.fetchBoolCached(
            "SELECT EXISTS (SELECT 1 FROM grdb_sync_withheldRecord WHERE peer = ? AND zone = ?)",
            [peer, zone])
    }

    /// How many records of a zone this store does not have as a peer does: what the peer sent and nobody has allowed, and what
    /// this store sends nobody. A state of another peer that waits makes no difference to this one.
    static func count(_ db: Database, peer: Int64, zone: Int64) throws -> Int {
        try db.fetchCountCached(
            """
            SELECT COUNT(DISTINCT recordName) FROM grdb_sync_withheldRecord
            WHERE zone = ? AND peer IN (?, \(FuseTables.here))
            """, [zone, peer])
    }

    /// The number of records that are not sent.
    static func countUnsent(_ db: Database) throws -> Int {
        try db.fetchCountCached(
            "SELECT COUNT(*) FROM grdb_sync_withheldRecord WHERE peer = \(FuseTables.here)")
    }

    /// The sources that wait for a person, by zone.
    static func sources(_ db: Database) throws -> [(peer: Int64, zone: Int64, since: Int64)] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT peer, zone, MIN(since) FROM grdb_sync_withheldRecord GROUP BY peer, zone ORDER BY 3, 1, 2
                """
        ).map { ($0[0], $0[1], $0[2]) }
    }

    /// The records of a source in a zone, by name.
    static func names(_ db: Database, peer: Int64, zone: Int64) throws -> [RecordName] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT recordName FROM grdb_sync_withheldRecord WHERE peer = ? AND zone = ? ORDER BY recordName
                """)
        return try RecordName.fetchAll(statement, arguments: [peer, zone])
    }

    /// The states of a source in a zone, by name, as the table has them; none of programs.
    static func encodedStates(_ db: Database, peer: Int64, zone: Int64) throws -> [Data] {
        guard peer != FuseTables.here else { return [] }
        let statement = try db.cachedStatement(
            sql: """
                SELECT state FROM grdb_sync_withheldRecord WHERE peer = ? AND zone = ? ORDER BY recordName
                """)
        return try Data.fetchAll(statement, arguments: [peer, zone])
    }

    /// The states of a record that peers have sent and that wait.
    static func entries(_ db: Database, _ shapes: ShapeTable, of name: RecordName) throws -> [Entry] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT peer, \(RecordStatus.deleted.rawValue) AS status, state AS remoteRecord
                FROM grdb_sync_withheldRecord WHERE recordName = ? AND peer <> \(FuseTables.here) ORDER BY peer
                """)
        return try Row.fetchAll(statement, arguments: [name.description]).map { row in
            Entry(peer: row[0], state: try StoredRecord(name, row, nil, shapes: shapes).state)
        }
    }

    /// Keeps a state of a peer; with one of the same record and peer that waits already, what both make.
    static func insert(
        _ db: Database, _ state: RecordState, _ shapes: ShapeTable, peer: Int64, zone: Int64, now: Int64
    ) throws {
        var whole = state
        for entry in try entries(db, shapes, of: state.name) where entry.peer == peer {
            whole.merge(entry.state)
        }
        try db.executeCached(
            """
            INSERT INTO grdb_sync_withheldRecord (recordName, peer, zone, since, state) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (recordName, peer) DO UPDATE SET state = excluded.state
            """, [state.name.description, peer, zone, now, try encoded(whole, shapes)])
        try notify(db)
    }

    private static func encoded(_ state: RecordState, _ shapes: ShapeTable) throws -> Data {
        let metadata = RecordMetadata(state)
        return Data(metadata.encoded(shapeID: try shapes.id(metadata.fieldNames)))
    }

    /// Notes that a record is not sent.
    ///
    /// - Parameters:
    ///   - writes: the fields that programs have written, without their values.
    ///   - isElsewhere: whether another machine has the record as it was. What was said first stays.
    static func insert(
        _ db: Database, unsent writes: RecordState, _ shapes: ShapeTable, isElsewhere: Bool, zone: Int64,
        now: Int64
    ) throws {
        var whole = writes
        if let former = try unsentWrites(db, shapes, of: writes.name) { whole.merge(former) }
        let blob = try encoded(whole, shapes)
        try db.executeCached(
            """
            INSERT INTO grdb_sync_withheldRecord (recordName, peer, zone, since, state) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (recordName, peer) DO UPDATE SET state = iif(state IS NULL, NULL, ?)
            """, [writes.name.description, FuseTables.here, zone, now, isElsewhere ? blob : nil, blob])
        try notify(db)
    }

    /// The fields that programs have written in a record that is not sent, without their values; nil if no other machine has the record
    /// as it was, or nothing of it waits.
    static func unsentWrites(_ db: Database, _ shapes: ShapeTable, of name: RecordName) throws -> RecordState?
    {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(RecordStatus.deleted.rawValue) AS status, state AS remoteRecord
                FROM grdb_sync_withheldRecord WHERE recordName = ? AND peer = \(FuseTables.here) AND LENGTH(state) > 0
                """)
        return try Row.fetchOne(statement, arguments: [name.description]).map {
            try StoredRecord(name, $0, nil, shapes: shapes).state
        }
    }

    /// Removes what peers have sent of a record.
    static func removeStates(_ db: Database, of name: RecordName) throws {
        try db.executeCached(
            "DELETE FROM grdb_sync_withheldRecord WHERE recordName = ? AND peer <> \(FuseTables.here)",
            [name.description])
        try notify(db)
    }

    /// Removes what peers have sent of a record before it was deleted for ever: nothing of that may stay.
    static func removeErased(_ db: Database, _ state: RecordState, _ shapes: ShapeTable) throws {
        guard let erasure = state.erasure, try isAny(db) else { return }
        for entry in try entries(db, shapes, of: state.name)
        where entry.state.newestStamp.map({ $0 <= erasure }) ?? true {
            try db.executeCached(
                "DELETE FROM grdb_sync_withheldRecord WHERE recordName = ? AND peer = ?",
                [state.name.description, entry.peer])
            try notify(db)
        }
    }

    static func remove(_ db: Database, peer: Int64, zone: Int64) throws {
        try db.execute(
            sql: "DELETE FROM grdb_sync_withheldRecord WHERE peer = ? AND zone = ?", arguments: [peer, zone])
        try notify(db)
    }

    /// Drops what a peer has sent and nobody has decided about. It sends all again if it is paired once more.
    static func drop(_ db: Database, of peer: Int64) throws {
        for source in try sources(db) where source.peer == peer {
            try remove(db, peer: peer, zone: source.zone)
            try PeerTable.setReceived(db, peer: peer, zone: source.zone, nil)
        }
    }

    // MARK: What is not sent

    /// SQL for whether this store does not send `known`, a row of `grdb_sync_remoteRecord`.
    static let isKnownUnsent = """
        EXISTS (SELECT 1 FROM grdb_sync_withheldRecord AS unsent
            WHERE unsent.recordName = known.remoteRecordID AND unsent.peer = \(FuseTables.here))
        """

    /// Whether this store sends a record.
    struct Sent {
        private let unsent: Set<String>

        init(_ db: Database, zone: Int64) throws {
            unsent = Set(try WithheldRecords.names(db, peer: FuseTables.here, zone: zone).map(\.description))
        }

        func contains(_ name: RecordName) -> Bool { unsent.isEmpty || !unsent.contains(name.description) }
    }
}

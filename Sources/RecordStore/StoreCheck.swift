import GRDB
import SyncModel

/// What a look at every record of a store has found.
public struct StoreCheck: Sendable, Equatable {
    /// A record of which the tables and what sync knows do not agree.
    public struct Finding: Sendable, Hashable {
        public enum Kind: String, Sendable, Encodable {
            /// The table has a row that sync knows nothing of: it was written past the triggers, or what sync knew of
            /// it is gone.
            case unknownRow
            /// The row has other values than sync last knew: it was changed past the triggers.
            case changedRow
            /// Sync knows of a row that is gone: it was deleted past the triggers.
            case missingRow
            /// The row's name is none that can be synced; nothing can mend it but another name.
            case invalidName
            /// What sync knows of the record cannot be read.
            case damagedMetadata
        }

        public let name: String
        public let kind: Kind
    }

    /// By record name.
    public let findings: [Finding]
    /// The digest that the store keeps up to date, and the one that its records have.
    public let keptDigest: ZoneDigest
    public let foundDigest: ZoneDigest

    /// Whether nothing was found.
    public var isSound: Bool { findings.isEmpty && keptDigest == foundDigest }
}

extension RecordStore {
    /// Holds everything that sync knows of the default zone against the tables, and computes the digest anew. Fold
    /// first. Reads every record.
    public func check(_ db: Database) throws -> StoreCheck {
        var findings: [StoreCheck.Finding] = []
        var digest = ZoneDigest()
        let shapes = try ShapeTable(db)
        let rows = try Row.fetchCursor(
            db, sql: "SELECT remoteRecordID, status, remoteRecord FROM remoteRecord WHERE zone = ?",
            arguments: [Zones.defaultID])
        while let row = try rows.next() {
            let text: String = row[0]
            do {
                let name = try RecordName(text)
                let stored = try StoredRecord(name, row, db: db, tables: tables, shapes: shapes)
                if let kind = Self.finding(stored) { findings.append(.init(name: text, kind: kind)) }
                if stored.state.isLive { digest.insert(RecordID(stored.state)) }
            } catch is RecordStoreError {
                findings.append(.init(name: text, kind: .damagedMetadata))
            }
        }
        for type in schema.types {
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT recordName FROM \(type.name)
                    WHERE NOT EXISTS (SELECT 1 FROM remoteRecord WHERE remoteRecordID = recordName)
                    """)
            findings += names.map { name in
                let isValid = (try? RecordName(name))?.recordType == type.name
                return .init(name: name, kind: isValid ? .unknownRow : .invalidName)
            }
        }
        return StoreCheck(
            findings: findings.sorted { $0.name < $1.name },
            keptDigest: try Zones.digest(db, Zones.defaultID),
            foundDigest: digest)
    }

    private static func finding(_ stored: StoredRecord) -> StoreCheck.Finding.Kind? {
        switch (stored.status, stored.isRowPresent) {
        case (.inTable, false): return .missingRow
        case (.deleted, true), (.held, true): return .unknownRow
        default: break
        }
        guard !stored.metadata.fieldNames.isEmpty else { return nil }
        let isIntact =
            stored.state.fields.count == stored.metadata.fieldNames.count
            && RecordID.valueHash(of: stored.state.fields) == stored.metadata.valueHash
        if isIntact { return nil }
        return stored.status == .inTable ? .changedRow : .damagedMetadata
    }

    /// Mends what ``check(_:)`` finds. Part of the transaction that is open.
    ///
    /// Rows that are there count, as written now. Of rows that are gone, and of records whose metadata is damaged, it
    /// forgets what sync knew, and makes every peer compare everything in the next session, so that theirs come back.
    ///
    /// - Returns: what was found before.
    @discardableResult
    public func repair(_ db: Database) throws -> StoreCheck {
        _ = try fold(db)
        let found = try check(db)
        guard !found.isSound else { return found }
        for finding in found.findings where finding.kind != .invalidName {
            let isRowPresent = try RecordName(finding.name).isRow(db, tables)
            switch finding.kind {
            case .missingRow, .damagedMetadata:
                try db.execute(
                    sql: "DELETE FROM remoteRecord WHERE remoteRecordID = ?", arguments: [finding.name])
            case .unknownRow, .changedRow, .invalidName:
                break
            }
            guard isRowPresent else { continue }
            try db.execute(
                sql: "INSERT INTO pendingChange (recordName, changedColumns, time) VALUES (?, -1, ?)",
                arguments: [finding.name, now()])
        }
        _ = try fold(db)
        try AssetTable.rebuild(db, zone: Zones.defaultID) { note in
            try forEachState(db) { try note($0) }
        }
        // Folding has moved the sum on from where it was, wherever that was.
        try Zones.setDigest(db, Zones.defaultID, try check(db).foundDigest)
        try db.execute(sql: "UPDATE peerZone SET receivedGeneration = NULL, receivedSequence = 0")
        try Generations.startOver(db)
        return found
    }
}

extension RecordName {
    fileprivate func isRow(_ db: Database, _ tables: RecordTables) throws -> Bool {
        try tables[recordType]?.exists(db, description) ?? false
    }
}

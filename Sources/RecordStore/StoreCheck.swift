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

    /// The digest that the store keeps up to date for a zone, and the one that its records have.
    public struct Digests: Sendable, Equatable {
        /// What the zone is called here.
        public let zone: String
        public let kept: ZoneDigest
        public let found: ZoneDigest
    }

    /// By record name.
    public let findings: [Finding]
    /// The default zone's first.
    public let digests: [Digests]

    /// Those of the default zone.
    public var keptDigest: ZoneDigest { digests.first?.kept ?? ZoneDigest() }
    public var foundDigest: ZoneDigest { digests.first?.found ?? ZoneDigest() }

    /// Whether everything that was found can be mended; a name that cannot be synced has to be changed by who gave it.
    public var isMendable: Bool { !findings.contains { $0.kind == .invalidName } }

    /// Whether nothing was found.
    public var isSound: Bool { findings.isEmpty && digests.allSatisfy { $0.kept == $0.found } }
}

extension RecordStore {
    /// Holds everything that sync knows against the tables, and computes the digests anew. Fold first. Reads every
    /// record.
    public func check(_ db: Database) throws -> StoreCheck {
        var findings: [StoreCheck.Finding] = []
        var digests: [Int64: ZoneDigest] = [:]
        let shapes = ShapeTable(db)
        var hasher = RecordHasher()
        try RecordScan(db, tables).readAll { record in
            do {
                let stored = try record.stored(shapes)
                let hashes = hasher.hashes(of: stored.state)
                if let kind = Self.finding(stored, hashes) {
                    findings.append(.init(name: record.name, kind: kind))
                }
                if stored.state.isLive {
                    digests[record.row["zone"], default: ZoneDigest()].insert(hashes.id)
                }
            } catch is RecordStoreError {
                findings.append(.init(name: record.name, kind: .damagedMetadata))
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
            digests: try Zones.all(db).map { zone in
                .init(zone: zone.name, kept: zone.digest, found: digests[zone.row] ?? ZoneDigest())
            })
    }

    private static func finding(_ stored: StoredRecord, _ hashes: RecordHashes) -> StoreCheck.Finding.Kind? {
        switch (stored.status, stored.isRowPresent) {
        case (.inTable, false): return .missingRow
        case (.deleted, true), (.held, true): return .unknownRow
        default: break
        }
        guard !stored.metadata.fieldNames.isEmpty else { return nil }
        let isIntact =
            stored.state.fields.count == stored.metadata.fieldNames.count
            && hashes.valueHash.bytes == stored.metadata.valueHash
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
        let findings = found.findings.filter { $0.kind != .invalidName }
        let zones = try Dictionary(grouping: findings) { try Zones.row(db, of: $0.name) ?? Zones.defaultID }
        for (zone, findings) in zones.sorted(by: { $0.key < $1.key }) {
            for finding in findings { try repair(db, finding) }
            // A record without metadata stays in the zone that it was in.
            _ = try fold(db, newInRow: zone)
        }
        for zone in try Zones.all(db) {
            try AssetTable.rebuild(db, zone: zone.row) { note in
                try forEachState(db, zone: zone) { try note($0) }
            }
        }
        // Folding has moved the sums on from where they were, wherever that was.
        for (zone, digests) in zip(try Zones.all(db), try check(db).digests) {
            try Zones.setDigest(db, zone.row, digests.found)
        }
        try db.execute(sql: "UPDATE peerZone SET receivedGeneration = NULL, receivedSequence = 0")
        try Generations.startOver(db)
        return found
    }

    private func repair(_ db: Database, _ finding: StoreCheck.Finding) throws {
        let isRowPresent = try RecordName(finding.name).isRow(db, tables)
        if [.missingRow, .damagedMetadata].contains(finding.kind) {
            try db.execute(
                sql: "DELETE FROM remoteRecord WHERE remoteRecordID = ?", arguments: [finding.name])
        }
        guard isRowPresent else { return }
        try db.execute(
            sql: "INSERT INTO pendingChange (recordName, changedColumns, time) VALUES (?, -1, ?)",
            arguments: [finding.name, now()])
    }
}

extension RecordName {
    fileprivate func isRow(_ db: Database, _ tables: RecordTables) throws -> Bool {
        try tables[recordType]?.exists(db, description) ?? false
    }
}

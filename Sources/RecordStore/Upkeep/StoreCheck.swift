import Foundation
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
            /// The record takes more than ``RecordStore/maximumRecordSize``; it stays here until it is smaller.
            case tooLarge

            /// Whether ``RecordStore/repair(_:)`` mends it. A name, or what is written in a record, has to be changed by
            /// who wrote it.
            public var isMendable: Bool { ![.invalidName, .tooLarge].contains(self) }
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

    /// Whether everything that was found can be mended.
    public var isMendable: Bool { findings.allSatisfy(\.kind.isMendable) }

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
                if stored.state.isTooLarge { findings.append(.init(name: record.name, kind: .tooLarge)) }
                if stored.state.isLive {
                    digests[record.row["zone"], default: ZoneDigest()].insert(hashes.id)
                }
            } catch let error as RecordStoreError where error.code == .damagedRecord {
                findings.append(.init(name: record.name, kind: .damagedMetadata))
            }
        }
        for type in schema.types { findings += try unknownRows(db, of: type) }
        return StoreCheck(
            findings: findings.sorted { $0.name < $1.name },
            digests: try Zones.all(db).map { zone in
                .init(zone: zone.name, kept: zone.digest, found: digests[zone.row] ?? ZoneDigest())
            })
    }

    /// The rows of a table that sync does not know, or cannot know under that name.
    private func unknownRows(_ db: Database, of type: RecordType) throws -> [StoreCheck.Finding] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT CAST(recordName AS BLOB), typeof(recordName) FROM \(type.name)
                WHERE \(CaptureTriggers.isUnknown(type))
                """
        ).map { row in
            let isText = row[1] == "text"
            let name = String(decoding: row[0] as Data, as: UTF8.self)
            let isValid = isText && (try? RecordName(name))?.recordType == type.name
            return .init(
                name: isValid ? name : UnsyncedRecords.shownName(row[0], type: row[1]),
                kind: isValid ? .unknownRow : .invalidName)
        }
    }

    private static func finding(_ stored: StoredRecord, _ hashes: RecordHashes) -> StoreCheck.Finding.Kind? {
        switch (stored.status, stored.isRowPresent) {
        case (.inTable, false): return .missingRow
        case (.deleted, true), (.held, true), (.hidden, true): return .unknownRow
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
    /// Sync takes a row that it has missed for a write that was made right after the last one that it knows of, or at the
    /// time that the row's `modificationDate` gives; only a row without either counts as written now. So nothing beats
    /// what another machine has written later. Of rows that are gone it forgets what it knew. Then every peer compares
    /// everything in the next session, so that what they have comes back.
    ///
    /// - Returns: what was found before.
    @discardableResult
    public func repair(_ db: Database) throws -> StoreCheck {
        _ = try fold(db)
        let found = try check(db)
        for finding in found.findings where finding.kind == .tooLarge {
            let name = try RecordName(finding.name)
            guard let zone = try Zones.row(db, of: finding.name) else { continue }
            try UnsyncedRecords.noteSize(db, name, zone: zone)
        }
        let findings = found.findings.filter(\.kind.isMendable)
        guard !findings.isEmpty || found.digests.contains(where: { $0.kept != $0.found }) else {
            return found
        }
        try retake(db, findings)
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

    /// Checks the store, and repairs it if something is wrong. Others go on writing during the look, which mostly finds
    /// nothing.
    ///
    /// - Returns: what was found; nil for nothing.
    package func repairIfNeeded() async throws -> StoreCheck? {
        guard try await !readFolded({ [self] in try check($0) }).isSound else { return nil }
        return try await database.write { [self] in try repair($0) }
    }

    /// Takes the rows in that there are of some records, and forgets the records that have none.
    private func retake(_ db: Database, _ findings: [StoreCheck.Finding]) throws {
        // A record without metadata stays in the zone that it was in.
        let zones = try Dictionary(grouping: findings) { try Zones.row(db, of: $0.name) ?? Zones.defaultID }
        for (zone, findings) in zones.sorted(by: { $0.key < $1.key }) {
            var rows: [(RecordName, Stamp)] = []
            for finding in findings {
                let name = try RecordName(finding.name)
                if try tables[name.recordType]?.exists(db, finding.name) == true {
                    rows.append((name, try stampForRepair(db, name, finding.kind)))
                }
                guard [.missingRow, .damagedMetadata].contains(finding.kind) else { continue }
                try db.execute(
                    sql: "DELETE FROM remoteRecord WHERE remoteRecordID = ?", arguments: [finding.name])
            }
            _ = try folding(zone).take(db, rows)
        }
    }

    /// The stamp under which a row is taken in that sync has missed.
    private func stampForRepair(_ db: Database, _ name: RecordName, _ kind: StoreCheck.Finding.Kind) throws
        -> Stamp
    {
        let state = kind == .damagedMetadata ? nil : try WorkingSet(db, tables).known(name)?.state
        if let state, let last = state.newestStamp {
            // A stamp of its own: under the last one there was another value.
            return Stamp(time: last.time.next, replica: replica)
        }
        let date = try tables[name.recordType]?.row(db, name.description)?.modificationDate
        if let time = date.flatMap(ISO8601.milliseconds(modificationDate:)), time <= now() {
            return Stamp(time: HybridTime(milliseconds: time), replica: replica)
        }
        return try newStamp(db)
    }
}

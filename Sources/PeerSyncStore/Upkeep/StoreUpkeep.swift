import Foundation
import GRDB
import PeerSyncModel

/// Checks and cleaning of a store: ``RecordStore/upkeep``.
///
/// It compares the metadata with the tables, mends differences, and forgets deletions that no machine needs any more.
public struct StoreUpkeep: Sendable {
    /// The least time for which the store remembers a deletion, in milliseconds: 180 days.
    public static let defaultRetention: Int64 = 180 * 86_400_000

    let store: RecordStore

    // MARK: Checking

    /// Compares all metadata with the tables, and computes the digests anew. Fold first. Reads every record.
    ///
    /// - Parameters:
    ///   - db: the open transaction.
    ///   - progress: called now and then with the number of records that are checked, and the number of all.
    public func check(_ db: Database, progress: (Int, Int) -> Void = { _, _ in }) throws -> StoreCheck {
        try look(db, progress: progress).check
    }

    /// The digests of the records of a zone.
    private struct Digests {
        /// That of the values in the tables.
        var found = ZoneDigest()
        /// That of what sync knows, without the records that a repair forgets. Each write takes off what sync knew of a
        /// record, and puts on what it knows then: so this is the digest to begin a repair with.
        var known = ZoneDigest()

        mutating func insert(_ id: RecordID) {
            found.insert(id)
            known.insert(id)
        }
    }

    /// What a look at every record has found.
    private struct Look {
        let check: StoreCheck
        /// The digests to begin a repair with, by zone.
        let known: [Int64: ZoneDigest]
        private let moment: [Int64: ZoneDigest]
        private let lastSequence: Int64?

        init(_ db: Database, _ check: StoreCheck, known: [Int64: ZoneDigest]) throws {
            self.check = check
            self.known = known
            moment = try Self.kept(db)
            lastSequence = try SyncState.integer(db, .lastSequence)
        }

        /// Whether no record has changed since.
        func isCurrent(_ db: Database) throws -> Bool {
            try SyncState.integer(db, .lastSequence) == lastSequence && Self.kept(db) == moment
        }

        private static func kept(_ db: Database) throws -> [Int64: ZoneDigest] {
            Dictionary(uniqueKeysWithValues: try Zones.all(db).map { ($0.row, $0.digest) })
        }
    }

    private func look(_ db: Database, progress: (Int, Int) -> Void = { _, _ in }) throws -> Look {
        var findings: [StoreCheck.Finding] = []
        var digests: [Int64: Digests] = [:]
        let shapes = ShapeTable(db)
        var plain = PlainRecords(shapes)
        var indexes = try KeptIndexes(db)
        var rowsSeen: [String: Int] = [:]
        let total = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM grdb_sync_remoteRecord") ?? 0
        var done = 0
        try RecordScan(db: db, tables: store.tables).readAll { record in
            done += 1
            if done.isMultiple(of: 1000) { progress(done, total) }
            if let table = record.joinedTable { rowsSeen[table.type.name, default: 0] += 1 }
            let kept = indexes.take(record.name)
            if kept.isEmpty, let id = try record.intactID(&plain) {
                digests[record.zone, default: Digests()].insert(id)
            } else {
                try look(
                    closelyAt: record, kept, shapes, &digests[record.zone, default: Digests()], &findings)
            }
        }
        findings += indexes.names.map { .init(name: $0, kind: .wrongIndex) }
        for table in store.tables.all {
            // Each record found a row of its own, so there is no other row.
            guard try rowsSeen[table.type.name] != table.count(db) else { continue }
            findings += try unknownRows(db, of: table)
        }
        let check = StoreCheck(
            findings: findings.sorted { $0.name < $1.name },
            digests: try Zones.all(db).map { zone in
                .init(zone: zone.name, kept: zone.digest, found: digests[zone.row]?.found ?? ZoneDigest())
            })
        return try Look(db, check, known: digests.mapValues(\.known))
    }

    private func look(
        closelyAt record: RecordScan.Record, _ kept: Set<KeptIndexes.Entry>, _ shapes: ShapeTable,
        _ digests: inout Digests, _ findings: inout [StoreCheck.Finding]
    ) throws {
        var hasher = RecordHasher()
        do {
            let stored = try record.stored(shapes)
            let hashes = hasher.hashes(of: stored.state)
            let kind = Self.finding(stored, hashes)
            let live = stored.state.isLive ? hashes.id : nil
            let counted = stored.countedID(&hasher)
            if let kind {
                findings.append(.init(name: record.name, kind: kind))
            } else if counted != live
                || kept
                    != KeptIndexes.entries(
                        of: stored, zone: record.zone, store.tables[stored.state.name.recordType])
            {
                // A record whose place is not that of its state counts wrongly in the digest: a repair saves it anew, too.
                findings.append(.init(name: record.name, kind: .wrongIndex))
            }
            if stored.state.isTooLarge { findings.append(.init(name: record.name, kind: .tooLarge)) }
            if let live { digests.found.insert(live) }
            if kind.map(Self.isForgotten) != true, let counted { digests.known.insert(counted) }
        } catch let error as RecordStoreError where error.code == .damagedRecord {
            findings.append(.init(name: record.name, kind: .damagedMetadata))
        }
    }

    /// The rows of a table that sync does not know, or whose names it cannot use.
    private func unknownRows(_ db: Database, of table: RecordTable) throws -> [StoreCheck.Finding] {
        var findings: [StoreCheck.Finding] = []
        try UnknownRow.forEach(db, of: table) { row in
            findings.append(
                .init(
                    name: row.name?.description ?? row.shownKey,
                    kind: row.name == nil ? .invalidName : .unknownRow))
        }
        return findings
    }

    private static func finding(_ stored: StoredRecord, _ hashes: RecordHashes) -> StoreCheck.Finding.Kind? {
        switch (stored.status, stored.isRowPresent) {
        case (.inTable, false): return .missingRow
        case (.deleted, true), (.held, true), (.hidden, true): return .unknownRow
        default: break
        }
        if areValuesIntact(stored, hashes) { return nil }
        return stored.status == .inTable ? .changedRow : .damagedMetadata
    }

    /// Whether a record has the values that sync last knew.
    static func areValuesIntact(_ stored: StoredRecord, _ hashes: RecordHashes) -> Bool {
        stored.metadata.fieldNames.isEmpty
            || stored.state.fields.count == stored.metadata.fieldNames.count
                && hashes.valueHash.bytes == stored.metadata.valueHash
    }

    /// Mends what ``check(_:progress:)`` finds. Part of the open transaction.
    ///
    /// It stamps a row that sync has missed right after the last write that sync knows of it; otherwise with the time
    /// of the row's `modificationDate`; and only without either with this moment. So the row beats nothing that another
    /// machine wrote later. It forgets the metadata of rows that are gone. Unless only lists were wrong, every peer then
    /// compares everything in the next session, so that their records come back. Held records try again.
    ///
    /// - Parameters:
    ///   - db: the open transaction.
    ///   - progress: see ``check(_:progress:)``.
    /// - Returns: the result of the check before the repair.
    @discardableResult
    public func repair(_ db: Database, progress: (Int, Int) -> Void = { _, _ in }) throws -> StoreCheck {
        _ = try store.fold(db)
        let found = try mend(db, look(db, progress: progress))
        try store.tryAllHeldAgain(db)
        return found
    }

    private func mend(_ db: Database, _ look: Look) throws -> StoreCheck {
        let found = look.check
        for finding in found.findings where finding.kind == .tooLarge {
            let name = try RecordName(finding.name)
            guard let zone = try Zones.row(db, of: finding.name) else { continue }
            try UnsyncedRecords.note(db, .size, of: name, zone: zone)
        }
        let findings = found.findings.filter(\.kind.isMendable)
        guard !findings.isEmpty || !found.areDigestsEqual else { return found }
        for zone in try Zones.all(db) {
            try Zones.setDigest(db, zone.row, look.known[zone.row] ?? ZoneDigest())
        }
        try retake(db, findings.filter { $0.kind != .wrongIndex })
        try reindex(db, findings)
        // Lists alone say nothing of what the peers hold.
        if findings.contains(where: { $0.kind != .wrongIndex }) || !found.areDigestsEqual {
            try PeerTable.startOver(db)
        }
        return found
    }

    /// Checks the store, and repairs it if it finds a fault. Others can write during the check, which mostly finds
    /// nothing. Only if they change a record, a repair has to check once more.
    ///
    /// - Returns: the result of the check before the repair; nil for a sound store.
    package func repairIfNeeded() async throws -> StoreCheck? {
        let look = try await store.readFolded { [self] db in try self.look(db) }
        guard !look.check.isSound else { return nil }
        return try await store.database.write { [self] db in
            _ = try store.fold(db)
            return try mend(db, look.isCurrent(db) ? look : self.look(db))
        }
    }

    /// Whether a repair forgets what sync knows of a record, because its row or its metadata is lost.
    private static func isForgotten(_ kind: StoreCheck.Finding.Kind) -> Bool {
        [.missingRow, .damagedMetadata].contains(kind)
    }

    /// Takes in the existing rows of some records, and forgets the records without rows. It forgets all of them first, so that no
    /// rule comes across one.
    private func retake(_ db: Database, _ findings: [StoreCheck.Finding]) throws {
        var rows: [Int64: [TakenRow]] = [:]
        for finding in findings {
            let name = try RecordName(finding.name)
            if try store.tables[name.recordType]?.exists(db, name) == true {
                // A record without readable metadata keeps its zone.
                rows[try Zones.row(db, of: finding.name) ?? Zones.defaultID, default: []].append(
                    TakenRow(name, at: try stampForRepair(db, name, finding.kind)))
            }
            if Self.isForgotten(finding.kind) { try RecordTraces.remove(db, of: name) }
        }
        for (zone, rows) in rows.sorted(by: { $0.key < $1.key }) {
            _ = try store.folding(zone).take(db, rows)
        }
        try db.notifyRecords()
    }

    /// Saves records anew, with their references that no row shows, and their files.
    private func reindex(_ db: Database, _ findings: [StoreCheck.Finding]) throws {
        for finding in findings {
            try HeldReferenceTable.remove(db, of: finding.name)
            try AssetTable.remove(db, of: finding.name)
        }
        try store.save(db, findings.compactMap { try? RecordName($0.name) }, as: .saveAnew)
    }

    /// The stamp for a row that sync has missed.
    private func stampForRepair(_ db: Database, _ name: RecordName, _ kind: StoreCheck.Finding.Kind) throws
        -> Stamp
    {
        let state = kind == .damagedMetadata ? nil : try WorkingSet(db, store.tables).known(name)?.state
        if let state, let last = state.newestStamp {
            // Uses a new stamp: the last one belongs to another value.
            return last.next(by: store.replica)
        }
        let date = try store.tables[name.recordType]?.row(db, name)?.modificationDate
        if let time = date.flatMap(ISO8601.milliseconds(modificationDate:)), time <= store.now() {
            return Stamp(time: HybridTime(milliseconds: time), replica: store.replica)
        }
        return try store.clock.newStamp(db)
    }
}

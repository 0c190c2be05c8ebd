import Foundation
import GRDB
import RecordStore
import SyncModel

extension ScorebookStore {
    /// In bytes. A million records have less; reading them takes several times as much memory.
    private static let importLimit = 1 << 30

    /// Imports a file: an export of the BG Stats app, or one of a scorebook. Which of the two it is shows in
    /// the file.
    ///
    /// The file is merged: what the scorebook has newer stays, importing it again changes nothing. Its records go to the
    /// zone that the scorebook is limited to; if it is not, to the zone that the file names, or the default zone.
    ///
    /// - Parameter restores: whether records of the file that are deleted here, or hidden with a deleted one, are written as
    ///   new, so that they come back. So is what was deleted for ever of a record that somebody has written to since.
    /// - Throws: ``ScorebookError``: `unreadableFile`; `invalidFile` with the place of the first error.
    ///   ``RecordStoreError``: `otherZone` when one of the records is in another zone; `noSuchZone`.
    ///   Nothing was imported then.
    public func importFile(at path: String, restores: Bool = false) async throws -> ImportReport {
        let data = try await blocking { try InputFile.read(path, upTo: Self.importLimit) }
        do {
            return try await importData(data, restores: restores)
        } catch let error as ScorebookError where error.code == .invalidFile {
            throw ScorebookError(.invalidFile, "\(path): \(error.message)", place: error.place)
        }
    }

    /// Imports the contents of a file, see ``importFile(at:restores:)``.
    public func importData(_ data: Data, restores: Bool = false) async throws -> ImportReport {
        let now = now()
        switch try ImportFile(data) {
        case .bgStats(let export):
            let states = try BGStatsMapping(now: now).states(export)
            return try await merge(states, nil, .bgStats, restores)
        case .scorebook(let export):
            try export.checkStamps(now: now)
            return try await merge(export.states, export.zone, .scorebook, restores)
        }
    }

    private func merge(
        _ states: [RecordState], _ zone: ZoneName?, _ format: ImportReport.Format, _ restores: Bool
    ) async throws -> ImportReport {
        try await write { [self] db in
            let counting = try ImportCounting(db, before: states)
            // Whatever the default zone is called here, it is that of an export that was never told anything else.
            let named = zone == .scorebookData ? nil : zone
            let target: ZoneTarget =
                if case .all = scope, let named {
                    .one(try records.zones.find(db, named: named.description))
                } else { scope.target }
            _ = try records.merge(db, states, zone: target)
            if format == .bgStats {
                _ = try records.merge(db, PlayVersions(db, records).outdatedParts(of: states), zone: target)
            }
            if restores { try restoreMissing(db, states, target) }
            return try counting.report(db, format)
        }
    }

    /// Writes those records of a file anew that are deleted or hidden here, or of which only what was written after a deletion
    /// for ever is left.
    ///
    /// Those stay as they are for which the file does not have what they need: they would bring back what was deleted before
    /// the backup.
    private func restoreMissing(_ db: Database, _ states: [RecordState], _ zone: ZoneTarget) throws {
        var missing: [RecordName: RecordState] = [:]
        for state in states where state.isLive {
            guard let known = try records.state(db, of: state.name), !PlayVersions.isOutdatedPart(known)
            else { continue }
            // What somebody wrote here since the backup was made is not taken back.
            let names = Set(known.fields.map(\.name))
            let lost =
                known.erasure == nil && !known.fields.isEmpty
                ? [] : state.fields.filter { !names.contains($0.name) }
            if try known.isDeleted || records.listing.isHidden(db, state.name) || !lost.isEmpty {
                missing[state.name] = RecordState(name: state.name, fields: known.fields + lost)
            }
        }
        var isComplete = false
        while !isComplete {
            let incomplete = try missing.values.filter { state in
                try !state.references.allSatisfy { name in
                    try missing[name] != nil || isShown(db, name)
                }
            }
            for state in incomplete { missing[state.name] = nil }
            isComplete = incomplete.isEmpty
        }
        try records.writeAnew(db, missing.values.sorted { $0.name < $1.name }, zone: zone)
    }

    private func isShown(_ db: Database, _ name: RecordName) throws -> Bool {
        guard let kind = RecordKind(rawValue: name.recordType) else { return false }
        let sql = "SELECT EXISTS (SELECT 1 FROM \(kind.recordType) WHERE recordName = ?)"
        return try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [name]) ?? false
    }

    // MARK: Export

    /// The zone that the scorebook is limited to, otherwise the default zone, as JSON; the doc comment of `ExportFormat`
    /// describes it.
    public func exportData() async throws -> Data {
        try await exportDataAndContents().data
    }

    /// What ``exportData()`` gives, and what is in it.
    public func exportDataAndContents() async throws -> (data: Data, contents: ExportContents) {
        try await exporting { writer, db in
            var data = Data()
            let contents = try writer.write(db) { data.append(contentsOf: $0) }
            return (data, contents)
        }
    }

    /// Writes what ``exportData()`` gives to a file, whole or not at all. A link is followed, and what is no regular file,
    /// a pipe say, is written to as it is.
    ///
    /// - Parameters:
    ///   - replaces: whether a file that is there may be replaced.
    ///   - store: what must not be written over.
    /// - Throws: ``ScorebookError`` `notWritable`; what was there is as it was then.
    @discardableResult
    public func exportFile(
        at path: String, replaces: Bool = false, sparing store: StoreFiles = .none
    ) async throws -> ExportContents {
        let file = try await blocking { try OutputFile(path, replaces: replaces, sparing: store) }
        let contents = try await exporting { writer, db in try writer.write(db) { try file.write($0) } }
        try await blocking { try file.finish() }
        return contents
    }

    /// Reads one snapshot in which everything that was written is folded.
    private func exporting<Value: Sendable>(
        _ body: @escaping @Sendable (ExportWriter, Database) throws -> Value
    ) async throws -> Value {
        let writer = ExportWriter(records: records, zone: scope.target, now: now())
        // Another program may write between folding and reading. After a few tries others have to wait
        // instead.
        for _ in 0..<3 {
            try await records.foldPendingChanges()
            let value: Value? = try await read { db in
                let isPending =
                    try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM pendingChange)") ?? false
                return isPending ? nil : try body(writer, db)
            }
            if let value { return value }
        }
        return try await records.write { [records] db in
            _ = try records.fold(db)
            return try body(writer, db)
        }
    }
}

/// What a file turned out to be.
private enum ImportFile: Decodable {
    case bgStats(BGStatsExport)
    case scorebook(ScorebookExport)

    private enum CodingKeys: String, CodingKey { case format, players, games, plays }

    init(_ data: Data) throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let text = data.starts(with: mark) ? data.dropFirst(mark.count) : data
        guard !text.isEmpty else { throw ScorebookError(.invalidFile, "the file is empty") }
        do {
            self = try JSONDecoder().decode(ImportFile.self, from: text)
        } catch {
            throw ImportFileError.understood(error, in: text)
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try? decoder.container(keyedBy: CodingKeys.self)
        if let container, container.contains(.format) {
            self = .scorebook(try ScorebookExport(from: decoder))
        } else if let container, !container.allKeys.isEmpty {
            self = .bgStats(try BGStatsExport(from: decoder))
        } else {
            throw ScorebookError(
                .invalidFile, "the file is neither a BG Stats export nor the export of a scorebook")
        }
    }
}

extension RecordState {
    /// The records that this one refers to; in a scorebook it needs all of them.
    fileprivate var references: [RecordName] {
        fields.compactMap { field in
            guard case .reference(let name) = field.value else { return nil }
            return name
        }
    }
}

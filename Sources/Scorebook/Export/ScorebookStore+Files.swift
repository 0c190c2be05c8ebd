import Foundation
import GRDB
import NIOPosix
import PeerSync

extension ScorebookStore {
    /// The maximum size of a file, in bytes. A million records have less. Reading a file takes several times its size
    /// in memory.
    private static let importLimit = 1 << 30
    /// The number of records after which an import tells how far it is.
    private static let importStep = 5_000

    /// Imports an export of a scorebook or of the BG Stats app, or a collection or plays of BoardGameGeek. The content of the file
    /// shows which of these it is.
    ///
    /// Merges the file: newer values of the scorebook stay, and a second import changes nothing. The records go to the
    /// zone that the scorebook is limited to; if it is not limited, to the zone that the file names, or to the default
    /// zone. A game or person of BG Stats or BoardGameGeek that is here already becomes one with that record, which gets from later
    /// files, too, what it lacks.
    ///
    /// - Parameters:
    ///   - restores: whether the import brings back records that are deleted here, or hidden with a deleted one, by writing
    ///     them as new. It also restores fields that were deleted for ever from a record to which somebody has written
    ///     since.
    ///   - apart: whether games and persons of the file stay beside those that are here with the same name.
    ///   - isRehearsal: whether to change nothing, and only to report what the import would change.
    ///   - progress: called now and then with the number of records that are imported, and the number of all.
    /// - Throws: ``ScorebookError``: `unreadableFile`; `invalidFile` with the place of the first error, or when the zone that the file
    ///   names is not here. ``RecordStoreError``: `otherZone` when one of the records is in another zone; `noSuchZone` when the zone of
    ///   the scorebook is gone. It imports nothing then.
    public func importFile(
        at path: String, restores: Bool = false, apart: Bool = false, isRehearsal: Bool = false,
        progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> ImportReport {
        let data = try await NIOThreadPool.singleton.runIfActive {
            try InputFile.read(path, upTo: Self.importLimit)
        }
        do {
            return try await importData(
                data, restores: restores, apart: apart, isRehearsal: isRehearsal, progress: progress)
        } catch let error as ScorebookError where error.code == .invalidFile {
            throw ScorebookError(
                .invalidFile, "\(path): \(error.message)", place: error.place, hint: error.hint)
        }
    }

    /// Imports the contents of a file, see ``importFile(at:restores:apart:isRehearsal:progress:)``.
    public func importData(
        _ data: Data, restores: Bool = false, apart: Bool = false, isRehearsal: Bool = false,
        progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> ImportReport {
        let now = now()
        let file = try ImportFile(data)
        let states: [RecordState]
        switch file {
        case .bgStats(let export): states = try BGStatsMapping(clock: time).states(export)
        case .scorebook(let export):
            try export.checkStamps(now: now)
            states = export.states
        case .boardGameGeek(let file): states = BGGMapping().states(file)
        }
        do {
            return try await write { [self] db in
                let report = try merge(db, states, of: file, restores, apart, now, progress)
                // An error takes the whole transaction back.
                guard !isRehearsal else { throw Rehearsed(report: report) }
                return report
            }
        } catch let end as Rehearsed {
            return end.report
        }
    }

    /// The end of an import that must not change anything.
    private struct Rehearsed: Error {
        let report: ImportReport
    }

    private func merge(
        _ db: Database, _ states: [RecordState], of file: ImportFile, _ restores: Bool, _ apart: Bool,
        _ now: Int64,
        _ progress: (Int, Int) -> Void
    ) throws -> ImportReport {
        let counting = try ImportCounting(db, records, before: states)
        let target = try zone(db, for: file)
        let mergedValues = try MergedValues(db, of: states)
        var joined: [RecordName: String] = [:]
        let new = apart ? [] : states.map(\.name).filter(counting.isNew)
        switch file {
        case .scorebook: try merge(db, states, target, progress)
        case .bgStats:
            try merge(db, BGStatsVersions(db, records, now: now).changes(states), target, progress)
            _ = try records.merge(db, PlayVersions(db, records).outdatedParts(of: states), zone: target)
            try mergedValues.passOn(db)
            joined = try joinNamesakes(db, new, toldApart: states.map(\.name))
        case .boardGameGeek(let file):
            let changes = try BGGVersions(db, records, now: now).changes(states, plays: file.plays)
            try merge(db, changes, target, progress)
            try mergedValues.passOn(db)
            joined = try joinNamesakes(db, new, toldApart: [])
        }
        if restores { try restoreMissing(db, states, target) }
        _ = try records.fold(db)
        return try counting.report(db, file, joined: joined)
    }

    /// Merges in steps, and tells how far it is.
    private func merge(
        _ db: Database, _ states: [RecordState], _ target: ZoneTarget, _ progress: (Int, Int) -> Void
    ) throws {
        for start in stride(from: 0, to: states.count, by: Self.importStep) {
            let end = min(start + Self.importStep, states.count)
            _ = try records.merge(db, Array(states[start..<end]), zone: target)
            progress(end, states.count)
        }
    }

    private func zone(_ db: Database, for file: ImportFile) throws -> ZoneTarget {
        guard case .scorebook(let export) = file else { return target }
        // The standard name in a file stands for the default zone, whatever its name is here.
        guard case .all = scope, export.zone != .standard else { return scope.target }
        let name = export.zone.description
        do {
            return .one(try records.zones.find(db, named: name))
        } catch let error as RecordStoreError where error.code == .noSuchZone {
            throw ScorebookError(
                .invalidFile, "its zone “\(Display.printable(name))” is not here",
                hint: "`zone create \(ShellWord.quoted(name))` makes it, and --zone names another one")
        }
    }

    /// Lets games and persons that an import made become one with those that were here.
    ///
    /// - Parameter file: the records that the file itself tells apart.
    /// - Returns: the records that were made, and went, each with the name of the one that is left.
    private func joinNamesakes(_ db: Database, _ new: [RecordName], toldApart file: [RecordName]) throws
        -> [RecordName: String]
    {
        guard let first = new.first else { return [:] }
        _ = try records.fold(db)
        let zone = try scope(db, of: first)
        var joined: [RecordName: String] = [:]
        for kind in [RecordKind.person, .game] {
            let namesakes = try ImportedNamesakes(
                db, records, kind, in: zone, new: new, toldApart: file)
            joined.merge(try namesakes.join()) { $1 }
        }
        // New plays refer to what became one earlier.
        for kind in [RecordKind.person, .game] {
            try MergedRecords.settle(db, records, MergedRecords(db, kind).references(db))
        }
        return joined
    }

    /// Writes records of a file as new if they are deleted or hidden here, or lost fields in a deletion for ever.
    ///
    /// Leaves out a record if one that it needs is neither shown here nor among these records. Otherwise it would
    /// bring back a record that somebody deleted before the backup.
    private func restoreMissing(_ db: Database, _ states: [RecordState], _ zone: ZoneTarget) throws {
        var missing: [RecordName: RecordState] = [:]
        for state in states where state.isLive {
            guard let known = try records.state(db, of: state.name), !PlayVersions.isOutdatedPart(known)
            else { continue }
            // Values that somebody has written here since the backup stay.
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

    /// Exports the zone that the scorebook is limited to, otherwise the default zone, as JSON. The doc comment of
    /// `ExportFormat` describes it.
    public func exportData() async throws -> Data {
        try await exportDataAndContents().data
    }

    /// Returns the result of ``exportData()``, and its contents.
    public func exportDataAndContents() async throws -> (data: Data, contents: ExportContents) {
        try await exporting { writer, db in
            var data = Data()
            let contents = try writer.write(db) { data.append(contentsOf: $0) }
            return (data, contents)
        }
    }

    /// Writes the result of ``exportData()`` to a file, whole or not at all. Follows a link. Writes straight into a
    /// file that is not regular, such as a pipe.
    ///
    /// - Parameters:
    ///   - replaces: whether to replace an existing file.
    ///   - store: the files that the export must not overwrite.
    ///   - progress: called now and then with the number of records that are written, and the number of all.
    /// - Throws: ``ScorebookError`` `notWritable`; an existing file is unchanged then.
    @discardableResult
    public func exportFile(
        at path: String, replaces: Bool = false, sparing store: StoreFiles = .none,
        progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) async throws -> ExportContents {
        let file = try await NIOThreadPool.singleton.runIfActive {
            try OutputFile(path, replaces: replaces, sparing: store)
        }
        let contents = try await exporting { writer, db in
            try writer.write(db, progress: progress) { try file.write($0) }
        }
        try await NIOThreadPool.singleton.runIfActive { try file.finish() }
        return contents
    }

    /// Reads one snapshot in which all writes are folded.
    private func exporting<Value: Sendable>(
        _ body: @escaping @Sendable (ExportWriter, Database) throws -> Value
    ) async throws -> Value {
        let writer = ExportWriter(records: records, zone: scope.target, now: now())
        // Another program may write between folding and reading. After a few tries this makes other programs wait
        // instead.
        for _ in 0..<3 {
            try await records.foldPendingChanges()
            let value: Value? = try await read { db in
                try RecordStore.hasPendingChanges(db) ? nil : body(writer, db)
            }
            if let value { return value }
        }
        return try await records.write { [records] db in
            _ = try records.fold(db)
            return try body(writer, db)
        }
    }
}

extension RecordState {
    /// The records to which this one refers. In a scorebook it needs all of them.
    fileprivate var references: [RecordName] {
        fields.compactMap { field in
            guard case .reference(let name) = field.value else { return nil }
            return name
        }
    }
}

import GRDB
import PeerSync

/// The records that a restore brought back.
public struct RestoredRecords: Sendable, Hashable {
    /// The record that the caller asked for.
    public let name: RecordName
    /// All records that the store shows again, ``name`` included, sorted by name.
    public let names: [RecordName]
}

extension ScorebookStore {
    /// Brings back a deleted record, all records that went only because of its deletion, and the deleted records that
    /// it needs.
    ///
    /// - Parameter text: the whole record name, the name of a person or game, or the beginning of the UUID.
    /// - Throws: ``ScorebookError``: `notFound`; `ambiguous` with the deleted records that fit; `notDeleted`; `otherZone`;
    ///   `invalidValue` when another score, player or place stands there by now.
    @discardableResult
    public func restore(_ kind: RecordKind, _ text: String) async throws -> RestoredRecords {
        try await write { [self] db in
            try restore(db, DeletedLookup(records: records, live: lookup(kind)).find(db, text))
        }
    }

    /// Brings back the deleted record of that name; see ``restore(_:_:)``.
    @discardableResult
    public func restore(_ name: RecordName) async throws -> RestoredRecords {
        try await write { [self] db in try restore(db, name) }
    }

    private func restore(_ db: Database, _ name: RecordName) throws -> RestoredRecords {
        guard let state = try records.state(db, of: name) else {
            throw ScorebookError(.notFound, "there is no record \(name), and no deleted one")
        }
        guard !state.fields.isEmpty else {
            throw ScorebookError(
                .notFound,
                state.erasure == nil
                    ? "this machine has nothing of what \(name) held; if another machine has, restore it there"
                    : "\(name) was deleted for ever")
        }
        do {
            var names = try records.restore(db, name)
            // The error rolls back what `restore` wrote.
            guard names.contains(name) else {
                throw ScorebookError(
                    .notFound, "\(name) cannot be restored: a record that it needs was deleted for ever")
            }
            if !Positions.columns(of: name).isEmpty { try Positions(db, records).check(returned: names) }
            names += try restorePersons(db, of: name, deletedAt: state.deletion)
            try restoreMerged(db, into: name, deletedAt: state.deletion)
            return RestoredRecords(name: name, names: names.sorted())
        } catch let error as RecordStoreError where error.code == .notDeleted {
            throw ScorebookError(.notDeleted, "\(name) is not deleted, so there is nothing to restore")
        }
    }

    /// Brings back the players of a match whose persons were deleted together with it, as ``undo()`` of a command does that had
    /// added both.
    private func restorePersons(_ db: Database, of match: RecordName, deletedAt stamp: Stamp?) throws
        -> [RecordName]
    {
        guard match.recordType == RecordKind.match.recordType, let stamp else { return [] }
        let titles = RecordTitles(db, records)
        return try records.listing.withoutRow(db, referringTo: match).flatMap { player in
            guard player.recordType == RecordKind.player.recordType,
                let person = try titles.target("person", of: player),
                try records.state(db, of: person)?.deletion == stamp, try records.listing.isHidden(db, player)
            else { return [RecordName]() }
            return try records.restore(db, person)
        }
    }

    /// Brings back the persons or games that had become one with another, and went with it. Nobody sees them.
    private func restoreMerged(_ db: Database, into name: RecordName, deletedAt stamp: Stamp?) throws {
        guard [RecordKind.person, .game].contains(where: { $0.recordType == name.recordType }) else { return }
        let titles = RecordTitles(db, records)
        for other in try records.listing.outOfSight(db, of: name.recordType)
        where try records.state(db, of: other)?.deletion == stamp && titles.isMerged(other) {
            try records.restore(db, other)
        }
    }

    /// Returns the records that ``RecordStore/deleteForever(_:_:)`` would delete, without deleting them.
    public func planForever(_ name: RecordName) async throws -> [RecordName] {
        try await write { [self] db in
            var names: [RecordName] = []
            try db.inSavepoint {
                names = try deleteForever(db, name)
                return .rollback
            }
            return names
        }
    }

    /// Deletes a record for ever, and the records that go with it. The record may be deleted already.
    ///
    /// - Returns: the names of all these records, without those that were deleted for ever already.
    /// - Throws: ``ScorebookError`` `notFound`; ``RecordStoreError`` `deletionDenied`.
    public func deleteForever(_ name: RecordName) async throws -> [RecordName] {
        // Not ``write(_:)``: the journal of commands must not keep what the records held.
        try await records.write { [self] db in
            _ = try records.fold(db)
            return try deleteForever(db, name)
        }
    }

    private func deleteForever(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        guard try !records.listing.isHidden(db, name) else {
            throw ScorebookError(
                .notFound,
                "\(name) went with a deleted record; restore it first, or delete that one for ever")
        }
        try UndoJournal.forgetAll(db)
        // What became one with the record holds the same person's name and picture.
        let kind = RecordKind.allCases.first { $0.recordType == name.recordType }
        let merged = try kind.map { try MergedRecords(db, $0).merged(into: name.description) } ?? []
        return try merged.flatMap { try records.deleteForever(db, RecordName($0)) }
            + records.deleteForever(db, name)
    }
}

extension ScorebookStore {
    /// Makes the journal of ``undo()`` forget what it has of records that other machines deleted for ever. Whoever syncs calls
    /// it now and then, and at the end.
    public func forgetErasedRecords() async throws {
        let erased = try await records.database.read { [self] db in
            let gone = try ScorebookSchema.columns.flatMap { try records.listing.outOfSight(db, of: $0.key) }
            return try UndoJournal.names(db, among: gone).filter {
                try records.state(db, of: $0)?.erasure != nil
            }
        }
        guard !erased.isEmpty else { return }
        try await records.write { db in
            for name in erased { try UndoJournal.forget(db, changesOf: name.description) }
        }
    }
}

/// A lookup of the deleted record that a text names. Such a record has no row, so its title comes from the sync
/// metadata.
private struct DeletedLookup {
    let records: RecordStore
    /// The lookup of live records.
    let live: NameLookup

    /// Tries names and UUIDs in the same order as ``NameLookup/find(_:_:)``.
    func find(_ db: Database, _ text: String) throws -> RecordName {
        let text = text.trimmed
        if text.contains(RecordName.separator) {
            let name = try live.parsed(text)
            if try records.state(db, of: name) != nil { try live.checkZone(db, of: name) }
            return name
        }
        let titles = RecordTitles(db, records, live.time)
        if let name = try find(db, text, named: named(db, titles), titles) { return name }
        let command = live.kind == .match ? "match list --deleted" : "record list --deleted"
        guard try text.lowercased() == "last" || live.findIfThere(db, text) == nil else {
            throw ScorebookError(
                .notDeleted, "“\(Display.printable(text))” is not deleted, so there is nothing to restore")
        }
        throw ScorebookError(
            .notFound, "there is no deleted \(live.kind.noun) “\(Display.printable(text))”",
            hint: "`\(command)` shows what can be restored")
    }

    private func find(
        _ db: Database, _ text: String, named: [NamedRecord], _ titles: RecordTitles
    ) throws -> RecordName? {
        let fit = NameFit(text)
        let live = live.with(titles)
        if let chosen = live.habits.chosen[RecordChoice.Question(kind: live.kind, text: text)] {
            return chosen
        }
        if text.lowercased() == "last", let last = named.first { return try RecordName(last.recordName) }
        let numbered = Int(text).flatMap { live.habits.numbered(live.kind, $0) }
        // The titles of matches have numbers, too. Of a person or game a number may be the name.
        if let numbered, live.kind != .person, live.kind != .game { return numbered }
        let listed = numbered.map { [NamedRecord(recordName: $0.description, name: "")] } ?? []
        return try live.choose(db, text, exactly: named)
            ?? live.choose(db, text, listed + named.filter { fit.isOfWords($0.name) })
            ?? live.choose(db, text, identified(db, text))
            ?? live.choose(db, text, named.filter { fit.isBeginning($0.name) })
    }

    /// Returns the deleted records with their titles, the last deletion first.
    private func named(_ db: Database, _ titles: RecordTitles) throws -> [NamedRecord] {
        try titles.deleted(db, type: live.kind.recordType, in: live.scope).map { record in
            NamedRecord(
                recordName: record.name.description, name: try titles.title(of: record.name) ?? "")
        }
    }

    /// Finds deleted and hidden records by the beginning or the end of the UUID: hidden ones, which went with another record,
    /// can be restored too.
    private func identified(_ db: Database, _ text: String) throws -> [NamedRecord] {
        guard NameLookup.mayBePart(text) else { return [] }
        let part = text.lowercased()
        return try records.listing.outOfSight(db, of: live.kind.recordType, in: live.scope)
            .filter { name in
                let identifier = name.suffix.lowercased()
                return identifier.hasPrefix(part) || identifier.hasSuffix(part)
            }
            .filter { try records.state(db, of: $0)?.fields.isEmpty == false }
            .map { NamedRecord(recordName: $0.description, name: "") }
    }
}

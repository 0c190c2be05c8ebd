import GRDB
import RecordStore
import SyncModel

/// What a restoring brought back.
public struct RestoredRecords: Sendable, Hashable {
    /// The record that was to be restored.
    public let name: RecordName
    /// All records that are shown again, this one included, by name.
    public let names: [RecordName]
}

extension ScorebookStore {
    /// Brings a deleted record back, with everything that had gone only because of it, and with the deleted records that it
    /// needs.
    ///
    /// - Parameter text: the whole record name; what a person or game is called; the beginning of the UUID.
    /// - Throws: ``ScorebookError``: `notFound`; `ambiguous` with the deleted records that fit; `notDeleted`; `otherZone`.
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
            let names = try records.restore(db, name)
            // Whatever was written is taken back by the error.
            guard names.contains(name) else {
                throw ScorebookError(
                    .notFound, "\(name) cannot be restored: a record that it needs was deleted for ever")
            }
            return RestoredRecords(name: name, names: names)
        } catch let error as RecordStoreError where error.code == .notDeleted {
            throw ScorebookError(.notDeleted, "\(name) is not deleted, so there is nothing to restore")
        }
    }

    /// What ``RecordStore/deleteForever(_:_:)`` would delete, without doing it.
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

    /// Deletes a record for ever, and what goes with it. It may be deleted already.
    ///
    /// - Returns: the names of the records, this one among them.
    /// - Throws: ``ScorebookError`` `notFound`; ``RecordStoreError`` `deletionDenied`.
    public func deleteForever(_ name: RecordName) async throws -> [RecordName] {
        try await write { [self] db in try deleteForever(db, name) }
    }

    private func deleteForever(_ db: Database, _ name: RecordName) throws -> [RecordName] {
        guard try !records.listing.isHidden(db, name) else {
            throw ScorebookError(
                .notFound,
                "\(name) went with a deleted record; restore it first, or delete that one for ever")
        }
        return try records.deleteForever(db, name)
    }
}

/// Finds the deleted record that somebody means. It has no row, so what it is called stands in what sync knows of it.
private struct DeletedLookup {
    let records: RecordStore
    /// Finds records that are there.
    let live: NameLookup

    /// Looks at names and UUIDs in the same order as ``NameLookup/find(_:_:)``.
    func find(_ db: Database, _ text: String) throws -> RecordName {
        let text = text.trimmed
        if text.contains(RecordName.separator) {
            let name = try live.parsed(text)
            if try records.state(db, of: name) != nil { try live.checkZone(db, of: name) }
            return name
        }
        let name = try live.choose(db, text, named: named(db), beginning: beginning)
        if let name { return name }
        guard try live.findIfThere(db, text) == nil else {
            throw ScorebookError(
                .notDeleted, "“\(Display.printable(text))” is not deleted, so there is nothing to restore")
        }
        throw ScorebookError(
            .notFound,
            "there is no deleted \(live.kind.noun) “\(Display.printable(text))”; "
                + "`record list --deleted` shows what can be restored")
    }

    /// The deleted records of a kind that has names.
    private func named(_ db: Database) throws -> [NameLookup.Candidate] {
        guard [.person, .game].contains(live.kind) else { return [] }
        let titles = RecordTitles(db, records)
        return try records.listing.deleted(db, type: live.kind.recordType, in: live.scope).map { record in
            NameLookup.Candidate(
                recordName: record.name.description, name: try titles.title(of: record.name) ?? "")
        }
    }

    /// Those that went with another one can be restored as well.
    private func beginning(_ db: Database, with text: String) throws -> [NameLookup.Candidate] {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM remoteRecord AS known
                WHERE remoteRecordID LIKE ? AND status IN (1, 3) AND \(live.limits("known.remoteRecordID"))
                ORDER BY remoteRecordID
                """, arguments: [live.kind.recordType + RecordName.separator + text + "%"])
        return try names.filter { try records.state(db, of: RecordName($0))?.fields.isEmpty == false }
            .map { NameLookup.Candidate(recordName: $0, name: "") }
    }
}

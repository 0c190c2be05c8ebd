import GRDB
import PeerSyncModel
import PeerSyncStore

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
            // The error rolls back what `restore` wrote.
            guard names.contains(name) else {
                throw ScorebookError(
                    .notFound, "\(name) cannot be restored: a record that it needs was deleted for ever")
            }
            return RestoredRecords(name: name, names: names)
        } catch let error as RecordStoreError where error.code == .notDeleted {
            throw ScorebookError(.notDeleted, "\(name) is not deleted, so there is nothing to restore")
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

    /// Returns the deleted records with their names; nothing for kinds without names.
    private func named(_ db: Database) throws -> [NameLookup.Candidate] {
        guard [.person, .game].contains(live.kind) else { return [] }
        let titles = RecordTitles(db, records)
        return try records.listing.deleted(db, type: live.kind.recordType, in: live.scope).map { record in
            NameLookup.Candidate(
                recordName: record.name.description, name: try titles.title(of: record.name) ?? "")
        }
    }

    /// Finds deleted and hidden records by UUID: hidden ones, which went with another record, can be restored too.
    private func beginning(_ db: Database, with text: String) throws -> [NameLookup.Candidate] {
        let names = try String.fetchAll(
            db,
            sql: """
                SELECT remoteRecordID FROM grdb_sync_remoteRecord AS known
                WHERE remoteRecordID LIKE ? AND status IN (1, 3) AND \(live.limits("known.remoteRecordID"))
                ORDER BY remoteRecordID
                """, arguments: [live.kind.recordType + RecordName.separator + text + "%"])
        return try names.filter { try records.state(db, of: RecordName($0))?.fields.isEmpty == false }
            .map { NameLookup.Candidate(recordName: $0, name: "") }
    }
}

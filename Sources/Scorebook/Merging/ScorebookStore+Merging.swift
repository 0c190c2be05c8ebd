import GRDB
import PeerSync

/// Two persons or games that are to become one.
public struct MergePlan: Sendable {
    /// The one whose matches move, with their number in its detail.
    public let goes: RecordChoice.Candidate
    /// The one to which they move, with the number of its own matches in its detail.
    public let stays: RecordChoice.Candidate
}

extension ScorebookStore {
    /// Makes one of two persons, or of two games: everything of the first one belongs to the second one from now on, on every
    /// machine, and so does what another machine adds to the first one before it knows. What the second one lacks, such
    /// as an e-mail address, it gets from the first one.
    ///
    /// - Parameters:
    ///   - kind: `person` or `game`.
    ///   - text: names the record that goes.
    ///   - other: names the record that stays. If both texts are one name that two records have, the one with fewer matches goes.
    /// - Returns: the name of the record that stays.
    /// - Throws: ``ScorebookError``: `notFound`; `ambiguous`; `otherZone`; `invalidValue` for the same record twice, and for
    ///   two persons who played in one match.
    @discardableResult
    public func merge(_ kind: RecordKind, _ text: String, into other: String) async throws -> RecordName {
        try await write { [self] db in
            let (old, new) = try mergePair(db, kind, text, other)
            try MergedRecords.join(db, kind, old.description, into: new.description)
            try MergedRecords.settle(db, records, MergedRecords(db, kind).references(db))
            _ = try records.fold(db)
            return new
        }
    }

    /// Returns what ``merge(_:_:into:)`` would make one, without doing it.
    ///
    /// - Throws: what it throws.
    public func mergePlan(_ kind: RecordKind, _ text: String, into other: String) async throws -> MergePlan {
        try await read { [self] db in
            let (old, new) = try mergePair(db, kind, text, other)
            let titles = try CandidateTitles(db, kind, time)
            return MergePlan(
                goes: try titles.candidate(db, old, zone: nil),
                stays: try titles.candidate(db, new, zone: nil))
        }
    }

    private func mergePair(_ db: Database, _ kind: RecordKind, _ text: String, _ other: String) throws -> (
        old: RecordName, new: RecordName
    ) {
        let names =
            try text.trimmed.lowercased() == other.trimmed.lowercased() ? namesakes(db, kind, text) : nil
        let old = try names?.old ?? findGoing(db, kind, text, other)
        let new = try lookup(kind, in: scope(db, of: old)).find(db, names?.new.description ?? other)
        guard old != new else {
            if let gone = try [text, other].first(where: { try isMerged(db, $0, into: new) }) {
                throw try areOne(db, gone, new)
            }
            throw ScorebookError(
                .invalidValue, "both texts name the same \(kind.noun)",
                hint: "give the ids of the two, as `\(kind.noun) list` shows them")
        }
        if kind == .person { try checkPlayedApart(db, old, new) }
        return (old, new)
    }

    /// Finds the record that goes.
    ///
    /// - Throws: what the lookup throws; `invalidValue` if it is gone already, because the two became one. Then a record of whose name the
    ///   text is a part is not meant.
    private func findGoing(_ db: Database, _ kind: RecordKind, _ text: String, _ other: String) throws
        -> RecordName
    {
        let found = Result { try lookup(kind).find(db, text) }
        if let name = try? found.get(), try isName(db, text, of: name) { return name }
        if let survivor = try? lookup(kind).find(db, other), try isMerged(db, text, into: survivor) {
            throw try areOne(db, text, survivor)
        }
        return try found.get()
    }

    private func isName(_ db: Database, _ text: String, of record: RecordName) throws -> Bool {
        let title = try RecordTitles(db, records, time).title(of: record) ?? ""
        return NameFit.folded(title) == NameFit.folded(text.trimmed)
    }

    private func areOne(_ db: Database, _ gone: String, _ survivor: RecordName) throws -> ScorebookError {
        let title = try RecordTitles(db, records, time).phrase(for: survivor)
        return ScorebookError(
            .invalidValue, "“\(Display.printable(gone.trimmed))” is \(title) already")
    }

    /// Whether a text is the name of a record that became one with another.
    private func isMerged(_ db: Database, _ text: String, into survivor: RecordName) throws -> Bool {
        guard let kind = RecordKind(rawValue: survivor.recordType) else { return false }
        return try MergedRecords(db, kind).merged(into: survivor.description).contains { record in
            try isName(db, text, of: RecordName(record))
        }
    }

    /// Returns the two records that share a name, the one with more matches as the one that stays; nil if they are not two.
    private func namesakes(_ db: Database, _ kind: RecordKind, _ text: String) throws -> (
        old: RecordName, new: RecordName
    )? {
        let name = text.trimmed.lowercased()
        let names = try lookup(kind).names(db).filter { $0.name.trimmed.lowercased() == name }.map {
            try RecordName($0.recordName)
        }
        guard names.count == 2 else { return nil }
        let matches = try Self.matchCounts(db, kind)
        let (first, second) = (matches[names[0].description] ?? 0, matches[names[1].description] ?? 0)
        return first < second ? (names[0], names[1]) : (names[1], names[0])
    }

    /// The number of matches of each person or game, by the record name.
    static func matchCounts(_ db: Database, _ kind: RecordKind) throws -> [String: Int] {
        try counts(
            db,
            kind == .game
                ? "SELECT game, COUNT(*) FROM SBMatch GROUP BY game"
                : "SELECT person, COUNT(DISTINCT match) FROM SBPlayer GROUP BY person")
    }

    private func checkPlayedApart(_ db: Database, _ old: RecordName, _ new: RecordName) throws {
        let match = try MergedRecords.sharedMatch(db, old.description, new.description)
        guard let match else { return }
        throw ScorebookError(
            .invalidValue, "both played in \(try MatchSheet(db, match).shortTitle(time)), so they are two",
            hint: "`match edit` takes one of them out, or exchanges one")
    }

    /// Moves what other machines and programs have added to merged records, if there is something.
    func settleMerges() async throws {
        guard try await records.database.read({ [self] db in try !unsettled(db).isEmpty }) else { return }
        try await records.write { [self] db in try settleMerges(db) }
    }

    /// Does the same in a transaction of the caller's. ``undo()`` of the merge takes it back as well.
    func settleMerges(_ db: Database) throws {
        let references = try unsettled(db)
        guard !references.isEmpty else { return }
        try MergedRecords.settle(db, records, references)
        for reference in references { try UndoJournal.note(db, reference) }
    }

    /// What still refers to merged records, without what nobody else would take from this machine: another one moves that.
    private func unsettled(_ db: Database) throws -> [MergedRecords.Reference] {
        let references = try [RecordKind.person, .game].flatMap { try MergedRecords(db, $0).references(db) }
        guard !references.isEmpty else { return [] }
        let refused = try RefusedWrites(db, records)
        return try references.filter { try !refused.covers($0.recordName) }
    }
}

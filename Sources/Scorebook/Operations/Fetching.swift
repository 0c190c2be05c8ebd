import GRDB
import PeerSync

extension ScorebookStore {
    /// Fetches the record of a name that a lookup just found.
    static func fetch<Record: ScorebookRecord>(_ db: Database, _ name: RecordName) throws -> Record {
        let record = try Record.filter(Column("recordName") == name.description).fetchOne(db)
        guard let record else { throw ScorebookError(.notFound, "there is no record \(name)") }
        return record
    }

    /// Reads pairs of a record name and a number.
    static func counts(_ db: Database, _ sql: String) throws -> [String: Int] {
        let rows = try Row.fetchCursor(db, sql: sql)
        var counts: [String: Int] = [:]
        while let row = try rows.next() { counts[row[0]] = row[1] }
        return counts
    }

    /// Deletes a record, and the records that go with it.
    ///
    /// - Returns: the steps, in order; the record itself comes last.
    @discardableResult
    public func delete(_ kind: RecordKind, _ text: String) async throws -> [DeletionStep] {
        try await write { [self] db in try delete(db, lookup(kind).find(db, text)) }
    }

    /// Deletes the record of that name, and the records that go with it.
    @discardableResult
    public func delete(_ name: RecordName) async throws -> [DeletionStep] {
        try await write { [self] db in try delete(db, name) }
    }

    private func delete(_ db: Database, _ name: RecordName) throws -> [DeletionStep] {
        // Otherwise records that were merged into this one would stand for themselves again.
        let kind = [RecordKind.person, .game].first { $0.recordType == name.recordType }
        let merged = try kind.map { try MergedRecords(db, $0).merged(into: name.description) } ?? []
        let others = try merged.map { try RecordName($0) }
        return try records.delete(db, others + [name]).filter { !others.contains($0.name) }
    }

    /// Returns the steps that the deletion would take, in order, without taking them.
    public func deletionSteps(_ kind: RecordKind, _ text: String) async throws -> [DeletionStep] {
        try await read { [self] db in try records.deletionSteps(db, lookup(kind).find(db, text)) }
    }

    /// Finds the record that a text names, and reads it alone: ``person(_:)`` and ``game(_:)`` also count its matches, which may be many.
    public func record<Record: ScorebookRecord>(_ text: String) async throws -> Record {
        try await read { [self] db in try Self.fetch(db, lookup(Record.kind).find(db, text)) }
    }

    /// Finds the record that a text names.
    public func find(_ kind: RecordKind, _ text: String) async throws -> RecordName {
        try await read { [self] db in try lookup(kind).find(db, text) }
    }
}

/// The order of lists: by name without regard to case, then by record name.
struct SortKey: Comparable {
    private let name: String
    private let recordName: RecordName

    init(_ name: String, _ recordName: RecordName) {
        self.name = name.lowercased()
        self.recordName = recordName
    }

    static func < (left: SortKey, right: SortKey) -> Bool {
        left.name == right.name ? left.recordName < right.recordName : left.name < right.name
    }
}

import GRDB
import PeerSyncModel

/// What sync overwrote in a store, and how to get it back: ``RecordStore/history``.
///
/// The store keeps a value that lost against a newer one of a peer, the value of a peer that came too late, and that a peer's
/// deletion took a record away. It keeps them for ``StoreUpkeep/defaultRetention``, and at most ``maximumSize`` bytes of them;
/// no value of more than ``maximumValueSize`` bytes. It keeps none of a record that was deleted for ever. The history stays on
/// this machine: each has its own.
public struct StoreHistory: Sendable {
    /// The size of the history in bytes, roughly; the oldest entries go first.
    public static let maximumSize = Int(HistoryTable.maximumSize)
    /// The size in bytes up to which the history keeps a value.
    public static let maximumValueSize = HistoryTable.maximumValueSize

    let store: RecordStore

    /// The history of a record, the last entry first. Fold first.
    public func entries(_ db: Database, of name: RecordName) throws -> [HistoryEntry] {
        try HistoryTable.entries(db, where: "recordName = ?", [name.description])
    }

    /// What lost since a time, of all records, the last entry first. Fold first.
    ///
    /// - Parameters:
    ///   - db: a connection to the store's database.
    ///   - time: milliseconds since 1970, on the clock of this machine.
    ///   - limit: the most entries.
    public func entries(_ db: Database, since time: Int64, limit: Int = 1000) throws -> [HistoryEntry] {
        try HistoryTable.entries(db, where: "time >= ?", [time], limit: limit)
    }

    /// Writes the values that a record had at a time, as far as the store knows them, as new writes of this machine. A record
    /// that was deleted since, or went with a deleted one, comes back. What was written here since and never overwritten by a peer leaves no trace in the
    /// history: such a field goes back to the last value before `time` that the history knows. Part of the open transaction.
    ///
    /// - Parameters:
    ///   - db: the connection of the open transaction.
    ///   - name: the record.
    ///   - time: milliseconds since 1970, by the stamps of the values.
    ///   - fields: the only fields to restore; nil for all.
    /// - Returns: the fields that now have another value, sorted; empty if the record was as it is, or only came back.
    /// - Throws: ``RecordStoreError`` `noSuchRecord` when the store knows nothing of the record.
    @discardableResult
    public func restore(
        _ db: Database, _ name: RecordName, at time: Int64, fields: Set<String>? = nil
    ) throws -> [String] {
        _ = try store.fold(db)
        let set = WorkingSet(db, store.tables)
        guard let record = try set.known(name), let original = record.original else {
            throw RecordStoreError(.noSuchRecord, "nothing is known here of a record \(name)")
        }
        let values = try self.values(db, record.state, at: time).filter { field in
            (fields?.contains(field.name) ?? true)
                && record.state.field(field.name)?.value != field.value
        }
        if [.deleted, .hidden].contains(original.status), !record.state.fields.isEmpty,
            let gone = try Self.firstDeletion(of: name, in: set), gone.time.milliseconds > time
        {
            try store.restore(db, name)
        }
        guard !values.isEmpty else { return [] }
        try store.writeAnew(
            db, [RecordState(name: name, fields: values)], zone: Zones.target(db, record.zone))
        return values.map(\.name)
    }

    /// The first of the deletions that keep a record out of sight: its own, and those of records that it needs.
    private static func firstDeletion(of name: RecordName, in set: WorkingSet) throws -> Stamp? {
        var rules = try RuleApplication(set)
        var first: Stamp?
        var waiting = [name]
        var visited = Set(waiting)
        while let next = waiting.popLast() {
            guard let state = try set.known(next)?.state else { continue }
            if state.isDeleted, let deletion = state.deletion { first = min(first ?? deletion, deletion) }
            waiting += try rules.needed(by: next).filter { visited.insert($0).inserted }
        }
        return first
    }

    /// The values of a record at a time: of each field the last one that was written until then, of those that are known.
    private func values(_ db: Database, _ state: RecordState, at time: Int64) throws -> [RecordField] {
        var known: [String: [(value: FieldValue, stamp: Stamp)]] = [:]
        for entry in try entries(db, of: state.name) {
            guard let field = entry.field else { continue }
            for value in [entry.lost, entry.won] {
                known[field, default: []].append(
                    (understood(value.value, field, of: state.name), value.stamp))
            }
        }
        return known.compactMap { field, values in
            let present = state.field(field).map { [(value: $0.value, stamp: $0.stamp)] } ?? []
            let last = (values + present).filter { $0.stamp.time.milliseconds <= time }
                .max { $0.stamp < $1.stamp }
            return last.map { RecordField(name: field, value: $0.value, stamp: $0.stamp) }
        }.sorted { $0.name < $1.name }
    }

    /// The values that fields of a record had before sync overwrote them, by field, if that was after a time.
    ///
    /// - Parameter time: milliseconds since 1970, on the clock of this machine.
    func valuesBefore(_ db: Database, _ name: RecordName, since time: Int64) throws -> [RecordField] {
        var first: [String: RecordField] = [:]
        for entry in try HistoryTable.entries(
            db, where: "recordName = ? AND time >= ? AND wasShown", [name.description, time])
        {
            guard let field = entry.field else { continue }
            // The last entry comes first.
            first[field] = RecordField(
                name: field, value: understood(entry.lost.value, field, of: name), stamp: entry.lost.stamp)
        }
        return first.values.sorted { $0.name < $1.name }
    }

    /// The value that sync carries for one of the history.
    private func understood(_ value: FieldValue, _ field: String, of name: RecordName) -> FieldValue {
        guard case .text(let text) = value,
            let kind = store.schema.type(name.recordType)?.fields.first(where: { $0.name == field })?.kind
        else { return value }
        return switch kind {
        case .value: value
        case .date: ISO8601.milliseconds(canonical: text).map(FieldValue.date) ?? value
        case .asset: Asset(json: text).map(FieldValue.asset) ?? value
        case .reference: (try? RecordName(text)).map(FieldValue.reference) ?? value
        }
    }
}

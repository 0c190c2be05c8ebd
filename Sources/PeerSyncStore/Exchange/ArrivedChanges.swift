import PeerSyncModel

/// What the records of a peer changed in the tables of this store.
///
/// It tells what a reader of the tables sees: a record that a deletion hides counts as removed, and one that still waits for what it
/// needs does not count. It names the first ``maximumListed`` records, and counts all.
public struct ArrivedChanges: Sendable, Equatable {
    /// What became of the row of a record.
    public enum Kind: Sendable, Equatable, CaseIterable {
        /// The record is new in its table, or is there again.
        case added
        /// The record has other values.
        case changed
        /// The record is in its table no more.
        case removed
    }

    /// One record.
    public struct Record: Sendable, Equatable {
        /// The name of the record.
        public let name: RecordName
        /// What became of its row.
        public let kind: Kind
        /// The names of the fields with another value than before, sorted; empty unless the record was changed.
        public let fields: [String]
    }

    /// The maximum number of ``records``.
    public static let maximumListed = 100

    /// The first records, in the order in which they came. A record that several batches changed comes several times.
    public private(set) var records: [Record] = []
    /// The number of all changes of each kind, by record type.
    public private(set) var counts: [String: [Kind: Int]] = [:]
    /// The number of all changes.
    public private(set) var count = 0

    /// Makes an empty set of changes.
    public init() {}

    /// Whether ``records`` has all changes.
    public var isComplete: Bool { records.count == count }

    /// Adds changes that came later.
    public mutating func append(_ later: ArrivedChanges) {
        records += later.records.prefix(Self.maximumListed - records.count)
        counts.merge(later.counts) { $0.merging($1, uniquingKeysWith: +) }
        count += later.count
    }

    /// Notes records that are new in their tables. It counts those of one type together, because whole copies bring many.
    mutating func note(added names: [RecordName]) {
        var rest = names[...]
        while let type = rest.first?.recordType {
            let next = rest.firstIndex { !$0.isOfType(type) } ?? rest.endIndex
            counts[type, default: [:]][.added, default: 0] += next - rest.startIndex
            rest = rest[next...]
        }
        count += names.count
        let listed = names.prefix(Self.maximumListed - records.count)
        records += listed.map { Record(name: $0, kind: .added, fields: []) }
    }

    mutating func note(_ name: RecordName, _ kind: Kind, fields: [String] = []) {
        count += 1
        counts[name.recordType, default: [:]][kind, default: 0] += 1
        guard records.count < Self.maximumListed else { return }
        records.append(Record(name: name, kind: kind, fields: fields))
    }
}

extension ArrivedChanges {
    /// Notes what a transaction did with a record.
    mutating func note(_ record: WorkingRecord) {
        switch (record.original?.status == .inTable, record.isRowPresent) {
        case (false, true): note(record.name, .added)
        case (true, false): note(record.name, .removed)
        case (true, true):
            let fields = record.changedFields
            if !fields.isEmpty { note(record.name, .changed, fields: fields) }
        case (false, false): break
        }
    }
}

extension WorkingRecord {
    /// The names of the fields that have another value than the store had.
    fileprivate var changedFields: [String] {
        guard let original, isStateChanged else { return [] }
        if state.hasSameNames(as: original.state.fields) {
            return zip(state.fields, original.state.fields).filter { $0.value != $1.value }.map(\.0.name)
        }
        let now = state.fields.filter { original.state.field($0.name)?.value != $0.value }.map(\.name)
        let gone = original.state.fields.filter { state.field($0.name) == nil }.map(\.name)
        return (now + gone).sorted()
    }
}

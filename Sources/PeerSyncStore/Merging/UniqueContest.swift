import GRDB
import PeerSyncModel

/// Decides in one transaction which of several records with the same values in a UNIQUE index has its row: the one that
/// was given its values first. So the result is the same on every machine that has both records, in whatever order they
/// came.
///
/// Until the end of the transaction, the row of a record that loses, or is about to get other values, has a substitute for
/// them: rows are written before others are removed.
struct UniqueContest {
    private let set: WorkingSet
    /// The records that have lost their rows, and are not held yet.
    private var beaten: [WorkingRecord] = []
    /// The records that have no row because of a rival.
    private var losers: [WorkingRecord] = []

    init(_ set: WorkingSet) { self.set = set }

    /// Makes room for the row of a record.
    ///
    /// - Returns: false when another row keeps its place.
    mutating func makeRoom(for record: WorkingRecord, in table: RecordTable) throws -> Bool {
        for index in table.uniqueIndexes {
            for name in try index.rows(set.db, like: record.shown) where name != record.name {
                guard let name, let rival = try set.known(name) else { return false }
                let isCurrent = isRowCurrent(rival, index)
                guard try !isCurrent || isFirst(record, before: rival, table) else {
                    losers.append(record)
                    return false
                }
                guard try index.vacate(set.db, name, in: table) else { return false }
                if !rival.isRefused { rival.row = .stale }
                guard isCurrent else { continue }
                losers.append(rival)
                beaten.append(rival)
            }
        }
        return true
    }

    /// The records that have lost their rows since the last call.
    mutating func takeBeaten() -> [WorkingRecord] {
        defer { beaten = [] }
        return beaten
    }

    /// The records whose rivals have left the table since, or have other values in it.
    ///
    /// This ends: each record settles after the earlier ones of its type, and after the types that its type needs.
    /// ``TableCheck`` refuses a schema in which a type needs itself.
    mutating func takeFreed() throws -> [WorkingRecord] {
        let freed = try losers.filter { try !hasRival($0) }
        let names = Set(freed.map(\.name))
        losers.removeAll { names.contains($0.name) }
        return freed
    }

    private func hasRival(_ record: WorkingRecord) throws -> Bool {
        guard let table = set.tables[record.name.recordType] else { return false }
        return try table.uniqueIndexes.contains { index in
            try index.rows(set.db, like: record.shown).contains { name in
                guard let rival = try name.flatMap(set.known) else { return true }
                return try rival !== record && isRowCurrent(rival, index)
                    && isFirst(rival, before: record, table)
            }
        }
    }

    /// Whether a record's row stays as it is, as far as an index goes.
    private func isRowCurrent(_ record: WorkingRecord, _ index: UniqueIndex) -> Bool {
        guard record.placement == .inTable, !record.isRowOutdated else { return false }
        if record.row == .written { return true }
        guard let present = record.fieldsOfRow else { return false }
        let shown = record.shown
        return index.fieldNames.allSatisfy { name in
            present.first { $0.name == name }?.value == shown.field(name)?.value
        }
    }

    /// Whether a record comes before another one: by zone, so that nobody who may write in one zone hides records of another;
    /// then by the stamp of the values, and by name. The order is the same for all indexes of a table: with several
    /// orders, each of two records could refuse the other.
    private func isFirst(
        _ record: WorkingRecord, before other: WorkingRecord, _ table: RecordTable
    ) throws -> Bool {
        guard record.zone == other.zone else {
            return try Zones.order(set.db, record.zone).lexicographicallyPrecedes(
                Zones.order(set.db, other.zone))
        }
        let fields = table.uniqueIndexes.flatMap(\.fieldNames)
        func newest(_ record: WorkingRecord) -> Stamp? {
            fields.compactMap { record.state.field($0)?.stamp }.max()
        }
        let (first, second) = (newest(record), newest(other))
        guard first != second else { return record.name < other.name }
        guard let first, let second else { return first == nil }
        return first < second
    }
}

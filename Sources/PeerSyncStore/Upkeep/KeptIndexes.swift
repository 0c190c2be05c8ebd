import GRDB
import PeerSyncModel

/// The tables that the store derives from its records, `grdb_sync_heldReference` and `grdb_sync_assetReference`, for a
/// comparison with the records.
struct KeptIndexes {
    enum Entry: Hashable {
        case reference(target: String)
        case file(field: String, zone: Int64, hash: [UInt8], size: Int64)
    }

    /// The entries of the tables, by record name.
    private var entries: [String: Set<Entry>] = [:]

    /// Reads both tables.
    init(_ db: Database) throws {
        let references = try Row.fetchCursor(
            db, sql: "SELECT recordName, target FROM grdb_sync_heldReference")
        while let row = try references.next() {
            entries[row[0], default: []].insert(.reference(target: row[1]))
        }
        let files = try Row.fetchCursor(
            db, sql: "SELECT recordName, field, zone, size, hash FROM grdb_sync_assetReference")
        while let row = try files.next() {
            entries[row[0], default: []].insert(
                .file(field: row[1], zone: row[2], hash: row.bytes("hash"), size: row[3]))
        }
    }

    /// Removes and returns the entries of a record.
    mutating func take(_ name: String) -> Set<Entry> {
        entries.isEmpty ? [] : entries.removeValue(forKey: name) ?? []
    }

    /// The names whose entries are left.
    var names: some Collection<String> { entries.keys }

    /// Returns the entries that a record should have.
    static func entries(of record: StoredRecord, zone: Int64, _ table: RecordTable?) -> Set<Entry> {
        let targets = HeldReferenceTable.targets(
            record.state, record.status, emptied: record.emptiedFields, table)
        let files = AssetTable.files(of: record.state)
        return Set(
            targets.map { .reference(target: $0) }
                + files.map { .file(field: $0, zone: zone, hash: $1.hash.bytes, size: $1.size) })
    }
}

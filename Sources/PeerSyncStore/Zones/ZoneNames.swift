import GRDB
import PeerSyncModel

/// The names of the zones on this machine, for lists of records. Fold first.
public struct ZoneNames {
    private let zones: [Int64: String]

    /// Reads the names.
    public init(_ db: Database) throws {
        let rows = try Row.fetchAll(db.cachedStatement(sql: "SELECT id, name FROM grdb_sync_recordZone"))
        zones = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    /// Whether the store has more than one zone.
    public var areSeveral: Bool { zones.count > 1 }

    /// The name of a record's zone; that of the default zone for a record that sync does not know.
    public func name(_ db: Database, of recordName: String) throws -> String {
        let row = areSeveral ? try Zones.row(db, of: recordName) : nil
        return name(row: row ?? Zones.defaultID)
    }

    func name(row: Int64) -> String { zones[row] ?? "" }
}

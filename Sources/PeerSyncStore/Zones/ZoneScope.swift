import GRDB

/// The zones of a store that an operation covers.
public enum ZoneScope: Sendable, Hashable {
    /// All zones of the store.
    case all
    /// One zone.
    case one(Zone)

    /// SQL that is true for the records of these zones. Fold first: records that sync does not know yet are in no zone.
    ///
    /// - Parameter column: SQL for a record's name.
    public func contains(_ column: String) -> String {
        switch self {
        case .all: "TRUE"
        case .one(let zone): zone.contains(column)
        }
    }

    /// The zone for new records of an operation with this scope.
    public var target: ZoneTarget {
        switch self {
        case .all: .default
        case .one(let zone): .one(zone)
        }
    }

    /// The row of the only zone; nil for all zones.
    ///
    /// - Throws: `noSuchZone` when the zone is gone, or another store's.
    func row(_ db: Database) throws -> Int64? {
        switch self {
        case .all: nil
        case .one: try Zones.row(db, of: target)
        }
    }
}

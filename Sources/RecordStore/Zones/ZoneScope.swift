/// The zones of a store that an operation looks at.
public enum ZoneScope: Sendable, Hashable {
    case all
    case one(Zone)

    /// SQL that is true for the records of these zones. Fold first: what sync does not know yet is in no zone.
    ///
    /// - Parameter column: SQL for a record's name.
    public func contains(_ column: String) -> String {
        switch self {
        case .all: "TRUE"
        case .one(let zone): zone.contains(column)
        }
    }

    /// Where new records go of those who look at these zones only.
    public var target: ZoneTarget {
        switch self {
        case .all: .default
        case .one(let zone): .one(zone)
        }
    }

    /// The row of the only zone; nil for all.
    var row: Int64? {
        switch self {
        case .all: nil
        case .one(let zone): zone.row
        }
    }
}

import SyncModel

/// One synced column of a record type.
public struct FieldDefinition: Sendable, Hashable {
    /// How the column's values are understood.
    public enum Kind: Sendable, Hashable {
        /// Whatever SQLite holds there: integer, real, text, blob or null.
        case value
        /// A moment as ISO 8601 text; the engine sends it compactly and gives back the same text.
        case date
        /// A file that belongs to the record, as the JSON text that ``Asset/json`` describes; the file itself is in the
        /// store's directory of assets. A BLOB that another program writes there is put into a file.
        case asset
        /// The name of a record of type `to`. `isRequired` says that the column is NOT NULL.
        case reference(to: String, rule: DeleteRule, isRequired: Bool)
    }

    public let name: String
    public let kind: Kind

    public init(_ name: String, _ kind: Kind = .value) {
        self.name = name
        self.kind = kind
    }
}

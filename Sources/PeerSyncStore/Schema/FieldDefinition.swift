import PeerSyncModel

/// One synced column of a record type.
public struct FieldDefinition: Sendable, Hashable {
    /// The meaning of the column's values.
    public enum Kind: Sendable, Hashable {
        /// Any value of SQLite: integer, real, text, blob or null.
        case value
        /// A moment as ISO 8601 text. The engine sends it in a compact form and restores the same text.
        case date
        /// A file that belongs to the record, as the JSON text that ``/PeerSyncModel/Asset/json`` describes. The file itself is in the
        /// store's directory of assets. If another program writes a BLOB there, the store puts it into a file.
        case asset
        /// The key of a row of the table `to`. `isRequired` says that the column is NOT NULL.
        case reference(to: String, rule: DeleteRule, isRequired: Bool)
    }

    /// The column's name in the database.
    public let column: String
    /// The field in records: the column's name if it is an identifier, and otherwise one made of it.
    public let name: String
    /// The meaning of its values.
    public let kind: Kind

    /// Makes a definition.
    ///
    /// - Parameters:
    ///   - column: the column's name, whatever characters it has.
    ///   - kind: the meaning of its values.
    public init(_ column: String, _ kind: Kind = .value) {
        self.column = column
        name = NameEncoding.identifier(of: column)
        self.kind = kind
    }

    /// The kind as the store notes it, to read the column once the field has left the schema.
    var kindText: String {
        switch kind {
        case .value: "value"
        case .date: "date"
        case .asset: "asset"
        case .reference(let target, let rule, let isRequired):
            "reference:\(NameEncoding.identifier(of: target)):\(rule.foreignKeyAction.replacing(" ", with: "_"))\(isRequired ? ":required" : "")"
        }
    }

    /// A field that has left the schema.
    ///
    /// - Parameter kindText: the kind as the store noted it; nil if it did not.
    init(former name: String, kindText: Substring?) {
        let parts = kindText?.split(separator: ":").map(String.init) ?? []
        let kind: Kind =
            switch (parts.first, parts.count) {
            case ("date", 1): .date
            case ("asset", 1): .asset
            case ("reference", 3...):
                .reference(
                    to: NameEncoding.name(of: parts[1]),
                    rule: DeleteRule(foreignKeyAction: parts[2].replacing("_", with: " ")) ?? .nullify,
                    isRequired: parts.last == "required")
            default: .value
            }
        self.init(NameEncoding.name(of: name), kind)
    }
}

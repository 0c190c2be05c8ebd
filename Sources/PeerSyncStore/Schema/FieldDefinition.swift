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
        /// store's directory of assets. If a program writes a BLOB there, the store puts it into a file. Without such a directory
        /// the BLOB stays in the record, as in any other column.
        case asset
        /// The key of a row of the table `to`; if that table has a ``RecordType/formerName``, `to` is that one. `isRequired` says
        /// that the column is NOT NULL.
        case reference(to: String, rule: DeleteRule, isRequired: Bool)
    }

    /// The column's name in the database.
    public let column: String
    /// The field in records: the column's name, or its former one, if it is an identifier, and otherwise one made of it.
    public let name: String
    /// The meaning of its values.
    public let kind: Kind

    /// Makes a definition.
    ///
    /// - Parameters:
    ///   - column: the column's name, whatever characters it has.
    ///   - kind: the meaning of its values.
    ///   - formerName: the name that the column had when sync first knew it, if a migration has renamed it since; see
    ///     ``SyncedTable/formerColumns``.
    public init(_ column: String, _ kind: Kind = .value, formerName: String? = nil) {
        self.column = column
        name = NameEncoding.identifier(of: formerName ?? column)
        self.kind = kind
    }

    /// Whether the field is empty in the row while its target is out of sight.
    var isNullified: Bool {
        guard case .reference(_, let rule, _) = kind else { return false }
        return !rule.needsTarget
    }

    private static let columnMark = Character("@")

    /// The kind, and the column if it has another name than the field, as the store notes them, to read the column once the
    /// field has left the schema.
    var noted: String {
        NameEncoding.name(of: name) == column
            ? kindText : "\(kindText)\(Self.columnMark)\(NameEncoding.identifier(of: column))"
    }

    private var kindText: String {
        switch kind {
        case .value: "value"
        case .date: "date"
        case .asset: "asset"
        case .reference(let target, let rule, let isRequired):
            "reference:\(NameEncoding.identifier(of: target)):\(rule.foreignKeyAction.replacing(" ", with: "_"))\(isRequired ? ":required" : "")"
        }
    }

    /// A field of when the store was opened last.
    ///
    /// - Parameters:
    ///   - noted: what the store noted of it then; nil if it did not.
    ///   - column: its column now; nil for one of which only the store knows.
    init(former name: String, noted: Substring?, column: String?) {
        let halves = noted?.split(separator: Self.columnMark) ?? []
        let parts = halves.first?.split(separator: ":").map(String.init) ?? []
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
        self.column = column ?? NameEncoding.name(of: halves.count > 1 ? String(halves[1]) : name)
        self.name = name
        self.kind = kind
    }
}

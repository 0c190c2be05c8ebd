import PeerSyncModel

/// The conversion that SQLite applies to values written to a column.
///
/// Source: sqlite.org, "Datatypes In SQLite", section 3.1, "Determination Of Column Affinity".
enum ColumnAffinity {
    case integer, text, blob, real, numeric

    /// - Parameter isStrict: whether the table is STRICT. Only there it converts nothing in columns of the type ANY.
    init(declaredType: String, isStrict: Bool = false) {
        let type = declaredType.uppercased()
        if isStrict, type == "ANY" {
            self = .blob
        } else if type.contains("INT") {
            self = .integer
        } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
            self = .text
        } else if type.isEmpty || type.contains("BLOB") {
            self = .blob
        } else if ["REAL", "FLOA", "DOUB"].contains(where: type.contains) {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// Whether a value surely comes back unchanged. If false, the caller has to read the column.
    func surelyKeeps(_ value: FieldValue, _ kind: FieldDefinition.Kind) -> Bool {
        switch (value, kind) {
        case (.null, _), (.blob, _): true
        case (.integer, _): self != .text && self != .real
        case (.real(let value), _): (self == .real || self == .blob) && (value != 0 || value.sign == .plus)
        case (.text, .value): self == .text || self == .blob
        case (.date, .date), (.reference, .reference), (.asset, .asset): self == .text || self == .blob
        case (.text, _), (.date, _), (.reference, _), (.asset, _): false
        }
    }
}

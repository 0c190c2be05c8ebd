import PeerSyncModel

/// A reference from one record type to another, with its delete rule.
public struct Relationship: Sendable, Hashable {
    /// The type that holds the reference.
    public let recordType: String
    /// The field of the reference: ``FieldDefinition/name``.
    public let field: String
    /// The type that it refers to: ``RecordType/name``.
    public let target: String
    /// What becomes of the record when the target is deleted.
    public let rule: DeleteRule
    /// Whether the column is NOT NULL, so that the record is held without the target.
    public let isRequired: Bool

    /// The column of the reference.
    let column: String

    init?(recordType: String, field: FieldDefinition) {
        guard case .reference(let target, let rule, let isRequired) = field.kind else { return nil }
        self.recordType = recordType
        self.field = field.name
        column = field.column
        self.target = NameEncoding.identifier(of: target)
        self.rule = rule
        self.isRequired = isRequired
    }
}

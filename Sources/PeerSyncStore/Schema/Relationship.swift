import PeerSyncModel

/// A reference from one record type to another, with its delete rule.
public struct Relationship: Sendable, Hashable {
    /// The type that holds the reference.
    public let recordType: String
    /// The column of the reference.
    public let field: String
    /// The type that it refers to.
    public let target: String
    public let rule: DeleteRule
    public let isRequired: Bool

    init?(recordType: String, field: FieldDefinition) {
        guard case .reference(let target, let rule, let isRequired) = field.kind else { return nil }
        self.recordType = recordType
        self.field = field.name
        self.target = target
        self.rule = rule
        self.isRequired = isRequired
    }
}

import SyncModel

extension DeleteRule {
    /// The foreign key action that the table must declare, so that programs that enforce foreign keys see the
    /// same rule.
    package var foreignKeyAction: String {
        switch self {
        case .cascade: "CASCADE"
        case .nullify: "SET NULL"
        // Not RESTRICT, which would refuse even what the same transaction puts right.
        case .deny: "NO ACTION"
        }
    }
}

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

/// A record type: a table of that name whose primary key is the text column `recordName`.
///
/// Besides the fields listed here the table has a text column `modificationDate`, which the engine fills from
/// the newest stamp. Columns that are not listed stay on this machine.
public struct RecordType: Sendable, Hashable {
    public let name: String
    /// The synced columns, sorted by name.
    public let fields: [FieldDefinition]

    /// - Parameter fields: 1 to 62 columns, in any order; the order of references is their priority order when a
    ///   deletion is propagated (see ``RecordSchema/relationships``).
    public init(_ name: String, _ fields: [FieldDefinition]) {
        self.name = name
        self.fields = fields.sorted { $0.name < $1.name }
        self.declared = fields
    }

    fileprivate let declared: [FieldDefinition]

    /// The most synced columns a type may have: one bit each in the change journal's mask.
    public static let maximumFieldCount = 62

    package var fieldNames: [String] { fields.map(\.name) }

    /// The columns that hold record names, in the order in which they were listed. The first one says where a record
    /// belongs.
    var declaredReferences: [String] {
        declared.compactMap { if case .reference = $0.kind { $0.name } else { nil } }
    }

    /// The columns that hold record names.
    package var references: [Relationship] {
        fields.compactMap { Relationship(recordType: name, field: $0) }
    }
}

/// A reference from one record type to another, with its delete rule.
public struct Relationship: Sendable, Hashable {
    /// The type that holds the reference.
    public let recordType: String
    /// The column that holds it.
    public let field: String
    /// The type it refers to.
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

/// The record types that an app syncs, handed to the engine by the app.
///
/// ```swift
/// let schema = try RecordSchema([
///     RecordType("Author", [FieldDefinition("name")]),
///     RecordType("Book", [
///         FieldDefinition("title"),
///         FieldDefinition("published", .date),
///         FieldDefinition("author", .reference(to: "Author", rule: .cascade, isRequired: true)),
///     ]),
/// ])
/// ```
public struct RecordSchema: Sendable {
    public let types: [RecordType]
    /// Every reference, in priority order: the order in which the types and their fields were listed. A deletion
    /// is propagated along those listed first before it is propagated along the others.
    public let relationships: [Relationship]
    /// The names of the types, those that others refer to before these. Of types that refer to each other in a circle, the
    /// one that was listed first.
    let namesInOrderOfReference: [String]
    private let typesByName: [String: RecordType]
    private let relationshipsByTarget: [String: [Relationship]]

    /// - Throws: ``RecordStoreError`` (`invalidSchema`) when names are not identifiers or occur twice, a type has
    ///   no field or more than ``RecordType/maximumFieldCount``, or a reference leads to a type that is missing.
    public init(_ types: [RecordType]) throws {
        self.types = types
        self.relationships = types.flatMap { type in
            type.declared.compactMap { Relationship(recordType: type.name, field: $0) }
        }
        typesByName = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        relationshipsByTarget = Dictionary(grouping: relationships, by: \.target)
        namesInOrderOfReference = Self.inOrderOfReference(types)
        try validate()
    }

    private static func inOrderOfReference(_ types: [RecordType]) -> [String] {
        var ordered: [String] = []
        var left = types
        while !left.isEmpty {
            let names = Set(left.map(\.name))
            let isFree = { (type: RecordType) in
                type.references.allSatisfy { $0.target == type.name || !names.contains($0.target) }
            }
            let next = left.remove(at: left.firstIndex(where: isFree) ?? 0)
            ordered.append(next.name)
        }
        return ordered
    }

    /// The type of that name, unless this schema does not know it.
    public func type(_ name: String) -> RecordType? { typesByName[name] }

    /// The references that lead to records of a type, in priority order.
    package func relationships(to target: String) -> [Relationship] {
        relationshipsByTarget[target] ?? []
    }

    private func validate() throws {
        guard typesByName.count == types.count else {
            throw RecordStoreError(.invalidSchema, "a schema lists each record type once")
        }
        for type in types {
            let names = [type.name] + type.fieldNames
            if let bad = names.first(where: { !RecordName.isIdentifier($0.utf8) || $0.utf8.count > 63 }) {
                throw RecordStoreError(
                    .invalidSchema,
                    "“\(bad)” cannot name a record type or field: letters, digits and _ only, at most 63 bytes"
                )
            }
            guard (1...RecordType.maximumFieldCount).contains(type.fields.count) else {
                throw RecordStoreError(
                    .invalidSchema,
                    "\(type.name) has \(type.fields.count) fields; 1 to \(RecordType.maximumFieldCount) can be synced"
                )
            }
            guard Set(type.fieldNames).count == type.fields.count else {
                throw RecordStoreError(.invalidSchema, "\(type.name) lists a field twice")
            }
            if let reserved = type.fieldNames.first(where: {
                ["recordName", "modificationDate"].contains($0)
            }) {
                throw RecordStoreError(
                    .invalidSchema, "\(type.name).\(reserved) is kept by the engine itself")
            }
        }
        for relationship in relationships {
            guard typesByName[relationship.target] != nil else {
                throw RecordStoreError(
                    .invalidSchema,
                    "\(relationship.recordType).\(relationship.field) refers to \(relationship.target), "
                        + "which the schema does not have")
            }
            guard !(relationship.isRequired && relationship.rule == .nullify) else {
                throw RecordStoreError(
                    .invalidSchema,
                    "\(relationship.recordType).\(relationship.field) is required, so it cannot be nullified")
            }
        }
    }
}

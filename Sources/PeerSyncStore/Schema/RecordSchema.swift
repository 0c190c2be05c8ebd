import PeerSyncModel

extension DeleteRule {
    /// The foreign key action that the table must declare, so that programs that enforce foreign keys see the
    /// same rule.
    package var foreignKeyAction: String {
        switch self {
        case .cascade: "CASCADE"
        case .nullify: "SET NULL"
        // Not RESTRICT: it would refuse even what the same transaction corrects later.
        case .deny: "NO ACTION"
        }
    }

    /// The rule whose ``foreignKeyAction`` a table declares; nil if it is another action.
    init?(foreignKeyAction action: String) {
        guard let rule = Self.allCases.first(where: { $0.foreignKeyAction == action }) else { return nil }
        self = rule
    }
}

/// The record types that an app syncs. The app passes them to the engine.
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
    /// The record types, in the order of the app.
    public let types: [RecordType]
    /// Every reference, in priority order: the order in which the app listed the types and their fields. A deletion
    /// follows those listed first before the others.
    public let relationships: [Relationship]
    /// The names of the types. A type that others refer to comes before these; in a circle of references, the type that
    /// was listed first comes first.
    let namesInOrderOfReference: [String]
    private let typesByName: [String: RecordType]
    private let relationshipsByTarget: [String: [Relationship]]

    /// - Throws: ``RecordStoreError`` (`invalidSchema`) when names are too long for records or occur twice, a type has
    ///   no field or more than ``RecordType/maximumFieldCount``, or a reference leads to a type that is missing.
    public init(_ types: [RecordType]) throws {
        self.init(unchecked: types)
        try validate()
    }

    /// A schema of types that earlier versions of an app had, whatever this one would say to it.
    init(unchecked types: [RecordType]) {
        self.types = types
        self.relationships = types.flatMap { type in
            type.declared.compactMap { Relationship(recordType: type.name, field: $0) }
        }
        typesByName = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        relationshipsByTarget = Dictionary(grouping: relationships, by: \.target)
        namesInOrderOfReference = Self.inOrderOfReference(types)
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

    /// The type with that ``RecordType/name``; nil if this schema does not know it.
    public func type(_ name: String) -> RecordType? { typesByName[name] }

    /// The references that lead to records of a type, in priority order.
    package func relationships(to target: String) -> [Relationship] {
        relationshipsByTarget[target] ?? []
    }

    /// Refuses a name that has no room in a record.
    ///
    /// - Parameters:
    ///   - what: the table or the column, for people.
    ///   - name: ``RecordType/name`` or ``FieldDefinition/name``.
    private static func checkLength(of what: String, _ name: String) throws {
        let count = name.utf8.count
        guard count > RecordName.maximumTypeLength else { return }
        throw RecordStoreError.invalidSchema(
            "\(what) cannot be synced: its name takes \(count) bytes in records, where a character that is no letter of ASCII, "
                + "no digit and no _ takes four and more, and \(RecordName.maximumTypeLength) are the most: shorten it, or "
                + "leave it out of sync")
    }

    private func validate() throws {
        // By the tables' names: SQLite tells two apart that Swift, and so this library, takes for one.
        guard Set(types.map(\.table)).count == types.count else {
            throw RecordStoreError.invalidSchema(
                "a schema lists each table once, and no two whose names differ only in how letters are composed"
            )
        }
        for (name, types) in Dictionary(grouping: types, by: \.name) where types.count > 1 {
            throw RecordStoreError.invalidSchema(
                "\(types[0].table) and \(types[1].table) both have the name \(name) in records: only one of them can have been it"
            )
        }
        for type in types {
            try Self.checkLength(of: "the table \(type.table)", type.name)
            for field in type.fields {
                try Self.checkLength(of: "the column \(type.table).\(field.column)", field.name)
            }
            guard (1...RecordType.maximumFieldCount).contains(type.fields.count) else {
                throw RecordStoreError.invalidSchema(
                    "\(type.table) has \(type.fields.count) fields; 1 to \(RecordType.maximumFieldCount) can be synced"
                )
            }
            guard Set(type.fields.map(\.column)).count == type.fields.count else {
                throw RecordStoreError.invalidSchema("\(type.table) lists a field twice")
            }
            for (name, fields) in Dictionary(grouping: type.fields, by: \.name) where fields.count > 1 {
                throw RecordStoreError.invalidSchema(
                    "\(type.table).\(fields[0].column) and \(fields[1].column) both have the name \(name) in records: only "
                        + "one of them can have been it")
            }
            if let reserved = type.fieldNames.first(where: RecordField.reservedNames.contains) {
                throw RecordStoreError.invalidSchema(
                    "\(type.table).\(reserved) has a name that records keep for the engine: list it as local, or give it another name "
                        + "in records with formerColumns")
            }
        }
        for relationship in relationships {
            let place = "\(typesByName[relationship.recordType]!.table).\(relationship.column)"
            guard typesByName[relationship.target] != nil else {
                throw RecordStoreError.invalidSchema(
                    "\(place) refers to \(NameEncoding.name(of: relationship.target)), which the schema does not have"
                )
            }
            guard !relationship.isRequired || relationship.rule.needsTarget else {
                throw RecordStoreError.invalidSchema(
                    "\(place) is NOT NULL or in the key, and ON DELETE SET NULL would empty it: declare it ON DELETE CASCADE or NO "
                        + "ACTION, or without NOT NULL")
            }
        }
    }
}

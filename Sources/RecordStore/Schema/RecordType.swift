import SyncModel

/// A record type: a table of that name whose primary key is the text column `recordName`.
///
/// The table also has a text column `modificationDate`, which the engine fills from the newest stamp. Columns that are
/// not in `fields` stay on this machine.
public struct RecordType: Sendable, Hashable {
    public let name: String
    /// The synced columns, sorted by name.
    public let fields: [FieldDefinition]

    /// - Parameter fields: 1 to 62 columns, in any order. A deletion follows references in this order (see
    ///   ``RecordSchema/relationships``).
    public init(_ name: String, _ fields: [FieldDefinition]) {
        self.name = name
        self.fields = fields.sorted { $0.name < $1.name }
        self.declared = fields
    }

    let declared: [FieldDefinition]

    /// The most synced columns of a type: each has one bit in the change journal's mask.
    public static let maximumFieldCount = 62

    package var fieldNames: [String] { fields.map(\.name) }

    /// The columns that hold record names, in the order in which the app listed them. The first one decides the zone of
    /// a new record.
    var declaredReferences: [String] {
        declared.compactMap { if case .reference = $0.kind { $0.name } else { nil } }
    }

    /// The columns that hold record names.
    package var references: [Relationship] {
        fields.compactMap { Relationship(recordType: name, field: $0) }
    }
}

import PeerSyncModel

/// A record type: a table that has a primary key.
///
/// The key names the record on all machines, so a row whose key changes is another record. It is one column of TEXT or
/// BLOB, or several columns that also may be INTEGER; a BLOB of 16 bytes is a UUID. A single INTEGER column is a key
/// only where ``areNumbersShared`` says so. If the only column is called `recordName`, it holds whole record names.
///
/// If the table has a text column `modificationDate` that is neither generated nor in the key, the engine fills it from the newest
/// stamp. Columns that are not in
/// `fields` stay on this machine. Columns of the key that are references are among the fields, too; other columns of the
/// key need not be.
public struct RecordType: Sendable, Hashable {
    /// The table's name in the database.
    public let table: String
    /// The name that the table had when sync first knew it, if a migration has renamed it since. Records keep it in their
    /// names, so all versions of an app share them.
    public let formerName: String?
    /// The type in names of records: the table's name, or its former one, if it is an identifier, and otherwise one made of it.
    public let name: String
    /// The synced columns, sorted by ``FieldDefinition/name``.
    public let fields: [FieldDefinition]
    /// Whether the numbers of an INTEGER key come from outside and mean the same on every machine, such as the number of an
    /// article in a catalogue. Numbers that SQLite gives out are not such: two machines give the same one to different
    /// rows.
    public let areNumbersShared: Bool

    /// Whether the table may have UNIQUE indexes beside its key. Two machines that are offline may both choose the same
    /// values. The record that was given them first then has its row on every machine, and the other one is held until the
    /// values are free.
    public let holdsDuplicates: Bool

    /// Makes a record type.
    ///
    /// - Parameters:
    ///   - table: the table's name, whatever characters it has.
    ///   - fields: 1 to 62 columns, in any order. A deletion follows references in this order (see
    ///     ``RecordSchema/relationships``).
    ///   - areNumbersShared: see ``areNumbersShared``.
    ///   - holdsDuplicates: see ``holdsDuplicates``.
    ///   - formerName: see ``formerName``.
    public init(
        _ table: String, _ fields: [FieldDefinition], areNumbersShared: Bool = false,
        holdsDuplicates: Bool = false, formerName: String? = nil
    ) {
        self.table = table
        self.formerName = formerName
        name = NameEncoding.identifier(of: formerName ?? table)
        self.areNumbersShared = areNumbersShared
        self.holdsDuplicates = holdsDuplicates
        self.fields = fields.sorted { $0.name < $1.name }
        self.declared = fields
        references = self.fields.compactMap { [name] in Relationship(recordType: name, field: $0) }
    }

    let declared: [FieldDefinition]

    /// The most synced columns of a type: each has one bit in the change journal's mask.
    public static let maximumFieldCount = 62

    package var fieldNames: [String] { fields.map(\.name) }

    /// The references, in the order in which the app listed them. The first one decides the zone of
    /// a new record.
    var declaredReferences: [String] {
        declared.compactMap { if case .reference = $0.kind { $0.name } else { nil } }
    }

    /// The references.
    package let references: [Relationship]
}

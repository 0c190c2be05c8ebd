/// One field of a record with the stamp of its last write.
public struct RecordField: Hashable, Sendable {
    /// The field's name: that of its column.
    public let name: String
    /// The value that the last write gave.
    public var value: FieldValue
    /// The stamp of the last write.
    public var stamp: Stamp

    /// Makes a field.
    ///
    /// - Parameters:
    ///   - name: the field's name.
    ///   - value: the value that the last write gave.
    ///   - stamp: the stamp of the last write.
    public init(name: String, value: FieldValue, stamp: Stamp) {
        self.name = name
        self.value = value
        self.stamp = stamp
    }

    /// The columns that the engine keeps itself.
    package static let reservedNames: Set = ["recordName", "modificationDate"]

    /// Whether a text can be the name of a field: an identifier (`[A-Za-z_][A-Za-z0-9_]*`) of at most 63 bytes, but neither
    /// `recordName` nor `modificationDate`, which the engine keeps itself.
    ///
    /// A store refuses to merge records with other names, because no machine would take them. An import asks this first
    /// where it can say in which place of a file the name stands.
    public static func canBeNamed(_ name: String) -> Bool {
        RecordName.isIdentifier(name.utf8) && name.utf8.count <= RecordName.maximumTypeLength
            && !reservedNames.contains(name)
    }

    /// Whether this write beats another write of the same field. The greater stamp wins. If a faulty peer gave one
    /// stamp to two values, the greater canonical encoding wins, so that every replica chooses the same value.
    package func beats(_ other: RecordField) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        if value == other.value { return false }
        // Different values have different bytes, so one of them is greater.
        return other.value.canonicalBytes.lexicographicallyPrecedes(value.canonicalBytes)
    }
}

/// The knowledge of a replica about one record: its fields with their stamps, and the stamps of its last deletion, its
/// last revival and its last deletion for ever.
///
/// States of one record form a join-semilattice under ``merge(_:)``: each component only grows, so that neither the
/// order nor the repetition of arriving states matters.
public struct RecordState: Hashable, Sendable {
    /// The most fields that a record may have, including fields that this version does not know.
    package static let maximumFieldCount = 1024

    /// The record's name.
    public let name: RecordName
    /// The written fields, sorted by name (ASCII), each name once.
    public private(set) var fields: [RecordField]
    /// The stamp of the last deletion of this record.
    public var deletion: Stamp?
    /// The stamp of the newest restoring of this record, or of the newest write of a record that needs it. It keeps
    /// this record alive as a write of its own does.
    public var revival: Stamp?
    /// The stamp of the last deletion for ever: replicas drop the writes up to it. It is not greater than
    /// ``deletion``.
    public private(set) var erasure: Stamp?

    /// Makes a state of fields in any order.
    ///
    /// - Precondition: no name occurs twice.
    public init(
        name: RecordName, fields: [RecordField] = [], deletion: Stamp? = nil, revival: Stamp? = nil,
        erasure: Stamp? = nil
    ) {
        self.init(
            name: name, sortedFields: fields.sorted { $0.name < $1.name }, deletion: deletion,
            revival: revival, erasure: erasure)
    }

    /// Makes a state of fields that are sorted by name already.
    package init(
        name: RecordName, sortedFields: [RecordField], deletion: Stamp?, revival: Stamp?,
        erasure: Stamp? = nil
    ) {
        self.name = name
        self.fields = sortedFields
        self.deletion = deletion
        self.revival = revival
        if let erasure { erase(at: erasure) }
    }

    /// The newest stamp among the fields; nil when no field is known.
    public var newestWrite: Stamp? {
        fields.lazy.map(\.stamp).max()
    }

    /// The stamp that all fields share, as they do in a record that was written once; otherwise nil.
    package var soleStamp: Stamp? {
        guard let first = fields.first?.stamp else { return nil }
        for index in fields.indices where fields[index].stamp != first { return nil }
        return first
    }

    /// The newest stamp that keeps the record alive: of a write of its own, or of a revival. A record that was deleted
    /// for ever has none until somebody writes it anew.
    package var life: Stamp? {
        isErased ? nil : latest(newestWrite, revival)
    }

    /// The newest of all stamps, of a field, a revival or a deletion; nil when the state holds nothing.
    ///
    /// A store that takes the state in gives its own writes greater stamps from then on. So an import first compares the
    /// time of this stamp with the clock: a date far ahead would move the clock of every machine.
    public var newestStamp: Stamp? { latest(newestWrite, latest(revival, deletion)) }

    /// Whether the record was deleted for ever, and not written anew.
    package var isErased: Bool { erasure != nil && fields.isEmpty }

    /// Whether the last deletion is not older than the newest write that keeps the record alive.
    public var isDeleted: Bool {
        guard let deletion else { return false }
        guard let life else { return true }
        return life <= deletion
    }

    /// Whether the record is there, with fields. Then it takes part in the digest.
    ///
    /// A record that is neither deleted nor live is hollow: it was revived here, and its fields have yet to come from
    /// a replica that kept them.
    public var isLive: Bool { !fields.isEmpty && !isDeleted }

    /// Whether the record was neither written nor deleted nor revived.
    package var isEmpty: Bool { fields.isEmpty && deletion == nil && revival == nil }

    /// Returns the field with that name; nil if nobody has written it.
    public func field(_ name: String) -> RecordField? {
        fields.first { $0.name == name }
    }

    /// Writes one field if the write beats the present one.
    ///
    /// - Returns: whether the state changed.
    @discardableResult
    public mutating func write(_ field: RecordField) -> Bool {
        if let erasure, field.stamp <= erasure { return false }
        let index = fields.firstIndex { $0.name >= field.name } ?? fields.endIndex
        guard index < fields.endIndex, fields[index].name == field.name else {
            fields.insert(field, at: index)
            return true
        }
        guard field.beats(fields[index]) else { return false }
        fields[index] = field
        return true
    }

    /// Takes over the newer parts of another state of the same record: for each field the write that beats the other,
    /// and the greater deletion, revival and erasure.
    ///
    /// Commutative, associative and idempotent.
    ///
    /// - Returns: whether this state changed.
    @discardableResult
    public mutating func merge(_ other: RecordState) -> Bool {
        precondition(name == other.name, "only states of one record merge")
        var changed = other.erasure.map { erase(at: $0) } ?? false
        changed =
            mergeFields(erasure.map { stamp in other.fields.filter { $0.stamp > stamp } } ?? other.fields)
            || changed
        changed = raise(\.deletion, to: other.deletion) || changed
        changed = raise(\.revival, to: other.revival) || changed
        return changed
    }

    /// Deletes the record, and drops its writes up to a stamp for ever.
    ///
    /// - Returns: whether the state changed.
    @discardableResult
    package mutating func erase(at stamp: Stamp) -> Bool {
        if let erasure, erasure >= stamp { return false }
        erasure = stamp
        raise(\.deletion, to: stamp)
        fields.removeAll { $0.stamp <= stamp }
        return true
    }

    /// Raises the deletion or the revival if the new stamp is greater.
    @discardableResult
    package mutating func raise(_ component: WritableKeyPath<RecordState, Stamp?>, to stamp: Stamp?) -> Bool {
        guard let stamp else { return false }
        if let present = self[keyPath: component], present >= stamp { return false }
        self[keyPath: component] = stamp
        return true
    }

    private mutating func mergeFields(_ others: [RecordField]) -> Bool {
        if others.isEmpty { return false }
        if fields.isEmpty {
            fields = others
            return true
        }
        var changed = false
        if hasSameNames(as: others) {
            for index in others.indices where others[index].beats(fields[index]) {
                fields[index] = others[index]
                changed = true
            }
            return changed
        }
        var merged: [RecordField] = []
        merged.reserveCapacity(max(fields.count, others.count))
        var mine = fields[...]
        var theirs = others[...]
        while let left = mine.first, let right = theirs.first {
            if left.name == right.name {
                let wins = right.beats(left)
                merged.append(wins ? right : left)
                changed = changed || wins
                mine.removeFirst()
                theirs.removeFirst()
            } else if left.name < right.name {
                merged.append(mine.removeFirst())
            } else {
                merged.append(theirs.removeFirst())
                changed = true
            }
        }
        changed = changed || !theirs.isEmpty
        guard changed else { return false }
        merged.append(contentsOf: mine)
        merged.append(contentsOf: theirs)
        fields = merged
        return true
    }

    /// Whether other fields have the names of these, as those of two states of one record mostly do. Both are sorted, so each field
    /// then has its counterpart at the same index.
    package func hasSameNames(as others: [RecordField]) -> Bool {
        fields.count == others.count && fields.indices.allSatisfy { fields[$0].name == others[$0].name }
    }

    /// The form in which the state travels: a deleted record travels without its fields.
    package var transferred: RecordState {
        guard isDeleted else { return self }
        return RecordState(
            name: name, sortedFields: [], deletion: deletion, revival: revival, erasure: erasure)
    }
}

/// Returns the greater of two stamps, each of which may be nil.
package func latest(_ left: Stamp?, _ right: Stamp?) -> Stamp? {
    guard let left else { return right }
    guard let right else { return left }
    return max(left, right)
}

/// One field of a record with the stamp of its last write.
public struct RecordField: Hashable, Sendable {
    public let name: String
    public var value: FieldValue
    public var stamp: Stamp

    public init(name: String, value: FieldValue, stamp: Stamp) {
        self.name = name
        self.value = value
        self.stamp = stamp
    }

    /// Whether this write beats another one of the same field: the greater stamp; and between other values under one stamp (a
    /// faulty peer) the one with the greater canonical encoding, so that even then every replica chooses the same.
    package func beats(_ other: RecordField) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        if value == other.value { return false }
        // Different values have different bytes, so one of them is greater.
        return other.value.canonicalBytes.lexicographicallyPrecedes(value.canonicalBytes)
    }
}

/// Everything a replica knows of one record: its fields with their stamps, its last deletion, what brought it back, and up to
/// when nothing of it may be kept.
///
/// States of one record form a join-semilattice under ``merge(_:)``: each component only grows, so the order in
/// which states arrive does not matter, nor does repetition.
public struct RecordState: Hashable, Sendable {
    /// The most fields that a record may have, those that this version does not know included.
    package static let maximumFieldCount = 1024

    public let name: RecordName
    /// The fields that have ever been written, sorted by name (ASCII), each name once.
    public private(set) var fields: [RecordField]
    /// The stamp of the last deletion of this record.
    public var deletion: Stamp?
    /// The newest restoring of this record, or write of a record that needs it: it keeps this record alive as a write of its
    /// own would.
    public var revival: Stamp?
    /// The stamp of the last deletion for ever: what was written up to then is kept nowhere. Not greater than ``deletion``.
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

    /// The stamp of all fields, when they have the same, as those of a record that was written once do.
    package var soleStamp: Stamp? {
        guard let first = fields.first?.stamp else { return nil }
        for index in fields.indices where fields[index].stamp != first { return nil }
        return first
    }

    /// The newest stamp that speaks for the record's being there: a write of its own, or a revival. Nothing speaks for one that
    /// was deleted for ever but that it was written anew.
    package var life: Stamp? {
        isErased ? nil : latest(newestWrite, revival)
    }

    /// The newest of all stamps: no write that knows of the state is older.
    package var newestStamp: Stamp? { latest(newestWrite, latest(revival, deletion)) }

    /// Whether the record was deleted for ever, and not written anew.
    package var isErased: Bool { erasure != nil && fields.isEmpty }

    /// Whether the last deletion beats everything that speaks for the record.
    public var isDeleted: Bool {
        guard let deletion else { return false }
        guard let life else { return true }
        return life <= deletion
    }

    /// Whether the record is there, with fields: it takes part in the digest.
    ///
    /// A record that is neither deleted nor live is hollow: it was revived here, and its fields are still to
    /// come from a replica that kept them.
    public var isLive: Bool { !fields.isEmpty && !isDeleted }

    /// Whether nothing is known of the record: it was neither written nor deleted nor revived.
    package var isEmpty: Bool { fields.isEmpty && deletion == nil && revival == nil }

    /// The field of that name, if it was ever written.
    public func field(_ name: String) -> RecordField? {
        fields.first { $0.name == name }
    }

    /// Writes one field if the write beats what is there.
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

    /// Takes over whatever is newer in another state of the same record: per field the greater stamp, the
    /// greater deletion, the greater revival, the greater erasure.
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

    /// Deletes the record, and what was written up to a stamp for ever.
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

    /// Raises one of two stamps, if the new one is greater.
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
        var merged: [RecordField] = []
        merged.reserveCapacity(max(fields.count, others.count))
        var changed = false
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

    /// The form in which the state travels: a deleted record is its name and stamps alone.
    package var transferred: RecordState {
        guard isDeleted else { return self }
        return RecordState(
            name: name, sortedFields: [], deletion: deletion, revival: revival, erasure: erasure)
    }
}

/// The greater of two stamps of which either may be missing.
package func latest(_ left: Stamp?, _ right: Stamp?) -> Stamp? {
    guard let left else { return right }
    guard let right else { return left }
    return max(left, right)
}
